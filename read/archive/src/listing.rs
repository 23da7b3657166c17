//! The archive and the search index as of one moment: answers take their order from the one and their summaries from the
//! other.

use std::sync::{Arc, OnceLock};

use lexical::{OrdinalSet, Restriction, SearchError, SearchPage, SearchRequest};
use schemas::record::Category;
use schemas::taste::Dimension;

use super::browse::{self, NewestPage};
use super::catalog_counts::CatalogCounts;
use super::cursor::{Cursor, InvalidCursor};
use super::dictionary::TermKind;
use super::facets::{AllCounts, CountedSet, Facet, FacetCounts};
use super::filter_parts::Dated;
use super::filters::{self, Filters, RecentSelections};
use super::recent::Recent;
use super::snapshot::Snapshot;
use super::sorting::{self, Order, Selection};
use super::stemming::WordStemmer;
use super::suggestions::{self, Suggestion};
use super::taste_query::{self, TastePage, TasteQuery, TasteRequest};
use super::vocabulary::{self, DimensionTerms, Term, TermsPage, TermsRequest, Vocabulary};
use model::search::View;

/// Answers queries as of one moment; clones are cheap and share it.
#[derive(Clone, Debug)]
pub struct Listing {
    pub(super) snapshot: Arc<Snapshot>,
    /// What was computed from the snapshot and the search index.
    pub(super) computed: Arc<Computed>,
    /// The use of words, counted at this moment or earlier.
    pub(super) vocabulary: Arc<Vocabulary>,
    /// The search index, which contains every listed project; `None` if the archive was opened without one.
    pub(super) view: Option<View>,
    pub(super) stemmer: Arc<WordStemmer>,
}

/// What the answers of one moment share.
#[derive(Debug, Default)]
pub(super) struct Computed {
    /// The counts of all projects.
    counts: AllCounts,
    catalog: OnceLock<CatalogCounts>,
    selections: RecentSelections,
    /// The counts of the last searches: they are the same on every page of the results.
    searches: Recent<CountedSearch, Arc<[FacetCounts]>, 64>,
    /// The projects without a value that match filters.
    pub(super) undated: Recent<(Filters, Dated), Arc<OrdinalSet>, 16>,
    /// Whether every project of the search index is listed: one that was withdrawn may be in it for a moment.
    lists_whole_index: OnceLock<bool>,
}

/// What the counts of a search depend on at one moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CountedSearch {
    /// The text.
    pub text: String,
    /// The stage of the cursor that it continues ([`model::search::Cursor::stage`]): after a commit that changed the stage of first pages,
    /// the pages that follow an earlier one have other results.
    pub stage: Option<(u8, u64)>,
    /// The filters.
    pub filters: Filters,
    /// What is counted.
    pub facets: Vec<Facet>,
}

impl Listing {
    /// Returns a page of projects by taste.
    ///
    /// # Errors
    ///
    /// Returns an error for the cursor of another query.
    pub fn by_taste(&self, request: &TasteRequest<'_>) -> Result<TastePage, InvalidCursor> {
        let query = TasteQuery::of(request, &self.stemmer);
        taste_query::page(&self.snapshot, &query, request.limit, request.after.clone())
    }

    /// Returns a page of projects by taste in another order than that of their matches.
    ///
    /// # Errors
    ///
    /// Returns an error for the cursor of another query or order.
    pub fn by_taste_in_order(
        &self,
        request: &TasteRequest<'_>,
        order: &Order,
    ) -> Result<TastePage, InvalidCursor> {
        let query = TasteQuery::of(request, &self.stemmer);
        taste_query::page_in_order(&self.snapshot, &query, order, request.limit, request.after.clone())
    }

    /// Returns the projects on all pages of a request by taste.
    pub fn matching_taste(&self, request: &TasteRequest<'_>) -> OrdinalSet {
        taste_query::matches(&self.snapshot, &TasteQuery::of(request, &self.stemmer))
    }

