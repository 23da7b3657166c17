//! Resolves a slug: to the project, to a redirect if it was renamed, or to the error that says why there is none.

use std::sync::Arc;

use axum::extract::Path;
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use http::header::LOCATION;
use http::{HeaderValue, StatusCode};
use read::catalog::{self, CatalogReader, History};
use read::error::ModelError;
use read::models::OpenModel;
use schemas::api::site;
use schemas::slug::Slug;

use super::search;
use crate::error::ApiError;
use crate::query;
use crate::state::ApiState;

/// The maximum number of suggested slugs.
const SUGGESTIONS: usize = 3;

/// The result of looking up a slug.
#[derive(Debug)]
pub enum SlugResolution {
    /// A project: its full record, rendered.
    Found(Bytes),
    /// The project was renamed; this is its present slug.
    Redirect(String),
    /// The project was withdrawn.
    Gone {
        /// Why.
        reason: String,
        /// The URL that its last record brings to be cited, or else that of its last revision.
        citation_url: String,
        /// The permanent URL of its last revision.
        revision_url: String,
    },
    /// There never was such a project.
    NotFound {
        /// Similar slugs.
        suggestions: Vec<String>,
    },
}

/// A project, or the redirect to it.
pub enum Resolved {
    /// Its full record, rendered.
    Found(Bytes),
    /// The redirect to its present slug.
    Redirect(Response),
}

/// The result of looking up the history of a slug's project.
pub enum HistoryResolution {
    /// The history, and the catalog from which its revisions are read.
    Found(Arc<OpenModel<CatalogReader>>, History),
    /// There never was such a project.
    Unknown {
        /// Similar slugs.
        suggestions: Vec<String>,
    },
}

/// The slug in the path of a request, or the redirect to it.
pub enum PathSlug {
    /// A slug.
    Slug(Slug),
    /// The path has a slug in another case or a project's own URL: the redirect to its slug.
    Redirect(Response),
}

/// Parses the slug of a path; `path` is the prefix of the endpoint's paths.
///
/// # Errors
///
/// If the text is neither a slug, in whatever case, nor the URL of a project.
pub async fn of_path(
    state: &ApiState,
    text: Option<Path<String>>,
    path: &str,
    query: &str,
) -> Result<PathSlug, ApiError> {
    let Some(Path(text)) = text else { return Err(ApiError::unknown_slug(Vec::new())) };
    if let Ok(slug) = text.parse() {
        return Ok(PathSlug::Slug(slug));
    }
    if text.contains("://")
        && let Some(slug) = slug_of_address(state, &text).await?
    {
        return redirect(state, path, &slug, query).map(PathSlug::Redirect);
    }
    if let Some(slug) = in_lower_case(state, &text).await? {
        return redirect(state, path, slug.as_str(), query).map(PathSlug::Redirect);
    }
    Err(ApiError::unknown_slug(suggestions(state, &text)))
}

/// Returns the slug that a text in another case means: slugs are in lower case. `None` if no project has or had it.
///
/// # Errors
///
/// As for [`resolve`].
pub async fn in_lower_case(state: &ApiState, text: &str) -> Result<Option<Slug>, ApiError> {
    let lower = text.to_ascii_lowercase();
    let Some(slug) = lower.parse::<Slug>().ok().filter(|_| lower != text) else { return Ok(None) };
    let is_known = !matches!(resolve(state, &slug).await?, SlugResolution::NotFound { .. });
    Ok(is_known.then_some(slug))
}

/// Returns the present slug of the project whose record has this URL.
///
/// # Errors
///
/// If the catalog cannot be read.
pub async fn slug_of_address(state: &ApiState, address: &str) -> Result<Option<String>, ApiError> {
    state.catalog()?.reader.slug_of_address(address).await.map_err(api_error)
}

/// Looks up a slug in the catalog.
///
/// # Errors
///
/// If the catalog cannot be read, or does not have a project yet that the search index has.
pub async fn resolve(state: &ApiState, slug: &Slug) -> Result<SlugResolution, ApiError> {
    Ok(match state.catalog()?.reader.resolve(slug.as_str()).await.map_err(api_error)? {
        catalog::SlugResolution::Found(record) => SlugResolution::Found(record),
        catalog::SlugResolution::Redirect(slug) => SlugResolution::Redirect(slug),
        catalog::SlugResolution::Gone { reason, citation, revision_url } => {
            let filled = |rendered: &[u8]| {
                let mut address = Vec::with_capacity(128);
                site::fill(rendered, state.site().as_str(), &mut address);
                String::from_utf8_lossy(&address).into_owned()
            };
            let (citation_url, revision_url) = (filled(&citation), filled(&revision_url));
            SlugResolution::Gone { reason, citation_url, revision_url }
        }
        catalog::SlugResolution::NotFound => {
            SlugResolution::NotFound { suggestions: suggestions_for(state, slug)? }
        }
    })
}

