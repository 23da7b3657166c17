//! The texts of one column by number. Spellings that are compared alike, such as `Zürich` and `ZURICH`, `X & Y` and `X and Y`, are one
//! value; symbols tell values apart, as in `C` and `C++`.
//!
//! Texts are only added. Unused ones disappear when the reader loads all projects again.

use std::collections::HashMap;
use std::sync::Arc;

use foldhash::fast::RandomState;
use text::{is_comma, value_form};

use crate::layers::{Layer, Layers};

/// All texts, numbered from 1. A commit with a new text copies only the recent ones.
#[derive(Debug, Clone, Default)]
pub(crate) struct Texts {
    texts: Layers<TextLayer>,
    /// Whether texts are found by their parts between commas.
    has_parts: bool,
}

#[derive(Debug, Clone, Default)]
struct TextLayer {
    spellings: Vec<Spelling>,
    /// The first spelling of the value of each, which stands for it: apart, since facets look up thousands.
    firsts: Vec<u32>,
    by_text: HashMap<Arc<str>, u32, RandomState>,
    /// The last spelling of each value.
    by_value: HashMap<Arc<str>, u32, RandomState>,
    /// The spellings that contain a value as a part between commas, or as a whole.
    by_part: HashMap<Arc<str>, Vec<u32>, RandomState>,
}

/// A text as it was recorded.
#[derive(Debug, Clone)]
struct Spelling {
    text: Arc<str>,
    value: Arc<str>,
    /// The spelling of the value before this one; 0 if this is the first.
    previous: u32,
}

/// Returns what a text is compared by: its words, but for `and`, and its symbols; of a text with neither, such as `…`, itself.
pub(crate) fn value_of(text: &str) -> String {
    let folded = value_form(text);
    if folded.is_empty() { text.trim().to_owned() } else { folded }
}

impl Texts {
    /// Returns an empty column whose texts are found by their parts between commas.
    pub(super) fn with_parts() -> Texts {
        Texts { has_parts: true, ..Texts::default() }
    }

    /// Returns the number of a text, if it is known.
    pub(super) fn number_of(&self, text: &str) -> Option<u32> {
        self.texts.base.by_text.get(text).or_else(|| self.texts.recent.by_text.get(text)).copied()
    }

    /// Adds a text that is not known and returns its number.
    pub(super) fn insert(&mut self, text: &str) -> u32 {
        let number = self.count() as u32 + 1;
        let value = value_of(text);
        let text: Arc<str> = text.into();
        let previous = self.last_of(&value);
        let (value, first) = match previous {
            Some(previous) => (Arc::clone(&self.at(previous).value), self.first_of(previous)),
            None if value == *text => (Arc::clone(&text), number),
            None => (value.into(), number),
        };
        for part in if self.has_parts { parts(&text) } else { Vec::new() } {
            self.texts.recent.by_part.entry(part.into()).or_default().push(number);
        }
        self.texts.recent.by_value.insert(Arc::clone(&value), number);
        self.texts.recent.by_text.insert(Arc::clone(&text), number);
        self.texts.recent.spellings.push(Spelling { text, value, previous: previous.unwrap_or(0) });
        self.texts.recent.firsts.push(first);
        self.texts.merge_if_many();
        number
    }

    /// Returns the number of texts; the greatest number is equal to it.
    pub(crate) fn count(&self) -> usize {
        self.texts.len()
    }

    /// Returns the spelling that stands for the value of a text.
    #[inline]
    pub(crate) fn first_of(&self, number: u32) -> u32 {
        let (base, index) = (&self.texts.base.firsts, number as usize - 1);
        base.get(index).copied().unwrap_or_else(|| self.texts.recent.firsts[index - base.len()])
    }

    /// Returns a text as it was recorded.
    pub(crate) fn text(&self, number: u32) -> &str {
        &self.at(number).text
    }

    /// Returns a text as it was recorded and what it is compared by, to keep both.
    pub(crate) fn shared(&self, number: u32) -> (Arc<str>, Arc<str>) {
        let Spelling { text, value, .. } = self.at(number);
        (Arc::clone(text), Arc::clone(value))
    }

