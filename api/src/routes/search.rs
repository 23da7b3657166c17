//! `GET /v1/search`: projects by words.

mod parameters;

use axum::extract::{RawQuery, State};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use http::HeaderValue;
use http::header::CONTENT_TYPE;
use read::search::{Cursor, Hit, SearchError, SearchRequest};
use schemas::api::site;
use schemas::record::Category;

use crate::fault::Fault;
use crate::site::Site;
use crate::state::ApiState;

use parameters::SearchParameters;

/// Room for what stands around the summary of a hit: the site's address twice or thrice and the score.
const AROUND_A_HIT: usize = 32;

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
    let model = state
        .models()
        .search()
        .ok_or_else(|| Fault::unavailable("The search index is still being filled."))?;
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

fn fault(error: SearchError) -> Fault {
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
    let site = site.as_str();
    let summaries: usize = hits.iter().map(|hit| hit.summary.len() + 3 * site.len() + AROUND_A_HIT).sum();
    let mut body = Vec::with_capacity(summaries + 2 * query.len() + 256);
    body.extend_from_slice(br#"{"query":"#);
    append(&mut body, &query)?;
    body.extend_from_slice(br#","count":"#);
    append(&mut body, &hits.len())?;
    body.extend_from_slice(br#","total":"#);
    append(&mut body, &total)?;
    body.extend_from_slice(br#","results":["#);
    for (index, hit) in hits.iter().enumerate() {
        if index > 0 {
            body.push(b',');
        }
        site::fill(hit.summary, site, &mut body);
        body.extend_from_slice(br#","score":"#);
        append(&mut body, &hit.score)?;
        body.push(b'}');
    }
    body.extend_from_slice(br#"],"next_cursor":"#);
    append(&mut body, &next.map(|cursor| cursor.to_string()))?;
    body.push(b'}');
    Ok(body)
}

fn append<T: serde::Serialize>(body: &mut Vec<u8>, value: &T) -> Result<(), Fault> {
    serde_json::to_writer(body, value).map_err(Fault::internal)
}

#[cfg(test)]
mod tests;
