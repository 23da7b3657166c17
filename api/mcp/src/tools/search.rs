//! `search`: the connector form of a search, as research agents expect it.

use answers::catalog::detail::Detail;
use answers::catalog::json_writer::JsonWriter;
use answers::catalog::list_options::ListOptions;
use answers::catalog::relaxation;
use answers::catalog::search::SearchCursor;
use answers::error::ApiError;
use read::search::Hit;
use schemas::api::search::MAX_QUERY_CHARACTERS;
use schemas::api::site;
use serde::{Deserialize, Serialize};

use super::{CallContext, Run, Tool, listing, quota, search_projects};
use crate::tools::answer::{Answer, Answered};
use crate::tools::arguments::{Limit, USUAL_RESULTS};
use crate::tools::input::{Text, input};

pub(super) static TOOL: Tool = Tool {
    name: "search",
    title: "Search (for research agents)",
    description: "Use this when a connector or deep research asks for search and fetch; otherwise prefer search_projects.",
    input: Input::schema,
    output: r#"{"type":"object","properties":{"results":{"type":"array","items":{"type":"object","properties":{"id":{"type":"string"},"title":{"type":"string"},"url":{"type":"string"}},"required":["id","title","url"]}},"next_cursor":{"type":["string","null"]},"note":{"type":"string"}},"required":["results"]}"#,
    arguments: Input::NAMES,
    example: r#"{"query":"brick library"}"#,
    is_counted: true,
    writes: false,
    run: Run::Ready(|context, arguments| run(context, Input::read(arguments)?)),
};

input! {
    query: Text<MAX_QUERY_CHARACTERS> = "Words, e.g. brick library",
    cursor: Option<SearchCursor> = listing::CURSOR_DESCRIPTION,
}

/// The members of a summary that the answer uses.
#[derive(Deserialize)]
struct Head {
    slug: String,
    name: String,
    studio: Option<String>,
    url: String,
}

#[derive(Serialize)]
struct Found {
    id: String,
    title: String,
    url: String,
}

fn run<'a>(context: CallContext<'a>, input: Input) -> Answered<'a> {
    let Input { query: Text(query), cursor } = input;
    let all = ListOptions::default();
    if let Some(used_up) = quota::used_up(context) {
        let one = search_projects::find(context, &query, &all, (1, cursor.clone()))?;
        quota::refuse_list(context, used_up, one.page.total())?;
    }
    let usual = Limit { results: USUAL_RESULTS, is_asked: false };
    let page = &search_projects::find(context, &query, &all, (listing::most(context, usual), cursor))?.page;
    let found: Vec<Found> = page.hits().map(|hit| head(context, &hit)).collect::<Result<_, _>>()?;
    let mut json = JsonWriter::object(context.state.site(), 256 * (1 + found.len()));
    json.member("results", &found)?;
    json.member("next_cursor", &page.next_cursor().map(|cursor| cursor.to_string()))?;
    listing::preview(&mut json, (context, Detail::Full), found.len(), page.total())?;
    let mut answer = Answer::new(json).of_total(page.total());
    let advice = (page.total() == 0).then(|| search_projects::OTHER_WORDS.to_owned());
    answer.notes.extend(relaxation::note(page).into_iter().chain(advice).map(Into::into));
    Ok(answer)
}

fn head(context: CallContext<'_>, hit: &Hit<'_>) -> Result<Found, ApiError> {
    let mut text = Vec::with_capacity(hit.summary.len() + 128);
    site::fill(hit.summary, context.state.site().as_str(), &mut text);
    text.push(b'}');
    let Head { slug, name, studio, url } = serde_json::from_slice(&text).map_err(ApiError::internal)?;
    Ok(Found { id: slug, title: title(&name, studio.as_deref()), url })
}

/// Returns the title of a project in one line.
pub(super) fn title(name: &str, studio: Option<&str>) -> String {
    studio.map_or_else(|| name.to_owned(), |studio| format!("{name} — {studio}"))
}
