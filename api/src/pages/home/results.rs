//! The results of the front page.

use answers::catalog::relaxation;
use answers::catalog::search;
use answers::error::ApiError;
use answers::query::fault;
use answers::state::ApiState;
use read::archive::{Listing, TasteRequest};
use read::search::{SearchError, SearchRequest};
use schemas::record::Category;
use schemas::taste::Dimension;

use super::super::card::Card;
use super::HomeQuery;

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
}

impl HomeResults {
    pub(super) fn of(state: &ApiState, query: &HomeQuery) -> Result<HomeResults, ApiError> {
        if !query.q.is_empty() {
            return by_words(state, query);
        }
        let listing = state.listing()?;
        let after = query.cursor.as_deref().map(str::parse).transpose().map_err(|_| foreign())?;
        let (ordinals, total, next, notes) = if query.is_taste() {
            let request = TasteRequest {
                category: query.category,
                limit: SHOWN,
                after,
                ..TasteRequest::of(&query.taste)
            };
            let page = listing.by_taste(&request).map_err(|_| foreign())?;
            let near = |dimension| nearest(&listing, query, dimension);
            let none = page.dimensions.iter().filter(|one| one.projects == 0);
            let notes = none.filter_map(|one| near(one.dimension)).collect();
            (page.hits.iter().map(|hit| hit.ordinal).collect::<Vec<_>>(), page.total, page.next, notes)
        } else {
            let page = listing.newest(query.category, SHOWN, after).map_err(|_| foreign())?;
            (page.ordinals, page.total, page.next, Vec::new())
        };
        let cards = cards(state, &listing, &ordinals)?;
        Ok(HomeResults {
            cards,
            total,
            next: next.map(|cursor| cursor.to_string()),
            notes,
            did_you_mean: None,
        })
    }

    /// The total number of results.
    pub(super) fn heading(&self, query: &HomeQuery) -> String {
        match (self.total, query.q.is_empty() && !query.is_taste()) {
            (0, true) if query.category.is_none() => "Nothing yet".to_owned(),
            (0, _) => "No projects found".to_owned(),
            (_, true) if query.category.is_none() => "Latest additions".to_owned(),
            (total, true) => format!("{total} projects, newest first"),
            (1, false) => "One project".to_owned(),
            (total, false) => format!("{total} projects"),
        }
    }
}

fn by_words(state: &ApiState, query: &HomeQuery) -> Result<HomeResults, ApiError> {
    let model = state.search()?;
    let request = SearchRequest {
        text: &query.q,
        category: query.category.map(Category::as_str),
        limit: SHOWN,
        after: query.cursor.as_deref().map(str::parse).transpose().map_err(|_| foreign())?,
    };
    let page = model.reader.search(&request).map_err(|error| match error {
        SearchError::InvalidCursor(_) => foreign(),
        error => search::api_error(error),
    })?;
    let cards = page.hits().map(|hit| Card::of(hit.summary, state.site())).collect::<Result<Vec<_>, _>>()?;
    let mut notes: Vec<String> = relaxation::note_without_suggestion(&page).into_iter().collect();
    if cards.is_empty() && query.category.is_some() {
        notes.push("Try searching all categories.".into());
    }
    let did_you_mean =
        relaxation::suggestion(&page).map(|suggestion| (suggestion.query.clone(), suggestion.total));
    let next = page.next_cursor().map(|cursor| cursor.to_string());
    Ok(HomeResults { cards, total: page.total(), next, notes, did_you_mean })
}

fn cards(state: &ApiState, listing: &Listing, ordinals: &[u64]) -> Result<Vec<Card>, ApiError> {
    let summaries = ordinals.iter().filter_map(|ordinal| listing.summary_of(*ordinal));
    summaries.map(|summary| Card::of(summary, state.site())).collect()
}

/// Suggestions for a word that no project uses.
fn nearest(listing: &Listing, query: &HomeQuery, dimension: Dimension) -> Option<String> {
    let text = query.taste(dimension)?;
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
