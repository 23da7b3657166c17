//! `GET /v1/search`: projects by words.

mod parameters;

use axum::extract::{RawQuery, State};
use read::search::{Hit, Relaxation, SearchRequest};
use schemas::record::Category;

use answers::catalog::json_writer::{self, JsonWriter};
use answers::catalog::list::List;
use answers::catalog::relaxation;
use answers::catalog::search;
use answers::error::ApiError;
use answers::route::SEARCH;
use answers::site::Site;
use answers::state::ApiState;

use crate::rest::search::parameters::SearchParameters;

pub(super) async fn search(
    State(state): State<ApiState>,
    RawQuery(query): RawQuery,
) -> Result<List, ApiError> {
    answer(&state, query.as_deref().unwrap_or_default())
}

/// Answers a query string with a JSON document. A search takes microseconds: another thread, or a future, would cost more than the
/// search.
pub(crate) fn answer(state: &ApiState, query: &str) -> Result<List, ApiError> {
    let parameters = SearchParameters::parse(query).map_err(ApiError::invalid_parameters)?;
    let model = state.search()?;
    let request = SearchRequest {
        text: parameters.q.trim(),
        category: parameters.category.map(Category::as_str),
        limit: parameters.limit,
        after: parameters.cursor,
    };
    let page = model.reader.search(&request).map_err(search::api_error)?;
    let hits: Vec<Hit<'_>> = page.hits().collect();
    let (note, cursor) = (relaxation::note(&page), page.next_cursor().map(|cursor| cursor.to_string()));
    let (cursor, said) = (cursor.as_deref(), (page.relaxation(), note.as_deref()));
    let mut json = assemble(&parameters.q, &hits, page.total(), said, cursor, state.site())?;
    json.ignored_parameters(&parameters.ignored)?;
    Ok(List::new(json.finish(), state.site(), SEARCH, query, cursor))
}

/// Writes the answer from the rendered summaries. `query` is repeated as it was sent.
fn assemble<'a>(
    query: &str,
    hits: &[Hit<'_>],
    total: u64,
    (said, note): (Option<&Relaxation>, Option<&str>),
    next: Option<&str>,
    site: &'a Site,
) -> Result<JsonWriter<'a>, ApiError> {
    let summaries = hits.iter().map(|hit| hit.summary);
    let mut json = JsonWriter::object(site, 2 * query.len() + json_writer::capacity(summaries, site));
    json.member("query", query)?;
    json.member("count", &hits.len())?;
    json.member("total", &total)?;
    relaxation::write(&mut json, said, note)?;
    search::write(&mut json, hits)?;
    json.member("next_cursor", &next)?;
    Ok(json)
}

#[cfg(test)]
mod tests;
