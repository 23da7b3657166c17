//! `GET /v1/project/{slug}`: the full record of one project.

use axum::extract::rejection::PathRejection;
use axum::extract::{Path, RawQuery, State};
use axum::response::{IntoResponse, Response};
use http::header::{CONTENT_TYPE, LOCATION};
use http::{HeaderValue, StatusCode};
use read::catalog::{CatalogError, Found};
use schemas::api::site;
use schemas::slug::Slug;

use crate::fault::Fault;
use crate::query::Given;
use crate::state::ApiState;

/// How many near slugs are suggested at most.
const SUGGESTIONS: usize = 3;

pub(crate) async fn project(
    State(state): State<ApiState>,
    path: Result<Path<String>, PathRejection>,
    RawQuery(query): RawQuery,
) -> Result<Response, Fault> {
    let mut faults = Vec::new();
    Given::read(query.as_deref().unwrap_or_default(), ["key"]).single("key", &mut faults);
    if !faults.is_empty() {
        return Err(Fault::invalid_parameters(faults));
    }
    // What is no slug is nobody's slug.
    let Some(slug) = path.ok().and_then(|Path(text)| Slug::try_from(text).ok()) else {
        return Err(Fault::unknown_slug(Vec::new()));
    };
    let catalog =
        state.models().catalog().ok_or_else(|| Fault::unavailable("The catalog is still being filled."))?;
    match catalog.reader.find(slug.as_str()).await.map_err(fault)? {
        Found::Listed(record) => Ok(listed(&record, state.site().as_str())),
        Found::Moved(slug) => Ok(moved(&slug)),
        Found::Withdrawn { reason, citation } => {
            let mut address = Vec::with_capacity(128);
            site::fill(&citation, state.site().as_str(), &mut address);
            Err(Fault::withdrawn(reason, String::from_utf8_lossy(&address).into_owned()))
        }
        Found::Unknown => Err(Fault::unknown_slug(near(&state, &slug))),
    }
}

fn listed(record: &[u8], site: &str) -> Response {
    let mut body = Vec::with_capacity(record.len() + 8 * site.len());
    site::fill(record, site, &mut body);
    ([(CONTENT_TYPE, HeaderValue::from_static("application/json"))], body).into_response()
}

/// The place is a path, not an address: a client that came by another address than the public one stays there, and
/// does not lose its key on the way.
fn moved(slug: &str) -> Response {
    match HeaderValue::try_from(format!("/v1/project/{slug}")) {
        Ok(location) => (StatusCode::PERMANENT_REDIRECT, [(LOCATION, location)]).into_response(),
        Err(error) => Fault::internal(error).into_response(),
    }
}

/// A 404 is still true where nothing can be suggested.
fn near(state: &ApiState, slug: &Slug) -> Vec<String> {
    let Some(search) = state.models().search() else { return Vec::new() };
    search.reader.near_slugs(slug.as_str(), SUGGESTIONS).unwrap_or_else(|error| {
        tracing::warn!(%error, "no near slugs could be found");
        Vec::new()
    })
}

fn fault(error: CatalogError) -> Fault {
    match error {
        CatalogError::Database(_) => Fault::unavailable_because(error),
        CatalogError::Corrupt(_) => Fault::internal(error),
    }
}
