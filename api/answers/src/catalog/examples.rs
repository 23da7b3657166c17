//! Values that requests to this catalog may have: descriptions for agents show them, so that an example finds something.

use jiff::tz::TimeZone;
use read::archive::{Facet, Listing, TermKind};
use schemas::taste::Dimension;

use crate::state::ApiState;

/// The most characters of an example. Longer values are not shown: what describes a request is short.
pub const LONGEST: usize = 20;

/// A value of each kind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Examples {
    /// A place as it is recorded.
    pub city: String,
    /// A country, or a town.
    pub place: String,
    /// A studio.
    pub studio: String,
    /// A curator.
    pub curator: String,
    /// A year in which projects were completed.
    pub year: String,
    /// The day on which the newest project was added.
    pub day: String,
    /// A word of each taste dimension, in the order of [`Dimension::ALL`].
    pub words: [String; Dimension::COUNT],
}

/// What shows the form of each where the catalog has no value.
impl Default for Examples {
    fn default() -> Examples {
        let of_a_result = "that of a result";
        Examples {
            city: of_a_result.to_owned(),
            place: "Germany".to_owned(),
            studio: of_a_result.to_owned(),
            curator: of_a_result.to_owned(),
            year: "2019".to_owned(),
            day: "2026-01-31".to_owned(),
            words: Dimension::ALL.map(|dimension| dimension.example_word().to_owned()),
        }
    }
}

impl Examples {
    /// Returns the most frequent values of the catalog. The counts behind them are made once for a commit, as those of the front page.
    pub fn of(state: &ApiState) -> Examples {
        let Ok(now) = state.listing() else { return Examples::default() };
        let otherwise = Examples::default();
        let [city, studio, curator, year] = [Facet::City, Facet::Studio, Facet::Curator, Facet::Year]
            .map(|facet| values(&now, facet).find(|value| is_shown(value)).map(str::to_owned));
        let day = state.newest().and_then(|newest| newest.added_at);
        let day = day.map(|added| TimeZone::UTC.to_datetime(added).date().to_string());
        Examples {
            place: place(&now).unwrap_or(otherwise.place),
            city: city.unwrap_or(otherwise.city),
            studio: studio.unwrap_or(otherwise.studio),
            curator: curator.unwrap_or(otherwise.curator),
            year: year.unwrap_or(otherwise.year),
            day: day.unwrap_or(otherwise.day),
            words: words(&now, otherwise.words),
        }
    }
}

/// Returns the country of the most frequent city that has one, or else that city.
fn place(now: &Listing) -> Option<String> {
    let countries =
        values(now, Facet::City).filter_map(|city| city.rsplit_once(',')).map(|(_, country)| country.trim());
    let cities = values(now, Facet::City);
    countries.chain(cities).find(|value| is_shown(value)).map(str::to_owned)
}

/// Returns the most used word of each dimension.
fn words(now: &Listing, mut words: [String; Dimension::COUNT]) -> [String; Dimension::COUNT] {
    for found in now.terms(TermKind::Word, None, None, 1) {
        if let Some(word) = found.terms.into_iter().map(|term| term.term).find(|word| is_shown(word)) {
            words[found.dimension.index()] = word;
        }
    }
    words
}

/// Returns the values of all projects, the most frequent first.
fn values(now: &Listing, facet: Facet) -> impl Iterator<Item = &str> {
    now.facet_of_all(facet).values.iter().map(|one| one.value.as_str())
}

/// Returns whether a value is short, and the same in JSON and among alternatives.
fn is_shown(value: &str) -> bool {
    let is_plain = |of: char| !of.is_control() && !matches!(of, '"' | '\\' | '|');
    !value.is_empty() && value.chars().count() <= LONGEST && value.chars().all(is_plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_shown_if_it_is_short_and_plain() {
        for value in ["Zürich, Switzerland", "O’Brien & Söhne", "東京", &"x".repeat(LONGEST)] {
            assert!(is_shown(value), "{value}");
        }
        for value in ["", "The \"Studio\"", "A|B", "A\\B", "A\nB", &"x".repeat(LONGEST + 1)] {
            assert!(!is_shown(value), "{value}");
        }
    }

    #[test]
    fn every_default_is_shown() {
        let Examples { city, place, studio, curator, year, day, words } = Examples::default();
        for value in [city, place, studio, curator, year, day].iter().chain(&words) {
            assert!(is_shown(value), "{value}");
        }
    }
}
