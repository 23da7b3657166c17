//! What a drawing is told of a project: the few texts of its record that speak of how it looks.

use schemas::record::{Category, Record};
use schemas::taste::Dimension;
use serde_json::{Map, Value};

/// The texts of one record, as it is imported or as it is kept.
pub(super) struct Brief<'a> {
    pub(super) category: Category,
    pub(super) name: &'a str,
    pub(super) studio: &'a str,
    /// Name, first sentences and details, where a motif may be named.
    spoken: Vec<&'a str>,
    taste: [&'a str; Dimension::COUNT],
}

impl<'a> Brief<'a> {
    pub(super) fn of_record(record: &'a Record) -> Self {
        fn text(text: &Option<String>) -> &str {
            text.as_deref().unwrap_or_default()
        }
        let mut spoken = vec![record.name.as_str(), text(&record.intro), text(&record.description)];
        spoken.extend(record.details.iter().map(|detail| detail.value.as_str()));
        Self {
            category: record.category,
            name: &record.name,
            studio: text(&record.studio),
            spoken,
            taste: Dimension::ALL.map(|dimension| record.taste.get(dimension).unwrap_or_default()),
        }
    }

    /// Of a record in the import format; what is no text there is read as none.
    pub(super) fn of_import(record: &'a Map<String, Value>) -> Self {
        let text = |member: &str| record.get(member).and_then(Value::as_str).unwrap_or_default();
        let taste = |dimension: Dimension| {
            record.get("taste").and_then(|taste| taste.get(dimension.as_str())?.as_str()).unwrap_or_default()
        };
        let mut spoken = vec![text("name"), text("intro"), text("description")];
        let details = record.get("details").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        spoken.extend(details.iter().filter_map(|detail| detail.get("value")?.as_str()));
        Self {
            category: Category::parse(text("category")).unwrap_or(Category::Architecture),
            name: text("name"),
            studio: text("studio"),
            spoken,
            taste: Dimension::ALL.map(taste),
        }
    }

    /// Returns the text of a dimension, empty if it is not recorded.
    pub(super) fn taste(&self, dimension: Dimension) -> &'a str {
        self.taste[dimension.index()]
    }

    /// The first of the words that `choices` name in the texts, as a whole word or its plural. Earlier texts count more:
    /// what the name says is what it is.
    pub(super) fn spoken<T: Copy>(&self, choices: &[(&str, T)]) -> Option<T> {
        self.spoken.iter().find_map(|text| {
            let text = text.to_lowercase();
            let found = choices.iter().filter_map(|(word, choice)| Some((place(&text, word)?, *choice)));
            found.min_by_key(|(at, _)| *at).map(|(_, choice)| choice)
        })
    }
}

/// Where `word`, or its plural, stands in `text` between blanks or marks.
fn place(text: &str, word: &str) -> Option<usize> {
    text.match_indices(word).map(|(at, _)| at).find(|at| {
        let before = text.get(..*at).and_then(|before| before.chars().next_back());
        let after = text.get(at + word.len()..).unwrap_or_default();
        let after = after.strip_prefix("es").or_else(|| after.strip_prefix('s')).unwrap_or(after);
        !before.is_some_and(char::is_alphabetic) && !after.chars().next().is_some_and(char::is_alphabetic)
    })
}