    /// Returns what a text is compared by.
    pub(crate) fn value(&self, number: u32) -> &str {
        &self.at(number).value
    }

    /// Returns the numbers of all spellings of a value (see [`value_of`]).
    pub(crate) fn spellings<'t>(&'t self, value: &str) -> impl Iterator<Item = u32> + use<'t> {
        std::iter::successors(self.last_of(value), |number| {
            Some(self.at(*number).previous).filter(|previous| *previous > 0)
        })
    }

    /// Returns the numbers of the texts that contain a value between commas, or as a whole.
    pub(crate) fn containing<'t>(&'t self, part: &str) -> impl Iterator<Item = u32> + use<'t> {
        let lists = [self.texts.base.by_part.get(part), self.texts.recent.by_part.get(part)];
        lists.into_iter().flatten().flatten().copied()
    }

    /// Returns the values of all parts between commas, each once. Texts that are no longer used have some of them.
    pub(crate) fn parts(&self) -> impl Iterator<Item = &str> {
        let Layers { base, recent } = &self.texts;
        let new = recent.by_part.keys().filter(|part| !base.by_part.contains_key(*part));
        base.by_part.keys().chain(new).map(|part| &**part)
    }

    /// Returns the approximate memory in use, in bytes.
    pub(super) fn bytes(&self) -> usize {
        self.texts.bytes()
    }

    fn last_of(&self, value: &str) -> Option<u32> {
        self.texts.recent.by_value.get(value).or_else(|| self.texts.base.by_value.get(value)).copied()
    }

    fn at(&self, number: u32) -> &Spelling {
        self.texts.at(number as usize - 1)
    }
}

/// Returns the values of the distinct parts of a text between commas.
fn parts(text: &str) -> Vec<String> {
    let mut parts: Vec<String> = Vec::new();
    for part in text.split(is_comma).map(value_of).filter(|part| !part.is_empty()) {
        if !parts.contains(&part) {
            parts.push(part);
        }
    }
    parts
}

impl Layer for TextLayer {
    type Value = Spelling;

    fn values(&self) -> &[Spelling] {
        &self.spellings
    }

    fn extend(&mut self, others: TextLayer) {
        self.spellings.extend(others.spellings);
        self.firsts.extend(others.firsts);
        self.by_text.extend(others.by_text);
        self.by_value.extend(others.by_value);
        for (part, numbers) in others.by_part {
            self.by_part.entry(part).or_default().extend(numbers);
        }
    }

    fn bytes(&self) -> usize {
        // A text and the two counts of its `Arc`. A value that is written as it is compared shares its text.
        let texts = self.by_text.keys().chain(self.by_value.keys()).chain(self.by_part.keys());
        let texts: usize = texts.map(|text| text.len() + 16).sum();
        let numbers: usize = self.by_part.values().map(|numbers| numbers.capacity() * 4).sum();
        // A slot of a hash table is a pointer, a length, a number and a control byte.
        let slots = self.by_text.capacity() + self.by_value.capacity() + 2 * self.by_part.capacity();
        let spellings = self.spellings.capacity() * size_of::<Spelling>() + self.firsts.capacity() * 4;
        texts + numbers + slots * 25 * 8 / 7 + spellings
    }
}

#[cfg(all(test, feature = "apply"))]
mod tests {
    use super::*;
    use crate::layers::MAX_RECENT;

