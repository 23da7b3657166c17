//! `search_by_taste`: projects by how they look and feel, in six dimensions.

use answers::catalog::facets;
use answers::catalog::json_writer::JsonWriter;
use answers::catalog::list_notes;
use answers::catalog::list_options::{ListOptions, is_colour};
use answers::catalog::taste::{self, LONGEST, MOST_ALTERNATIVES, Matches, TasteTexts};
use answers::catalog::taste_records::TasteRecords;
use answers::effort::Effort;
use answers::query::join_names;
use read::archive::{Cursor, MatchMode};
use schemas::taste::{Dimension, DimensionSet};
use serde_json::{Value, json};

use super::listing::{self, Written, listed};
use super::{CallContext, Run, Tool, list_taste_terms, options, quota};
use crate::tools::answer::{Answered, Refusal};
use crate::tools::arguments::{Arguments, Limit};
use crate::tools::input::input;

pub(super) static TOOL: Tool = Tool {
    name: "search_by_taste",
    title: "Search by taste",
    description: "Use this when looks or moods matter. Give at least one dimension, in one or two words each, alternatives with |: every word must occur in what the curators wrote there. Ranked by how many dimensions match, then newest. list_taste_terms shows the words in use.",
    input: schema,
    output: listed!(
        "",
        r#","next_cursor":{"type":["string","null"]},"matches":{"type":"object"},"by_matched":{"type":"object"},"facets":{"type":"object"},"facet_totals":{"type":"object"}"#
    ),
    arguments: &ARGUMENTS,
    example: r#"{"material":"oak","mood":"calm","limit":5}"#,
    is_counted: true,
    writes: false,
    run: Run::Waiting(|context, arguments| {
        let (taste, options) = (read(arguments), options::read_of_taste(arguments));
        let input = Input::read(arguments);
        Box::pin(async move { run(context, &taste, &options, input?).await })
    }),
};

// The arguments after the dimensions and match.
input! {
    limit: Limit,
    cursor: Option<Cursor> = listing::CURSOR_DESCRIPTION,
}

/// The argument that says how many dimensions must match; the keyword of this name cannot be that of a field.
const MATCH: &str = "match";

/// The names of all arguments: one for each dimension, then the others, of which color is a dimension too.
const ARGUMENTS: [&str; Dimension::COUNT + 1 + Input::NAMES.len() + options::NAMES.len() - 1] = {
    let dimensions: [&str; Dimension::COUNT + 1] = join_names(&Dimension::NAMES, &[MATCH]);
    let own: [&str; Dimension::COUNT + 1 + Input::NAMES.len()] = join_names(&dimensions, Input::NAMES);
    options::with_own_color(&own)
};

/// Returns the JSON Schema of the arguments.
fn schema() -> Value {
    let mut schema = Input::schema();
    if let Some(properties) = schema["properties"].as_object_mut() {
        let others = std::mem::take(properties);
        properties.extend(Dimension::ALL.map(|dimension| {
            let or_colour = if dimension == Dimension::Color { ", or #rrggbb: a filter" } else { "" };
            // A name in braces stands for a word of the catalog.
            let description = format!("e.g. {{{dimension}}}{or_colour}");
            (dimension.as_str().to_owned(), json!({"type": "string", "description": description}))
        }));
        properties.insert(
            MATCH.into(),
            json!({"type": "string", "enum": MatchMode::NAMES, "description": "all: only what has every dimension"}),
        );
        properties.extend(others);
    }
    options::add_to(schema, true, false)
}

/// Reads the dimensions, and how many must match. Errors remain in `arguments` until the other arguments are read.
fn read(arguments: &mut Arguments<'_>) -> TasteTexts {
    let texts = TasteTexts::from_fn(|dimension| {
        let name = dimension.as_str();
        let mut texts = arguments.texts(name);
        // A colour is a filter.
        texts.retain(|text| dimension != Dimension::Color || !is_colour(text));
        if texts.len() > MOST_ALTERNATIVES {
            arguments
                .fault(format!("{name} has {} values, at most {MOST_ALTERNATIVES} are taken", texts.len()));
        }
        for length in texts.iter().map(|text| text.trim().chars().count()).filter(|length| *length > LONGEST)
        {
            arguments.fault(format!("{name} has {length} characters, at most {LONGEST} are taken"));
        }
        texts.iter().map(|text| text.trim().to_owned()).collect()
    });
    texts.matching(arguments.one_of(MATCH, MatchMode::parse, &MatchMode::NAMES).unwrap_or_default())
}

async fn run<'a>(
    context: CallContext<'a>,
    taste: &TasteTexts,
    options: &ListOptions,
    input: Input,
) -> Answered<'a> {
    if taste.is_empty() {
        return Err(Refusal::Arguments(vec![taste::nothing_requested()]));
    }
    if let Some(used_up) = quota::used_up(context) {
        let (options, after) = (options.of_total(input.cursor.is_some()), input.cursor.clone());
        let total = || {
            let found = taste::search(&context.state.listing()?, taste, &options, 1, after);
            found.map(|found| found.page.total).map_err(|error| Refusal::guided(error.to_string()))
        };
        let total = quota::read(context, Effort::of_taste(taste, &options), total).await?;
        quota::refuse_list(context, used_up, total)?;
    }
    let asked = (Effort::of_taste(taste, options), options.detail);
    quota::read_list(context, asked, |records| list(context, taste, options, &input, records)).await
}

fn list<'a>(
    context: CallContext<'a>,
    taste: &TasteTexts,
    options: &ListOptions,
    Input { limit, cursor }: &Input,
    records: &mut TasteRecords,
) -> Written<'a> {
    let (now, sized) = (context.state.listing()?, (*limit, options.detail));
    let mut matches = Matches::default();
    let page = |limit| {
        let found = taste::search(&now, taste, options, limit, cursor.clone())?;
        matches = found.matches;
        Ok(found.page)
    };
    let more = |json: &mut JsonWriter<'a>, matched: DimensionSet| json.member("matched", &matched);
    let written = listing::write_page(context, &now, sized, page, more, records)?;
    let Some((mut answer, total)) = written else { return Ok(None) };
    taste::write(&mut answer.json, &matches)?;
    facets::write(&mut answer.json, &taste::facets(&now, taste, options))?;
    let mut notes =
        taste::notes((context.state, &now), taste, options, &matches, list_taste_terms::TOOL.name);
    notes.extend(list_notes::of_taste(&now, taste, options, total));
    answer.notes.extend(notes.into_iter().map(Into::into));
    Ok(Some(answer.of_total(total)))
}
