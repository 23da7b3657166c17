//! What stands at a slug: the project, the way to where it moved, or the fault that says why there is none.

use std::sync::Arc;

use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use http::header::LOCATION;
use http::{HeaderValue, StatusCode};
use read::catalog::{CatalogError, CatalogReader, Found, History};
use read::models::Opened;
use schemas::api::site;
use schemas::slug::Slug;

use crate::fault::Fault;
use crate::query;
use crate::state::ApiState;

/// How many near slugs are suggested at most.
const SUGGESTIONS: usize = 3;

/// What stands at a slug.
#[derive(Debug)]
pub(crate) enum Standing {
    /// A project: its full record, rendered.
    Listed(Bytes),
    /// Nothing any more; the project has this slug now.
    Moved(String),
    /// A project that left the catalog.
    Withdrawn { reason: String, citation_url: String },
    /// Nothing and never anything; these slugs are near.
    Unknown { suggestions: Vec<String> },
}

/// A project, or the way to it.
pub(crate) enum Place {
    /// Its full record, rendered.
    Here(Bytes),
    /// The redirect to the slug that it has now.
    There(Response),
}

/// Looks a slug up in the catalog.
pub(crate) async fn of(state: &ApiState, slug: &Slug) -> Result<Standing, Fault> {
    Ok(match state.catalog()?.reader.find(slug.as_str()).await.map_err(fault)? {
        Found::Listed(record) => Standing::Listed(record),
        Found::Moved(slug) => Standing::Moved(slug),
        Found::Withdrawn { reason, citation } => {
            let mut address = Vec::with_capacity(128);
            site::fill(&citation, state.site().as_str(), &mut address);
            Standing::Withdrawn { reason, citation_url: String::from_utf8_lossy(&address).into_owned() }
        }
        Found::Unknown => Standing::Unknown { suggestions: near(state, slug) },
    })
}

/// The same for an endpoint whose paths begin with `path`, asked with this query.
pub(crate) async fn place(state: &ApiState, slug: &Slug, path: &str, query: &str) -> Result<Place, Fault> {
    match of(state, slug).await? {
        Standing::Listed(record) => Ok(Place::Here(record)),
        Standing::Moved(slug) => moved(path, &slug, query).map(Place::There),
        Standing::Withdrawn { reason, citation_url } => Err(Fault::withdrawn(reason, citation_url)),
        Standing::Unknown { suggestions } => Err(Fault::unknown_slug(suggestions)),
    }
}

/// What the catalog knows of a project through time, and the catalog that knows it.
pub(crate) async fn history(
    state: &ApiState,
    slug: &Slug,
) -> Result<(Arc<Opened<CatalogReader>>, History), Fault> {
    let catalog = state.catalog()?;
    match catalog.reader.history(slug.as_str()).await.map_err(fault)? {
        Some(history) => Ok((catalog, history)),
        None => Err(Fault::unknown_slug(near(state, slug))),
    }
}

/// The place is a path, not an address: a client that came by another address than the public one stays there, and
/// does not lose its key on the way. What it asked for goes along, but for a key: that is written into no reply.
pub(crate) fn moved(path: &str, slug: &str, query: &str) -> Result<Response, Fault> {
    let asked = query::without(query, "key");
    let mark = if asked.is_empty() { "" } else { "?" };
    let location = HeaderValue::try_from(format!("{path}/{slug}{mark}{asked}")).map_err(Fault::internal)?;
    Ok((StatusCode::PERMANENT_REDIRECT, [(LOCATION, location)]).into_response())
}

/// A 404 is still true where nothing can be suggested.
fn near(state: &ApiState, slug: &Slug) -> Vec<String> {
    let Some(search) = state.models().search() else { return Vec::new() };
    search.reader.near_slugs(slug.as_str(), SUGGESTIONS).unwrap_or_else(|error| {
        tracing::warn!(%error, "no near slugs could be found");
        Vec::new()
    })
}

pub(crate) fn fault(error: CatalogError) -> Fault {
    match error {
        CatalogError::Database(_) => Fault::unavailable_because(error),
        CatalogError::Corrupt(_) => Fault::internal(error),
    }
}
