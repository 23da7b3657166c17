//! A search: its results in the order that is asked for, its facets, and the errors of searches.

use std::collections::HashMap;
use std::fmt;
use std::hash::Hasher;
use std::str::FromStr;
use std::sync::Arc;

use read::archive::{self, CountedSearch, FacetCounts, Filters, Listing, NewestPage, Order, Selection};
use read::neighbours::meaning;
use read::search::{
    self, Collects, Fnv, Hit, MAX_PAGE_SIZE, OrdinalSet, Relaxation, RelaxationKind, Restriction,
    SearchError, SearchPage, SearchRequest,
};
use schemas::api::problem::ParameterFault;
use schemas::record::Category;

use super::detail::Detail;
use super::facets;
use super::json_writer::JsonWriter;
use super::list_options::ListOptions;
use crate::error::{ApiError, fault};
use crate::state::ApiState;

/// The end of a page of a search.
#[derive(Debug, Clone, PartialEq)]
pub enum SearchCursor {
    /// Of results by relevance.
    Ranked(search::Cursor),
    /// Of results in another order.
    Ordered(archive::Cursor),
    /// Of results with all words, after which those by meaning follow.
    BeforeMeaning(search::Cursor),
    /// Of results by meaning.
    Meaning(meaning::Cursor),
}

/// Stands before the cursors of results with all words after which those by meaning follow.
const BEFORE_MEANING: &str = "both-";

/// The text is no cursor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NoCursor;

impl FromStr for SearchCursor {
    type Err = NoCursor;

    /// Parses a cursor of any kind; all have a checksum.
    fn from_str(text: &str) -> Result<SearchCursor, NoCursor> {
        if let Ok(cursor) = text.parse() {
            return Ok(SearchCursor::Ranked(cursor));
        }
        if let Ok(cursor) = text.parse() {
            return Ok(SearchCursor::Ordered(cursor));
        }
        if let Ok(cursor) = text.parse() {
            return Ok(SearchCursor::Meaning(cursor));
        }
        let rest = text.strip_prefix(BEFORE_MEANING).ok_or(NoCursor)?;
        rest.parse().map(SearchCursor::BeforeMeaning).map_err(|_| NoCursor)
    }
}

impl fmt::Display for SearchCursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SearchCursor::Ranked(cursor) => cursor.fmt(f),
            SearchCursor::Ordered(cursor) => cursor.fmt(f),
            SearchCursor::BeforeMeaning(cursor) => write!(f, "{BEFORE_MEANING}{cursor}"),
            SearchCursor::Meaning(cursor) => cursor.fmt(f),
        }
    }
}

/// A page of a search.
pub struct Found {
    /// The page by relevance, which has the number of results and how the query was relaxed. With another order it has the first results
    /// by relevance.
    pub page: SearchPage,
    /// What else is found; `None` for a search by words and category alone.
    selected: Option<Selected>,
}

struct Selected {
    listing: Listing,
    /// The results in another order than by relevance.
    ordered: Option<Ordered>,
    facets: Arc<[FacetCounts]>,
}

/// A page of results in another order than by relevance.
struct Ordered {
    page: NewestPage,
    /// The scores of the results.
    scores: Vec<f32>,
    order: Order,
    /// The hash of text and filters, to which its cursors belong.
    fingerprint: u64,
    /// The end of the page before.
    after: Option<archive::Cursor>,
}

/// Searches for a page of at most `limit` results, from the first or after a cursor. What is not asked for is not computed: without an
/// order, facets and more filters than a category the search index alone answers.
///
/// # Errors
///
/// If the cursor belongs to another search, or a model is not open or cannot be read.
pub fn find(
    state: &ApiState,
    text: &str,
    options: &ListOptions,
    limit: usize,
    after: Option<SearchCursor>,
) -> Result<Found, SearchFault> {
    if let Some(category) = options.only_category() {
        let request =
            SearchRequest { text, category: category.map(Category::as_str), limit, after: ranked(after)? };
        let page = state.search()?.reader.search(&request)?;
        return Ok(Found { page, selected: None });
    }
    let listing = state.listing()?;
    let request = SearchRequest { text, category: None, limit, after: None };
    let counted = counted(text, options, after.as_ref());
    let kept = counted.as_ref().and_then(|search| listing.kept_facets(search));
    let (page, ordered) = match &options.order {
        None => {
            let is_counted = counted.is_none() || kept.is_some();
            let collects = if is_counted { Collects::Nothing } else { Collects::Ordinals };
            let request = SearchRequest { after: ranked(after)?, ..request };
            (among(&listing, &request, &options.filters, collects)?, None)
        }
        Some(order) => {
            let after = match after {
                Some(SearchCursor::Ordered(cursor)) => Some(cursor),
                None => None,
                Some(SearchCursor::Ranked(_)) => return Err(other_order()),
                Some(SearchCursor::BeforeMeaning(_) | SearchCursor::Meaning(_)) => {
                    return Err(SearchFault::of_other_search());
                }
            };
            let request = SearchRequest { limit: MAX_PAGE_SIZE, ..request };
            let page = among(&listing, &request, &options.filters, Collects::Matches)?;
            let ordered = in_order(&listing, (text, &options.filters), &page, order, limit, after)?;
            (page, Some(ordered))
        }
    };
    let facets = match (kept, counted) {
        (None, Some(search)) => {
            let counts: Arc<[FacetCounts]> = facets(&listing, text, options, &page)?.into();
            listing.keep_facets(search, Arc::clone(&counts));
            counts
        }
        (kept, _) => kept.unwrap_or_default(),
    };
    Ok(Found { page, selected: Some(Selected { listing, ordered, facets }) })
}