/// Looks up a slug for an endpoint whose paths begin with `path`, requested with this query.
///
/// # Errors
///
/// As for [`resolve`], and if the project was withdrawn or never existed.
pub async fn resolve_or_redirect(
    state: &ApiState,
    slug: &Slug,
    path: &str,
    query: &str,
) -> Result<Resolved, ApiError> {
    match resolve(state, slug).await? {
        SlugResolution::Found(record) => Ok(Resolved::Found(record)),
        SlugResolution::Redirect(slug) => redirect(state, path, &slug, query).map(Resolved::Redirect),
        SlugResolution::Gone { reason, citation_url, revision_url } => {
            Err(ApiError::withdrawn(reason, citation_url, revision_url))
        }
        SlugResolution::NotFound { suggestions } => Err(ApiError::unknown_slug(suggestions)),
    }
}

/// Looks up the history of a slug's project.
///
/// # Errors
///
/// As for [`resolve`].
pub async fn resolve_history(state: &ApiState, slug: &Slug) -> Result<HistoryResolution, ApiError> {
    let catalog = state.catalog()?;
    match catalog.reader.history(slug.as_str()).await.map_err(api_error)? {
        Some(history) => Ok(HistoryResolution::Found(catalog, history)),
        None => Ok(HistoryResolution::Unknown { suggestions: suggestions_for(state, slug)? }),
    }
}

/// Returns the history of a slug's project, and the catalog from which its revisions are read.
///
/// # Errors
///
/// As for [`resolve`], and if the project never existed.
pub async fn history(
    state: &ApiState,
    slug: &Slug,
) -> Result<(Arc<OpenModel<CatalogReader>>, History), ApiError> {
    match resolve_history(state, slug).await? {
        HistoryResolution::Found(catalog, history) => Ok((catalog, history)),
        HistoryResolution::Unknown { suggestions } => Err(ApiError::unknown_slug(suggestions)),
    }
}

/// Returns the redirect to a slug, or to a path below it, for an endpoint whose paths begin with `path`. Its target is a path, so that a client of another
/// host than the public one stays there. The query is kept except for the key, which is never written into a reply.
///
/// # Errors
///
/// Never: slugs and queries are legal in headers.
pub fn redirect(state: &ApiState, path: &str, slug: &str, query: &str) -> Result<Response, ApiError> {
    let asked = query::without(query, "key");
    let mark = if asked.is_empty() { "" } else { "?" };
    let below = state.site().path();
    let location =
        HeaderValue::try_from(format!("{below}{path}{slug}{mark}{asked}")).map_err(ApiError::internal)?;
    Ok((StatusCode::PERMANENT_REDIRECT, [(LOCATION, location)]).into_response())
}

/// Returns slugs similar to one that the catalog does not have. An error if the search index has it: it is ahead of the
/// catalog, which will have it in a moment.
fn suggestions_for(state: &ApiState, slug: &Slug) -> Result<Vec<String>, ApiError> {
    if is_listed(state, slug)? { Err(ApiError::catching_up()) } else { Ok(suggestions(state, slug.as_str())) }
}

/// Returns whether the search index lists a slug.
pub(super) fn is_listed(state: &ApiState, slug: &Slug) -> Result<bool, ApiError> {
    let Some(search) = state.models().search() else { return Ok(false) };
    let ordinal = search.reader.view().ordinal_of(slug.as_str()).map_err(search::api_error)?;
    Ok(ordinal.is_some())
}

/// Returns slugs similar to a text: first the one derived from it, then those with a similar spelling or the same words.
pub fn suggestions(state: &ApiState, text: &str) -> Vec<String> {
    let Some(search) = state.models().search() else { return Vec::new() };
    let Some(slug) = Slug::from_name(text) else { return Vec::new() };
    let is_made = slug.as_str() != text && is_listed(state, &slug).unwrap_or_default();
    let mut near = if is_made { vec![slug.to_string()] } else { Vec::new() };
    match search.reader.suggest_slugs(slug.as_str(), SUGGESTIONS) {
        Ok(others) => near.extend(others),
        // A 404 is right without suggestions too.
        Err(error) => tracing::warn!(%error, "no near slugs could be found"),
    }
    near.truncate(SUGGESTIONS);
    near
}

/// Returns the error of a read model that cannot be read.
pub fn api_error(error: ModelError) -> ApiError {
    match error {
        ModelError::Database(_) => ApiError::unavailable_because(error),
        _ => ApiError::internal(error),
    }
}
