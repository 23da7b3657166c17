//! `GET /v1/project/{slug}`: the full record of one project, as it is or as it once was.

mod past;

use axum::extract::rejection::PathRejection;
use axum::extract::{Path, RawQuery, State};
use axum::response::{IntoResponse, Response};
use http::HeaderValue;
use http::header::CONTENT_TYPE;
use schemas::api::site;
use schemas::slug::Slug;

use super::standing::{self, Place};
use crate::fault::Fault;
use crate::query::Given;
use crate::state::ApiState;
use past::Past;

const PATH: &str = "/v1/project";

pub(crate) async fn project(
    State(state): State<ApiState>,
    path: Result<Path<String>, PathRejection>,
    RawQuery(query): RawQuery,
) -> Result<Response, Fault> {
    let query = query.as_deref().unwrap_or_default();
    let mut faults = Vec::new();
    let sent = Given::read(query, ["revision", "as_of", "key"]);
    sent.single("key", &mut faults);
    let past = Past::of(&sent, &mut faults);
    if !faults.is_empty() {
        return Err(Fault::invalid_parameters(faults));
    }
    // What is no slug is nobody's slug.
    let Some(slug) = path.ok().and_then(|Path(text)| Slug::try_from(text).ok()) else {
        return Err(Fault::unknown_slug(Vec::new()));
    };
    if let Some(past) = past {
        return past::answer(&state, &slug, past, query).await;
    }
    match standing::place(&state, &slug, PATH, query).await? {
        Place::Here(record) => Ok(listed(&record, state.site().as_str())),
        Place::There(redirect) => Ok(redirect),
    }
}

fn listed(record: &[u8], site: &str) -> Response {
    let mut body = Vec::with_capacity(record.len() + 8 * site.len());
    site::fill(record, site, &mut body);
    ([(CONTENT_TYPE, HeaderValue::from_static("application/json"))], body).into_response()
}
