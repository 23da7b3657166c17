//! The projects most similar to a project, by pictures and texts.

use std::borrow::Cow;
use std::sync::Arc;

use read::archive::{Filters, Listing};
use read::neighbours::{Cursor, ListStatus, Neighbour};
use read::search::{OrdinalSet, View};
use schemas::api::similar::Basis;

use super::detail::Detail;
use super::json_writer::JsonWriter;
use super::list_options::ListOptions;
use super::{list_notes, search, undated};
use crate::error::ApiError;
use crate::state::ApiState;

const NEW: &str = "The project was listed a moment ago; its neighbours are on their way.";
const NO_VECTORS: &str =
    "The project has no picture and no text that could be compared, so it has no neighbours.";
const ALONE: &str = "No other project can be compared with this one yet.";

const FILTERED: &str = "None of the nearest projects matches all of these filters.";

/// A listed project, whose neighbours can be read without the catalog.
pub struct ListedProject {
    /// Its slug.
    pub slug: String,
    ordinal: u64,
    view: View,
}

/// A page of the projects similar to one.
pub struct SimilarPage<'a> {
    /// The projects of the page, the most similar first, each with its summary.
    pub shown: Vec<(Neighbour, &'a [u8])>,
    /// The number of projects on all pages.
    pub total: usize,
    /// Why there are none, or some are left out.
    pub note: Option<Cow<'static, str>>,
    /// What cursors of the list name, unless the project was listed a moment ago.
    project: Option<u64>,
    /// The number of projects on the pages before.
    passed: usize,
    encoders: Encoders,
}

/// What made the visual and the semantic vector of the project, and of those that are compared with it.
type Encoders = [Option<Arc<str>>; 2];

impl SimilarPage<'_> {
    /// Returns the empty page of a project that was listed a moment ago.
    pub fn of_new_project() -> SimilarPage<'static> {
        SimilarPage {
            shown: Vec::new(),
            total: 0,
            note: Some(NEW.into()),
            project: None,
            passed: 0,
            encoders: Encoders::default(),
        }
    }

    /// Returns the cursor after the first `count` projects of the page; `None` if no more follow.
    pub fn next_after(&self, count: usize) -> Option<Cursor> {
        let (last, _) = self.shown.get(count.checked_sub(1)?)?;
        (self.passed + count < self.total).then_some(Cursor::after(self.project?, *last))
    }
}

impl ListedProject {
    /// Finds a listed project. A slug that is not listed was renamed, withdrawn, never existed, or is very new: the catalog decides.
    ///
    /// # Errors
    ///
    /// If the node has no search index yet or cannot read it.
    pub fn find(state: &ApiState, slug: &str) -> Result<Option<ListedProject>, ApiError> {
        let view = state.search()?.reader.view();
        let ordinal = view.ordinal_of(slug).map_err(search::api_error)?;
        Ok(ordinal.map(|ordinal| ListedProject { slug: slug.to_owned(), ordinal, view }))
    }

    /// Returns whether a cursor is one of the pages of this project with these filters.
    pub fn issued(&self, cursor: Cursor, filters: &Filters) -> bool {
        cursor.project == self.list(filters)
    }

    /// Returns what the cursors of its neighbours with these filters name: its ordinal, which is below 2^40, combined with the filters.
    fn list(&self, filters: &Filters) -> u64 {
        if filters.is_empty() { self.ordinal } else { self.ordinal ^ filters.fingerprint() }
    }

    /// Returns at most `limit` of its neighbours that match all filters among the options, from the first or after a cursor.
    ///
    /// # Errors
    ///
    /// If the node has no neighbours yet.
    pub fn neighbours(
        &self,
        state: &ApiState,
        limit: usize,
        after: Option<Cursor>,
        options: &ListOptions,
    ) -> Result<SimilarPage<'_>, ApiError> {
        let filters = &options.filters;
        let model = state
            .models()
            .neighbours()
            .ok_or_else(|| ApiError::not_ready("The neighbours are still being looked for."))?;
        let list = model.reader.of(self.ordinal);
        let now = if filters.is_empty() { None } else { Some(state.listing()?) };
        let selected = now.as_ref().map(|now| now.select(filters));
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
        // A neighbour that was withdrawn a moment ago is skipped, and the next one shown instead.
        let neighbours = || list.iter().flat_map(|list| list.iter());
        let passed = after.map_or(0, |cursor| cursor.skipped(neighbours()));
        let (mut shown, mut before, mut total) = (Vec::with_capacity(limit), 0, 0);
        for (place, neighbour) in neighbours().enumerate() {
            if selected.as_ref().is_some_and(|selected| !selected.contains(neighbour.ordinal)) {
                continue;
            }
            let Some(summary) = self.view.summary_of(neighbour.ordinal) else { continue };
            total += 1;
            if place < passed {
                before += 1;
            } else if shown.len() < limit {
                shown.push((neighbour, summary));
            }
        }
        let note = note.map(Cow::Borrowed).or_else(|| {
            let listed = |neighbour: &Neighbour| self.view.summary_of(neighbour.ordinal).is_some();
            let all = || neighbours().filter(listed).map(|neighbour| neighbour.ordinal).collect();
            now.and_then(|now| filtered_note(&now, options, &all, total)).map(Cow::Owned)
        });
        let encoders = model.reader.encoders(self.ordinal);
        Ok(SimilarPage { shown, total, note, project: Some(self.list(filters)), passed: before, encoders })
    }
}

/// Returns what is said of the neighbours that match all filters; `all` returns those without filters.
fn filtered_note(
    now: &Listing,
    options: &ListOptions,
    all: &dyn Fn() -> OrdinalSet,
    total: usize,
) -> Option<String> {
    if total > 0 && !undated::is_asked(options) {
        return None;
    }
    let none = (total == 0).then(|| FILTERED.to_owned());
    let notes: Vec<String> =
        none.into_iter().chain(list_notes::of_neighbours(now, options, &all(), total)).collect();
    list_notes::joined(&notes)
}

/// Writes the member `results` from summaries of this detail.
///
/// # Errors
///
/// If a value cannot be serialised.
pub fn write<'s, S: AsRef<[u8]>>(
    json: &mut JsonWriter<'_>,
    results: impl Iterator<Item = (S, &'s Neighbour)>,
    page: &SimilarPage<'_>,
    detail: Detail,
) -> Result<(), ApiError> {
    json.projects("results", results, |json, neighbour| {
        json.member("score", &rounded(neighbour.score))?;
        if !detail.is_full() {
            return Ok(());
        }
        let (visual, semantic) = (neighbour.visual.map(rounded), neighbour.semantic.map(rounded));
        let [of_visual, of_semantic] = page.encoders.each_ref().map(Option::as_deref);
        let (visual_encoder, semantic_encoder) = (visual.and(of_visual), semantic.and(of_semantic));
        json.member("basis", &Basis { visual, semantic, visual_encoder, semantic_encoder })
    })
}

/// Rounds to four decimal places, which is more than the precision of the vectors.
pub(super) fn rounded(value: f32) -> f32 {
    (value * 1e4).round() / 1e4
}
