//! `GET /v1/suggest`: suggestions while a text is typed. Not charged.

use axum::extract::{RawQuery, State};
use schemas::api::suggest::{DEFAULT_SUGGESTIONS, MAX_SUGGESTIONS};

use answers::catalog::json_writer::JsonWriter;
use answers::catalog::list::List;
use answers::catalog::suggest;
use answers::error::ApiError;
use answers::query::{self, QueryParams};
use answers::route::SUGGEST;
use answers::state::ApiState;

const NAMES: [&str; 3] = ["q", "limit", "key"];

pub(crate) async fn suggest(
    State(state): State<ApiState>,
    RawQuery(query): RawQuery,
) -> Result<List, ApiError> {
    let query = query.as_deref().unwrap_or_default();
    let sent = QueryParams::parse(query, NAMES);
    let mut faults = Vec::new();
    let q = query::text(&sent, &mut faults);
    let limit = query::integer(&sent, &mut faults, "limit", DEFAULT_SUGGESTIONS, 1..=MAX_SUGGESTIONS);
    let ignored = sent.finish(faults).map_err(ApiError::invalid_parameters)?;
    let mut json = JsonWriter::object(state.site(), 1_024);
    suggest::write(&mut json, &state.listing()?, &q, limit)?;
    json.ignored_parameters(&ignored)?;
    Ok(List::new(json.finish(), state.site(), SUGGEST, query, None))
}
