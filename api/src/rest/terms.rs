//! `GET /v1/terms`: the words that curators use in the taste dimensions. Not charged.

use axum::extract::{RawQuery, State};

use answers::catalog::json_writer::JsonWriter;
use answers::catalog::list::List;
use answers::catalog::terms::{self, TermsRequest};
use answers::error::ApiError;
use answers::query::{self, QueryParams};
use answers::route::TERMS;
use answers::state::ApiState;

const NAMES: [&str; 4] = ["dimension", "category", "limit", "key"];

pub(crate) async fn terms(
    State(state): State<ApiState>,
    RawQuery(query): RawQuery,
) -> Result<List, ApiError> {
    let query = query.as_deref().unwrap_or_default();
    let sent = QueryParams::parse(query, NAMES);
    let mut faults = Vec::new();
    let request = TermsRequest {
        dimension: query::dimension(&sent, &mut faults),
        category: query::category(&sent, &mut faults),
        limit: query::limit(&sent, &mut faults),
    };
    let ignored = sent.finish(faults).map_err(ApiError::invalid_parameters)?;
    let mut json = JsonWriter::object(state.site(), 4_096);
    let note = terms::write(&mut json, &state.listing()?, request)?;
    json.member("note", &note)?;
    json.ignored_parameters(&ignored)?;
    Ok(List::new(json.finish(), state.site(), TERMS, query, None))
}
