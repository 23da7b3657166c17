//! `search_by_taste`: projects by how they look and feel, in six dimensions.

use read::archive::{Cursor, DimensionMatches, Listing, MAX_QUERY_WORDS, TasteRequest};
use schemas::record::Category;
use schemas::taste::{Dimension, DimensionSet, Taste};
use serde_json::{Value, json};

use super::listing::{self, Page, listed};
use super::{CallContext, Run, Tool};
use crate::protocol::rpc_error::quoted;
use crate::tools::answer::{Answered, Refusal};
use crate::tools::arguments::{Arguments, Limit};
use crate::tools::input::input;

pub(super) static TOOL: Tool = Tool {
    name: "search_by_taste",
    title: "Search by taste",
    description: "Use this when looks or moods matter. Give at least one dimension, in one or two words each: every word must occur in what the curators wrote there. Ranked by how many dimensions match, then newest. list_taste_terms shows the words in use.",
    input: schema,
    output: listed!(
        "",
        r#","matched":{"type":"array","items":{"type":"string"}}"#,
        r#","next_cursor":{"type":["string","null"]}"#
    ),
    arguments: &ARGUMENTS,
    example: r#"{"material":"oak","mood":"calm","limit":5}"#,
    is_counted: true,
    writes: false,
    run: Run::Ready(|context, arguments| {
        let taste = read(arguments);
        run(context, &taste, Input::read(arguments)?)
    }),
};

// The arguments after the dimensions.
input! {
    category: Option<Category>,
    limit: Limit,
    cursor: Option<Cursor> = listing::CURSOR_DESCRIPTION,
}

/// The names of all arguments: one for each dimension, then the others.
const ARGUMENTS: [&str; Dimension::COUNT + Input::NAMES.len()] = {
    let mut names = [""; Dimension::COUNT + Input::NAMES.len()];
    let mut at = 0;
    while at < names.len() {
        names[at] = match at.checked_sub(Dimension::COUNT) {
            None => Dimension::ALL[at].as_str(),
            Some(at) => Input::NAMES[at],
        };
        at += 1;
    }
    names
};

/// The maximum length of the text of a dimension, in characters.
const LONGEST: usize = 200;
/// The number of words in use that are suggested for an unknown one.
const NEAREST: usize = 4;

/// Returns the JSON Schema of the arguments.
fn schema() -> Value {
    let mut schema = Input::schema();
    if let Some(properties) = schema["properties"].as_object_mut() {
        let others = std::mem::take(properties);
        properties.extend(Dimension::ALL.map(|dimension| {
            let description = format!("e.g. {}", dimension.example_word());
            (dimension.as_str().to_owned(), json!({"type": "string", "description": description}))
        }));
        properties.extend(others);
    }
    schema
}

/// Reads the dimensions. Errors remain in `arguments` until the other arguments are read.
fn read(arguments: &mut Arguments<'_>) -> Taste {
    Taste::from_fn(|dimension| Some(arguments.bounded(dimension.as_str(), LONGEST)?.into_owned()))
}

fn run<'a>(context: CallContext<'a>, taste: &Taste, input: Input) -> Answered<'a> {
    let Input { category, limit, cursor } = input;
    if taste.is_empty() {
        let all = Dimension::ALL.map(Dimension::as_str).join(", ");
        return Err(Refusal::Arguments(vec![format!("at least one of {all} is needed")]));
    }
    let now = context.state.listing()?;
    let mut dimensions = Vec::new();
    let page = |limit| {
        let request = TasteRequest { category, limit, after: cursor.clone(), ..TasteRequest::of(taste) };
        let page = now.by_taste(&request)?;
        dimensions = page.dimensions;
        let projects = page.hits.into_iter().map(|hit| (hit.ordinal, hit.matched)).collect();
        Ok(Page { projects, total: page.total, next: page.next })
    };
    let (mut answer, total) =
        listing::write_page(context, &now, limit, page, |json, matched: DimensionSet| {
            json.member("matched", &matched)
        })?;
    let about = dimensions.iter().filter_map(|one| note(&now, one, taste));
    answer.notes.extend(about.map(Into::into));
    if total == 0 && category.is_some() {
        answer.notes.push("Leave category out to look in all of them.".into());
    }
    Ok(answer)
}

/// Returns advice about a dimension that matches nothing, or whose words were not all used.
fn note(now: &Listing, asked: &DimensionMatches, taste: &Taste) -> Option<String> {
    let dimension = asked.dimension;
    let text = taste.get(dimension)?;
    if asked.is_truncated {
        return Some(format!("Of {dimension} only the first {MAX_QUERY_WORDS} words are looked for."));
    }
    if asked.projects > 0 {
        return None;
    }
    let near = now.nearest_terms(dimension, text, NEAREST);
    let near: Vec<String> = near.iter().map(|term| format!("{} ({})", term.term, term.projects)).collect();
    Some(match (asked.words, near.is_empty()) {
        (0, _) => format!("{dimension} {} holds no word.", quoted(text)),
        (_, false) => format!(
            "No project matches {dimension} {}; words in use that are near, with their projects: {}.",
            quoted(text),
            near.join(", ")
        ),
        (1, true) => {
            format!(
                "No project matches {dimension} {}; list_taste_terms shows the words in use.",
                quoted(text)
            )
        }
        (_, true) => {
            format!("No project has all words of {dimension} {}; try one of them alone.", quoted(text))
        }
    })
}
