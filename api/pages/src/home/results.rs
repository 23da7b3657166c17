//! The results of the front page.

use answers::catalog::browse::{self, ArchivePage};
use answers::catalog::list_notes;
use answers::catalog::list_options::ListOptions;
use answers::catalog::meaning::MeaningSearch;
use answers::catalog::mode::Mode;
use answers::catalog::near_terms::{Compared, near_terms};
use answers::catalog::quotation::unquoted;
use answers::catalog::relaxation;
use answers::catalog::search::{self, SearchFault};
use answers::catalog::taste::{self, TasteTexts};
use answers::effort::Effort;
use answers::error::{ApiError, fault};
use answers::state::ApiState;
use read::archive::{Cursor, Facet, FacetCounts, Listing, MAX_PAGE_SIZE, Order, TermKind};
use read::search::{Highlighter, is_quote};
use schemas::taste::{Dimension, DimensionSet};

use super::super::card::{Card, Marks};
use super::super::words::{capitalised, projects};
use super::headings::{self, Section};
use super::kinds::{self, OfKind};
use super::naming::quoted;
use super::query::{HomeQuery, SHOWN};

/// A page that is requested by its number alone is found by reading the pages before it: at most this many.
const MAX_SKIPPED: usize = 100;

/// A page of projects.
#[derive(Debug, Default)]
pub(super) struct HomeResults {
    pub(super) cards: Vec<Card>,
    /// Projects that are near in meaning, where the words find fewer than a page of them.
    pub(super) near: Vec<Card>,
    /// The number of all results.
    pub(super) total: u64,
    /// The cursor of the next page.
    next: Option<String>,
    /// Whether there is a next page that has a number alone.
    has_numbered_next: bool,
    /// What is marked on the cards.
    pub(super) marks: Marks,
    /// A remark about the results.
    pub(super) notes: Vec<String>,
    /// Suggested words with exact matches, and the number of those.
    pub(super) did_you_mean: Option<(String, u64)>,
    /// The requested words so that none of them is corrected, where some were.
    pub(super) verbatim: Option<String>,
    /// The counts of all results by facet.
    pub(super) facets: Vec<FacetCounts>,
    /// The heading, where it is not the number of projects alone.
    heading: Option<String>,
    /// The words that all results lack, where they have the others.
    lacking: Vec<String>,
    /// The sections of the cards that have a heading of their own.
    pub(super) sections: Vec<Section>,
    /// The words that are shown in place of the requested ones, which no project has.
    pub(super) shown_words: Option<String>,
}

/// A part of the results of a query.
struct Part<'a> {
    query: &'a HomeQuery,
    options: &'a ListOptions,
    limit: usize,
    /// The cursor after which it begins.
    after: Option<&'a str>,
}

impl HomeResults {
    /// Returns the requested page, with facets of all results. A search that finds nothing shows what the suggested words find.
    pub(super) fn of(state: &ApiState, query: &HomeQuery, facets: &[Facet]) -> Result<HomeResults, ApiError> {
        let mut options = ListOptions { facets: facets.to_vec(), ..query.options.clone() };
        if !query.q.is_empty() {
            options.filters.taste = query.taste.clone();
        }
        // A list that begins with a kind of material is put in order as a whole: its pages have numbers, and no cursors.
        let may_begin_with_kind =
            query.cursor.is_none() && options.order.is_none() && kinds::is_named_in(&query.q);
        if query.is_first_page() || may_begin_with_kind {
            let mut results = HomeResults::first(state, query, &options)?;
            let begins = may_begin_with_kind && results.begin_with_kind(state, query, &options)?;
            if begins || query.is_first_page() {
                return Ok(results);
            }
        }
        let after = match &query.cursor {
            Some(cursor) => cursor.clone(),
            None => cursor_of(state, query, &options)?,
        };
        Part { query, options: &options, limit: SHOWN, after: Some(&after) }.read(state)
    }

    /// Returns the first page of a query, or of the suggestion that is shown in its place.
    fn first(state: &ApiState, query: &HomeQuery, options: &ListOptions) -> Result<HomeResults, ApiError> {
        let part = Part { query, options, limit: SHOWN, after: None };
        let results = part.read(state)?;
        let suggested = results.did_you_mean.as_ref().map(|(words, _)| words.clone());
        // Words in quotes are those that were meant: others are offered, and not shown in their place.
        let may_replace = results.cards.is_empty() && !query.q.contains(is_quote);
        let Some(words) = suggested.filter(|_| may_replace) else { return Ok(results) };
        let instead = Part { query: &query.searching(words.clone()), ..part }.read(state)?;
        let is_empty = instead.cards.is_empty();
        Ok(if is_empty { results } else { instead.instead_of(results, query, words) })
    }

