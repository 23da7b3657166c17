//! Every word of the archive, by number. Words are only added; those that nobody uses any more go when the reader reads all
//! projects again, into another dictionary.

use std::collections::HashMap;
use std::sync::Arc;

use foldhash::fast::RandomState;
use schemas::taste::Dimension;

use super::words::Stems;

/// Dimensions stand in the upper three bits of a number, words in the others.
const WORD_BITS: u32 = 29;

const _: () = assert!(Dimension::COUNT <= 1 << (u32::BITS - WORD_BITS));

/// A stem in a dimension.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Key(u32);

/// A word as it is written, in a dimension.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Term(u32);

/// New words are kept apart until there are more of them than this, and than a sixteenth of the others.
const RECENT: usize = 1_024;

/// The words and what they are reduced to. A commit that brings a new word copies the recent ones alone.
#[derive(Debug, Clone, Default)]
pub(super) struct Dictionary {
    /// Most of them.
    settled: Arc<Words>,
    /// Those with the numbers behind them.
    recent: Words,
}

#[derive(Debug, Clone, Default)]
struct Words {
    forms: Vec<Form>,
    by_form: HashMap<Arc<str>, u32, RandomState>,
    by_stem: HashMap<Arc<str>, u32, RandomState>,
}

/// A word as it is written.
#[derive(Debug, Clone)]
struct Form {
    text: Arc<str>,
    stem: u32,
}

impl Key {
    pub(super) fn new(dimension: Dimension, stem: u32) -> Key {
        Key((dimension.index() as u32) << WORD_BITS | stem)
    }

    /// The index of its dimension among [`Dimension::ALL`].
    pub(super) fn dimension(self) -> usize {
        (self.0 >> WORD_BITS) as usize
    }

    pub(super) fn stem(self) -> u32 {
        self.0 & ((1 << WORD_BITS) - 1)
    }
}

impl Term {
    pub(super) fn form(self) -> u32 {
        self.0 & ((1 << WORD_BITS) - 1)
    }
}

impl Dictionary {
    /// The number of a stem, if a word has it.
    pub(super) fn stem(&self, stem: &str) -> Option<u32> {
        self.settled.by_stem.get(stem).or_else(|| self.recent.by_stem.get(stem)).copied()
    }

    /// A word as it is written.
    pub(super) fn form(&self, form: u32) -> &str {
        &self.at(form).text
    }

    pub(super) fn key(&self, term: Term) -> Key {
        Key(term.0 & !((1 << WORD_BITS) - 1) | self.at(term.form()).stem)
    }

    /// The number of the stem of a word.
    pub(super) fn stem_of(&self, form: u32) -> u32 {
        self.at(form).stem
    }

    pub(super) fn forms(&self) -> usize {
        self.settled.forms.len() + self.recent.forms.len()
    }

    pub(super) fn stems(&self) -> usize {
        self.settled.by_stem.len() + self.recent.by_stem.len()
    }

    /// The memory that it takes, in bytes, about.
    pub(super) fn bytes(&self) -> usize {
        self.settled.bytes() + self.recent.bytes()
    }

    fn at(&self, form: u32) -> &Form {
        let form = form as usize;
        match form.checked_sub(self.settled.forms.len()) {
            None => &self.settled.forms[form],
            Some(recent) => &self.recent.forms[recent],
        }
    }

    /// The number of a word as it is written, if it is known.
    fn known(&self, form: &str) -> Option<u32> {
        self.settled.by_form.get(form).or_else(|| self.recent.by_form.get(form)).copied()
    }

    fn intern(&mut self, stem: &str, form: &str) -> u32 {
        if let Some(known) = self.known(form) {
            return known;
        }
        let text: Arc<str> = form.into();
        let next = self.stems() as u32;
        let stem = match self.stem(stem) {
            Some(known) => known,
            None => {
                let stem = if stem == form { text.clone() } else { stem.into() };
                *self.recent.by_stem.entry(stem).or_insert(next)
            }
        };
        let number = self.forms() as u32;
        self.recent.forms.push(Form { text: text.clone(), stem });
        self.recent.by_form.insert(text, number);
        if self.recent.forms.len() > RECENT.max(self.settled.forms.len() / 16) {
            let recent = std::mem::take(&mut self.recent);
            Arc::make_mut(&mut self.settled).take_up(recent);
        }
        number
    }
}

impl Words {
    fn take_up(&mut self, others: Words) {
        self.forms.extend(others.forms);
        self.by_form.extend(others.by_form);
        self.by_stem.extend(others.by_stem);
    }

    fn bytes(&self) -> usize {
        // A text and the counts beside it; where a stem is a form as well, they share it.
        let texts = self.by_form.keys().chain(self.by_stem.keys()).map(|text| text.len() + 16);
        // A slot of a table is a pointer, a length, a number and a byte.
        let slots = self.by_form.capacity() + self.by_stem.capacity();
        texts.sum::<usize>() + slots * 25 * 8 / 7 + self.forms.capacity() * size_of::<Form>()
    }
}

/// Turns kept pieces into terms, each piece taken apart once.
#[derive(Debug)]
pub(super) struct Reading<'a> {
    stems: &'a Stems,
    /// Copied when the first new word comes.
    dictionary: Arc<Dictionary>,
    known: HashMap<String, Box<[u32]>, RandomState>,
}

impl<'a> Reading<'a> {
    pub(super) fn new(stems: &'a Stems, dictionary: Arc<Dictionary>) -> Reading<'a> {
        Reading { stems, dictionary, known: HashMap::default() }
    }

    /// Appends the distinct terms of a project.
    pub(super) fn read(&mut self, kept: &str, terms: &mut Vec<Term>) {
        let first = terms.len();
        for (dimension, piece) in super::words::read(kept) {
            let term = |form: &u32| Term((dimension.index() as u32) << WORD_BITS | form);
            match self.known.get(piece) {
                Some(forms) => terms.extend(forms.iter().map(term)),
                None => {
                    let forms = self.take_apart(piece);
                    terms.extend(forms.iter().map(term));
                    self.known.insert(piece.to_owned(), forms);
                }
            }
        }
        // Two pieces may hold one word: `light's` and `light`.
        terms[first..].sort_unstable();
        let mut kept = first;
        for at in first..terms.len() {
            if at == first || terms[at] != terms[kept - 1] {
                terms[kept] = terms[at];
                kept += 1;
            }
        }
        terms.truncate(kept);
    }

    fn take_apart(&mut self, piece: &str) -> Box<[u32]> {
        let found = self.stems.of_piece(piece);
        let number = |(stem, form): (String, String)| match self.dictionary.known(&form) {
            Some(known) => known,
            None => Arc::make_mut(&mut self.dictionary).intern(&stem, &form),
        };
        found.into_iter().map(number).collect()
    }

    pub(super) fn finish(self) -> Arc<Dictionary> {
        self.dictionary
    }
}

#[cfg(all(test, feature = "apply"))]
mod tests {
    use super::*;

    #[test]
    fn words_keep_their_numbers_as_more_come() {
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
                assert_eq!((dictionary.known(&form), dictionary.form(number)), (Some(number), form.as_str()));
                let found = [Some(dictionary.stem_of(number)), dictionary.stem(&stem)];
                assert_eq!(found, [Some(number / 2); 2]);
            }
            assert_eq!(dictionary.known("form5000"), None);
        }
        let (_, last) = &before[before.len() - 1];
        assert!(last.recent.forms.len() <= RECENT, "few are copied with a commit");
    }
}
