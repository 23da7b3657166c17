//! Resolves a slug: to the project, to a redirect where it moved, or to the error that says why there is none.

use std::sync::Arc;

use axum::extract::Path;
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use http::header::LOCATION;
use http::{HeaderValue, StatusCode};
use read::catalog::{self, CatalogReader, History};
use read::error::ModelError;
use read::models::Opened;
use schemas::api::site;
use schemas::slug::Slug;

use super::search;
use crate::error::ApiError;
use crate::query;
use crate::state::ApiState;

/// The most slugs that are suggested.
const SUGGESTIONS: usize = 3;

/// What a slug leads to.
#[derive(Debug)]
pub(crate) enum SlugResolution {
    /// A project: its full record, rendered.
    Found(Bytes),
    /// The project has this slug now.
    Redirect(String),
    /// A project that left the catalog.
    Gone { reason: String, citation_url: String },
    /// There never was a project; these slugs are near.
    NotFound { suggestions: Vec<String> },
}

/// A project, or the way to it.
pub(crate) enum Resolved {
    /// Its full record, rendered.
    Found(Bytes),
    /// The redirect to the slug that it has now.
    Redirect(Response),
}

/// The history of the project that a slug names.
pub(crate) enum PastResolution {
    /// What the catalog knows of the project through time, and the catalog that knows it.
    Found(Arc<Opened<CatalogReader>>, History),
    /// Nothing; these slugs are near.
    Unknown { suggestions: Vec<String> },
}

/// The slug in the path of a request, or a redirect to it.
pub(crate) enum SlugOrAddress {
    /// A slug.
    Slug(Slug),
    /// An address that a project brings itself: the redirect to its slug.
    Address(Response),
}

/// Reads a path's slug. `path` is what the endpoint's paths begin with.
///
/// # Errors
///
/// Fails with the fault of an unknown slug where it is none, and no address that a project brings.
pub(crate) async fn read(
    state: &ApiState,
    text: Option<Path<String>>,
    path: &str,
    query: &str,
) -> Result<SlugOrAddress, ApiError> {
    let Some(Path(text)) = text else { return Err(ApiError::unknown_slug(Vec::new())) };
    if let Ok(slug) = text.parse() {
        return Ok(SlugOrAddress::Slug(slug));
    }
    if text.contains("://")
        && let Some(slug) = slug_of_address(state, &text).await?
    {
        return moved(state, path, &slug, query).map(SlugOrAddress::Address);
    }
    Err(ApiError::unknown_slug(near(state, &text)))
}

/// The present slug of the project whose record brings this address.
pub(crate) async fn slug_of_address(state: &ApiState, address: &str) -> Result<Option<String>, ApiError> {
    state.catalog()?.reader.slug_of_address(address).await.map_err(fault)
}

/// Looks a slug up in the catalog.
pub(crate) async fn resolve(state: &ApiState, slug: &Slug) -> Result<SlugResolution, ApiError> {
    Ok(match state.catalog()?.reader.resolve(slug.as_str()).await.map_err(fault)? {
        catalog::SlugResolution::Found(record) => SlugResolution::Found(record),
        catalog::SlugResolution::Redirect(slug) => SlugResolution::Redirect(slug),
        catalog::SlugResolution::Gone { reason, citation } => {
            let mut address = Vec::with_capacity(128);
            site::fill(&citation, state.site().as_str(), &mut address);
            SlugResolution::Gone { reason, citation_url: String::from_utf8_lossy(&address).into_owned() }
        }
        catalog::SlugResolution::NotFound => {
            SlugResolution::NotFound { suggestions: instead_of(state, slug)? }
        }
    })
}

/// The same for an endpoint whose paths begin with `path`, asked with this query.
pub(crate) async fn resolve_or_redirect(
    state: &ApiState,
    slug: &Slug,
    path: &str,
    query: &str,
) -> Result<Resolved, ApiError> {
    match resolve(state, slug).await? {
        SlugResolution::Found(record) => Ok(Resolved::Found(record)),
        SlugResolution::Redirect(slug) => moved(state, path, &slug, query).map(Resolved::Redirect),
        SlugResolution::Gone { reason, citation_url } => Err(ApiError::withdrawn(reason, citation_url)),
        SlugResolution::NotFound { suggestions } => Err(ApiError::unknown_slug(suggestions)),
    }
}

/// Looks up what a slug leads to in a project's past.
pub(crate) async fn resolve_past(state: &ApiState, slug: &Slug) -> Result<PastResolution, ApiError> {
    let catalog = state.catalog()?;
    match catalog.reader.history(slug.as_str()).await.map_err(fault)? {
        Some(history) => Ok(PastResolution::Found(catalog, history)),
        None => Ok(PastResolution::Unknown { suggestions: instead_of(state, slug)? }),
    }
}

/// What the catalog knows of a project through time, and the catalog that knows it.
pub(crate) async fn history(
    state: &ApiState,
    slug: &Slug,
) -> Result<(Arc<Opened<CatalogReader>>, History), ApiError> {
    match resolve_past(state, slug).await? {
        PastResolution::Found(catalog, history) => Ok((catalog, history)),
        PastResolution::Unknown { suggestions } => Err(ApiError::unknown_slug(suggestions)),
    }
}

/// The redirect of an endpoint whose paths begin with `path`. The place is a path, not an address: a client that came by
/// another host than the public one stays there. What it asked for goes along, but for a key: that is written into no reply.
pub(crate) fn moved(state: &ApiState, path: &str, slug: &str, query: &str) -> Result<Response, ApiError> {
    let asked = query::without(query, "key");
    let mark = if asked.is_empty() { "" } else { "?" };
    let below = state.site().path();
    let location =
        HeaderValue::try_from(format!("{below}{path}{slug}{mark}{asked}")).map_err(ApiError::internal)?;
    Ok((StatusCode::PERMANENT_REDIRECT, [(LOCATION, location)]).into_response())
}

/// Slugs near to one that the catalog does not know.
///
/// # Errors
///
/// Fails where the search index lists the slug: it is ahead of the catalog, which will know it in a moment.
fn instead_of(state: &ApiState, slug: &Slug) -> Result<Vec<String>, ApiError> {
    if is_listed(state, slug)? { Err(ApiError::catching_up()) } else { Ok(near(state, slug.as_str())) }
}

fn is_listed(state: &ApiState, slug: &Slug) -> Result<bool, ApiError> {
    let Some(search) = state.models().search() else { return Ok(false) };
    let ordinal = search.reader.view().ordinal_of(slug.as_str()).map_err(search::fault)?;
    Ok(ordinal.is_some())
}

/// Slugs near to a text: first the one that is made of it, then those that are spelt like it or share its words.
pub(crate) fn near(state: &ApiState, text: &str) -> Vec<String> {
    let Some(search) = state.models().search() else { return Vec::new() };
    let Some(slug) = Slug::from_name(text) else { return Vec::new() };
    let is_made = slug.as_str() != text && is_listed(state, &slug).unwrap_or_default();
    let mut near = if is_made { vec![slug.to_string()] } else { Vec::new() };
    match search.reader.suggest_slugs(slug.as_str(), SUGGESTIONS) {
        Ok(others) => near.extend(others),
        // A 404 is still true where nothing can be suggested.
        Err(error) => tracing::warn!(%error, "no near slugs could be found"),
    }
    near.truncate(SUGGESTIONS);
    near
}

pub(crate) fn fault(error: ModelError) -> ApiError {
    match error {
        ModelError::Database(_) => ApiError::unavailable_because(error),
        _ => ApiError::internal(error),
    }
}
