//! `GET /v1/discover`: a project drawn at random.

use axum::extract::{RawQuery, State};
use axum::response::IntoResponse;
use http::HeaderValue;
use http::header::CACHE_CONTROL;

use answers::catalog::browse::{self, NOTHING_TO_DRAW};
use answers::catalog::json_writer::{self, JsonWriter};
use answers::catalog::list::List;
use answers::error::ApiError;
use answers::query::{self, QueryParams};
use answers::route::DISCOVER;
use answers::state::ApiState;

pub(crate) async fn discover(
    State(state): State<ApiState>,
    RawQuery(query): RawQuery,
) -> Result<impl IntoResponse, ApiError> {
    let sent = QueryParams::parse(query.as_deref().unwrap_or_default(), ["category", "detail", "key"]);
    let mut faults = Vec::new();
    let category = query::category(&sent, &mut faults);
    let detail = query::detail(&sent, &mut faults);
    let ignored = sent.finish(faults).map_err(ApiError::invalid_parameters)?;
    let (now, site) = (state.listing()?, state.site());
    let drawn = browse::draw(&now, category)?;
    let mut json = JsonWriter::object(site, json_writer::capacity(drawn.iter().copied(), site));
    json.member("count", &drawn.iter().len())?;
    json.member("total", &now.listed(category))?;
    json.projects("results", drawn.map(|summary| (detail.of(summary), ())), |_, ()| Ok(()))?;
    json.member("note", &drawn.is_none().then_some(NOTHING_TO_DRAW))?;
    json.ignored_parameters(&ignored)?;
    // Every call draws again.
    let caching = [(CACHE_CONTROL, HeaderValue::from_static("no-store"))];
    Ok((caching, List::new(json.finish(), site, DISCOVER, "", None)))
}
