//! `similar_projects`: the projects most similar to one, by pictures and texts.

use std::borrow::Cow;

use answers::catalog::json_writer::JsonWriter;
use answers::catalog::list_options::{ListOptions, WITHOUT_ORDER};
use answers::catalog::similar::{self, ListedProject};
use answers::catalog::taste_records::TasteRecords;
use answers::effort::Effort;
use answers::query::join_names;
use read::neighbours::Cursor;
use serde_json::Value as Json;

use super::listing::{self, Fitted, Written, listed};
use super::{CallContext, Run, Tool, options, quota, record};
use crate::tools::answer::{Answer, Answered, Refusal};
use crate::tools::arguments::{Arguments, Limit};
use crate::tools::input::{Value, input};
use crate::tools::record::Reference;

pub(super) static TOOL: Tool = Tool {
    name: "similar_projects",
    title: "Similar projects",
    description: "Use this when one project is liked and others of its kind are wanted: the nearest by looks and text, at most 50. score and basis say how near, from 0 to 1.",
    input: schema,
    output: listed!(r#""slug":{"type":"string"},"#, r#","next_cursor":{"type":["string","null"]}"#),
    arguments: &ARGUMENTS,
    example: r#"{"slug":"{newest}","limit":5}"#,
    is_counted: true,
    writes: false,
    run: Run::Waiting(|context, arguments| {
        let options = options::read_without_order(arguments);
        let input = Input::read(arguments);
        Box::pin(async move { run(context, &options, input?).await })
    }),
};

input! {
    slug: Reference = "slug of a result",
    limit: Limit,
    cursor: Option<Cursor> = listing::CURSOR_DESCRIPTION,
}

/// The names of all arguments: its own, then the options.
const ARGUMENTS: [&str; Input::NAMES.len() + WITHOUT_ORDER] = join_names(Input::NAMES, &options::NAMES);

fn schema() -> Json {
    options::add_without_order_to(Input::schema())
}

async fn run<'a>(context: CallContext<'a>, options: &ListOptions, input: Input) -> Answered<'a> {
    let Input { slug: reference, limit, cursor } = input;
    let mut slug = reference.slug.clone();
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
    let asked = Asked { slug, project, limit, cursor, notes };
    let cost = (Effort::of(options), options.detail);
    quota::read_list(context, cost, |records| list(context, options, &asked, records)).await
}

/// The project whose neighbours are asked for.
struct Asked {
    slug: String,
    /// `None` if it was listed a moment ago.
    project: Option<ListedProject>,
    limit: Limit,
    cursor: Option<Cursor>,
    /// Notes on how it was found.
    notes: Vec<String>,
}

fn list<'a>(
    context: CallContext<'a>,
    options: &ListOptions,
    asked: &Asked,
    records: &mut TasteRecords,
) -> Written<'a> {
    let ListOptions { filters, detail, .. } = options;
    let Asked { slug, project, limit, cursor, notes } = asked;
    let mut page = match project {
        Some(project) if cursor.is_some_and(|cursor| !project.issued(cursor, filters)) => {
            return Err(Refusal::guided(format!(
                "The cursor was not given out with the neighbours of {slug}. Leave it out to start from the first page."
            )));
        }
        Some(project) => {
            project.neighbours(context.state, listing::most(context, *limit), *cursor, options)?
        }
        None => similar::SimilarPage::of_new_project(),
    };
    if let Some(used_up) = quota::used_up(context) {
        quota::refuse_list(context, used_up, page.total as u64)?;
    }
    if !records.fill(&mut page.shown, |(_, summary)| summary) {
        return Ok(None);
    }
    let (site, found) = (context.state.site(), &page.shown);
    let found = found.iter().map(|(neighbour, summary)| (*summary, neighbour)).collect();
    let Fitted { shown, note } = listing::fitted(context, (*limit, *detail), found);
    let mut json = JsonWriter::object(site, slug.len() + listing::room_for(&shown, site));
    json.member("slug", slug)?;
    json.member("count", &shown.len())?;
    json.member("total", &page.total)?;
    let results = shown.iter().map(|(summary, neighbour)| (&**summary, *neighbour));
    similar::write(&mut json, results, &page, *detail)?;
    let next = page.next_after(shown.len()).map(|cursor| cursor.to_string());
    json.member("next_cursor", &next)?;
    listing::preview(&mut json, (context, *detail), shown.len(), page.total as u64)?;
    let mut answer = Answer::new(json).of_total(page.total as u64);
    let why = page.note.map(Cow::into_owned);
    let notes = notes.iter().cloned().chain(why).chain(note);
    answer.notes.extend(notes.map(Into::into));
    Ok(Some(answer))
}

impl Value for Cursor {
    fn read(arguments: &mut Arguments<'_>, name: &'static str) -> Option<Cursor> {
        arguments.parsed(name, |text| text.parse().ok(), listing::CURSOR)
    }
}
