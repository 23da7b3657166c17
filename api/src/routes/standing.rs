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

/// A project at a slug.
pub(crate) enum Standing {
    /// Its full record, rendered.
    Listed(Bytes),
    /// The redirect to the slug that it has now.
    Moved(Response),
}

/// Looks a slug up in the catalog; a redirect leads to the present slug below `path`.
pub(crate) async fn of(state: &ApiState, slug: &Slug, path: &str) -> Result<Standing, Fault> {
    let catalog =
        state.models().catalog().ok_or_else(|| Fault::unavailable("The catalog is still being filled."))?;
    match catalog.reader.find(slug.as_str()).await.map_err(fault)? {
        Found::Listed(record) => Ok(Standing::Listed(record)),
        Found::Moved(slug) => moved(path, &slug).map(Standing::Moved),
        Found::Withdrawn { reason, citation } => {
            let mut address = Vec::with_capacity(128);
            site::fill(&citation, state.site().as_str(), &mut address);
            Err(Fault::withdrawn(reason, String::from_utf8_lossy(&address).into_owned()))
        }
        Found::Unknown => Err(Fault::unknown_slug(near(state, slug))),
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
