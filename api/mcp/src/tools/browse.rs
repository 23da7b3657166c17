//! `browse`: the newest projects, or those that changed since a time, page by page.

mod changed;

use answers::catalog::changed::ChangedSince;
use answers::catalog::list_notes;
use answers::catalog::list_options::ListOptions;
use answers::catalog::taste_records::TasteRecords;
use answers::catalog::{browse, facets};
use answers::effort::Effort;
use answers::query::join_names;
use read::archive::Cursor;
use read::catalog::ChangedCursor;
use serde_json::Value;

use super::listing::{self, Written, listed};
use super::{CallContext, Run, Tool, options, quota};
use crate::tools::answer::{Answered, Refusal};
use crate::tools::arguments::{Arguments, Limit};
use crate::tools::input::{self, input};
use changed::{Kinds, Since};

pub(super) static TOOL: Tool = Tool {
    name: "browse",
    title: "Browse the newest",
    description: "Use this when nothing particular is looked for: the newest projects first; with changed_since what changed, withdrawn projects too.",
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
    cursor: Option<After> = listing::CURSOR_DESCRIPTION,
    changed_since: Option<Since> = "Day or RFC 3339, e.g. {day}",
    kinds: Kinds = "Of changes, e.g. revised,withdrawn",
}

/// The end of a page.
enum After {
    /// Of the newest.
    Newest(Cursor),
    /// Of what changed.
    Changed(ChangedCursor),
}

impl input::Value for After {
    fn read(arguments: &mut Arguments<'_>, name: &'static str) -> Option<After> {
        let after = |text: &str| {
            let newest = text.parse().ok().map(After::Newest);
            newest.or_else(|| text.parse().ok().map(After::Changed))
        };
        arguments.parsed(name, after, listing::CURSOR)
    }
}

/// The names of all arguments: its own, then the options.
const ARGUMENTS: [&str; Input::NAMES.len() + options::NAMES.len()] =
    join_names(Input::NAMES, &options::NAMES);

fn schema() -> Value {
    options::add_to(Input::schema(), false, false)
}

async fn run<'a>(context: CallContext<'a>, options: &ListOptions, input: Input) -> Answered<'a> {
    let Input { limit, cursor, changed_since, kinds: Kinds(kinds) } = input;
    let of_other_list = || Err(Refusal::guided(changed::OTHER_LIST));
    if let Some(Since(since)) = changed_since {
        let after = match cursor {
            None => None,
            Some(After::Changed(after)) => Some(after),
            Some(After::Newest(_)) => return of_other_list(),
        };
        return changed::run(context, &ChangedSince { since, kinds }, options, (limit, after)).await;
    }
    match cursor {
        None => newest(context, options, (limit, None)).await,
        Some(After::Newest(after)) => newest(context, options, (limit, Some(after))).await,
        Some(After::Changed(_)) => of_other_list(),
    }
}

/// Answers with a page of the newest.
async fn newest<'a>(
    context: CallContext<'a>,
    options: &ListOptions,
    (limit, after): (Limit, Option<Cursor>),
) -> Answered<'a> {
    if let Some(used_up) = quota::used_up(context) {
        let (options, after) = (options.of_total(after.is_some()), after.clone());
        let total = || {
            let page = browse::page(&context.state.listing()?, &options, 1, after);
            page.map(|page| page.total).map_err(|error| Refusal::guided(error.to_string()))
        };
        let total = quota::read(context, Effort::of(&options), total).await?;
        quota::refuse_list(context, used_up, total)?;
    }
    let asked = (Effort::of(options), options.detail);
    quota::read_list(context, asked, |records| list(context, options, (limit, after.as_ref()), records)).await
}

fn list<'a>(
    context: CallContext<'a>,
    options: &ListOptions,
    (limit, after): (Limit, Option<&Cursor>),
    records: &mut TasteRecords,
) -> Written<'a> {
    let now = context.state.listing()?;
    let page = |limit| browse::page(&now, options, limit, after.cloned());
    let sized = (limit, options.detail);
    let written = listing::write_page(context, &now, sized, page, |_, ()| Ok(()), records)?;
    let Some((mut answer, total)) = written else { return Ok(None) };
    facets::write(&mut answer.json, &browse::facets(&now, options))?;
    answer.notes.extend(list_notes::of_list(&now, options, total).into_iter().map(Into::into));
    Ok(Some(answer.of_total(total)))
}