impl Found {
    /// Returns the results of the page.
    pub fn hits(&self) -> Vec<Hit<'_>> {
        match &self.selected {
            Some(Selected { listing, ordered: Some(Ordered { page, scores, .. }), .. }) => {
                let results = page.ordinals.iter().zip(scores);
                let hit = |(ordinal, score): (&u64, &f32)| {
                    Some(Hit { summary: listing.summary_of(*ordinal)?, score: *score })
                };
                results.filter_map(hit).collect()
            }
            _ => self.page.hits().collect(),
        }
    }

    /// Returns the text of the cursor of the next page, if there is one.
    pub fn next_cursor(&self) -> Option<String> {
        match self.ordered() {
            Some((_, ordered)) => ordered.page.next.as_ref().map(ToString::to_string),
            None => self.page.next_cursor().map(|cursor| cursor.to_string()),
        }
    }

    /// Returns the text of the cursor after the first `shown` results; `None` at the end.
    pub fn cursor_after(&self, shown: usize) -> Option<String> {
        let Some((listing, ordered)) = self.ordered() else {
            return self.page.cursor_after(shown).map(|cursor| cursor.to_string());
        };
        if shown >= self.hits().len() {
            return self.next_cursor();
        }
        let Ordered { order, fingerprint, after, .. } = ordered;
        let set = self.page.ordinals();
        let selection = Selection { set: &set, fingerprint: *fingerprint };
        // The cursor that the page began with belongs to this list, so it is not refused.
        let cut = listing.in_order(selection, order, shown, after.clone()).ok()?;
        cut.next.map(|cursor| cursor.to_string())
    }

    /// Returns the counts of the facets.
    pub fn facets(&self) -> &[FacetCounts] {
        self.selected.as_ref().map_or(&[], |selected| &selected.facets)
    }

    fn ordered(&self) -> Option<(&Listing, &Ordered)> {
        let Selected { listing, ordered, .. } = self.selected.as_ref()?;
        ordered.as_ref().map(|ordered| (listing, ordered))
    }
}

fn other_order() -> SearchFault {
    let wrong =
        "The cursor was given with results in another order. Leave it out to start from the first page.";
    SearchFault::InvalidCursor(wrong.to_owned())
}

fn ranked(after: Option<SearchCursor>) -> Result<Option<search::Cursor>, SearchFault> {
    match after {
        None => Ok(None),
        Some(SearchCursor::Ranked(cursor)) => Ok(Some(cursor)),
        Some(SearchCursor::Ordered(_)) => Err(other_order()),
        Some(SearchCursor::BeforeMeaning(_) | SearchCursor::Meaning(_)) => {
            Err(SearchFault::of_other_search())
        }
    }
}

/// Searches among the projects that match all filters.
fn among(
    listing: &Listing,
    request: &SearchRequest<'_>,
    filters: &Filters,
    collects: Collects,
) -> Result<SearchPage, SearchFault> {
    let allowed = listing.allowed(filters);
    let restriction =
        Restriction { allowed: allowed.as_deref(), fingerprint: filters.fingerprint(), collects };
    let found = listing.search(request, &restriction);
    Ok(found.ok_or_else(index_missing)??)
}

pub(super) fn index_missing() -> SearchFault {
    SearchFault::Failed(ApiError::not_ready("The search index is still being filled."))
}

/// Returns a page of all matches in an order.
fn in_order(
    listing: &Listing,
    (text, filters): (&str, &Filters),
    found: &SearchPage,
    order: &Order,
    limit: usize,
    after: Option<archive::Cursor>,
) -> Result<Ordered, SearchFault> {
    let set = found.ordinals();
    let mut hash = Fnv::default();
    hash.write(&filters.fingerprint().to_be_bytes());
    hash.write(text.trim().as_bytes());
    let fingerprint = hash.finish();
    let selection = Selection { set: &set, fingerprint };
    let page = listing.in_order(selection, order, limit, after.clone())?;
    let mut scores: HashMap<u64, f32> = page.ordinals.iter().map(|ordinal| (*ordinal, 0.0)).collect();
    for (ordinal, score) in found.matches() {
        scores.entry(*ordinal).and_modify(|known| *known = *score);
    }
    let scores =
        page.ordinals.iter().map(|ordinal| scores.get(ordinal).copied().unwrap_or_default()).collect();
    Ok(Ordered { page, scores, order: order.clone(), fingerprint, after })
}

