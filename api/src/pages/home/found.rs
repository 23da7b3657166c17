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
use super::Asked;

/// The number of projects on a page.
const SHOWN: usize = 12;

/// A page of projects.
#[derive(Debug)]
pub(super) struct Found {
    pub(super) cards: Vec<Card>,
    total: u64,
    /// The cursor of the next page.
    pub(super) next: Option<String>,
    /// A remark about the results.
    pub(super) notes: Vec<String>,
    /// Suggested words with exact matches, and the number of those.
    pub(super) did_you_mean: Option<(String, u64)>,
}

impl Found {
    pub(super) fn of(state: &ApiState, asked: &Asked) -> Result<Found, ApiError> {
        if !asked.q.is_empty() {
            return by_words(state, asked);
        }
        let listing = state.listing()?;
        let after = asked.cursor.as_deref().map(str::parse).transpose().map_err(|_| foreign())?;
        let (ordinals, total, next, notes) = if asked.is_taste() {
            let request = TasteRequest {
                category: asked.category,
                limit: SHOWN,
                after,
                ..TasteRequest::of(&asked.taste)
            };
            let page = listing.by_taste(&request).map_err(|_| foreign())?;
            let near = |dimension| nearest(&listing, asked, dimension);
            let none = page.dimensions.iter().filter(|one| one.projects == 0);
            let notes = none.filter_map(|one| near(one.dimension)).collect();
            (page.hits.iter().map(|hit| hit.ordinal).collect::<Vec<_>>(), page.total, page.next, notes)
        } else {
            let page = listing.newest(asked.category, SHOWN, after).map_err(|_| foreign())?;
            (page.ordinals, page.total, page.next, Vec::new())
        };
        let cards = cards(state, &listing, &ordinals)?;
        Ok(Found { cards, total, next: next.map(|cursor| cursor.to_string()), notes, did_you_mean: None })
    }

    /// The total number of results.
    pub(super) fn heading(&self, asked: &Asked) -> String {
        match (self.total, asked.q.is_empty() && !asked.is_taste()) {
            (0, true) if asked.category.is_none() => "Nothing yet".to_owned(),
            (0, _) => "No projects found".to_owned(),
            (_, true) if asked.category.is_none() => "Latest additions".to_owned(),
            (total, true) => format!("{total} projects, newest first"),
            (1, false) => "One project".to_owned(),
            (total, false) => format!("{total} projects"),
        }
    }
}

fn by_words(state: &ApiState, asked: &Asked) -> Result<Found, ApiError> {
    let model = state.search()?;
    let request = SearchRequest {
        text: &asked.q,
        category: asked.category.map(Category::as_str),
        limit: SHOWN,
        after: asked.cursor.as_deref().map(str::parse).transpose().map_err(|_| foreign())?,
    };
    let page = model.reader.search(&request).map_err(|error| match error {
        SearchError::InvalidCursor(_) => foreign(),
        error => search::api_error(error),
    })?;
    let cards = page.hits().map(|hit| Card::of(hit.summary, state.site())).collect::<Result<Vec<_>, _>>()?;
    let mut notes: Vec<String> = relaxation::note_without_suggestion(&page).into_iter().collect();
    if cards.is_empty() && asked.category.is_some() {
        notes.push("Try searching all categories.".into());
    }
    let did_you_mean =
        relaxation::suggestion(&page).map(|suggestion| (suggestion.query.clone(), suggestion.total));
    let next = page.next_cursor().map(|cursor| cursor.to_string());
    Ok(Found { cards, total: page.total(), next, notes, did_you_mean })
}

fn cards(state: &ApiState, listing: &Listing, ordinals: &[u64]) -> Result<Vec<Card>, ApiError> {
    let summaries = ordinals.iter().filter_map(|ordinal| listing.summary_of(*ordinal));
    summaries.map(|summary| Card::of(summary, state.site())).collect()
}

/// Suggestions for a word that no project uses.
fn nearest(listing: &Listing, asked: &Asked, dimension: Dimension) -> Option<String> {
    let text = asked.taste(dimension)?;
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
