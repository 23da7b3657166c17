//! Searches by meaning, and by words and then by meaning: pages, facets, and what is said of them.
//!
//! A project is near if the cosine of its meaning and that of the text reaches a floor. The floor does not depend on filters, so that a
//! facet counts what the filter by its value leaves.

use std::collections::HashMap;
use std::hash::Hasher;
use std::sync::Arc;

use embeddings::Query;
use read::archive::{self, FacetCounts, Filters, Listing, NewestPage, Order, Selection};
use read::neighbours::meaning::{Cursor, Floor, Near};
use read::search::{Collects, Fnv, Highlighter, Hit, OrdinalSet, Restriction, SearchPage, SearchRequest};
use schemas::api::search::Matched;

use super::detail::Detail;
use super::facets;
use super::highlights;
use super::json_writer::JsonWriter;
use super::list_notes;
use super::list_options::ListOptions;
use super::mode::Mode;
use super::search::{SearchCursor, SearchFault, index_missing};
use super::similar::rounded;
use super::undated;
use crate::error::ApiError;
use crate::site::Site;
use crate::state::ApiState;

/// From which cosine on a project is near. Measured on the works of three museums and on the demo catalog: what a person would call related
/// begins at about 0.2, and where much is very near, what is half as near no longer belongs to it.
const FLOOR: Floor = Floor { least: 0.2, of_best: 0.5 };

const NOTHING: &str = "No project is near to this in meaning.";
const FILTERED: &str = "No project that is near in meaning matches all of these filters.";
const NO_MEANINGS: &str =
    "The meanings of the projects have not been computed yet; they come with their vectors.";

/// A search with a meaning.
#[derive(Debug, Clone, Copy)]
pub struct MeaningSearch<'a> {
    /// The text.
    pub text: &'a str,
    /// Its meaning.
    pub query: &'a Query,
    /// Whether projects with all words come first ([`Mode::Both`]), or only the meaning counts.
    pub mode: Mode,
}

/// A page of a search with a meaning.
pub struct Found {
    listing: Listing,
    page: Page,
    facets: Vec<FacetCounts>,
    /// What is said of it.
    pub note: Option<String>,
}

struct Page {
    shown: Vec<Shown>,
    /// The number of results on all pages.
    total: u64,
    /// Whether some of them are results by meaning.
    has_meaning: bool,
    end: End,
}

/// A result.
struct Shown {
    ordinal: u64,
    score: f32,
    matched: Matched,
}

/// What the cursors of a page are made from.
enum End {
    /// By words and then by meaning.
    Ranked {
        list: u64,
        /// The page of the words, on which the page begins unless it is one by meaning alone.
        words: Option<SearchPage>,
        has_more: bool,
    },
    /// In another order.
    Ordered { page: NewestPage, set: OrdinalSet, order: Order, list: u64, after: Option<archive::Cursor> },
}

impl MeaningSearch<'_> {
    /// Searches for a page of at most `limit` results, from the first or after a cursor.
    ///
    /// # Errors
    ///
    /// If the cursor belongs to another search, or a model is not open or cannot be read.
    pub fn find(
        &self,
        state: &ApiState,
        options: &ListOptions,
        limit: usize,
        after: Option<SearchCursor>,
    ) -> Result<Found, SearchFault> {
        let listing = state.listing()?;
        let near = near(state, self.query)?;
        let search = Search { listing: &listing, near: &near.found, of: *self };
        let facets = facets::count(&listing, options, |but| {
            Ok::<_, SearchFault>(Arc::new(search.all(&options.filters_but(but))?))
        })?;
        let page = match &options.order {
            None => search.ranked(&options.filters, limit, after)?,
            Some(order) => search.ordered(&options.filters, order, limit, after)?,
        };
        let note = search.note(options, page.total, near.is_computed)?;
        Ok(Found { page, facets, note, listing })
    }

    /// Returns what cursors of this search with these filters name.
    fn list(&self, filters: &Filters) -> u64 {
        let mut hash = Fnv::default();
        hash.write(&filters.fingerprint().to_be_bytes());
        hash.write(if self.mode == Mode::Both { b"both" } else { b"meaning" });
        hash.write(self.text.trim().as_bytes());
        hash.finish()
    }
}

/// What is near in the whole catalog.
struct NearInCatalog {
    found: Vec<Near>,
    /// Whether the meaning of any project is known.
    is_computed: bool,
}

fn near(state: &ApiState, query: &Query) -> Result<NearInCatalog, ApiError> {
    let model = state.models().neighbours();
    let model =
        model.ok_or_else(|| ApiError::not_ready("The meanings of the projects are still being read."))?;
    let meanings = model.reader.meanings().ok_or_else(ApiError::no_text_model)?;
    Ok(NearInCatalog { found: meanings.near(&query.vector, FLOOR), is_computed: !meanings.is_empty() })
}

/// A search at one moment.
struct Search<'a> {
    listing: &'a Listing,
    /// What is near, in the whole catalog and in no order.
    near: &'a [Near],
    of: MeaningSearch<'a>,
}

