//! The words of the archive by number. A *form* is a word as it is written, in lower case; a *stem* is what its inflected forms
//! have in common.
//!
//! Words are only added. Unused ones disappear when the reader loads all projects again, with a new dictionary.

use std::collections::HashMap;
use std::sync::Arc;

use foldhash::fast::RandomState;
use schemas::taste::Dimension;
use text::{fold, is_stop_word};

use super::layers::{Layer, Layers};
use super::stemming::{WordStemmer, stored_phrases, stored_pieces};

/// The lower bits of a key, for the number of a word or phrase; the upper four are for what it is in: the words of a dimension, or its
/// phrases, which come after the words of all.
const WORD_BITS: u32 = 28;

const _: () = assert!(2 * Dimension::COUNT <= 1 << (u32::BITS - WORD_BITS));

/// What the terms of a dimension are.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TermKind {
    /// Single words.
    #[default]
    Word,
    /// What stands between commas, semicolons or the like, as a whole.
    Phrase,
}

impl TermKind {
    /// The names, as requests contain them.
    pub const NAMES: [&str; 2] = ["word", "phrase"];

    /// Returns the kind of this name.
    pub fn parse(name: &str) -> Option<TermKind> {
        match name.trim() {
            "word" => Some(TermKind::Word),
            "phrase" => Some(TermKind::Phrase),
            _ => None,
        }
    }

    const fn index(self, dimension: Dimension) -> usize {
        match self {
            TermKind::Word => dimension.index(),
            TermKind::Phrase => Dimension::COUNT + dimension.index(),
        }
    }
}

/// A stem among the words or the phrases of a dimension.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct StemKey(u32);

/// A form among the words or the phrases of a dimension.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct FormKey(u32);

/// All forms and stems. A commit with a new word copies only the recent ones.
#[derive(Debug, Clone, Default)]
pub(super) struct Dictionary {
    words: Layers<Words>,
}

#[derive(Debug, Clone, Default)]
struct Words {
    forms: Vec<Form>,
    by_form: HashMap<Arc<str>, u32, RandomState>,
    by_stem: HashMap<Arc<str>, u32, RandomState>,
    /// The stems of forms that are stop words.
    stop_stems: Vec<u32>,
}

#[derive(Debug, Clone)]
struct Form {
    text: Arc<str>,
    stem: u32,
}

impl StemKey {
    pub(super) fn new(kind: TermKind, dimension: Dimension, stem: u32) -> StemKey {
        StemKey((kind.index(dimension) as u32) << WORD_BITS | stem)
    }

    /// Returns whether it is a key of these terms.
    pub(super) fn is_of(self, kind: TermKind, dimension: Dimension) -> bool {
        (self.0 >> WORD_BITS) as usize == kind.index(dimension)
    }

    pub(super) fn stem(self) -> u32 {
        self.0 & ((1 << WORD_BITS) - 1)
    }
}

impl FormKey {
    fn new(kind: TermKind, dimension: Dimension, form: u32) -> FormKey {
        FormKey((kind.index(dimension) as u32) << WORD_BITS | form)
    }

    pub(super) fn form(self) -> u32 {
        self.0 & ((1 << WORD_BITS) - 1)
    }
}

impl Dictionary {
    /// Returns the number of a stem, if it is known.
    pub(super) fn stem(&self, stem: &str) -> Option<u32> {
        self.words.base.by_stem.get(stem).or_else(|| self.words.recent.by_stem.get(stem)).copied()
    }

    /// Returns the text of a form.
    pub(super) fn form(&self, form: u32) -> &str {
        &self.at(form).text
    }

    /// Returns the stem of a form, in the same dimension.
    pub(super) fn stem_key(&self, form: FormKey) -> StemKey {
        StemKey(form.0 & !((1 << WORD_BITS) - 1) | self.at(form.form()).stem)
    }

    /// Returns the number of a form's stem.
    pub(super) fn stem_of(&self, form: u32) -> u32 {
        self.at(form).stem
    }