/// Returns what the counts of a search depend on; `None` without facets.
fn counted(text: &str, options: &ListOptions, after: Option<&SearchCursor>) -> Option<CountedSearch> {
    let stage = match after {
        Some(SearchCursor::Ranked(cursor)) => Some(cursor.stage()),
        // In another order than by relevance every page is of the first results.
        Some(SearchCursor::Ordered(_) | SearchCursor::BeforeMeaning(_) | SearchCursor::Meaning(_)) | None => {
            None
        }
    };
    let (filters, facets) = (options.filters.clone(), options.facets.clone());
    (!facets.is_empty()).then(|| CountedSearch { text: text.to_owned(), stage, filters, facets })
}

/// Returns all projects that a search finds among those that match some filters.
pub(super) fn matching(
    listing: &Listing,
    text: &str,
    filters: &Filters,
) -> Result<Arc<OrdinalSet>, SearchFault> {
    let request = SearchRequest { text, category: None, limit: 1, after: None };
    Ok(among(listing, &request, filters, Collects::Ordinals)?.ordinals())
}

/// Returns whether one of the projects that match some filters has a word in some form, or one that begins with it.
pub(super) fn has_full_match(listing: &Listing, word: &str, filters: &Filters) -> Result<bool, SearchFault> {
    let request = SearchRequest { text: word, category: None, limit: 1, after: None };
    let page = among(listing, &request, filters, Collects::Nothing)?;
    let is_full = |relaxation: &Relaxation| relaxation.exact > 0 || relaxation.kind == RelaxationKind::Prefix;
    Ok(page.total() > 0 && page.relaxation().is_none_or(is_full))
}

/// Counts all matches by each facet; for a facet with a filter of its own, those that the search has without it.
fn facets(
    listing: &Listing,
    text: &str,
    options: &ListOptions,
    found: &SearchPage,
) -> Result<Vec<FacetCounts>, SearchFault> {
    facets::count(listing, options, |but| {
        let Some(facet) = but else { return Ok(found.ordinals()) };
        matching(listing, text, &options.filters.without(facet))
    })
}

/// Why a search failed.
#[derive(Debug)]
pub enum SearchFault {
    /// The cursor belongs to another search: what is wrong and what to do.
    InvalidCursor(String),
    /// Anything else.
    Failed(ApiError),
}

impl SearchFault {
    /// The cursor is one of another text, mode or order, or other filters.
    pub(super) fn of_other_search() -> SearchFault {
        let wrong = "The cursor was given with results of another text, mode or order, or of other filters. Leave it out to start from the \
                     first page.";
        SearchFault::InvalidCursor(wrong.to_owned())
    }
}

impl From<SearchError> for SearchFault {
    fn from(error: SearchError) -> SearchFault {
        match error {
            SearchError::InvalidCursor(_) => SearchFault::InvalidCursor(error.to_string()),
            error => SearchFault::Failed(api_error(error)),
        }
    }
}

impl From<archive::InvalidCursor> for SearchFault {
    fn from(error: archive::InvalidCursor) -> SearchFault {
        SearchFault::InvalidCursor(error.to_string())
    }
}

impl From<ApiError> for SearchFault {
    fn from(error: ApiError) -> SearchFault {
        SearchFault::Failed(error)
    }
}

impl From<SearchFault> for ApiError {
    fn from(fault: SearchFault) -> ApiError {
        match fault {
            SearchFault::InvalidCursor(_) => ApiError::invalid_parameters(vec![invalid_cursor()]),
            SearchFault::Failed(error) => error,
        }
    }
}

/// Returns the error of a search that failed.
pub fn api_error(error: SearchError) -> ApiError {
    match error {
        SearchError::InvalidCursor(_) => ApiError::invalid_parameters(vec![invalid_cursor()]),
        SearchError::Unavailable(_) => ApiError::unavailable_because(error),
        SearchError::Busy | SearchError::Corrupt(_) | SearchError::Rejected(_) => ApiError::internal(error),
    }
}

/// Returns the description of a cursor of another search, or of a list that cannot be continued.
pub fn invalid_cursor() -> ParameterFault {
    fault(
        "cursor",
        "It is not a cursor of this search, or its list can no longer be continued. Start again from the first page, without \
         a cursor.",
        "next_cursor of the page before, with the same q, mode, category, filters and sort",
    )
}

/// Writes the member `results`.
///
/// # Errors
///
/// If a value cannot be serialised.
pub fn write(json: &mut JsonWriter<'_>, hits: &[Hit<'_>], detail: Detail) -> Result<(), ApiError> {
    let results = hits.iter().map(|hit| (detail.of(hit.summary), hit.score));
    json.projects("results", results, |json, score| json.member("score", &score))
}
