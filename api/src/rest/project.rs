//! `GET /v1/project/{slug}`: the full record of a project, the present one or that of a revision.

use axum::extract::rejection::PathRejection;
use axum::extract::{Path, RawQuery, State};
use axum::response::{IntoResponse as _, Response};
use schemas::slug::Slug;

use answers::catalog::document::JsonDocument;
use answers::catalog::json_writer::JsonWriter;
use answers::catalog::revision::RevisionQuery;
use answers::catalog::slug::{self, PathSlug, Resolved};
use answers::error::ApiError;
use answers::query::QueryParams;
use answers::route;
use answers::site::Site;
use answers::state::ApiState;

const PATH: &str = route::prefix(route::PROJECT);

pub(crate) async fn project(
    State(state): State<ApiState>,
    path: Result<Path<String>, PathRejection>,
    RawQuery(query): RawQuery,
) -> Result<Response, ApiError> {
    let query = query.as_deref().unwrap_or_default();
    let mut sent = QueryParams::parse(query, ["revision", "as_of", "key"]);
    let past = RevisionQuery::of(&mut sent);
    let ignored = sent.finish()?;
    let slug = match slug::of_path(&state, path.ok(), PATH, query).await? {
        PathSlug::Slug(slug) => slug,
        PathSlug::Redirect(redirect) => return Ok(redirect),
    };
    if let Some(past) = past {
        return revision(&state, &slug, past, query, &ignored).await;
    }
    match slug::resolve_or_redirect(&state, &slug, PATH, query).await? {
        Resolved::Found(record) => listed(&record, state.site(), &ignored),
        Resolved::Redirect(redirect) => Ok(redirect),
    }
}

/// Answers with the record of a revision, also of a withdrawn project.
async fn revision(
    state: &ApiState,
    slug: &Slug,
    past: RevisionQuery,
    query: &str,
    ignored: &[String],
) -> Result<Response, ApiError> {
    let (catalog, history) = slug::history(state, slug).await?;
    if history.withdrawn.is_none() && history.slug != slug.as_str() {
        return slug::redirect(state, PATH, &history.slug, query);
    }
    let wanted = past.find(&history).map_err(|fault| ApiError::invalid_parameters(vec![fault]))?;
    match catalog.reader.revision(&history, wanted.revision).await.map_err(slug::api_error)? {
        Some(record) => listed(&record, state.site(), ignored),
        None => Err(ApiError::unknown_revision(history.newest().revision)),
    }
}

fn listed(record: &[u8], site: &Site, ignored: &[String]) -> Result<Response, ApiError> {
    let mut json = JsonWriter::reopen(site, record);
    json.ignored_parameters(ignored)?;
    Ok(JsonDocument::of(json.finish()).into_response())
}