impl Search<'_> {
    /// Returns a page of the projects with all words in some form among those that match all filters; `None` if words do not count.
    fn words(
        &self,
        filters: &Filters,
        (limit, after): (usize, Option<read::search::Cursor>),
        collects: Collects,
    ) -> Result<Option<SearchPage>, SearchFault> {
        if self.of.mode != Mode::Both {
            return Ok(None);
        }
        let request = SearchRequest { text: self.of.text, category: None, limit, after };
        let allowed = self.listing.allowed(filters);
        let restriction =
            Restriction { allowed: allowed.as_deref(), fingerprint: filters.fingerprint(), collects };
        Ok(Some(self.listing.full_matches(&request, &restriction).ok_or_else(index_missing)??))
    }

    /// Returns what is near, matches all filters and is not in a set.
    fn by_meaning(&self, filters: &Filters, words: &OrdinalSet) -> Vec<Near> {
        let selected = self.listing.select(filters);
        let is_result = |near: &&Near| selected.contains(near.ordinal) && !words.contains(near.ordinal);
        self.near.iter().filter(is_result).copied().collect()
    }

    /// Returns all results among the projects that match all filters.
    fn all(&self, filters: &Filters) -> Result<OrdinalSet, SearchFault> {
        let words = self.words(filters, (1, None), Collects::Ordinals)?;
        let words = words.map(|page| page.ordinals()).unwrap_or_default();
        let mut all = (*words).clone();
        all.extend(self.by_meaning(filters, &words).iter().map(|near| near.ordinal));
        Ok(all)
    }

    /// Returns a page of the projects with all words, by relevance, and then of those that are near, the nearest first.
    fn ranked(
        &self,
        filters: &Filters,
        limit: usize,
        after: Option<SearchCursor>,
    ) -> Result<Page, SearchFault> {
        let list = self.of.list(filters);
        let begin = Cursor::begin(list);
        let (has_words, after_word, after) = match after {
            None => (true, None, begin),
            Some(SearchCursor::BeforeMeaning(cursor)) if self.of.mode == Mode::Both => {
                (true, Some(cursor), begin)
            }
            Some(SearchCursor::Meaning(cursor)) if cursor.list == list => (false, None, cursor),
            Some(_) => return Err(SearchFault::of_other_search()),
        };
        let words = self.words(filters, (limit, after_word), Collects::Ordinals)?;
        let with_words = words.as_ref().map(SearchPage::ordinals).unwrap_or_default();
        let total_of_words = words.as_ref().map_or(0, SearchPage::total);
        let words = words.filter(|_| has_words);
        let mut shown: Vec<Shown> = words.iter().flat_map(SearchPage::ranked).map(Shown::by_words).collect();
        let has_more_words = words.as_ref().is_some_and(|page| page.next_cursor().is_some());
        let mut near = self.by_meaning(filters, &with_words);
        let total_of_meaning = near.len() as u64;
        near.retain(|near| after.is_before(near));
        let room = limit.saturating_sub(shown.len());
        let has_more = has_more_words || near.len() > room;
        nearest_first(&mut near, room);
        shown.extend(near.into_iter().map(Shown::by_meaning));
        let (total, end) = (total_of_words + total_of_meaning, End::Ranked { list, words, has_more });
        Ok(Page { shown, total, has_meaning: total_of_meaning > 0, end })
    }

    /// Returns a page of all results in another order.
    fn ordered(
        &self,
        filters: &Filters,
        order: &Order,
        limit: usize,
        after: Option<SearchCursor>,
    ) -> Result<Page, SearchFault> {
        let after = match after {
            None => None,
            Some(SearchCursor::Ordered(cursor)) => Some(cursor),
            Some(_) => return Err(SearchFault::of_other_search()),
        };
        let words = self.words(filters, (1, None), Collects::Matches)?;
        let with_words = words.as_ref().map(SearchPage::ordinals).unwrap_or_default();
        let near = self.by_meaning(filters, &with_words);
        let by_words = words.iter().flat_map(|page| page.matches().iter().copied()).map(Shown::by_words);
        let has_meaning = !near.is_empty();
        let all = by_words.chain(near.into_iter().map(Shown::by_meaning));
        let mut all: HashMap<u64, Shown> = all.map(|shown| (shown.ordinal, shown)).collect();
        let set: OrdinalSet = all.keys().copied().collect();
        let list = self.of.list(filters);
        let selection = Selection { set: &set, fingerprint: list };
        let page = self.listing.in_order(selection, order, limit, after.clone())?;
        let shown = page.ordinals.iter().filter_map(|ordinal| all.remove(ordinal)).collect();
        let total = page.total;
        let end = End::Ordered { page, set, order: order.clone(), list, after };
        Ok(Page { shown, total, has_meaning, end })
    }

    /// Returns what is said of a search with so many results.
    fn note(
        &self,
        options: &ListOptions,
        total: u64,
        is_computed: bool,
    ) -> Result<Option<String>, SearchFault> {
        let mut notes = Vec::new();
        if total == 0 || undated::is_asked(options) {
            let all = self.all(&Filters::default())?;
            if total == 0 && is_computed {
                notes.push(if all.is_empty() { NOTHING } else { FILTERED }.to_owned());
            }
            let count = usize::try_from(total).unwrap_or(usize::MAX);
            notes.extend(list_notes::of_neighbours(self.listing, options, &all, count));
        }
        if !is_computed {
            notes.push(NO_MEANINGS.to_owned());
        }
        Ok(list_notes::joined(&notes))
    }
}

