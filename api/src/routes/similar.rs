//! `GET /v1/similar/{slug}`: the projects that look and read most like one project.

use axum::extract::rejection::PathRejection;
use axum::extract::{Path, RawQuery, State};
use axum::response::{IntoResponse, Response};
use http::HeaderValue;
use http::header::CONTENT_TYPE;
use read::neighbours::{Neighbour, Standing};
use read::search::View;
use schemas::api::similar::Basis;

use super::standing::{self, Named, Place};
use super::{List, search};
use crate::fault::Fault;
use crate::json_writer::{self, JsonWriter};
use crate::query::{self, Given};
use crate::site::Site;
use crate::state::ApiState;

/// Where the endpoint's paths begin.
const PATH: &str = "/v1/similar";

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

/// The nearest projects of one project.
pub(crate) struct Neighbourhood<'a> {
    /// The nearest first, each with its summary.
    pub(crate) shown: Vec<(Neighbour, &'a [u8])>,
    /// How many there are to be shown.
    pub(crate) listed: usize,
    /// Why there are none.
    pub(crate) note: Option<&'static str>,
}

impl Neighbourhood<'_> {
    /// What there is to be said of a project that was listed a moment ago.
    pub(crate) fn of_a_new_one() -> Neighbourhood<'static> {
        Neighbourhood { shown: Vec::new(), listed: 0, note: Some(NEW) }
    }
}

/// The listed project whose neighbours a path names as it stands. What else a path may name, and what goes wrong, is for
/// [`similar`].
pub(crate) fn find(state: &ApiState, path: &str) -> Option<Near> {
    Near::find(state, path.strip_prefix(PATH)?.strip_prefix('/')?).ok()?
}

impl Near {
    /// Looks for a listed project. What is not among them has moved, left, was never there, or came a moment ago: the
    /// catalog knows.
    ///
    /// # Errors
    ///
    /// Fails where the search index is not there or cannot be read.
    pub(crate) fn find(state: &ApiState, slug: &str) -> Result<Option<Near>, Fault> {
        let view = state.search()?.reader.view();
        let ordinal = view.ordinal_of(slug).map_err(search::fault)?;
        Ok(ordinal.map(|ordinal| Near { slug: slug.to_owned(), ordinal, view }))
    }

    /// At most so many of its neighbours.
    pub(crate) fn neighbours(&self, state: &ApiState, limit: usize) -> Result<Neighbourhood<'_>, Fault> {
        let model = state
            .models()
            .neighbours()
            .ok_or_else(|| Fault::unavailable("The neighbours are still being looked for."))?;
        let list = model.reader.of(self.ordinal);
        let note = match &list {
            Some(list) if !list.is_empty() => None,
            Some(_) => Some(ALONE),
            None => match model.reader.standing(self.ordinal) {
                Standing::NoVectors => Some(NO_VECTORS),
                Standing::Unknown | Standing::Withdrawn | Standing::Pending | Standing::Known => Some(NEW),
            },
        };
        // One that left a moment ago is passed over, and the next takes its place.
        let neighbours = list.iter().flat_map(|list| list.iter());
        let shown: Vec<(Neighbour, &[u8])> = neighbours
            .filter_map(|neighbour| Some((neighbour, self.view.summary_of(neighbour.ordinal)?)))
            .take(limit)
            .collect();
        let listed = list.as_ref().map_or(0, |list| list.len());
        Ok(Neighbourhood { shown, listed, note })
    }
}

/// Answers with a JSON document, as quickly as a search does and for the same reason: see `search::answer`.
pub(crate) fn answer(state: &ApiState, near: &Near, query: &str) -> Result<List, Fault> {
    let asked = Asked::read(query)?;
    let neighbourhood = near.neighbours(state, asked.limit)?;
    let body = assemble(&near.slug, &neighbourhood, &asked.ignored, state.site())?;
    Ok(List { body: body.into(), next: None })
}

/// What is asked beside the project.
struct Asked {
    limit: usize,
    /// Parameters that are not known here.
    ignored: Vec<String>,
}

/// The way for requests that cannot be answered at once: with an encoded slug or a body, or for what is not listed.
pub(crate) async fn similar(
    State(state): State<ApiState>,
    path: Result<Path<String>, PathRejection>,
    RawQuery(query): RawQuery,
) -> Result<Response, Fault> {
    let query = query.as_deref().unwrap_or_default();
    let asked = Asked::read(query)?;
    let slug = match standing::slug(&state, path.ok(), PATH, query).await? {
        Named::Slug(slug) => slug,
        Named::Address(redirect) => return Ok(redirect),
    };
    let body = match Near::find(&state, slug.as_str())? {
        Some(near) => answer(&state, &near, query)?.body,
        None => match standing::place(&state, &slug, PATH, query).await? {
            Place::There(redirect) => return Ok(redirect),
            Place::Here(_) => {
                let none = Neighbourhood::of_a_new_one();
                assemble(slug.as_str(), &none, &asked.ignored, state.site())?.into()
            }
        },
    };
    Ok(([(CONTENT_TYPE, HeaderValue::from_static("application/json"))], body).into_response())
}

impl Asked {
    fn read(query: &str) -> Result<Asked, Fault> {
        let mut faults = Vec::new();
        let sent = Given::read(query, ["limit", "key"]);
        let limit = query::limit(&sent, &mut faults);
        sent.single("key", &mut faults);
        if !faults.is_empty() {
            return Err(Fault::invalid_parameters(faults));
        }
        Ok(Asked { limit, ignored: sent.ignored() })
    }
}

/// Writes the answer from the ready-rendered summaries.
fn assemble(
    slug: &str,
    neighbourhood: &Neighbourhood<'_>,
    ignored: &[String],
    site: &Site,
) -> Result<Vec<u8>, Fault> {
    let neighbours = &neighbourhood.shown;
    let summaries = neighbours.iter().map(|(_, summary)| *summary);
    let mut json = JsonWriter::object(site, slug.len() + json_writer::room(summaries, site));
    json.member("slug", slug)?;
    json.member("count", &neighbours.len())?;
    write(&mut json, neighbours.iter().map(|(neighbour, summary)| (*summary, neighbour)))?;
    json.member("note", &neighbourhood.note)?;
    json.ignored_parameters(ignored)?;
    Ok(json.finish())
}

/// Writes the member `results`.
pub(crate) fn write<'s>(
    json: &mut JsonWriter<'_>,
    results: impl Iterator<Item = (&'s [u8], &'s Neighbour)>,
) -> Result<(), Fault> {
    json.projects("results", results, |json, neighbour| {
        json.member("score", &rounded(neighbour.score))?;
        let (visual, semantic) = (neighbour.visual.map(rounded), neighbour.semantic.map(rounded));
        json.member("basis", &Basis { visual, semantic })
    })
}

/// Four places: more than the vectors are worth.
fn rounded(value: f32) -> f32 {
    (value * 1e4).round() / 1e4
}
