//! `GET /v1/discover`: a project drawn at random.

use axum::extract::{RawQuery, State};
use axum::response::IntoResponse;
use http::HeaderValue;
use http::header::CACHE_CONTROL;

use answers::catalog::browse::{self, NOTHING_TO_DRAW};
use answers::catalog::document::JsonDocument;
use answers::catalog::json_writer::{self, JsonWriter};
use answers::catalog::taste_records::TasteRecords;
use answers::error::ApiError;
use answers::query::QueryParams;
use answers::state::ApiState;

pub(crate) async fn discover(
    State(state): State<ApiState>,
    RawQuery(query): RawQuery,
) -> Result<impl IntoResponse, ApiError> {
    let mut sent = QueryParams::parse(query.as_deref().unwrap_or_default(), ["category", "detail", "key"]);
    let (category, detail) = (sent.category(), sent.detail());
    let ignored = sent.finish()?;
    let (now, site) = (state.listing()?, state.site());
    let mut drawn = browse::draw(&now, category)?;
    let mut records = TasteRecords::of_one(&state, detail, drawn).await?;
    records.fill(drawn.as_mut_slice(), |summary| summary);
    let mut json = JsonWriter::object(site, json_writer::capacity(drawn.iter().copied(), site));
    json.member("count", &drawn.iter().len())?;
    let total = now.listed(category);
    json.member("total", &total)?;
    json.projects("results", drawn.map(|summary| (detail.of(summary), ())), |_, ()| Ok(()))?;
    json.member("note", &drawn.is_none().then_some(NOTHING_TO_DRAW))?;
    json.ignored_parameters(&ignored)?;
    // Every call draws again.
    let document = JsonDocument::of(json.finish()).of_total(total);
    Ok(([(CACHE_CONTROL, HeaderValue::from_static("no-store"))], document))
}