    /// Returns the listed projects that match all filters.
    pub fn select(&self, filters: &Filters) -> Arc<OrdinalSet> {
        if let Some(known) = self.computed.selections.get(|known| known == filters) {
            return known;
        }
        let selected = filters::select(&self.snapshot.columns, filters);
        let selected = filters.taste.iter().fold(selected, |set, (dimension, text)| {
            let within = Some(Selection { set: &set, fingerprint: 0 });
            let request = TasteRequest { within, ..TasteRequest::default() };
            self.matching_taste(&request.with(dimension, text))
        });
        let selected = Arc::new(selected);
        self.computed.selections.insert(filters.clone(), Arc::clone(&selected));
        selected
    }

    /// Returns the projects to which filters restrict a search; `None` if they are all projects of the search index.
    pub fn allowed(&self, filters: &Filters) -> Option<Arc<OrdinalSet>> {
        let is_all = || {
            let is_within = |view: &View| view.is_within(&self.select(filters));
            *self.computed.lists_whole_index.get_or_init(|| self.view.as_ref().is_some_and(is_within))
        };
        (!filters.is_empty() || !is_all()).then(|| self.select(filters))
    }

    /// Returns a page of the listed projects of a selection in an order. The limit is clamped to 1 to [`super::MAX_PAGE_SIZE`].
    ///
    /// # Errors
    ///
    /// Returns an error for the cursor of another selection or order.
    pub fn in_order(
        &self,
        selection: Selection<'_>,
        order: &Order,
        limit: usize,
        after: Option<Cursor>,
    ) -> Result<NewestPage, InvalidCursor> {
        sorting::page(&self.snapshot, selection, order, limit, after)
    }

    /// Counts the listed projects of a set by the values of a facet.
    pub fn facet(&self, set: &OrdinalSet, facet: Facet) -> FacetCounts {
        CountedSet::new(&self.snapshot, set).by(facet)
    }

    /// Counts the listed projects of a set by the values of each facet.
    pub fn facets(&self, set: &OrdinalSet, facets: &[Facet]) -> Vec<FacetCounts> {
        let set = CountedSet::new(&self.snapshot, set);
        facets.iter().map(|facet| set.by(*facet)).collect()
    }

    /// Returns the kept counts of a search, if it was one of the last.
    pub fn kept_facets(&self, search: &CountedSearch) -> Option<Arc<[FacetCounts]>> {
        self.computed.searches.get(|known| known == search)
    }

    /// Keeps the counts of a search until the archive or the search index changes: they are the same on every page of its results.
    pub fn keep_facets(&self, search: CountedSearch, counts: Arc<[FacetCounts]>) {
        self.computed.searches.insert(search, counts);
    }

    /// Counts all listed projects by the values of a facet. They are counted once for a commit, on the first call.
    pub fn facet_of_all(&self, facet: Facet) -> &FacetCounts {
        self.computed.counts.get(&self.snapshot, facet, || self.select(&Filters::default()))
    }

    /// Returns what the catalog records. It is counted once for a commit, on the first call.
    pub fn catalog_counts(&self) -> &CatalogCounts {
        let distinct = |facet| self.facet_of_all(facet).distinct;
        self.computed.catalog.get_or_init(|| CatalogCounts::of(&self.snapshot.columns, distinct))
    }

    /// Searches the index of this listing among some projects; `None` if the archive was opened without an index.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`model::search::SearchReader::search`].
    pub fn search(
        &self,
        request: &SearchRequest<'_>,
        restriction: &Restriction<'_>,
    ) -> Option<Result<SearchPage, SearchError>> {
        Some(self.view.as_ref()?.search(request, restriction))
    }

    /// Searches the index of this listing for the projects that have every word of a text in some form, as [`View::full_matches`] does;
    /// `None` if the archive was opened without an index.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`model::search::SearchReader::search`].
    pub fn full_matches(
        &self,
        request: &SearchRequest<'_>,
        restriction: &Restriction<'_>,
    ) -> Option<Result<SearchPage, SearchError>> {
        Some(self.view.as_ref()?.full_matches(request, restriction))
    }

