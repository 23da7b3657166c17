//! The results of the front page.

use answers::catalog::browse::{self, ArchivePage};
use answers::catalog::list_options::ListOptions;
use answers::catalog::relaxation;
use answers::catalog::search::{self, SearchFault};
use answers::catalog::taste::{self, TasteTexts};
use answers::error::{ApiError, fault};
use answers::state::ApiState;
use read::archive::{Cursor, FacetCounts, Listing, Order};
use schemas::taste::Dimension;

use super::super::card::Card;
use super::super::words::grouped;
use super::filters::FACETS;
use super::query::HomeQuery;

/// The number of projects on a page.
const SHOWN: usize = 12;

/// A page of projects.
#[derive(Debug)]
pub(super) struct HomeResults {
    pub(super) cards: Vec<Card>,
    total: u64,
    /// The cursor of the next page.
    pub(super) next: Option<String>,
    /// A remark about the results.
    pub(super) notes: Vec<String>,
    /// Suggested words with exact matches, and the number of those.
    pub(super) did_you_mean: Option<(String, u64)>,
    /// The counts of all results by facet.
    pub(super) facets: Vec<FacetCounts>,
}

impl HomeResults {
    pub(super) fn of(state: &ApiState, query: &HomeQuery) -> Result<HomeResults, ApiError> {
        let options = ListOptions { facets: FACETS.to_vec(), ..query.options.clone() };
        if !query.q.is_empty() {
            return by_words(state, query, &options);
        }
        let listing = state.listing()?;
        let after = query.cursor.as_deref().map(str::parse).transpose().map_err(|_| foreign())?;
        if query.is_taste() {
            return by_taste(state, &listing, query, (&options, after));
        }
        // The usual order of one category or of all needs no set of projects.
        let page = browse::page(&listing, &query.options, SHOWN, after).map_err(|_| foreign())?;
        let note = browse::note(&query.options, page.total).filter(|_| query.category().is_none());
        Ok(HomeResults {
            cards: cards(state, &listing, &page)?,
            total: page.total,
            next: page.next.as_ref().map(ToString::to_string),
            notes: note.into_iter().collect(),
            did_you_mean: None,
            facets: browse::facets(&listing, &options),
        })
    }

    /// The total number of results.
    pub(super) fn heading(&self, query: &HomeQuery) -> String {
        let is_list = query.q.is_empty() && !query.is_taste();
        let is_newest = is_list && query.options.order_of_all() == Order::Newest;
        match (self.total, query.options.filters.is_empty()) {
            (0, true) if is_list => "Nothing yet".to_owned(),
            (0, _) => "No projects found".to_owned(),
            (_, true) if is_newest => "Latest additions".to_owned(),
            (1, _) => "One project".to_owned(),
            (total, _) if is_newest => format!("{} projects, newest first", grouped(total)),
            (total, _) => format!("{} projects", grouped(total)),
        }
    }
}

fn by_words(state: &ApiState, query: &HomeQuery, options: &ListOptions) -> Result<HomeResults, ApiError> {
    let after = query.cursor.as_deref().map(str::parse).transpose().map_err(|_| foreign())?;
    let found = search::find(state, &query.q, options, SHOWN, after).map_err(|fault| match fault {
        SearchFault::InvalidCursor(_) => foreign(),
        SearchFault::Failed(error) => error,
    })?;
    let (page, hits) = (&found.page, found.hits());
    let cards = hits.iter().map(|hit| Card::of(hit.summary, state.site())).collect::<Result<Vec<_>, _>>()?;
    let mut notes: Vec<String> = relaxation::note_without_suggestion(page).into_iter().collect();
    if cards.is_empty() && !query.options.filters.is_empty() {
        let advice = match query.options.filters.only_category() {
            Some(_) => "Try searching all categories.",
            None => "Try fewer filters.",
        };
        notes.push(advice.into());
    }
    let did_you_mean =
        relaxation::suggestion(page).map(|suggestion| (suggestion.query.clone(), suggestion.total));
    let (total, next, facets) = (page.total(), found.next_cursor(), found.facets().to_vec());
    Ok(HomeResults { cards, total, next, notes, did_you_mean, facets })
}

fn by_taste(
    state: &ApiState,
    listing: &Listing,
    query: &HomeQuery,
    (options, after): (&ListOptions, Option<Cursor>),
) -> Result<HomeResults, ApiError> {
    let found = taste::search(listing, &TasteTexts::from(&query.taste), &query.options, SHOWN, after)
        .map_err(|_| foreign())?;
    let notes = match query.options.filters.only_category() {
        Some(_) => {
            found.matches.missing().filter_map(|dimension| nearest(listing, query, dimension)).collect()
        }
        // Whether a word is unknown cannot be seen among few projects.
        None => browse::note(&query.options, found.page.total).into_iter().collect(),
    };
    Ok(HomeResults {
        cards: cards(state, listing, &found.page)?,
        total: found.page.total,
        next: found.page.next.as_ref().map(ToString::to_string),
        notes,
        did_you_mean: None,
        facets: taste::facets(listing, &TasteTexts::from(&query.taste), options),
    })
}

fn cards<T: Copy>(state: &ApiState, listing: &Listing, page: &ArchivePage<T>) -> Result<Vec<Card>, ApiError> {
    page.summaries(listing).into_iter().map(|(summary, _)| Card::of(summary, state.site())).collect()
}

/// Suggestions for a word that no project uses.
fn nearest(listing: &Listing, query: &HomeQuery, dimension: Dimension) -> Option<String> {
    let text = query.taste.get(dimension)?;
    let near: Vec<String> =
        listing.nearest_terms(dimension, text, 3).into_iter().map(|term| term.term).collect();
    let name = dimension.as_str();
    Some(match near.as_slice() {
        [] => format!("No project has “{text}” as its {name}."),
        [only] => format!("No project has “{text}” as its {name}. Did you mean {only}?"),
        [others @ .., last] => {
            format!("No project has “{text}” as its {name}. Did you mean {} or {last}?", others.join(", "))
        }
    })
}

fn foreign() -> ApiError {
    ApiError::invalid_parameters(vec![fault(
        "cursor",
        "This link has expired. Start again from the first page.",
        "the link to the next page, unchanged",
    )])
}
