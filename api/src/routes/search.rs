//! `GET /v1/search`: projects by words.

mod parameters;

use axum::extract::{RawQuery, State};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use http::HeaderValue;
use http::header::CONTENT_TYPE;
use read::search::{Cursor, Hit, SearchError, SearchRequest};
use schemas::record::Category;

use crate::fault::Fault;
use crate::json_writer::{self, JsonWriter};
use crate::site::Site;
use crate::state::ApiState;

use parameters::SearchParameters;

pub(crate) async fn search(
    State(state): State<ApiState>,
    RawQuery(query): RawQuery,
) -> Result<Response, Fault> {
    let body = answer(&state, query.as_deref().unwrap_or_default())?;
    Ok(([(CONTENT_TYPE, HeaderValue::from_static("application/json"))], body).into_response())
}

/// Answers a query string with a JSON document. A search takes microseconds: handing it to another thread, or making a
/// future of it, would cost more than it does.
pub(crate) fn answer(state: &ApiState, query: &str) -> Result<Bytes, Fault> {
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
    assemble(&parameters.q, &hits, page.total(), page.next(), state.site()).map(Bytes::from)
}

pub(crate) fn fault(error: SearchError) -> Fault {
    match error {
        SearchError::InvalidCursor(_) => Fault::invalid_parameters(vec![parameters::invalid_cursor()]),
        SearchError::Unavailable(_) => Fault::unavailable_because(error),
        SearchError::Busy | SearchError::Corrupt(_) | SearchError::Rejected(_) => Fault::internal(error),
    }
}

/// Writes the answer from the ready-rendered summaries. `query` is echoed as it was sent.
fn assemble(
    query: &str,
    hits: &[Hit<'_>],
    total: u64,
    next: Option<Cursor>,
    site: &Site,
) -> Result<Vec<u8>, Fault> {
    let summaries = hits.iter().map(|hit| hit.summary);
    let mut json = JsonWriter::object(site, 2 * query.len() + json_writer::room(summaries, site));
    json.member("query", query)?;
    json.member("count", &hits.len())?;
    json.member("total", &total)?;
    write(&mut json, hits)?;
    json.member("next_cursor", &next.map(|cursor| cursor.to_string()))?;
    Ok(json.finish())
}

/// Writes the member `results`.
pub(crate) fn write(json: &mut JsonWriter<'_>, hits: &[Hit<'_>]) -> Result<(), Fault> {
    let results = hits.iter().map(|hit| (hit.summary, hit.score));
    json.projects("results", results, |json, score| json.member("score", &score))
}

#[cfg(test)]
mod tests;