    /// Makes of the first page the requested one of the same results with those first whose material is of the kind that a lacking word
    /// names. Returns whether there are any; without them nothing changes.
    fn begin_with_kind(
        &mut self,
        state: &ApiState,
        query: &HomeQuery,
        options: &ListOptions,
    ) -> Result<bool, ApiError> {
        let text = self.shown_words.as_deref().unwrap_or(&query.q);
        let (listing, before) = (state.listing()?, query.pages_before.saturating_mul(SHOWN));
        let Some(kind) = OfKind::among(&listing, (text, &options.filters), &self.lacking) else {
            return Ok(false);
        };
        let cards = kind.cards(&listing, before, state.site())?;
        if cards.is_empty() {
            return Err(ended("The list ends before this page. Start again from the first page."));
        }
        let (all, rest) = (kind.of_kind as u64, (kind.total() - kind.of_kind) as u64);
        self.heading = Some(headings::of_kind(&self.lacking, (kind.name, &kind.materials), all));
        self.sections = headings::of_parts(
            (before as u64, cards.len()),
            [(None, all), (Some(headings::without(&self.lacking, rest)), rest)],
        );
        self.marks.add_materials(&kind.materials);
        self.total = kind.total() as u64;
        self.next = None;
        self.has_numbered_next = before + cards.len() < kind.total();
        self.cards = cards;
        Ok(true)
    }

    /// Returns the query at the page after that of these results; `None` at the end.
    pub(super) fn next_page(&self, query: &HomeQuery) -> Option<HomeQuery> {
        (self.next.is_some() || self.has_numbered_next).then(|| query.next_page(self.next.clone()))
    }

    /// Returns the results as those of other words than were typed, which found nothing but what is near them in meaning.
    fn instead_of(mut self, typed: HomeResults, query: &HomeQuery, words: String) -> HomeResults {
        let lacks = if query.q.contains(char::is_whitespace) { "all of " } else { "" };
        self.lacking = headings::left_out(&query.q, &words);
        self.heading = Some(headings::of_suggestion(&self.lacking, &words, self.total));
        self.notes.insert(0, format!("No project has {lacks}{}.", quoted(&query.q)));
        self.near = typed.near;
        self.near.retain(|card| self.cards.iter().all(|other| other.slug != card.slug));
        self.did_you_mean = None;
        self.shown_words = Some(words);
        self
    }

    /// Returns the heading: what was found, and how many.
    pub(super) fn heading(&self, query: &HomeQuery) -> String {
        if let Some(heading) = &self.heading {
            return heading.clone();
        }
        let is_list = query.q.is_empty() && !query.is_by_taste();
        let is_newest = is_list && query.options.order_of_all() == Order::Newest;
        match (self.total, query.options.filters.is_empty()) {
            (0, _) => "No projects found".to_owned(),
            (_, true) if is_newest && query.is_front() => "Latest additions".to_owned(),
            (2.., _) if is_newest => format!("{}, newest first", projects(self.total)),
            (total, _) => capitalised(&projects(total)),
        }
    }

    /// Returns which of the results under the heading are shown, such as `13 to 24 of 356`; `None` if all are, or if that is not known.
    pub(super) fn range(&self, query: &HomeQuery) -> Option<String> {
        // Each section has its own.
        match self.sections.first() {
            Some(section) => section.heading.is_none().then(|| section.range.clone()).flatten(),
            None => self.range_of_all(query),
        }
    }

    /// Returns which of all results are on the page; `None` if all are, or if that is not known.
    pub(super) fn range_of_all(&self, query: &HomeQuery) -> Option<String> {
        headings::range(query.before()?, self.cards.len() as u64, self.total)
    }

    /// Returns the number of results on the page after this one; `None` if that is not known.
    pub(super) fn following(&self, query: &HomeQuery) -> Option<u64> {
        let left = self.total.checked_sub(query.before()? + self.cards.len() as u64)?;
        (left > 0).then(|| left.min(SHOWN as u64))
    }
}

