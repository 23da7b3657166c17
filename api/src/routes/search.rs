//! `GET /v1/search`: projects by words.

mod parameters;

use axum::extract::{RawQuery, State};
use read::search::{Forgiven, Hit, SearchError, SearchRequest};
use schemas::record::Category;

use super::List;
use crate::fault::Fault;
use crate::forgiven;
use crate::json_writer::{self, JsonWriter};
use crate::site::Site;
use crate::state::ApiState;

use parameters::SearchParameters;

/// The path of a search.
const PATH: &str = "/v1/search";

pub(crate) async fn search(State(state): State<ApiState>, RawQuery(query): RawQuery) -> Result<List, Fault> {
    answer(&state, query.as_deref().unwrap_or_default())
}

/// Answers a query string with a JSON document. A search takes microseconds: handing it to another thread, or making a
/// future of it, would cost more than it does.
pub(crate) fn answer(state: &ApiState, query: &str) -> Result<List, Fault> {
    let parameters = SearchParameters::parse(query).map_err(Fault::invalid_parameters)?;
    let model = state.search()?;
    let request = SearchRequest {
        text: parameters.q.trim(),
        category: parameters.category.map(Category::as_str),
        limit: parameters.limit,
        after: parameters.cursor,
    };
    let page = model.reader.search(&request).map_err(fault)?;
    let hits: Vec<Hit<'_>> = page.hits().collect();
    let (note, cursor) = (forgiven::note(&page), page.next().map(|cursor| cursor.to_string()));
    let (cursor, said) = (cursor.as_deref(), (page.forgiven(), note.as_deref()));
    let mut json = assemble(&parameters.q, &hits, page.total(), said, cursor, state.site())?;
    json.ignored_parameters(&parameters.ignored)?;
    Ok(List::new(json.finish(), state.site(), PATH, query, cursor))
}

pub(crate) fn fault(error: SearchError) -> Fault {
    match error {
        SearchError::InvalidCursor(_) => Fault::invalid_parameters(vec![parameters::invalid_cursor()]),
        SearchError::Unavailable(_) => Fault::unavailable_because(error),
        SearchError::Busy | SearchError::Corrupt(_) | SearchError::Rejected(_) => Fault::internal(error),
    }
}

/// Writes the answer from the ready-rendered summaries. `query` is echoed as it was sent.
fn assemble<'a>(
    query: &str,
    hits: &[Hit<'_>],
    total: u64,
    (said, note): (Option<&Forgiven>, Option<&str>),
    next: Option<&str>,
    site: &'a Site,
) -> Result<JsonWriter<'a>, Fault> {
    let summaries = hits.iter().map(|hit| hit.summary);
    let mut json = JsonWriter::object(site, 2 * query.len() + json_writer::room(summaries, site));
    json.member("query", query)?;
    json.member("count", &hits.len())?;
    json.member("total", &total)?;
    forgiven::write(&mut json, said, note)?;
    write(&mut json, hits)?;
    json.member("next_cursor", &next)?;
    Ok(json)
}

/// Writes the member `results`.
pub(crate) fn write(json: &mut JsonWriter<'_>, hits: &[Hit<'_>]) -> Result<(), Fault> {
    let results = hits.iter().map(|hit| (hit.summary, hit.score));
    json.projects("results", results, |json, score| json.member("score", &score))
}

#[cfg(test)]
mod tests;
