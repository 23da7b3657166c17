//! The texts of a record that determine its picture.

use schemas::record::{Category, Record};
use schemas::taste::Dimension;
use serde_json::{Map, Value};

/// The texts of one record, stored or in the import format.
pub(super) struct Brief<'a> {
    pub(super) category: Category,
    pub(super) name: &'a str,
    pub(super) studio: &'a str,
    /// Name, intro, description and details, which may name a motif.
    texts: Vec<&'a str>,
    taste: [&'a str; Dimension::COUNT],
}

impl<'a> Brief<'a> {
    pub(super) fn of_record(record: &'a Record) -> Self {
        fn text(text: &Option<String>) -> &str {
            text.as_deref().unwrap_or_default()
        }
        let mut texts = vec![record.name.as_str(), text(&record.intro), text(&record.description)];
        texts.extend(record.details.iter().map(|detail| detail.value.as_str()));
        Self {
            category: record.category,
            name: &record.name,
            studio: text(&record.studio),
            texts,
            taste: Dimension::ALL.map(|dimension| record.taste.get(dimension).unwrap_or_default()),
        }
    }

    /// Reads a record in the import format; members that are not strings count as empty.
    pub(super) fn of_import(record: &'a Map<String, Value>) -> Self {
        let text = |member: &str| record.get(member).and_then(Value::as_str).unwrap_or_default();
        let taste = |dimension: Dimension| {
            record.get("taste").and_then(|taste| taste.get(dimension.as_str())?.as_str()).unwrap_or_default()
        };
        let mut texts = vec![text("name"), text("intro"), text("description")];
        let details = record.get("details").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        texts.extend(details.iter().filter_map(|detail| detail.get("value")?.as_str()));
        Self {
            category: Category::parse(text("category")).unwrap_or(Category::Architecture),
            name: text("name"),
            studio: text("studio"),
            texts,
            taste: Dimension::ALL.map(taste),
        }
    }

    /// Returns the text of a dimension, empty if it is not recorded.
    pub(super) fn taste(&self, dimension: Dimension) -> &'a str {
        self.taste[dimension.index()]
    }

    /// Returns the first phrase of a dimension, before the comma.
    pub(super) fn first_phrase(&self, dimension: Dimension) -> &'a str {
        self.taste(dimension).split(',').next().unwrap_or_default().trim()
    }

    /// Returns the choice one of whose words, or its plural, is mentioned first. Earlier texts take precedence: the name over the intro.
    pub(super) fn first_mentioned<T: Copy>(&self, choices: &[(&[&str], T)]) -> Option<T> {
        self.texts.iter().find_map(|text| {
            let text = text.to_lowercase();
            let first = |words: &[&str]| words.iter().filter_map(|word| find_word(&text, word)).min();
            let found = choices.iter().filter_map(|(words, choice)| Some((first(words)?, *choice)));
            found.min_by_key(|(at, _)| *at).map(|(_, choice)| choice)
        })
    }
}

/// Returns the position of `word`, or its plural, as a whole word in `text`.
fn find_word(text: &str, word: &str) -> Option<usize> {
    text.match_indices(word).map(|(at, _)| at).find(|at| {
        let before = text.get(..*at).and_then(|before| before.chars().next_back());
        let after = text.get(at + word.len()..).unwrap_or_default();
        let after = after.strip_prefix("es").or_else(|| after.strip_prefix('s')).unwrap_or(after);
        !before.is_some_and(char::is_alphabetic) && !after.chars().next().is_some_and(char::is_alphabetic)
    })
}
