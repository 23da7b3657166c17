//! Searches by taste: pages, the number of matches of each dimension, and advice about dimensions that match nothing.

mod by_matched;

use std::convert::Infallible;
use std::sync::Arc;

use read::archive::{
    Cursor, DimensionMatches, FacetCounts, InvalidCursor, Listing, MAX_QUERY_WORDS, MatchMode, Selection,
    TasteRequest, Term, TermKind,
};
use read::search::OrdinalSet;
use schemas::taste::{Dimension, DimensionSet, Taste};
use serde::{Serialize, Serializer};

use super::browse::ArchivePage;
use super::empty::there::There;
use super::facets;
use super::json_writer::JsonWriter;
use super::list_options::{ListOptions, MAX_VALUES};
use super::near_terms::{Compared, near_terms};
use super::quotation::quoted;
use crate::error::ApiError;
use crate::state::ApiState;

pub use by_matched::ByMatched;

/// The maximum length of the text of a dimension, in characters.
pub const LONGEST: usize = 200;
/// The maximum number of alternatives in a dimension, that of the values of a filter.
pub const MOST_ALTERNATIVES: usize = MAX_VALUES;
/// The number of words in use that are suggested for an unknown one.
const NEAREST: usize = 4;

/// The requested texts of each dimension, several of which are alternatives, and how many dimensions a project must match.
#[derive(Debug, Default)]
pub struct TasteTexts {
    texts: [Vec<String>; Dimension::COUNT],
    matching: MatchMode,
}

impl TasteTexts {
    /// Returns the texts that `read` returns for each dimension, called in display order. A project must match at least one dimension.
    pub fn from_fn(read: impl FnMut(Dimension) -> Vec<String>) -> TasteTexts {
        TasteTexts { texts: Dimension::ALL.map(read), matching: MatchMode::Any }
    }

    /// Returns the same texts, of which a project must match so many dimensions.
    #[must_use]
    pub fn matching(self, matching: MatchMode) -> TasteTexts {
        TasteTexts { matching, ..self }
    }

    /// Returns whether no dimension is requested.
    pub fn is_empty(&self) -> bool {
        self.texts.iter().all(Vec::is_empty)
    }

    /// Returns the number of texts of all dimensions.
    pub fn alternatives(&self) -> usize {
        self.texts.iter().map(Vec::len).sum()
    }

    fn get(&self, dimension: Dimension) -> &[String] {
        &self.texts[dimension.index()]
    }

    fn request(&self) -> TasteRequest<'_> {
        let taste = self.texts.each_ref().map(|texts| texts.iter().map(String::as_str).collect());
        TasteRequest { taste, matching: self.matching, ..TasteRequest::default() }
    }
}

impl From<&Taste> for TasteTexts {
    fn from(taste: &Taste) -> TasteTexts {
        TasteTexts::from_fn(|dimension| taste.get(dimension).map(str::to_owned).into_iter().collect())
    }
}

/// A page of projects, and the matches of each requested dimension.
#[derive(Debug)]
pub struct TastePage {
    /// The projects with their matching dimensions.
    pub page: ArchivePage<DimensionSet>,
    /// The number of matches of each requested dimension, and of each number of them.
    pub matches: Matches,
}

/// The matches of the requested dimensions over all pages, as the member `matches` of an answer.
#[derive(Debug, Default)]
pub struct Matches {
    dimensions: Vec<DimensionMatches>,
    by_matched: Vec<u64>,
}

impl Matches {
    /// Returns the requested dimensions that no project matches.
    pub fn missing(&self) -> impl Iterator<Item = Dimension> {
        self.dimensions.iter().filter(|one| one.projects == 0).map(|one| one.dimension)
    }

    /// Returns how many projects match exactly one dimension, two, and so on up to the number of requested ones.
    pub fn counts(&self) -> &[u64] {
        &self.by_matched
    }

    /// Returns the member `by_matched` of an answer.
    pub fn by_matched(&self) -> ByMatched<'_> {
        ByMatched(&self.by_matched)
    }
}

impl Serialize for Matches {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.dimensions.iter().map(|one| (one.dimension.as_str(), one.projects)))
    }
}

/// Returns what to write if no dimension is requested.
pub fn nothing_requested() -> String {
    format!("at least one of {} is needed", Dimension::ALL.map(Dimension::as_str).join(", "))
}

/// Returns a page of the projects that match a taste.
///
/// # Errors
///
/// If the cursor is one of another list.
pub fn search(
    now: &Listing,
    taste: &TasteTexts,
    options: &ListOptions,
    limit: usize,
    after: Option<Cursor>,
) -> Result<TastePage, InvalidCursor> {
    let request = TasteRequest { limit, after, ..taste.request() };
    let page = match options.only_category() {
        Some(category) => now.by_taste(&TasteRequest { category, ..request })?,
        None => {
            let set = now.select(&options.filters);
            let within = Some(Selection { set: &set, fingerprint: options.filters.fingerprint() });
            match &options.order {
                None => now.by_taste(&TasteRequest { within, ..request })?,
                Some(order) => now.by_taste_in_order(&TasteRequest { within, ..request }, order)?,
            }
        }
    };
    let projects = page.hits.into_iter().map(|hit| (hit.ordinal, hit.matched)).collect();
    let matches = Matches { dimensions: page.dimensions, by_matched: page.by_matched };
    Ok(TastePage { page: ArchivePage { projects, total: page.total, next: page.next }, matches })
}

