//! `GET /v1/terms`: the words that curators use in the taste dimensions. Not charged.

use axum::extract::{RawQuery, State};

use answers::catalog::archive_parameters::invalid_cursor;
use answers::catalog::json_writer::JsonWriter;
use answers::catalog::list::List;
use answers::catalog::terms::{self, TermsRequest};
use answers::error::ApiError;
use answers::query::QueryParams;
use answers::route::TERMS;
use answers::state::ApiState;

const NAMES: [&str; 6] = ["dimension", "category", "starts_with", "limit", "cursor", "key"];

pub(crate) async fn terms(
    State(state): State<ApiState>,
    RawQuery(query): RawQuery,
) -> Result<List, ApiError> {
    let query = query.as_deref().unwrap_or_default();
    let sent = QueryParams::parse(query, NAMES);
    let (request, faults) = TermsRequest::of_query(&sent);
    let ignored = sent.finish(faults).map_err(ApiError::invalid_parameters)?;
    let found = terms::find(&state.listing()?, request).map_err(invalid_cursor)?;
    let mut json = JsonWriter::object(state.site(), 4_096);
    found.write(&mut json)?;
    json.member("note", &found.note())?;
    json.ignored_parameters(&ignored)?;
    Ok(List::new(json.finish(), state.site(), TERMS, query, found.next_cursor().as_deref()))
}
