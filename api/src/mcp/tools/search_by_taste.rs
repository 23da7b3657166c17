//! `search_by_taste`: projects by how they look and feel, in six dimensions.

use read::archive::{AskedDimension, Dimension, Dimensions, Listing, MOST_WORDS, TasteRequest};
use serde::Serialize;

use super::listing::{self, Page, listed};
use super::{Asked, Tool};
use crate::mcp::protocol::rpc_error::quoted;
use crate::mcp::tools::answer::Answered;
use crate::mcp::tools::arguments::Arguments;

pub(super) static TOOL: Tool = Tool {
    name: "search_by_taste",
    title: "Search by taste",
    description: "Use this when looks or moods matter. Give at least one dimension, in one or two words each: every word must occur in what the curators wrote there. Ranked by how many dimensions match, then newest. list_taste_terms shows the words in use.",
    input: r#"{"type":"object","properties":{"material":{"type":"string","description":"e.g. oak"},"light":{"type":"string","description":"e.g. dusk"},"color":{"type":"string","description":"e.g. grey"},"mood":{"type":"string","description":"e.g. calm"},"composition":{"type":"string","description":"e.g. symmetrical"},"subject":{"type":"string","description":"e.g. library"},"category":{"type":"string","enum":["architecture","interiors","design","photography","art"]},"limit":{"type":"integer","minimum":1,"maximum":20,"default":10},"cursor":{"type":"string","description":"next_cursor of the page before"}}}"#,
    output: listed!(
        "",
        r#","matched":{"type":"array","items":{"type":"string"}}"#,
        r#","next_cursor":{"type":["string","null"]}"#
    ),
    arguments: &[
        "material",
        "light",
        "color",
        "mood",
        "composition",
        "subject",
        "category",
        "limit",
        "cursor",
    ],
    example: r#"{"material":"oak","mood":"calm","limit":5}"#,
    is_counted: true,
    writes: false,
};

/// The longest text of a dimension.
const LONGEST: usize = 200;
/// How many words in use are named where an asked one is not among them.
const NEAREST: usize = 4;

/// The names of the dimensions that match.
#[derive(Serialize)]
#[serde(transparent)]
struct Matched(Vec<&'static str>);

pub(super) fn run<'a>(asked: Asked<'a>, arguments: &mut Arguments<'_>) -> Answered<'a> {
    let texts = Dimension::ALL.map(|dimension| arguments.optional(dimension.as_str(), LONGEST));
    let (category, limit, cursor) = (arguments.category(), arguments.limit(), listing::cursor(arguments));
    if texts.iter().all(Option::is_none) && arguments.are_good() {
        let all = Dimension::ALL.map(Dimension::as_str).join(", ");
        arguments.fault(format!("at least one of {all} is needed"));
    }
    arguments.check()?;
    let now = asked.state.listing()?;
    let wanted = texts.each_ref().map(Option::as_deref);
    let mut dimensions = Vec::new();
    let page = |limit| {
        let request = TasteRequest { asked: wanted, category, limit, after: cursor.clone() };
        let page = now.by_taste(&request)?;
        dimensions = page.asked;
        let projects = page.hits.into_iter().map(|hit| (hit.ordinal, hit.matched)).collect();
        Ok(Page { projects, total: page.total, next: page.next })
    };
    let (mut answer, total) = listing::write_page(asked, &now, limit, page, |json, matched: Dimensions| {
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
