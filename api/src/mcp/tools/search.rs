//! `search`: the connector form of a search, as research agents expect it.

use read::search::Hit;
use schemas::api::search::MAX_QUERY_CHARACTERS;
use schemas::api::site;
use serde::{Deserialize, Serialize};

use super::{Asked, Tool, listing, search_projects};
use crate::answers::forgiven;
use crate::answers::json_writer::JsonWriter;
use crate::error::ApiError;
use crate::mcp::tools::answer::{Answer, Answered};
use crate::mcp::tools::arguments::{Arguments, Limit, USUAL_RESULTS};

pub(super) static TOOL: Tool = Tool {
    name: "search",
    title: "Search (for research agents)",
    description: "Use this when a connector or deep research asks for search and fetch; otherwise prefer search_projects. Gives ids for fetch.",
    input: r#"{"type":"object","properties":{"query":{"type":"string"},"cursor":{"type":"string"}},"required":["query"]}"#,
    output: r#"{"type":"object","properties":{"results":{"type":"array","items":{"type":"object","properties":{"id":{"type":"string"},"title":{"type":"string"},"url":{"type":"string"}},"required":["id","title","url"]}},"next_cursor":{"type":["string","null"]},"note":{"type":"string"},"preview":{"type":"object"}},"required":["results"]}"#,
    arguments: &["query", "cursor"],
    example: r#"{"query":"brick library"}"#,
    is_counted: true,
    writes: false,
};

/// What is read of a summary.
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

pub(super) fn run<'a>(asked: Asked<'a>, arguments: &mut Arguments<'_>) -> Answered<'a> {
    let (query, cursor) =
        (arguments.required("query", MAX_QUERY_CHARACTERS), search_projects::cursor(arguments));
    let query = arguments.complete(query)?;
    let usual = Limit { results: USUAL_RESULTS, is_asked: false };
    let page = search_projects::find(asked, &query, None, (listing::most(asked, usual), cursor))?;
    let found: Vec<Found> = page.hits().map(|hit| head(asked, &hit)).collect::<Result<_, _>>()?;
    let mut json = JsonWriter::object(asked.state.site(), 256 * (1 + found.len()));
    json.member("results", &found)?;
    json.member("next_cursor", &page.next().map(|cursor| cursor.to_string()))?;
    listing::preview(&mut json, asked, found.len(), page.total())?;
    let mut answer = Answer::new(json);
    let relax = if page.total() == 0 { Some(search_projects::relax(asked, &query, None)?) } else { None };
    answer.notes.extend(forgiven::note(&page).into_iter().chain(relax).map(Into::into));
    Ok(answer)
}

fn head(asked: Asked<'_>, hit: &Hit<'_>) -> Result<Found, ApiError> {
    let mut text = Vec::with_capacity(hit.summary.len() + 128);
    site::fill(hit.summary, asked.state.site().as_str(), &mut text);
    text.push(b'}');
    let Head { slug, name, studio, url } = serde_json::from_slice(&text).map_err(ApiError::internal)?;
    Ok(Found { id: slug, title: title(&name, studio.as_deref()), url })
}

/// How a project is called where only one line tells of it.
pub(super) fn title(name: &str, studio: Option<&str>) -> String {
    studio.map_or_else(|| name.to_owned(), |studio| format!("{name} — {studio}"))
}
