//! What stands at a slug: the project, the way to where it moved, or the fault that says why there is none.

use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use http::header::LOCATION;
use http::{HeaderValue, StatusCode};
use read::catalog::{CatalogError, Found};
use schemas::api::site;
use schemas::slug::Slug;

use crate::fault::Fault;
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
    let catalog =
        state.models().catalog().ok_or_else(|| Fault::unavailable("The catalog is still being filled."))?;
    Ok(match catalog.reader.find(slug.as_str()).await.map_err(fault)? {
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

/// The same for an endpoint whose paths begin with `path`.
pub(crate) async fn place(state: &ApiState, slug: &Slug, path: &str) -> Result<Place, Fault> {
    match of(state, slug).await? {
        Standing::Listed(record) => Ok(Place::Here(record)),
        Standing::Moved(slug) => moved(path, &slug).map(Place::There),
        Standing::Withdrawn { reason, citation_url } => Err(Fault::withdrawn(reason, citation_url)),
        Standing::Unknown { suggestions } => Err(Fault::unknown_slug(suggestions)),
    }
}

/// The place is a path, not an address: a client that came by another address than the public one stays there, and
/// does not lose its key on the way.
fn moved(path: &str, slug: &str) -> Result<Response, Fault> {
    let location = HeaderValue::try_from(format!("{path}/{slug}")).map_err(Fault::internal)?;
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

fn fault(error: CatalogError) -> Fault {
    match error {
        CatalogError::Database(_) => Fault::unavailable_because(error),
        CatalogError::Corrupt(_) => Fault::internal(error),
    }
}
