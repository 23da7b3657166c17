//! `GET /v1/similar/{slug}`: the projects that look and read most like one project.

use axum::extract::rejection::PathRejection;
use axum::extract::{Path, RawQuery, State};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use http::HeaderValue;
use http::header::CONTENT_TYPE;
use read::neighbours::{Neighbour, Standing};
use read::search::View;
use schemas::api::site;
use schemas::slug::Slug;

use super::standing::{self, Standing as At};
use crate::fault::Fault;
use crate::query::{self, Given};
use crate::site::Site;
use crate::state::ApiState;

/// Where the endpoint's paths begin.
const PATH: &str = "/v1/similar/";

/// Room for what stands around the summary of a neighbour: the site's address thrice, the score and its basis.
const AROUND_A_NEIGHBOUR: usize = 96;

const NEW: &str = "The project was listed a moment ago; its neighbours are on their way.";
const NO_VECTORS: &str =
    "The project has no picture and no text that could be compared, so it has no neighbours.";
const ALONE: &str = "No other project can be compared with this one yet.";

/// A project whose neighbours can be told without the catalog.
pub(crate) struct Near {
    slug: String,
    ordinal: u64,
    view: View,
}

/// Looks for a listed project. What is not among them has moved, left, was never there, or came a moment ago: the catalog
/// knows.
pub(crate) fn find(state: &ApiState, path: &str) -> Option<Near> {
    let slug = path.strip_prefix(PATH)?;
    let view = state.models().search()?.reader.view();
    let ordinal = view.ordinal_of(slug).ok()??;
    Some(Near { slug: slug.to_owned(), ordinal, view })
}

/// Answers with a JSON document, as quickly as a search does and for the same reason: see `search::answer`.
pub(crate) fn answer(state: &ApiState, near: &Near, query: &str) -> Result<Bytes, Fault> {
    let limit = limit(query)?;
    let model = state
        .models()
        .neighbours()
        .ok_or_else(|| Fault::unavailable("The neighbours are still being looked for."))?;
    let list = model.reader.of(near.ordinal);
    let note = match &list {
        Some(list) if !list.is_empty() => None,
        Some(_) => Some(ALONE),
        None => match model.reader.standing(near.ordinal) {
            Standing::NoVectors => Some(NO_VECTORS),
            Standing::Unknown | Standing::Withdrawn | Standing::Pending | Standing::Known => Some(NEW),
        },
    };
    // One that left a moment ago is passed over, and the next takes its place.
    let neighbours = list.iter().flat_map(|list| list.iter());
    let shown: Vec<(Neighbour, &[u8])> = neighbours
        .filter_map(|neighbour| Some((neighbour, near.view.summary_of(neighbour.ordinal)?)))
        .take(limit)
        .collect();
    assemble(&near.slug, &shown, note, state.site()).map(Bytes::from)
}

/// The way for what is not listed, or not yet.
pub(crate) async fn similar(
    State(state): State<ApiState>,
    path: Result<Path<String>, PathRejection>,
    RawQuery(query): RawQuery,
) -> Result<Response, Fault> {
    limit(query.as_deref().unwrap_or_default())?;
    // What is no slug is nobody's slug.
    let Some(slug) = path.ok().and_then(|Path(text)| Slug::try_from(text).ok()) else {
        return Err(Fault::unknown_slug(Vec::new()));
    };
    match standing::of(&state, &slug, PATH.trim_end_matches('/')).await? {
        At::Moved(response) => Ok(response),
        At::Listed(_) => {
            let body = assemble(slug.as_str(), &[], Some(NEW), state.site())?;
            Ok(([(CONTENT_TYPE, HeaderValue::from_static("application/json"))], body).into_response())
        }
    }
}

fn limit(query: &str) -> Result<usize, Fault> {
    let mut faults = Vec::new();
    let sent = Given::read(query, ["limit", "key"]);
    let limit = query::limit(&sent, &mut faults);
    sent.single("key", &mut faults);
    if faults.is_empty() { Ok(limit) } else { Err(Fault::invalid_parameters(faults)) }
}

/// Writes the answer from the ready-rendered summaries.
fn assemble(
    slug: &str,
    neighbours: &[(Neighbour, &[u8])],
    note: Option<&str>,
    site: &Site,
) -> Result<Vec<u8>, Fault> {
    let site = site.as_str();
    let room = neighbours.iter().map(|(_, summary)| summary.len() + 3 * site.len() + AROUND_A_NEIGHBOUR);
    let mut body = Vec::with_capacity(room.sum::<usize>() + slug.len() + 256);
    body.extend_from_slice(br#"{"slug":"#);
    append(&mut body, &slug)?;
    body.extend_from_slice(br#","count":"#);
    append(&mut body, &neighbours.len())?;
    body.extend_from_slice(br#","results":["#);
    for (index, (neighbour, summary)) in neighbours.iter().enumerate() {
        if index > 0 {
            body.push(b',');
        }
        site::fill(summary, site, &mut body);
        body.extend_from_slice(br#","score":"#);
        append(&mut body, &rounded(neighbour.score))?;
        body.extend_from_slice(br#","basis":{"visual":"#);
        append(&mut body, &neighbour.visual.map(rounded))?;
        body.extend_from_slice(br#","semantic":"#);
        append(&mut body, &neighbour.semantic.map(rounded))?;
        body.extend_from_slice(b"}}");
    }
    body.extend_from_slice(br#"],"note":"#);
    append(&mut body, &note)?;
    body.push(b'}');
    Ok(body)
}

/// Four places: more than the vectors are worth.
fn rounded(value: f32) -> f32 {
    (value * 1e4).round() / 1e4
}

fn append<T: serde::Serialize>(body: &mut Vec<u8>, value: &T) -> Result<(), Fault> {
    serde_json::to_writer(body, value).map_err(Fault::internal)
}
