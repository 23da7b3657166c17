//! The results from which a project was opened: the way back, and the projects before and after it.

use answers::auth::caller::Caller;
use answers::error::ApiError;
use answers::state::ApiState;

use super::query::{HomeQuery, SHOWN, encoded};
use super::results::{self, HomeResults};
use crate::card::Card;
use crate::words::grouped;

/// A project's place in results.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct InResults {
    /// The path of the results.
    pub(crate) back: String,
    /// Which of the results it is, such as `14 of 356`; `None` if it is no longer among them.
    pub(crate) position: Option<String>,
    pub(crate) previous: Option<Beside>,
    pub(crate) next: Option<Beside>,
}

/// A project beside another one in results.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Beside {
    pub(crate) name: String,
    /// Its path, which names the results, too.
    pub(crate) href: String,
}

/// Returns the parameter by which the page of a project knows the results that linked it, with the question mark.
pub(super) fn parameter(query: &HomeQuery) -> String {
    format!("?{}", encoded([("from", query.without_cursor())].into_iter()))
}

impl InResults {
    /// Returns the place of a project in the results that the value of the parameter names; `None` if they cannot be read.
    pub(crate) async fn of(
        (state, caller): (&ApiState, &Caller),
        from: &str,
        slug: &str,
    ) -> Option<InResults> {
        let query = HomeQuery::read(from).ok().filter(|query| !query.is_front())?;
        let read = || InResults::read(state, &query, slug);
        caller.read_page(state, results::effort(&query, &[]), read).await.ok()
    }

    fn read(state: &ApiState, query: &HomeQuery, slug: &str) -> Result<InResults, ApiError> {
        let results = HomeResults::of(state, query, &[])?;
        let base = state.site().path();
        let back = query.href(base);
        let Some(at) = results.cards.iter().position(|card| card.slug == slug) else {
            return Ok(InResults { back, position: None, previous: None, next: None });
        };
        let beside = |query: &HomeQuery, card: &Card| Beside {
            name: card.name.clone(),
            href: format!("{base}/projects/{}{}", card.slug, parameter(query)),
        };
        let previous = match (at.checked_sub(1), query.previous_page()) {
            (Some(before), _) => results.cards.get(before).map(|card| beside(query, card)),
            (None, Some(page)) => {
                HomeResults::of(state, &page, &[])?.cards.last().map(|card| beside(&page, card))
            }
            (None, None) => None,
        };
        let next = match (results.cards.get(at + 1), results.next_page(query)) {
            (Some(card), _) => Some(beside(query, card)),
            (None, Some(page)) => {
                HomeResults::of(state, &page, &[])?.cards.first().map(|card| beside(&page, card))
            }
            (None, None) => None,
        };
        let number = (query.pages_before * SHOWN + at + 1) as u64;
        let position = Some(format!("{} of {}", grouped(number), grouped(results.total)));
        Ok(InResults { back, position, previous, next })
    }
}
