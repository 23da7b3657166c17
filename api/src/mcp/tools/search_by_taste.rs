//! `search_by_taste`: projects by how they look and feel, in six dimensions.

use read::archive::{AskedDimension, Cursor, Dimension, Dimensions, Listing, MOST_WORDS, TasteRequest};
use schemas::record::Category;
use serde::Serialize;

use super::listing::{self, Page, listed};
use super::{CallContext, Run, Tool};
use crate::mcp::protocol::rpc_error::quoted;
use crate::mcp::tools::answer::{Answered, Refusal};
use crate::mcp::tools::arguments::Limit;
use crate::mcp::tools::input::{Text, input};

pub(super) static TOOL: Tool = Tool {
    name: "search_by_taste",
    title: "Search by taste",
    description: "Use this when looks or moods matter. Give at least one dimension, in one or two words each: every word must occur in what the curators wrote there. Ranked by how many dimensions match, then newest. list_taste_terms shows the words in use.",
    input: Input::schema,
    output: listed!(
        "",
        r#","matched":{"type":"array","items":{"type":"string"}}"#,
        r#","next_cursor":{"type":["string","null"]}"#
    ),
    arguments: Input::NAMES,
    example: r#"{"material":"oak","mood":"calm","limit":5}"#,
    is_counted: true,
    writes: false,
    run: Run::Ready(|context, arguments| run(context, Input::read(arguments)?)),
};

input! {
    material: Option<Text<LONGEST>> = "e.g. oak",
    light: Option<Text<LONGEST>> = "e.g. dusk",
    color: Option<Text<LONGEST>> = "e.g. grey",
    mood: Option<Text<LONGEST>> = "e.g. calm",
    composition: Option<Text<LONGEST>> = "e.g. symmetrical",
    subject: Option<Text<LONGEST>> = "e.g. library",
    category: Option<Category>,
    limit: Limit,
    cursor: Option<Cursor> = listing::CURSOR_DESCRIPTION,
}

/// The longest text of a dimension.
const LONGEST: usize = 200;
/// How many words in use are named where an asked one is not among them.
const NEAREST: usize = 4;

/// The names of the dimensions that match.
#[derive(Serialize)]
#[serde(transparent)]
struct Matched(Vec<&'static str>);

fn run<'a>(context: CallContext<'a>, input: Input) -> Answered<'a> {
    let Input { material, light, color, mood, composition, subject, category, limit, cursor } = input;
    // In the order of `Dimension::ALL`.
    let texts = [material, light, color, mood, composition, subject];
    if texts.iter().all(Option::is_none) {
        let all = Dimension::ALL.map(Dimension::as_str).join(", ");
        return Err(Refusal::Arguments(vec![format!("at least one of {all} is needed")]));
    }
    let now = context.state.listing()?;
    let wanted = texts.each_ref().map(|text| text.as_ref().map(|Text(text)| text.as_str()));
    let mut dimensions = Vec::new();
    let page = |limit| {
        let request = TasteRequest { asked: wanted, category, limit, after: cursor.clone() };
        let page = now.by_taste(&request)?;
        dimensions = page.asked;
        let projects = page.hits.into_iter().map(|hit| (hit.ordinal, hit.matched)).collect();
        Ok(Page { projects, total: page.total, next: page.next })
    };
    let (mut answer, total) =
        listing::write_page(context, &now, limit, page, |json, matched: Dimensions| {
            json.member("matched", &Matched(matched.iter().map(Dimension::as_str).collect()))
        })?;
    let about = dimensions.iter().filter_map(|one| note(&now, one, wanted));
    answer.notes.extend(about.map(Into::into));
    if total == 0 && category.is_some() {
        answer.notes.push("Leave category out to look in all of them.".into());
    }
    Ok(answer)
}

/// What to do about a dimension that matches nothing, or of which not all was asked for.
fn note(now: &Listing, asked: &AskedDimension, wanted: [Option<&str>; 6]) -> Option<String> {
    let dimension = asked.dimension;
    let place = Dimension::ALL.iter().position(|one| *one == dimension)?;
    let text = wanted[place]?;
    if asked.has_more {
        return Some(format!("Of {dimension} only the first {MOST_WORDS} words are looked for."));
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
