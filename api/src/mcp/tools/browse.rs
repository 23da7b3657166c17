//! `browse`: the newest projects, page by page.

use super::listing::{self, Page, listed};
use super::{Asked, Tool};
use crate::mcp::tools::answer::Answered;
use crate::mcp::tools::arguments::Arguments;

pub(super) static TOOL: Tool = Tool {
    name: "browse",
    title: "Browse the newest",
    description: "Use this when nothing particular is looked for: the newest projects first, of one category or of all. Send next_cursor as cursor for the next page.",
    input: r#"{"type":"object","properties":{"category":{"type":"string","enum":["architecture","interiors","design","photography","art"]},"limit":{"type":"integer","minimum":1,"maximum":20,"default":10},"cursor":{"type":"string","description":"next_cursor of the page before"}}}"#,
    output: listed!("", "", r#","next_cursor":{"type":["string","null"]}"#),
    arguments: &["category", "limit", "cursor"],
    example: r#"{"category":"interiors","limit":5}"#,
    is_counted: true,
    writes: false,
};

pub(super) fn run<'a>(asked: Asked<'a>, arguments: &mut Arguments<'_>) -> Answered<'a> {
    let (category, limit, cursor) = (arguments.category(), arguments.limit(), listing::cursor(arguments));
    arguments.check()?;
    let now = asked.state.listing()?;
    let page = |limit| {
        let page = now.newest(category, limit, cursor.clone())?;
        let projects = page.ordinals.into_iter().map(|ordinal| (ordinal, ())).collect();
        Ok(Page { projects, total: page.total, next: page.next })
    };
    let (answer, total) = listing::write_page(asked, &now, limit, page, |_, ()| Ok(()))?;
    match category {
        Some(category) if total == 0 => Ok(answer.note(format!(
            "The catalog has no project in the category {} yet. Leave category out to see all.",
            category.as_str()
        ))),
        _ => Ok(answer),
    }
}