    /// Counts the projects of a set that have every word of a text in some form, as [`View::count_within`] does; 0 if the archive was
    /// opened without an index.
    ///
    /// # Errors
    ///
    /// Returns the error of the index if it cannot be read.
    pub fn count_matches(&self, text: &str, set: &OrdinalSet) -> Result<u64, SearchError> {
        self.view.as_ref().map_or(Ok(0), |view| view.count_within(text, set))
    }

    /// Returns a page of the newest projects, of one category or of all: by the day of publication, else of selection, else of the
    /// first event; within a day the last selected first. The limit is clamped to 1 to [`super::MAX_PAGE_SIZE`].
    ///
    /// # Errors
    ///
    /// Returns an error for the cursor of another query.
    pub fn newest(
        &self,
        category: Option<Category>,
        limit: usize,
        after: Option<Cursor>,
    ) -> Result<NewestPage, InvalidCursor> {
        browse::newest(&self.snapshot, category, limit, after)
    }

    /// Returns the ordinal of the listed project to which `draw` maps, or `None` if nothing is listed. With uniformly distributed
    /// 64-bit numbers every project has the same chance, to less than one part in 10^12.
    pub fn random(&self, category: Option<Category>, draw: u64) -> Option<u64> {
        browse::random(&self.snapshot, category, draw)
    }

    /// Returns the number of listed projects, of one category or of all.
    pub fn listed(&self, category: Option<Category>) -> u64 {
        browse::listed(&self.snapshot, category)
    }

    /// Returns the most used words or phrases, of one dimension or of each, at most `limit` per dimension. In a large archive they may be
    /// somewhat out of date: words are counted during refreshes, not during requests.
    pub fn terms(
        &self,
        kind: TermKind,
        dimension: Option<Dimension>,
        category: Option<Category>,
        limit: usize,
    ) -> Vec<DimensionTerms> {
        vocabulary::most_used_terms(&self.vocabulary, kind, dimension, category, limit)
    }

    /// Returns the most used phrases of each dimension, at most `limit`. A phrase of one word is represented by the word, with the
    /// number of projects that use it in any phrase; others are found by a query in quotes.
    pub fn phrases(&self, category: Option<Category>, limit: usize) -> Vec<DimensionTerms> {
        vocabulary::most_used_phrases(&self.vocabulary, category, limit)
    }

    /// Returns a page of the words or phrases of a dimension, the most used first.
    ///
    /// # Errors
    ///
    /// Returns an error for the cursor of another list.
    pub fn terms_page(&self, request: TermsRequest<'_>) -> Result<TermsPage, InvalidCursor> {
        vocabulary::terms_page(&self.vocabulary, request)
    }

    /// Returns at most `limit` suggestions for the words of a text that no project uses in a dimension: used words that differ by few
    /// letters or share a prefix, the nearest first, then the most used.
    pub fn nearest_terms(&self, dimension: Dimension, text: &str, limit: usize) -> Vec<Term> {
        vocabulary::nearest_terms((&self.snapshot, &self.stemmer), &self.vocabulary, dimension, text, limit)
    }

    /// Returns at most `limit` suggestions for a text that is being typed: projects, studios, cities and words of the taste dimensions that
    /// begin with it, or have it from a later word on. Texts are compared without accents, punctuation and each `and`. First come projects:
    /// those whose name begins with it before the others, of each names in which it is whole words, and then the shorter ones. Then studios,
    /// cities and words: those that begin with it, of each the most used first. Projects have at least half of the places, as far as there
    /// are any, and the others share the rest by turns. Every suggestion is found in a listed project; in a large archive the order of the
    /// most used, and new ones, may be somewhat out of date, as for [`Listing::terms`].
    pub fn suggest(&self, text: &str, limit: usize) -> Vec<Suggestion> {
        let model = (&self.snapshot, &*self.stemmer);
        suggestions::suggest(model, &self.vocabulary, self.view.as_ref(), text, limit)
    }

    /// Returns whether there is a search index, so that listed projects have summaries.
    pub fn has_summaries(&self) -> bool {
        self.view.is_some()
    }

    /// Returns the summary of a listed project: a JSON object without its closing brace.
    pub fn summary_of(&self, ordinal: u64) -> Option<&[u8]> {
        self.view.as_ref()?.summary_of(ordinal)
    }
}
