//! The projects that look and read most like one project, as every surface answers them.

use read::neighbours::{Cursor, ListStatus, Neighbour};
use read::search::View;
use schemas::api::similar::Basis;

use super::json_writer::JsonWriter;
use super::search;
use crate::error::ApiError;
use crate::state::ApiState;

const NEW: &str = "The project was listed a moment ago; its neighbours are on their way.";
const NO_VECTORS: &str =
    "The project has no picture and no text that could be compared, so it has no neighbours.";
const ALONE: &str = "No other project can be compared with this one yet.";

/// A project whose neighbours can be told without the catalog.
pub(crate) struct Near {
    pub(crate) slug: String,
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
        (self.passed + count < self.total).then_some(Cursor::after(self.project?, *last))
    }
}

impl Near {
    /// Looks for a listed project. What is not among them has moved, left, was never there, or came a moment ago: the
    /// catalog knows.
    ///
    /// # Errors
    ///
    /// Fails where the search index is not there or cannot be read.
    pub(crate) fn find(state: &ApiState, slug: &str) -> Result<Option<Near>, ApiError> {
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
    ) -> Result<Neighbourhood<'_>, ApiError> {
        let model = state
            .models()
            .neighbours()
            .ok_or_else(|| ApiError::unavailable("The neighbours are still being looked for."))?;
        let list = model.reader.of(self.ordinal);
        let note = match &list {
            Some(list) if !list.is_empty() => None,
            Some(_) => Some(ALONE),
            None => match model.reader.status(self.ordinal) {
                ListStatus::NoVectors => Some(NO_VECTORS),
                ListStatus::Unknown | ListStatus::Withdrawn | ListStatus::Pending | ListStatus::Ready => {
                    Some(NEW)
                }
            },
        };
        // One that left a moment ago is passed over, and the next takes its place.
        let neighbours = || list.iter().flat_map(|list| list.iter());
        let passed = after.map_or(0, |cursor| cursor.skipped(neighbours()));
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

/// Writes the member `results`.
pub(crate) fn write<'s>(
    json: &mut JsonWriter<'_>,
    results: impl Iterator<Item = (&'s [u8], &'s Neighbour)>,
) -> Result<(), ApiError> {
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