    /// Returns the number of forms.
    pub(super) fn forms(&self) -> usize {
        self.words.len()
    }

    /// Returns the number of stems.
    pub(super) fn stems(&self) -> usize {
        self.words.base.by_stem.len() + self.words.recent.by_stem.len()
    }

    /// Iterates over the stems of which a form is a stop word, each once: some dozens.
    pub(super) fn stop_stems(&self) -> impl Iterator<Item = u32> {
        let Layers { base, recent } = &self.words;
        base.stop_stems.iter().chain(&recent.stop_stems).copied()
    }

    /// Returns the approximate memory in use, in bytes.
    pub(super) fn bytes(&self) -> usize {
        self.words.bytes()
    }

    fn at(&self, form: u32) -> &Form {
        self.words.at(form as usize)
    }

    /// Returns the number of a form, if it is known.
    pub(super) fn number_of(&self, form: &str) -> Option<u32> {
        self.words.base.by_form.get(form).or_else(|| self.words.recent.by_form.get(form)).copied()
    }

    fn intern(&mut self, stem: &str, form: &str) -> u32 {
        if let Some(known) = self.number_of(form) {
            return known;
        }
        let text: Arc<str> = form.into();
        let next = self.stems() as u32;
        let stem = match self.stem(stem) {
            Some(known) => known,
            None => {
                let stem = if stem == form { text.clone() } else { stem.into() };
                *self.words.recent.by_stem.entry(stem).or_insert(next)
            }
        };
        let number = self.forms() as u32;
        if is_stop_word(&fold(&text)) && self.stop_stems().all(|known| known != stem) {
            self.words.recent.stop_stems.push(stem);
        }
        self.words.recent.forms.push(Form { text: text.clone(), stem });
        self.words.recent.by_form.insert(text, number);
        self.words.merge_if_many();
        number
    }
}

impl Layer for Words {
    type Value = Form;

    fn values(&self) -> &[Form] {
        &self.forms
    }

    fn extend(&mut self, others: Words) {
        self.forms.extend(others.forms);
        self.by_form.extend(others.by_form);
        self.by_stem.extend(others.by_stem);
        self.stop_stems.extend(others.stop_stems);
    }

    fn bytes(&self) -> usize {
        // A text and the two counts of its `Arc`. A stem that is also a form shares its text.
        let texts = self.by_form.keys().chain(self.by_stem.keys()).map(|text| text.len() + 16);
        // A slot of a hash table is a pointer, a length, a number and a control byte.
        let slots = self.by_form.capacity() + self.by_stem.capacity();
        let stop_stems = self.stop_stems.capacity() * 4;
        texts.sum::<usize>() + slots * 25 * 8 / 7 + self.forms.capacity() * size_of::<Form>() + stop_stems
    }
}

/// Turns stored pieces into forms, and adds new ones to the dictionary. Each distinct piece is analysed once.
#[derive(Debug)]
pub(super) struct Analyzer<'a> {
    stemmer: &'a WordStemmer,
    /// Copied on the first new word.
    dictionary: Arc<Dictionary>,
    /// The forms of pieces that were analysed before.
    pieces: HashMap<String, Box<[u32]>, RandomState>,
    /// The forms of phrases that were analysed before.
    phrases: HashMap<String, Option<u32>, RandomState>,
}