/// Returns what the results of a query with these facets ask for. Those of the whole catalog have their facets ready.
pub(super) fn effort(query: &HomeQuery, facets: &[Facet]) -> Effort {
    let options = &query.options;
    let of_options = if query.q.is_empty() { Effort::of(options) } else { Effort::of_search(options) };
    let is_whole = query.q.is_empty() && query.taste.is_empty() && options.filters.is_empty();
    // A page that begins at a cursor passes nothing over, and one that is too far is refused.
    let is_counted = query.cursor.is_none() && query.pages_before <= MAX_SKIPPED;
    Effort {
        facets: if is_whole { 0 } else { facets.len() },
        alternatives: of_options.alternatives + query.taste.iter().count(),
        passed: if is_counted { query.pages_before } else { 0 },
        ..of_options
    }
}

/// Returns the cursor of a page that is requested by its number.
fn cursor_of(state: &ApiState, query: &HomeQuery, options: &ListOptions) -> Result<String, ApiError> {
    if query.pages_before > MAX_SKIPPED {
        return Err(ended("Pages this far are reached page by page. Start again from the first page."));
    }
    let options = ListOptions { facets: Vec::new(), ..options.clone() };
    let (mut left, mut cursor) = (query.pages_before * SHOWN, None::<String>);
    while left > 0 {
        let limit = left.min(MAX_PAGE_SIZE);
        let part = Part { query, options: &options, limit, after: cursor.as_deref() };
        let next = part.read(state)?.next;
        cursor = Some(
            next.ok_or_else(|| ended("The list ends before this page. Start again from the first page."))?,
        );
        left -= limit;
    }
    cursor.ok_or_else(foreign)
}

impl Part<'_> {
    fn read(&self, state: &ApiState) -> Result<HomeResults, ApiError> {
        if !self.query.q.is_empty() {
            return self.by_words(state);
        }
        let listing = state.listing()?;
        if self.query.is_by_taste() {
            return self.by_taste(state, &listing);
        }
        // The usual order of one category or of all needs no set of projects.
        let options = &self.query.options;
        let page = browse::page(&listing, options, self.limit, self.cursor()?).map_err(|_| foreign())?;
        let notes = list_notes::of_list(&listing, options, page.total);
        let is_whole = options.filters.only_category().is_some();
        Ok(HomeResults {
            cards: cards(state, &listing, &page)?,
            total: page.total,
            next: page.next.as_ref().map(ToString::to_string),
            notes: if is_whole { Vec::new() } else { notes },
            facets: browse::facets(&listing, self.options),
            ..HomeResults::default()
        })
    }

    fn cursor<T: std::str::FromStr>(&self) -> Result<Option<T>, ApiError> {
        self.after.map(str::parse).transpose().map_err(|_| foreign())
    }

    fn by_words(&self, state: &ApiState) -> Result<HomeResults, ApiError> {
        let Part { query, options, limit, .. } = *self;
        let found =
            search::find(state, &query.q, options, limit, self.cursor()?).map_err(|fault| match fault {
                SearchFault::InvalidCursor(_) => foreign(),
                SearchFault::Failed(error) => error,
            })?;
        let (page, hits) = (&found.page, found.hits());
        let cards =
            hits.iter().map(|hit| Card::of(hit.summary, state.site())).collect::<Result<Vec<_>, _>>()?;
        // What is found without the filters is said with the filter that excludes most.
        let is_excluded = page.relaxation().is_some_and(|relaxation| relaxation.excluded > 0);
        let relaxed = match is_excluded {
            true => relaxation::note_without_excluded(page),
            false => relaxation::note_without_suggestion(page),
        };
        let said = list_notes::of_search(state, &query.q, options, &found)?.sentences;
        let notes = relaxed.into_iter().chain(said).collect();
        let did_you_mean =
            relaxation::suggestion(page).map(|suggestion| (suggestion.query.clone(), suggestion.total));
        let is_little = self.after.is_none() && page.total() < SHOWN as u64;
        Ok(HomeResults {
            near: if is_little { self.near(state, &cards) } else { Vec::new() },
            heading: page
                .relaxation()
                .and_then(|relaxation| headings::of_relaxed(&query.q, relaxation, page.total())),
            marks: Marks::of(Some(Highlighter::new(&query.q, page.relaxation())), &query.taste),
            lacking: page.relaxation().map(headings::lacking).unwrap_or_default().to_vec(),
            total: page.total(),
            next: found.next_cursor(),
            facets: found.facets().to_vec(),
            cards,
            notes,
            did_you_mean,
            verbatim: page.relaxation().and_then(|relaxation| headings::verbatim(&query.q, relaxation)),
            ..HomeResults::default()
        })
    }

    /// Returns the first projects that are near in meaning, but for those that are shown. Without a text model, or if the words are not
    /// understood, there are none.
    fn near(&self, state: &ApiState, shown: &[Card]) -> Vec<Card> {
        let Part { query, options, .. } = *self;
        let Some(meaning) = state.text_model().and_then(|model| model.understood(&query.q)) else {
            return Vec::new();
        };
        let options = ListOptions { order: None, facets: Vec::new(), ..options.clone() };
        let search = MeaningSearch { text: &query.q, query: &meaning, mode: Mode::Meaning };
        // The page shows what the words found even if this is not ready.
        let Ok(found) = search.find(state, &options, SHOWN + shown.len(), None) else { return Vec::new() };
        let cards =
            found.results().into_iter().filter_map(|(hit, _)| Card::of(hit.summary, state.site()).ok());
        cards.filter(|card| shown.iter().all(|other| other.slug != card.slug)).take(SHOWN).collect()
    }

    fn by_taste(&self, state: &ApiState, listing: &Listing) -> Result<HomeResults, ApiError> {
        let Part { query, options, limit, .. } = *self;
        let texts = TasteTexts::from(&query.taste);
        let found = taste::search(listing, &texts, &query.options, limit, self.cursor::<Cursor>()?)
            .map_err(|_| foreign())?;
        let notes = match query.options.filters.only_category() {
            Some(_) => {
                found.matches.missing().filter_map(|one| nearest((state, listing), query, one)).collect()
            }
            // Whether a word is unknown cannot be seen among few projects.
            None => {
                let there = taste::notes_of_there(listing, &texts, &query.options, &found.matches);
                let of_list = list_notes::of_taste(listing, &texts, &query.options, found.page.total);
                there.into_iter().chain(of_list).collect()
            }
        };
        let words: Vec<&str> = query.taste.iter().map(|(_, text)| unquoted(text)).collect();
        let is_by_matches = query.options.order.is_none() && words.len() > 1 && found.page.total > 0;
        let (mut heading, mut sections) = (None, Vec::new());
        if is_by_matches {
            let counts = found.matches.counts();
            let matched = found.page.projects.iter().map(|(_, matched)| count(*matched));
            heading = Some(headings::of_all(&words, counts));
            sections = headings::sections(matched, counts, query.before());
        } else if words.len() > 1 && found.page.total > 0 {
            heading = Some(headings::of_any(&words, found.page.total));
        }
        Ok(HomeResults {
            cards: cards(state, listing, &found.page)?,
            total: found.page.total,
            next: found.page.next.as_ref().map(ToString::to_string),
            notes,
            facets: taste::facets(listing, &texts, options),
            marks: Marks::of(None, &query.taste),
            heading,
            sections,
            ..HomeResults::default()
        })
    }
}