    #[test]
    fn texts_keep_their_numbers_and_spellings_of_one_value_stay_together() {
        let mut texts = Texts::with_parts();
        let text = |number: u32| match number % 3 {
            0 => format!("Zürich {}, Schweiz", number / 3),
            1 => format!("ZURICH {}, schweiz", number / 3),
            _ => format!("zurich-{} Schweiz", number / 3),
        };
        let mut before = Vec::new();
        for number in 0..6_000 {
            assert_eq!(texts.number_of(&text(number)), None);
            assert_eq!(texts.insert(&text(number)), number + 1);
            if number % 1_500 == 2 {
                before.push((number, texts.clone()));
            }
        }
        before.push((5_999, texts));
        for (last, texts) in &before {
            assert_eq!(texts.count(), *last as usize + 1);
            for number in 0..=*last {
                assert_eq!(texts.number_of(&text(number)), Some(number + 1));
                assert_eq!(texts.text(number + 1), text(number));
                assert_eq!(texts.first_of(number + 1), number / 3 * 3 + 1);
                assert_eq!(texts.value(number + 1), format!("zurich {} schweiz", number / 3));
            }
            let of_7: Vec<u32> = texts.spellings("zurich 7 schweiz").collect();
            assert_eq!(of_7, if *last < 23 { vec![] } else { vec![24, 23, 22] });
            let places = texts.containing("schweiz").count();
            let values = 2 * (last / 3 + 1);
            assert_eq!(texts.parts().count() as u32, 1 + values, "each once, in either layer");
            assert_eq!(places, (0..=*last).filter(|number| number % 3 < 2).count());
            assert_eq!(texts.containing("zurich 0").collect::<Vec<_>>(), [1, 2]);
        }
        let (_, last) = &before[before.len() - 1];
        assert!(last.texts.recent.spellings.len() <= MAX_RECENT, "a commit copies only a few texts");
    }

    #[test]
    fn a_text_without_words_is_its_own_value() {
        let mut texts = Texts::with_parts();
        let numbers = ["***", " ***", "Ulm, , ***,ULM"].map(|text| texts.insert(text));
        assert_eq!(numbers, [1, 2, 3]);
        assert_eq!(texts.spellings("***").collect::<Vec<_>>(), [2, 1]);
        assert_eq!(texts.containing("***").collect::<Vec<_>>(), [1, 2, 3]);
        assert_eq!(texts.containing("ulm").collect::<Vec<_>>(), [3]);
        assert_eq!(value_of(" *** "), "***");
    }

    #[test]
    fn a_place_has_parts_between_commas_of_any_script() {
        let mut texts = Texts::with_parts();
        let written = [
            "Ulm, Germany",
            "Ulm，Germany",
            "Ulm、Germany",
            "Ulm، Germany",
            "Ulm;Germany",
            "Ulm；Germany",
            "Ulm؛ Germany",
        ];
        let numbers: Vec<u32> = written.iter().map(|text| texts.insert(text)).collect();
        assert_eq!(texts.containing("germany").collect::<Vec<_>>(), numbers);
        assert_eq!(texts.containing("ulm").collect::<Vec<_>>(), numbers);
        assert_eq!(texts.insert("Ulm - Germany"), 8);
        assert_eq!(texts.containing("ulm germany").collect::<Vec<_>>(), [8], "a hyphen separates no parts");
    }

    #[test]
    fn symbols_make_other_values() {
        let mut texts = Texts::default();
        let numbers = ["C", "C++", "c++", "C#", "c.", "Ｃ"].map(|text| texts.insert(text));
        assert_eq!(numbers.map(|number| texts.first_of(number)), [1, 2, 2, 4, 1, 1]);
        let of = |text: &str| texts.spellings(&value_of(text)).collect::<Vec<_>>();
        assert_eq!([of("c"), of("C++"), of("C#"), of("C*")], [vec![6, 5, 1], vec![3, 2], vec![4], vec![]]);
    }

    #[test]
    fn and_is_written_in_any_form() {
        let mut texts = Texts::with_parts();
        let written =
            ["Oxenham & Wardlaw", "Oxenham and Wardlaw, Ulm", "oxenham AND wardlaw", "And", "and & and"];
        let numbers = written.map(|text| texts.insert(text));
        assert_eq!(numbers.map(|number| texts.first_of(number)), [1, 2, 1, 4, 5]);
        assert_eq!(texts.spellings(&value_of("Oxenham Wardlaw")).collect::<Vec<_>>(), [3, 1]);
        assert_eq!(texts.containing(&value_of("Oxenham and Wardlaw")).collect::<Vec<_>>(), [1, 2, 3]);
        assert_eq!(texts.containing(&value_of("and")).collect::<Vec<_>>(), [4]);
    }
}
