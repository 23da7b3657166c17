//! `GET /surprise`: leads to a random project.

use answers::catalog::browse;
use answers::error::ApiError;
use answers::query::QueryParams;
use answers::route;
use answers::state::ApiState;
use axum::extract::{RawQuery, State};
use axum::response::{IntoResponse, Redirect, Response};
use http::HeaderValue;
use http::header::CACHE_CONTROL;
use schemas::record::Category;

use crate::card::Card;

/// Returns the path that leads to a random project, of a category or of all.
pub(super) fn path(category: Option<Category>, base: &str) -> String {
    let query = category.map(|category| format!("?category={}", category.as_str())).unwrap_or_default();
    format!("{base}{}{query}", route::SURPRISE)
}

/// Leads to a random project of a category or of all; to the front page if there is none.
pub(crate) async fn surprise(
    State(state): State<ApiState>,
    RawQuery(query): RawQuery,
) -> Result<Response, ApiError> {
    let mut sent = QueryParams::parse(query.as_deref().unwrap_or_default(), ["category"]);
    let category = sent.category();
    sent.finish()?;
    let (listing, base) = (state.listing()?, state.site().path());
    let path = match browse::draw(&listing, category)? {
        Some(summary) => format!("{base}/projects/{}", Card::of(summary, state.site())?.slug),
        None => format!("{base}/"),
    };
    let fresh = [(CACHE_CONTROL, HeaderValue::from_static("no-store"))];
    Ok((fresh, Redirect::to(&path)).into_response())
}