fn count(matched: DimensionSet) -> usize {
    Dimension::ALL.into_iter().filter(|dimension| matched.contains(*dimension)).count()
}

fn cards<T: Copy>(state: &ApiState, listing: &Listing, page: &ArchivePage<T>) -> Result<Vec<Card>, ApiError> {
    page.summaries(listing).into_iter().map(|(summary, _)| Card::of(summary, state.site())).collect()
}

/// Suggestions for a word that no project uses: words that are spelled almost like it, or else that are near in meaning.
fn nearest(
    (state, listing): (&ApiState, &Listing),
    query: &HomeQuery,
    dimension: Dimension,
) -> Option<String> {
    let text = query.taste.get(dimension)?;
    let mut near = listing.nearest_terms(dimension, text, 3);
    if near.is_empty() {
        let compared = Compared { kind: TermKind::Word, dimension, category: None };
        near = near_terms(state, listing, text, compared);
        near.truncate(3);
    }
    let near: Vec<String> = near.into_iter().map(|term| term.term).collect();
    let text = unquoted(text);
    let name = dimension.as_str();
    Some(match near.as_slice() {
        [] => format!("No project has “{text}” as its {name}."),
        [only] => format!("No project has “{text}” as its {name}. Did you mean {only}?"),
        [others @ .., last] => {
            format!("No project has “{text}” as its {name}. Did you mean {} or {last}?", others.join(", "))
        }
    })
}

fn ended(detail: &str) -> ApiError {
    ApiError::invalid_parameters(vec![fault("page", detail, "the number of a page of this list")])
}

fn foreign() -> ApiError {
    ApiError::invalid_parameters(vec![fault(
        "cursor",
        "This link has expired. Start again from the first page.",
        "the link to the next page, unchanged",
    )])
}
