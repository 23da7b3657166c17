//! `GET /cite/{slug}/{revision}`: what a revision said, permanently, as a page or in the requested format.
//!
//! The slug may be any that the project has had, and the project may have been withdrawn: a printed URL remains valid. The formats
//! contain a date of access only where the query gives one, so their bytes never change; the page contains today's.

use answers::accept;
use answers::catalog::slug::{self, PathSlug};
use answers::error::ApiError;
use answers::query::{self, QueryParams};
use answers::route;
use answers::state::ApiState;
use axum::extract::rejection::PathRejection;
use axum::extract::{Path, RawQuery, State};
use axum::response::{IntoResponse, Response};
use citation::{CitationPage, Format, bare_address};
use http::header::{CONTENT_DISPOSITION, CONTENT_TYPE, LINK, LOCATION, VARY};
use http::{HeaderMap, HeaderValue, StatusCode};
use jiff::civil::Date;
use schemas::ids::Revision;
use schemas::slug::Slug;

const VARIES: HeaderValue = HeaderValue::from_static("Authorization, Accept-Encoding, Accept");

pub(crate) async fn cite(
    State(state): State<ApiState>,
    path: Result<Path<(String, String)>, PathRejection>,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    let query = query.as_deref().unwrap_or_default();
    let (format, accessed) = requested(query, &headers)?;
    let Ok(Path((text, revision))) = path else { return Err(ApiError::unknown_slug(Vec::new())) };
    let slug: Result<Slug, _> = text.parse();
    let lower = if slug.is_ok() { None } else { slug::in_lower_case(&state, &text).await? };
    let cited = slug.ok().or_else(|| lower.clone());
    let cited = cited.ok_or_else(|| ApiError::unknown_slug(slug::suggestions(&state, &text)))?;
    let mut page = page(&state, &cited, &revision).await?;
    if lower.is_some() {
        return slug::redirect(&state, PATH, &format!("{cited}/{revision}"), query);
    }
    page.citation.accessed = match format {
        Format::Html => Some(accessed.unwrap_or_else(|| pages::today(&state))),
        _ => accessed,
    };
    let (body, common) = match page.citation.write(format) {
        Some(text) => (text, HeaderMap::new()),
        None => (pages::cite(&page, &state).await?, pages::headers()),
    };
    let mut response = (common, body).into_response();
    let own = response.headers_mut();
    own.insert(CONTENT_TYPE, HeaderValue::from_static(format.content_type()));
    own.insert(VARY, VARIES);
    links(&page, format, own);
    if format.extension().is_some() {
        let name = format!("inline; filename=\"{}\"", page.file_name(format));
        own.insert(CONTENT_DISPOSITION, HeaderValue::try_from(name).map_err(ApiError::internal)?);
    }
    Ok(response)
}

/// The prefix of the paths of citations.
const PATH: &str = route::prefix(route::CITE);

/// `GET /cite/{slug}`: a temporary redirect to the newest revision.
pub(crate) async fn newest(
    State(state): State<ApiState>,
    path: Result<Path<String>, PathRejection>,
    RawQuery(query): RawQuery,
) -> Result<Response, ApiError> {
    let query = query.as_deref().unwrap_or_default();
    let slug = match slug::of_path(&state, path.ok(), PATH, query).await? {
        PathSlug::Slug(slug) => slug,
        PathSlug::Redirect(redirect) => return Ok(redirect),
    };
    let (_, history) = slug::history(&state, &slug).await?;
    let (newest, below) = (history.newest(), state.site().path());
    let asked = query::without(query, "key");
    let asked = if asked.is_empty() { asked } else { format!("?{asked}") };
    let location = format!("{below}{PATH}{}/{}{asked}", newest.slug, newest.revision);
    let location = HeaderValue::try_from(location).map_err(ApiError::internal)?;
    Ok((StatusCode::FOUND, [(LOCATION, location)]).into_response())
}

/// Returns the cited revision, with the later state of its project.
async fn page(state: &ApiState, slug: &Slug, revision: &str) -> Result<CitationPage, ApiError> {
    let (catalog, history) = slug::history(state, slug).await?;
    let unknown = || ApiError::unknown_revision(history.newest().revision);
    let number: u32 = revision.parse().map_err(|_| unknown())?;
    // A revision has exactly one URL.
    if number.to_string() != revision {
        return Err(unknown());
    }
    let record = catalog.reader.revision(&history, Revision(number)).await.map_err(slug::api_error)?;
    let record = record.ok_or_else(unknown)?;
    CitationPage::of(history, &record, state.site().publisher()).map_err(ApiError::internal)
}

/// Returns the requested format, whose parameter takes precedence over the header, and the date of access.
fn requested(query: &str, headers: &HeaderMap) -> Result<(Format, Option<Date>), ApiError> {
    let mut sent = QueryParams::parse(query, ["format", "accessed"]);
    let format = sent.single("format").and_then(|name| {
        let format = Format::named(&name);
        if format.is_none() {
            sent.refuse("format", format!("It is none of {}.", Format::names()), Format::names());
        }
        format
    });
    let accessed = sent.single("accessed").and_then(|text| {
        // Another spelling of the same day, such as 20261126, is refused.
        let day = text.parse().ok().filter(|day: &Date| day.to_string() == text && day.year() >= 0);
        if day.is_none() {
            sent.refuse("accessed", "It is not a date.", "a date such as 2026-11-26");
        }
        day
    });
    sent.finish()?;
    let format = format.unwrap_or_else(|| Format::accepted(&accept::joined(headers)));
    Ok((format, accessed))
}

/// Inserts links to the other formats, the URL to cite, and the newest revision.
fn links(page: &CitationPage, format: Format, own: &mut HeaderMap) {
    let mut links: Vec<String> = Format::ALL
        .into_iter()
        .filter(|other| *other != format)
        .map(|other| {
            format!("<{}>; rel=\"alternate\"; type=\"{}\"", page.address_in(other), other.media_type())
        })
        .collect();
    let cited = bare_address(&page.citation.url);
    links.extend(["canonical", "cite-as"].map(|relation| format!("<{cited}>; rel=\"{relation}\"")));
    links.push(format!("<{}>; rel=\"latest-version\"", page.newest.citation));
    if let Ok(links) = HeaderValue::try_from(links.join(", ")) {
        own.insert(LINK, links);
    }
}
