//! `GET /v1/similar/{slug}`: the projects that look and read most like one project.

use axum::extract::rejection::PathRejection;
use axum::extract::{Path, RawQuery, State};
use axum::response::{IntoResponse, Response};
use read::neighbours::{Cursor, Neighbour, Standing};
use read::search::View;
use schemas::api::problem::ParameterFault;
use schemas::api::similar::Basis;

use super::standing::{self, Named, Place};
use super::{List, search};
use crate::fault::Fault;
use crate::json_writer::{self, JsonWriter};
use crate::query::{self, Given, fault};
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
    /// A page of them, the nearest first, each with its summary.
    pub(crate) shown: Vec<(Neighbour, &'a [u8])>,
    /// How many there are over all pages.
    pub(crate) total: usize,
    /// Why there are none.
    pub(crate) note: Option<&'static str>,
    /// The project, unless it was listed a moment ago.
    project: Option<u64>,
    /// How many stand on the pages before.
    passed: usize,
}

impl Neighbourhood<'_> {
    /// What there is to be said of a project that was listed a moment ago.
    pub(crate) fn of_a_new_one() -> Neighbourhood<'static> {
        Neighbourhood { shown: Vec::new(), total: 0, note: Some(NEW), project: None, passed: 0 }
    }

    /// The cursor behind the given number of those that are shown; none where no more follow.
    pub(crate) fn next_after(&self, count: usize) -> Option<Cursor> {
        let (last, _) = self.shown.get(count.checked_sub(1)?)?;
        (self.passed + count < self.total).then_some(Cursor::behind(self.project?, *last))
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

    /// Whether a cursor was given out with its neighbours.
    pub(crate) fn has_given(&self, cursor: Cursor) -> bool {
        cursor.project == self.ordinal
    }

    /// At most `limit` of its neighbours, from the first or behind a cursor.
    pub(crate) fn neighbours(
        &self,
        state: &ApiState,
        limit: usize,
        after: Option<Cursor>,
    ) -> Result<Neighbourhood<'_>, Fault> {
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
        let neighbours = || list.iter().flat_map(|list| list.iter());
        let passed = after.map_or(0, |cursor| cursor.passed(neighbours()));
        let (mut shown, mut before, mut total) = (Vec::with_capacity(limit), 0, 0);
        for (place, neighbour) in neighbours().enumerate() {
            let Some(summary) = self.view.summary_of(neighbour.ordinal) else { continue };
            total += 1;
            if place < passed {
                before += 1;
            } else if shown.len() < limit {
                shown.push((neighbour, summary));
            }
        }
        Ok(Neighbourhood { shown, total, note, project: Some(self.ordinal), passed: before })
    }
}

/// Answers with a JSON document, as quickly as a search does and for the same reason: see `search::answer`.
pub(crate) fn answer(state: &ApiState, near: &Near, query: &str) -> Result<List, Fault> {
    let asked = Asked::read(query)?;
    if asked.cursor.is_some_and(|cursor| !near.has_given(cursor)) {
        return Err(Fault::invalid_parameters(vec![invalid_cursor()]));
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
) -> Result<Response, Fault> {
    let query = query.as_deref().unwrap_or_default();
    let asked = Asked::read(query)?;
    let slug = match standing::slug(&state, path.ok(), PATH, query).await? {
        Named::Slug(slug) => slug,
        Named::Address(redirect) => return Ok(redirect),
    };
    let list = match Near::find(&state, slug.as_str())? {
        Some(near) => answer(&state, &near, query)?,
        None => match standing::place(&state, &slug, PATH, query).await? {
            Place::There(redirect) => return Ok(redirect),
            Place::Here(_) => {
                let none = Neighbourhood::of_a_new_one();
                list(slug.as_str(), &none, &asked.ignored, state.site(), query)?
            }
        },
    };
    Ok(list.into_response())
}

impl Asked {
    fn read(query: &str) -> Result<Asked, Fault> {
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
            return Err(Fault::invalid_parameters(faults));
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
) -> Result<List, Fault> {
    let neighbours = &neighbourhood.shown;
    let summaries = neighbours.iter().map(|(_, summary)| *summary);
    let mut json = JsonWriter::object(site, slug.len() + json_writer::room(summaries, site));
    json.member("slug", slug)?;
    json.member("count", &neighbours.len())?;
    json.member("total", &neighbourhood.total)?;
    write(&mut json, neighbours.iter().map(|(neighbour, summary)| (*summary, neighbour)))?;
    let next = neighbourhood.next_after(neighbours.len()).map(|cursor| cursor.to_string());
    json.member("next_cursor", &next)?;
    json.member("note", &neighbourhood.note)?;
    json.ignored_parameters(ignored)?;
    let path = format!("{PATH}/{slug}");
    Ok(List::new(json.finish(), site, &path, query, next.as_deref()))
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
