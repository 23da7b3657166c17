//! A word that no project of a place or category has: what the projects there have instead.

use std::sync::Arc;

use read::archive::{Facet, Filters, Listing, Selection, TasteRequest};
use read::search::OrdinalSet;
use schemas::record::Category;
use schemas::taste::Dimension;

use super::{alternatives, listed};

/// The most words that are named.
const MOST_WORDS: usize = 4;

/// The projects of the places and categories that a list is filtered by.
pub struct There {
    /// These filters alone.
    filters: Filters,
    set: Arc<OrdinalSet>,
    /// For example `in Japan`.
    name: String,
}

impl There {
    /// Returns the projects of the places and categories among filters; `None` if neither is given, or none is there.
    pub fn of(now: &Listing, filters: &Filters) -> Option<There> {
        let Filters { categories, cities, places, .. } = filters;
        let (categories, cities, places) = (categories.clone(), cities.clone(), places.clone());
        let filters = Filters { categories, cities, places, ..Filters::default() };
        if filters.is_empty() {
            return None;
        }
        let set = now.select(&filters);
        let mut names = Vec::new();
        let places: Vec<&String> = filters.places.iter().chain(&filters.cities).collect();
        if !places.is_empty() {
            names.push(format!("in {}", listed(&places, "or")));
        }
        if !filters.categories.is_empty() {
            let categories: Vec<&str> = filters.categories.iter().copied().map(Category::as_str).collect();
            names.push(format!("in the category {}", listed(&categories, "or")));
        }
        (!set.is_empty()).then(|| There { set, name: names.join(" "), filters })
    }

    /// Returns these filters.
    pub fn filters(&self) -> &Filters {
        &self.filters
    }

    /// Returns that none of the projects has one of some texts in a dimension, and what they have there; `None` if one has, or nothing is
    /// recorded of them.
    pub fn lacks_taste(&self, now: &Listing, dimension: Dimension, texts: &[String]) -> Option<String> {
        if texts.is_empty() || !self.matching(now, dimension, texts).is_empty() {
            return None;
        }
        let words = self.words(now, dimension);
        (!words.is_empty()).then(|| self.sentence(texts, dimension, &words))
    }

    /// Returns that none of the projects has a word, and what they have in the dimension in which most others have it; `None` if no
    /// dimension has the word, or one of theirs. Whether they have it in other texts is for the caller to find out.
    pub fn lacks_word(&self, now: &Listing, word: &str) -> Option<String> {
        let uses = Dimension::ALL.map(|dimension| {
            let request = TasteRequest::default().with(dimension, word);
            (now.matching_taste(&request).len(), dimension)
        });
        // The first of several with as many.
        let (count, dimension) =
            uses.into_iter().reduce(|best, other| if other.0 > best.0 { other } else { best })?;
        let is_there = |dimension| !self.matching(now, dimension, &[word]).is_empty();
        if count == 0 || Dimension::ALL.into_iter().any(is_there) {
            return None;
        }
        let words = self.words(now, dimension);
        (!words.is_empty()).then(|| self.sentence(&[word], dimension, &words))
    }

    fn matching<T: AsRef<str>>(&self, now: &Listing, dimension: Dimension, texts: &[T]) -> OrdinalSet {
        let within = Some(Selection { set: &self.set, fingerprint: 0 });
        let request = TasteRequest { within, ..TasteRequest::default() };
        let request = texts.iter().fold(request, |request, text| request.with(dimension, text.as_ref()));
        now.matching_taste(&request)
    }

    /// Returns the most used words of a dimension.
    fn words(&self, now: &Listing, dimension: Dimension) -> Vec<String> {
        let counts = now.facet(&self.set, Facet::Taste(dimension));
        counts.values.into_iter().take(MOST_WORDS).map(|word| word.value).collect()
    }

    fn sentence<T: AsRef<str>>(&self, texts: &[T], dimension: Dimension, words: &[String]) -> String {
        let kind = match dimension {
            Dimension::Material => "materials",
            Dimension::Light => "light",
            Dimension::Color => "colors",
            Dimension::Mood => "moods",
            Dimension::Composition => "composition",
            Dimension::Subject => "subjects",
        };
        format!("No project {} has {}; {kind} there: {}.", self.name, alternatives(texts), words.join(", "))
    }
}
