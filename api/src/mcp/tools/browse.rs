//! `browse`: the newest projects, page by page.

use read::search::View;

use super::listing::{self, Shown, listed};
use super::{Asked, Tool};
use crate::json_writer::{self, JsonWriter};
use crate::mcp::answer::{Answer, Answered, Refusal};
use crate::mcp::arguments::Arguments;

pub(super) static TOOL: Tool = Tool {
    name: "browse",
    title: "Browse the newest",
    description: "Use this when nothing particular is looked for: the newest projects first, of one category or of all. Send next_cursor as cursor for the next page.",
    input: r#"{"type":"object","properties":{"category":{"type":"string","enum":["architecture","interiors","design","photography","art"]},"limit":{"type":"integer","minimum":1,"maximum":20,"default":10},"cursor":{"type":"string","description":"next_cursor of the page before"}}}"#,
    output: listed!("", "", r#","next_cursor":{"minLength":1}"#),
    arguments: &["category", "limit", "cursor"],
    example: r#"{"category":"interiors","limit":5}"#,
    is_counted: true,
    writes: false,
};

pub(super) fn run<'a>(asked: Asked<'a>, arguments: &mut Arguments<'_>) -> Answered<'a> {
    let (category, limit, cursor) = (arguments.category(), arguments.limit(), listing::cursor(arguments));
    if !arguments.faults().is_empty() {
        return Err(Refusal::Arguments(arguments.faults().to_vec()));
    }
    let archive = listing::archive(asked)?;
    let view = listing::view(asked)?;
    let page =
        |limit| archive.reader.newest(category, limit, cursor.clone()).map_err(listing::foreign_cursor);
    let mut page_now = page(listing::most(asked, limit))?;
    let mut shown = shown(&view, &page_now.ordinals);
    let fitting = listing::fitting(asked, limit, shown.iter().map(|one| one.summary));
    if fitting < shown.len() {
        // The next page begins behind what is shown.
        page_now = page(fitting)?;
        shown.truncate(fitting);
    }
    let site = asked.state.site();
    let mut json = JsonWriter::object(site, json_writer::room(shown.iter().map(|one| one.summary), site));
    json.member("count", &shown.len())?;
    json.member("total", &page_now.total)?;
    json.projects("results", shown.iter().map(|one| (one.summary, ())), |_, ()| Ok(()))?;
    json.member("next_cursor", &page_now.next.map(|cursor| cursor.to_string()))?;
    listing::preview(&mut json, asked, shown.len(), page_now.total)?;
    let answer = Answer::new(json);
    match category {
        Some(category) if page_now.total == 0 => Ok(answer.note(format!(
            "The catalog has no project in the category {} yet. Leave category out to see all.",
            category.as_str()
        ))),
        _ => Ok(answer),
    }
}

/// The projects that are still, or already, in the search index.
fn shown<'v>(view: &'v View, ordinals: &[u64]) -> Vec<Shown<'v, ()>> {
    ordinals.iter().filter_map(|ordinal| Shown::of(view, *ordinal, ())).collect()
}
