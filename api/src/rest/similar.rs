//! `GET /v1/similar/{slug}`: the projects that look and read most like one project.

use axum::extract::rejection::PathRejection;
use axum::extract::{Path, RawQuery, State};
use axum::response::{IntoResponse, Response};
use read::neighbours::Cursor;
use schemas::api::problem::ParameterFault;

use crate::answers::json_writer::{self, JsonWriter};
use crate::answers::list::List;
use crate::answers::similar::{self, Near, Neighbourhood};
use crate::answers::slug::{self, Named, Resolved};
use crate::error::ApiError;
use crate::query::{self, Given, fault};
use crate::route;
use crate::site::Site;
use crate::state::ApiState;

const PATH: &str = route::prefix(route::SIMILAR);

/// Returns the listed project whose slug a path contains unencoded. Other paths, and errors, are for [`similar`].
pub(crate) fn find(state: &ApiState, path: &str) -> Option<Near> {
    Near::find(state, path.strip_prefix(PATH)?).ok()?
}

/// Answers with a JSON document, as quickly as a search does and for the same reason: see `search::answer`.
pub(crate) fn answer(state: &ApiState, near: &Near, query: &str) -> Result<List, ApiError> {
    let asked = Asked::read(query)?;
    if asked.cursor.is_some_and(|cursor| !near.has_given(cursor)) {
        return Err(ApiError::invalid_parameters(vec![invalid_cursor()]));
    }
    let neighbourhood = near.neighbours(state, asked.limit, asked.cursor)?;
    list(&near.slug, &neighbourhood, &asked.ignored, state.site(), query)
}

/// What is asked beside the project.
struct Asked {
    limit: usize,
    /// Where the page before ended.
    cursor: Option<Cursor>,
    /// Parameters that are not known here.
    ignored: Vec<String>,
}

/// The way for requests that cannot be answered at once: with an encoded slug or a body, or for what is not listed.
pub(crate) async fn similar(
    State(state): State<ApiState>,
    path: Result<Path<String>, PathRejection>,
    RawQuery(query): RawQuery,
) -> Result<Response, ApiError> {
    let query = query.as_deref().unwrap_or_default();
    let asked = Asked::read(query)?;
    let slug = match slug::read(&state, path.ok(), PATH, query).await? {
        Named::Slug(slug) => slug,
        Named::Address(redirect) => return Ok(redirect),
    };
    let list = match Near::find(&state, slug.as_str())? {
        Some(near) => answer(&state, &near, query)?,
        None => match slug::resolve_or_redirect(&state, &slug, PATH, query).await? {
            Resolved::Redirect(redirect) => return Ok(redirect),
            Resolved::Found(_) => {
                let none = Neighbourhood::of_a_new_one();
                list(slug.as_str(), &none, &asked.ignored, state.site(), query)?
            }
        },
    };
    Ok(list.into_response())
}

impl Asked {
    fn read(query: &str) -> Result<Asked, ApiError> {
        let mut faults = Vec::new();
        let sent = Given::read(query, ["limit", "cursor", "key"]);
        let limit = query::limit(&sent, &mut faults);
        // An empty one asks for the first page, as forms do that send every field.
        let text = sent.single("cursor", &mut faults).filter(|text| !text.is_empty());
        let cursor = text.as_deref().and_then(|text| text.parse().ok());
        if text.is_some() && cursor.is_none() {
            faults.push(invalid_cursor());
        }
        sent.single("key", &mut faults);
        if !faults.is_empty() {
            return Err(ApiError::invalid_parameters(faults));
        }
        Ok(Asked { limit, cursor, ignored: sent.ignored() })
    }
}

fn invalid_cursor() -> ParameterFault {
    fault(
        "cursor",
        "It was not given out with the neighbours of this project. Start again from the first page, without a cursor.",
        "next_cursor of the page before, with the same slug",
    )
}

/// Writes the answer from the ready-rendered summaries.
fn list(
    slug: &str,
    neighbourhood: &Neighbourhood<'_>,
    ignored: &[String],
    site: &Site,
    query: &str,
) -> Result<List, ApiError> {
    let neighbours = &neighbourhood.shown;
    let summaries = neighbours.iter().map(|(_, summary)| *summary);
    let mut json = JsonWriter::object(site, slug.len() + json_writer::room(summaries, site));
    json.member("slug", slug)?;
    json.member("count", &neighbours.len())?;
    json.member("total", &neighbourhood.total)?;
    similar::write(&mut json, neighbours.iter().map(|(neighbour, summary)| (*summary, neighbour)))?;
    let next = neighbourhood.next_after(neighbours.len()).map(|cursor| cursor.to_string());
    json.member("next_cursor", &next)?;
    json.member("note", &neighbourhood.note)?;
    json.ignored_parameters(ignored)?;
    let path = format!("{PATH}{slug}");
    Ok(List::new(json.finish(), site, &path, query, next.as_deref()))
}
