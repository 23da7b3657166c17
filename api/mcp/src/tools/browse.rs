//! `browse`: the newest projects, page by page.

use answers::catalog::list_notes;
use answers::catalog::list_options::ListOptions;
use answers::catalog::taste_records::TasteRecords;
use answers::catalog::{browse, facets};
use answers::effort::Effort;
use answers::query::join_names;
use read::archive::Cursor;
use serde_json::Value;

use super::listing::{self, Written, listed};
use super::{CallContext, Run, Tool, options, quota};
use crate::tools::answer::{Answered, Refusal};
use crate::tools::arguments::Limit;
use crate::tools::input::input;

pub(super) static TOOL: Tool = Tool {
    name: "browse",
    title: "Browse the newest",
    description: "Use this when nothing particular is looked for: the newest projects first.",
    input: schema,
    output: listed!(
        "",
        r#","next_cursor":{"type":["string","null"]},"facets":{"type":"object"},"facet_totals":{"type":"object"}"#
    ),
    arguments: &ARGUMENTS,
    example: r#"{"category":"interiors","limit":5}"#,
    is_counted: true,
    writes: false,
    run: Run::Waiting(|context, arguments| {
        let (options, input) = (options::read(arguments, false), Input::read(arguments));
        Box::pin(async move { run(context, &options, input?).await })
    }),
};

input! {
    limit: Limit,
    cursor: Option<Cursor> = listing::CURSOR_DESCRIPTION,
}

/// The names of all arguments: its own, then the options.
const ARGUMENTS: [&str; Input::NAMES.len() + options::NAMES.len()] =
    join_names(Input::NAMES, &options::NAMES);

fn schema() -> Value {
    options::add_to(Input::schema(), false, false)
}

async fn run<'a>(context: CallContext<'a>, options: &ListOptions, input: Input) -> Answered<'a> {
    if let Some(used_up) = quota::used_up(context) {
        let (options, after) = (options.of_total(input.cursor.is_some()), input.cursor.clone());
        let total = || {
            let page = browse::page(&context.state.listing()?, &options, 1, after);
            page.map(|page| page.total).map_err(|error| Refusal::guided(error.to_string()))
        };
        let total = quota::read(context, Effort::of(&options), total).await?;
        quota::refuse_list(context, used_up, total)?;
    }
    let asked = (Effort::of(options), options.detail);
    quota::read_list(context, asked, |records| list(context, options, &input, records)).await
}

fn list<'a>(
    context: CallContext<'a>,
    options: &ListOptions,
    Input { limit, cursor }: &Input,
    records: &mut TasteRecords,
) -> Written<'a> {
    let now = context.state.listing()?;
    let page = |limit| browse::page(&now, options, limit, cursor.clone());
    let sized = (*limit, options.detail);
    let written = listing::write_page(context, &now, sized, page, |_, ()| Ok(()), records)?;
    let Some((mut answer, total)) = written else { return Ok(None) };
    facets::write(&mut answer.json, &browse::facets(&now, options))?;
    answer.notes.extend(list_notes::of_list(&now, options, total).into_iter().map(Into::into));
    Ok(Some(answer.of_total(total)))
}