/// Returns the projects of a set that match a taste.
pub(super) fn matching(now: &Listing, taste: &TasteTexts, set: &OrdinalSet) -> OrdinalSet {
    let within = Some(Selection { set, fingerprint: 0 });
    now.matching_taste(&TasteRequest { within, ..taste.request() })
}

/// Counts the projects that match a taste and all filters by each facet, without the filter by its own values.
pub fn facets(now: &Listing, taste: &TasteTexts, options: &ListOptions) -> Vec<FacetCounts> {
    let matching = |but| {
        let set = now.select(&options.filters_but(but));
        Ok::<_, Infallible>(Arc::new(matching(now, taste, &set)))
    };
    let Ok(counts) = facets::count(now, options, matching);
    counts
}

/// Writes the members `matches` and `by_matched`.
///
/// # Errors
///
/// If a value cannot be serialised.
pub fn write(json: &mut JsonWriter<'_>, matches: &Matches) -> Result<(), ApiError> {
    json.member("matches", matches)?;
    json.member("by_matched", &matches.by_matched())
}

/// Returns that no project has all dimensions, and advice about those that match nothing, or whose words were not all used. `terms` is the
/// list of the words in use.
pub fn notes(
    (state, now): (&ApiState, &Listing),
    taste: &TasteTexts,
    options: &ListOptions,
    matches: &Matches,
    terms: &str,
) -> Vec<String> {
    let has_any = matches.by_matched.iter().any(|count| *count > 0);
    let there = There::of(now, &options.filters);
    let note = |one: &DimensionMatches| {
        let lacking = there.as_ref().and_then(|there| lacking(now, one, taste, there));
        if lacking.is_some() || options.filters.is_empty() || !is_elsewhere(now, one, taste) {
            return lacking.or_else(|| dimension_note((state, now), one, taste, terms));
        }
        // Why an empty list has nothing is said of its filters.
        let (dimension, text) = (one.dimension, alternatives(taste.get(one.dimension)));
        has_any.then(|| format!("None of the projects that the filters leave matches {dimension} {text}."))
    };
    let no_project = matches.by_matched().note(taste.matching, !options.filters.is_empty());
    no_project.into_iter().chain(matches.dimensions.iter().filter_map(note)).collect()
}

/// Returns whether filters exclude all that matches a dimension.
fn is_elsewhere(now: &Listing, asked: &DimensionMatches, taste: &TasteTexts) -> bool {
    let texts = taste.get(asked.dimension).iter();
    let request = texts.fold(TasteRequest::default(), |request, text| request.with(asked.dimension, text));
    asked.projects == 0 && !now.matching_taste(&request).is_empty()
}

/// Returns texts in quotation marks, as alternatives.
fn alternatives(texts: &[String]) -> String {
    texts.iter().map(|text| quoted(text)).collect::<Vec<_>>().join(" or ")
}

/// Returns what the projects of the places or categories among the filters have in each dimension in which they lack what is requested.
pub fn notes_of_there(
    now: &Listing,
    taste: &TasteTexts,
    options: &ListOptions,
    matches: &Matches,
) -> Vec<String> {
    let Some(there) = There::of(now, &options.filters) else { return Vec::new() };
    matches.dimensions.iter().filter_map(|one| lacking(now, one, taste, &there)).collect()
}

fn lacking(now: &Listing, asked: &DimensionMatches, taste: &TasteTexts, there: &There) -> Option<String> {
    let DimensionMatches { dimension, words, is_truncated, projects } = *asked;
    let is_missing = projects == 0 && words > 0 && !is_truncated;
    if is_missing { there.lacks_taste(now, dimension, taste.get(dimension)) } else { None }
}

fn dimension_note(
    (state, now): (&ApiState, &Listing),
    asked: &DimensionMatches,
    taste: &TasteTexts,
    terms: &str,
) -> Option<String> {
    let dimension = asked.dimension;
    let texts = taste.get(dimension);
    if asked.is_truncated {
        return Some(format!("Of {dimension} only the first {MAX_QUERY_WORDS} words are looked for."));
    }
    if asked.projects > 0 {
        return None;
    }
    let text = alternatives(texts);
    let all = texts.join(" ");
    let spelled = now.nearest_terms(dimension, &all, NEAREST);
    let mut meant =
        near_terms(state, now, &all, Compared { kind: TermKind::Word, dimension, category: None });
    meant.retain(|term| !spelled.contains(term));
    meant.truncate(NEAREST);
    Some(match (asked.words, spelled.as_slice(), meant.as_slice()) {
        (0, ..) => format!("{dimension} {text} holds no word."),
        (_, [_, ..], []) => format!(
            "No project matches {dimension} {text}; words in use that are near, with their projects: {}.",
            counted(&spelled)
        ),
        (_, [], [_, ..]) => format!(
            "No project matches {dimension} {text}; words in use that are near in meaning, with their projects: {}.",
            counted(&meant)
        ),
        (_, [_, ..], [_, ..]) => format!(
            "No project matches {dimension} {text}; words in use that are near, with their projects: {}; and in meaning: {}.",
            counted(&spelled),
            counted(&meant)
        ),
        (1, [], []) => format!("No project matches {dimension} {text}; {terms} shows the words in use."),
        (_, [], []) => format!("No project has all words of {dimension} {text}; try one of them alone."),
    })
}

/// Returns, for example, `oak (12), larch (3)`.
fn counted(terms: &[Term]) -> String {
    terms.iter().map(|term| format!("{} ({})", term.term, term.projects)).collect::<Vec<_>>().join(", ")
}