impl<'a> Analyzer<'a> {
    pub(super) fn new(stemmer: &'a WordStemmer, dictionary: Arc<Dictionary>) -> Analyzer<'a> {
        Analyzer { stemmer, dictionary, pieces: HashMap::default(), phrases: HashMap::default() }
    }

    /// Appends the distinct forms in the stored words of a project.
    pub(super) fn analyze(&mut self, stored: &str, terms: &mut Vec<FormKey>) {
        let first = terms.len();
        for (dimension, piece) in stored_pieces(stored) {
            let term = |form: &u32| FormKey::new(TermKind::Word, dimension, *form);
            match self.pieces.get(piece) {
                Some(forms) => terms.extend(forms.iter().map(term)),
                None => {
                    let forms = self.forms_of(piece);
                    terms.extend(forms.iter().map(term));
                    self.pieces.insert(piece.to_owned(), forms);
                }
            }
        }
        for (dimension, phrase) in stored_phrases(stored) {
            let form = match self.phrases.get(phrase) {
                Some(form) => *form,
                None => {
                    let form = self.form_of_phrase(phrase);
                    self.phrases.insert(phrase.to_owned(), form);
                    form
                }
            };
            terms.extend(form.map(|form| FormKey::new(TermKind::Phrase, dimension, form)));
        }
        // Two pieces may contain the same word: `light's` and `light`.
        terms[first..].sort_unstable();
        let mut end = first;
        for at in first..terms.len() {
            if at == first || terms[at] != terms[end - 1] {
                terms[end] = terms[at];
                end += 1;
            }
        }
        terms.truncate(end);
    }

    fn forms_of(&mut self, piece: &str) -> Box<[u32]> {
        let words = self.stemmer.words_of_piece(piece);
        let number = |(stem, form): (String, String)| match self.dictionary.number_of(&form) {
            Some(known) => known,
            None => Arc::make_mut(&mut self.dictionary).intern(&stem, &form),
        };
        words.into_iter().map(number).collect()
    }

    /// Returns the form of a phrase; `None` if it has no word.
    fn form_of_phrase(&mut self, phrase: &str) -> Option<u32> {
        if let Some(known) = self.dictionary.number_of(phrase) {
            return Some(known);
        }
        let stem = self.stemmer.phrase_stem(phrase);
        (!stem.is_empty()).then(|| Arc::make_mut(&mut self.dictionary).intern(&stem, phrase))
    }

    pub(super) fn finish(self) -> Arc<Dictionary> {
        self.dictionary
    }
}

#[cfg(all(test, feature = "apply"))]
mod tests {
    use super::*;
    use crate::layers::MAX_RECENT;

    #[test]
    fn words_keep_their_numbers_as_others_are_added() {
        let mut dictionary = Dictionary::default();
        let word = |number: u32| (format!("stem{}", number / 2), format!("form{number}"));
        let mut before = Vec::new();
        for number in 0..5_000 {
            let (stem, form) = word(number);
            assert_eq!(dictionary.intern(&stem, &form), number);
            if number % 1_000 == 0 {
                before.push((number, dictionary.clone()));
            }
        }
        before.push((4_999, dictionary));
        for (last, dictionary) in &before {
            assert_eq!(
                (dictionary.forms(), dictionary.stems()),
                (*last as usize + 1, *last as usize / 2 + 1)
            );
            for number in 0..=*last {
                let (stem, form) = word(number);
                assert_eq!(
                    (dictionary.number_of(&form), dictionary.form(number)),
                    (Some(number), form.as_str())
                );
                let found = [Some(dictionary.stem_of(number)), dictionary.stem(&stem)];
                assert_eq!(found, [Some(number / 2); 2]);
            }
            assert_eq!(dictionary.number_of("form5000"), None);
        }
        let (_, last) = &before[before.len() - 1];
        assert!(last.words.recent.forms.len() <= MAX_RECENT, "a commit copies only a few words");
    }

    #[test]
    fn the_stems_of_stop_words_are_known_once_in_either_layer() {
        let mut dictionary = Dictionary::default();
        dictionary.intern("the", "the");
        for number in 0..2 * MAX_RECENT {
            dictionary.intern(&format!("stem{number}"), &format!("form{number}"));
        }
        dictionary.intern("the", "thé");
        dictionary.intern("a", "à");
        assert!(
            !dictionary.words.base.stop_stems.is_empty() && !dictionary.words.recent.stop_stems.is_empty()
        );
        let expected = ["the", "a"].map(|stem| dictionary.stem(stem).unwrap());
        assert_eq!(dictionary.stop_stems().collect::<Vec<_>>(), expected);
    }
}
