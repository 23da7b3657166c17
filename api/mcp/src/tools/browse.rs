//! `browse`: the newest projects, page by page.

use answers::catalog::browse;
use read::archive::Cursor;
use schemas::record::Category;

use super::listing::{self, listed};
use super::{CallContext, Run, Tool};
use crate::tools::answer::Answered;
use crate::tools::arguments::Limit;
use crate::tools::input::input;

pub(super) static TOOL: Tool = Tool {
    name: "browse",
    title: "Browse the newest",
    description: "Use this when nothing particular is looked for: the newest projects first, of one category or of all. Send next_cursor as cursor for the next page.",
    input: Input::schema,
    output: listed!("", "", r#","next_cursor":{"type":["string","null"]}"#),
    arguments: Input::NAMES,
    example: r#"{"category":"interiors","limit":5}"#,
    is_counted: true,
    writes: false,
    run: Run::Ready(|context, arguments| run(context, Input::read(arguments)?)),
};

input! {
    category: Option<Category>,
    limit: Limit,
    cursor: Option<Cursor> = listing::CURSOR_DESCRIPTION,
}

fn run<'a>(context: CallContext<'a>, input: Input) -> Answered<'a> {
    let Input { category, limit, cursor } = input;
    let now = context.state.listing()?;
    let page = |limit| browse::newest(&now, category, limit, cursor.clone());
    let (mut answer, total) = listing::write_page(context, &now, limit, page, |_, ()| Ok(()))?;
    answer.notes.extend(browse::note(category, total).map(Into::into));
    Ok(answer)
}
