//! `similar_projects`: the projects most similar to one, by pictures and texts.

use answers::catalog::json_writer::JsonWriter;
use answers::catalog::list_options::FILTERS;
use answers::catalog::similar::{self, ListedProject};
use answers::query::join_names;
use read::archive::Filters;
use read::neighbours::Cursor;
use serde_json::Value as Json;

use super::listing::{self, Fitted, listed};
use super::{CallContext, Run, Tool, options, record};
use crate::tools::answer::{Answer, Answered, Refusal};
use crate::tools::arguments::{Arguments, Limit};
use crate::tools::input::{Value, input};
use crate::tools::record::Reference;

pub(super) static TOOL: Tool = Tool {
    name: "similar_projects",
    title: "Similar projects",
    description: "Use this when one project is liked and others of its kind are wanted. The nearest by looks and text, precomputed; score and basis say how near, from 0 to 1. A project has at most 50.",
    input: schema,
    output: listed!(
        r#""slug":{"type":"string"},"#,
        r#","score":{"type":"number"},"basis":{"type":"object"}"#,
        r#","next_cursor":{"type":["string","null"]}"#
    ),
    arguments: &ARGUMENTS,
    example: r#"{"slug":"{newest}","limit":5}"#,
    is_counted: true,
    writes: false,
    run: Run::Waiting(|context, arguments| {
        let filters = options::read_filters(arguments);
        let input = Input::read(arguments);
        Box::pin(async move { run(context, &filters, input?).await })
    }),
};

input! {
    slug: Reference = "slug of a result",
    limit: Limit,
    cursor: Option<Cursor> = listing::CURSOR_DESCRIPTION,
}

/// The names of all arguments: its own, then the filters.
const ARGUMENTS: [&str; Input::NAMES.len() + FILTERS] = join_names(Input::NAMES, &options::NAMES);

fn schema() -> Json {
    options::add_filters_to(Input::schema())
}

async fn run<'a>(context: CallContext<'a>, filters: &Filters, input: Input) -> Answered<'a> {
    let Input { slug: reference, limit, cursor } = input;
    let mut slug = reference.slug().to_owned();
    let mut notes = Vec::new();
    let project = match ListedProject::find(context.state, &slug)? {
        Some(project) => Some(project),
        // It was renamed, withdrawn, never existed, or is very new: the catalog decides.
        None => {
            let located = record::locate(context, &reference).await?;
            slug = located.slug.to_string();
            notes.extend(located.note);
            ListedProject::find(context.state, &slug)?
        }
    };
    let site = context.state.site();
    let page = match &project {
        Some(project) if cursor.is_some_and(|cursor| !project.issued(cursor, filters)) => {
            return Err(Refusal::guided(format!(
                "The cursor was not given out with the neighbours of {slug}. Leave it out to start from the first page."
            )));
        }
        Some(project) => project.neighbours(context.state, listing::most(context, limit), cursor, filters)?,
        None => similar::SimilarPage::of_new_project(),
    };
    let found = &page.shown;
    let found = found.iter().map(|(neighbour, summary)| (*summary, neighbour)).collect();
    let Fitted { shown, note } = listing::fitted(context, limit, found);
    let mut json = JsonWriter::object(site, slug.len() + listing::room_for(&shown, site));
    json.member("slug", &slug)?;
    json.member("count", &shown.len())?;
    json.member("total", &page.total)?;
    similar::write(&mut json, shown.iter().map(|(summary, neighbour)| (&**summary, *neighbour)))?;
    let next = page.next_after(shown.len()).map(|cursor| cursor.to_string());
    json.member("next_cursor", &next)?;
    listing::preview(&mut json, context, shown.len(), page.total as u64)?;
    let mut answer = Answer::new(json);
    let why = page.note.map(str::to_owned);
    notes.extend(why.into_iter().chain(note));
    answer.notes.extend(notes.into_iter().map(Into::into));
    Ok(answer)
}

impl Value for Cursor {
    fn read(arguments: &mut Arguments<'_>, name: &'static str) -> Option<Cursor> {
        arguments.parsed(name, |text| text.parse().ok(), listing::CURSOR)
    }
}