/// Keeps the nearest, and orders them: of equally near ones the first that was selected comes first.
fn nearest_first(near: &mut Vec<Near>, most: usize) {
    let order = |a: &Near, b: &Near| b.score.total_cmp(&a.score).then(a.ordinal.cmp(&b.ordinal));
    if near.len() > most {
        if most > 0 {
            near.select_nth_unstable_by(most - 1, order);
        }
        near.truncate(most);
    }
    near.sort_unstable_by(order);
}

impl Shown {
    fn by_words((ordinal, score): (u64, f32)) -> Shown {
        Shown { ordinal, score, matched: Matched::Words }
    }

    fn by_meaning(Near { ordinal, score }: Near) -> Shown {
        Shown { ordinal, score, matched: Matched::Meaning }
    }
}

impl Found {
    /// Returns the number of results on all pages.
    pub fn total(&self) -> u64 {
        self.page.total
    }

    /// Returns whether some results on any page are by meaning.
    pub fn has_meaning(&self) -> bool {
        self.page.has_meaning
    }

    /// Returns the results of the page, each with why it is one.
    pub fn results(&self) -> Vec<(Hit<'_>, Matched)> {
        let result = |shown: &Shown| {
            let summary = self.listing.summary_of(shown.ordinal)?;
            let score = match shown.matched {
                Matched::Words => shown.score,
                Matched::Meaning => rounded(shown.score),
            };
            Some((Hit { summary, score }, shown.matched))
        };
        self.page.shown.iter().filter_map(result).collect()
    }

    /// Returns the counts of the facets.
    pub fn facets(&self) -> &[FacetCounts] {
        &self.facets
    }

    /// Returns the text of the cursor of the next page, if there is one.
    pub fn next_cursor(&self) -> Option<String> {
        self.cursor_after(self.page.shown.len())
    }

    /// Returns the text of the cursor after the first `shown` results; `None` at the end.
    pub fn cursor_after(&self, shown: usize) -> Option<String> {
        let Page { shown: all, end, .. } = &self.page;
        match end {
            End::Ranked { list, words, has_more } => {
                let last = all.get(shown.checked_sub(1)?)?;
                if shown == all.len() && !has_more {
                    return None;
                }
                let near = Near { ordinal: last.ordinal, score: last.score };
                let after_words = || words.as_ref().and_then(|page| page.cursor_after(shown));
                let cursor = match last.matched {
                    Matched::Meaning => SearchCursor::Meaning(Cursor::after(*list, near)),
                    Matched::Words => match after_words() {
                        Some(cursor) => SearchCursor::BeforeMeaning(cursor),
                        None => SearchCursor::Meaning(Cursor::begin(*list)),
                    },
                };
                Some(cursor.to_string())
            }
            End::Ordered { page, set, order, list, after } => {
                let cut;
                let next = if shown >= all.len() {
                    &page.next
                } else {
                    let selection = Selection { set, fingerprint: *list };
                    // The cursor that the page began with belongs to this list, so it is not refused.
                    cut = self.listing.in_order(selection, order, shown, after.clone()).ok()?;
                    &cut.next
                };
                next.as_ref().map(ToString::to_string)
            }
        }
    }
}

/// Writes the members of a search with a meaning that say how its query was relaxed: not at all, but results by meaning need not have
/// its words.
///
/// # Errors
///
/// If a value cannot be serialised.
pub fn write_approximation(
    json: &mut JsonWriter<'_>,
    is_approximate: bool,
    note: Option<&str>,
) -> Result<(), ApiError> {
    json.member("approximate", &is_approximate)?;
    json.rendered(br#""missing_words":[],"replaced":[],"did_you_mean":null"#);
    json.member("note", &note)
}

/// Writes the member `results`, each with why it is one, and with its marked texts if there is a highlighter.
///
/// # Errors
///
/// If a value cannot be serialised, or a summary not be parsed.
pub fn write(
    json: &mut JsonWriter<'_>,
    results: &[(Hit<'_>, Matched)],
    highlighter: Option<&Highlighter>,
    (detail, site): (Detail, &Site),
) -> Result<(), ApiError> {
    let results = results.iter().map(|result| (detail.of(result.0.summary), result));
    json.projects("results", results, |json, (hit, matched)| {
        json.member("score", &hit.score)?;
        json.member("matched", matched)?;
        match highlighter {
            Some(highlighter) => json.member("highlights", &highlights::of(hit.summary, highlighter, site)?),
            None => Ok(()),
        }
    })
}
