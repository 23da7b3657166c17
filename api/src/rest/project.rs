//! `GET /v1/project/{slug}`: the full record of a project, the present one or that of a revision, with its citation where `cite` asks for
//! one; or with `compare_to` what differs from another revision.

use axum::extract::rejection::PathRejection;
use axum::extract::{Path, RawQuery, State};
use axum::response::{IntoResponse as _, Response};
use bytes::Bytes;
use schemas::ids::Revision;
use schemas::slug::Slug;

use answers::catalog::cited::CiteStyle;
use answers::catalog::compare;
use answers::catalog::document::JsonDocument;
use answers::catalog::json_writer::JsonWriter;
use answers::catalog::revision::RevisionQuery;
use answers::catalog::slug::{self, PathSlug, Resolved};
use answers::error::ApiError;
use answers::query::QueryParams;
use answers::route;
use answers::state::ApiState;

const PATH: &str = route::prefix(route::PROJECT);

/// What is asked of a record.
struct Asked {
    cite: Option<CiteStyle>,
    compare_to: Option<Revision>,
    /// Parameters that are ignored.
    ignored: Vec<String>,
}

pub(crate) async fn project(
    State(state): State<ApiState>,
    path: Result<Path<String>, PathRejection>,
    RawQuery(query): RawQuery,
) -> Result<Response, ApiError> {
    let query = query.as_deref().unwrap_or_default();
    let mut sent = QueryParams::parse(query, ["revision", "as_of", "cite", "compare_to", "key"]);
    let past = RevisionQuery::of(&mut sent);
    let (cite, compare_to) = (CiteStyle::of(&mut sent), compare::compare_to(&mut sent));
    let asked = Asked { cite, compare_to, ignored: sent.finish()? };
    let slug = match slug::of_path(&state, path.ok(), PATH, query).await? {
        PathSlug::Slug(slug) => slug,
        PathSlug::Redirect(redirect) => return Ok(redirect),
    };
    if let Some(past) = past {
        return revision(&state, &slug, past, query, asked).await;
    }
    match slug::resolve_or_redirect(&state, &slug, PATH, query).await? {
        Resolved::Found(record) => answered(&state, &record, asked).await,
        Resolved::Redirect(redirect) => Ok(redirect),
    }
}

/// Answers with the record of a revision, also of a withdrawn project.
async fn revision(
    state: &ApiState,
    slug: &Slug,
    past: RevisionQuery,
    query: &str,
    asked: Asked,
) -> Result<Response, ApiError> {
    let (catalog, history) = slug::history(state, slug).await?;
    if history.withdrawn.is_none() && history.slug != slug.as_str() {
        return slug::redirect(state, PATH, &history.slug, query);
    }
    let wanted = past.find(&history).map_err(|fault| ApiError::invalid_parameters(vec![fault]))?;
    match catalog.reader.revision(&history, wanted.revision).await.map_err(slug::api_error)? {
        Some(record) => answered(state, &record, asked).await,
        None => Err(ApiError::unknown_revision(history.newest().revision)),
    }
}

async fn answered(state: &ApiState, record: &Bytes, asked: Asked) -> Result<Response, ApiError> {
    let Asked { cite, compare_to, ignored } = asked;
    let site = state.site();
    let citation = cite.map(|cite| cite.citation(record, site)).transpose()?;
    if let Some(from) = compare_to {
        let mut comparison = compare::compare(state, from, record).await?;
        (comparison.citation, comparison.ignored_parameters) = (citation, ignored);
        let body = serde_json::to_vec(&comparison).map_err(ApiError::internal)?;
        return Ok(JsonDocument::of(body).into_response());
    }
    let mut json = JsonWriter::reopen(site, record);
    if let Some(citation) = citation {
        json.member("citation", &citation)?;
    }
    json.ignored_parameters(&ignored)?;
    Ok(JsonDocument::of(json.finish()).into_response())
}
