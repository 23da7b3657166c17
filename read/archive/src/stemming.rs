//! The words of a dimension's text: how they are stored and how they are compared.
//!
//! Stored are the pieces of the text as they are written, in lower case; compared are their stems. A stem is computed from the
//! folded word, so the stored text stays readable and a better stemmer needs no rebuild.

use std::fmt;
use std::ops::{ControlFlow, Range};

use frostem::{Algorithm, Stemmer};
use schemas::taste::{Dimension, Taste};
use unicode_normalization::UnicodeNormalization;

use text::{Kind, is_apostrophe, is_comma, is_middle_dot, pieces, words};

/// Reduces words to stems.
pub(super) struct WordStemmer {
    english: Stemmer,
}

impl fmt::Debug for WordStemmer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("WordStemmer(English)")
    }
}

/// What separates phrases in a text, beside commas and semicolons ([`is_comma`]) and middle dots that are not between letters.
const PHRASE_ENDS: [char; 3] = ['|', '/', '•'];
/// What separates the stored phrases of a dimension from each other and from its words.
const PHRASE: char = '\t';
/// The maximum length of a phrase, in characters; a longer one is a sentence, of which only the words count.
const MAX_PHRASE_CHARS: usize = 60;

/// Returns the stored form of a taste: one line per dimension, with its distinct pieces in lower case, separated by spaces, and then
/// its distinct phrases, each after a tab.
#[cfg_attr(not(feature = "apply"), expect(dead_code, reason = "only the writer stores words"))]
pub(super) fn stored_words(taste: &Taste) -> String {
    let line = |dimension: Dimension| {
        let mut line: Vec<String> = Vec::new();
        let text = taste.get(dimension).unwrap_or_default();
        for piece in pieces(text) {
            let piece = lower_case(piece);
            if !line.contains(&piece) {
                line.push(piece);
            }
        }
        let mut line = line.join(" ");
        let mut phrases: Vec<String> = Vec::new();
        for phrase in split_phrases(text).into_iter().map(|range| phrase_form(&text[range])) {
            if is_phrase(&phrase) && !phrases.contains(&phrase) {
                line.push(PHRASE);
                line.push_str(&phrase);
                phrases.push(phrase);
            }
        }
        line
    };
    Dimension::ALL.map(line).join("\n")
}

/// Returns where the phrases of a recorded text stand, without marks around them: each finds the project if it is asked for in quotes.
pub fn phrases(text: &str) -> Vec<Range<usize>> {
    let inner = |range: Range<usize>| {
        let phrase = &text[range.clone()];
        let start = range.start + phrase.find(char::is_alphanumeric)?;
        let end = start + text[start..range.end].trim_end_matches(is_mark).len();
        is_phrase(&phrase_form(phrase)).then_some(start..end)
    };
    split_phrases(text).into_iter().filter_map(inner).collect()
}

/// Returns where that stands which the marks between phrases separate.
fn split_phrases(text: &str) -> Vec<Range<usize>> {
    let (mut found, mut start) = (Vec::new(), 0);
    for (at, letter) in text.char_indices() {
        let next = at + letter.len_utf8();
        // Between letters a middle dot joins, as in `Col·legi`.
        let joins =
            || text[..at].ends_with(char::is_alphanumeric) && text[next..].starts_with(char::is_alphanumeric);
        let is_end = letter.is_control() || is_comma(letter) || PHRASE_ENDS.contains(&letter);
        if is_end || is_middle_dot(letter) && !joins() {
            found.push(start..at);
            start = next;
        }
    }
    found.push(start..text.len());
    found
}

/// Returns whether the form is that of a phrase.
fn is_phrase(form: &str) -> bool {
    !form.is_empty() && form.chars().count() <= MAX_PHRASE_CHARS
}

fn is_mark(letter: char) -> bool {
    !letter.is_alphanumeric()
}

/// Returns a phrase as it is written, in lower case, without marks around it.
pub(super) fn phrase_form(phrase: &str) -> String {
    let phrase = lower_case(phrase.trim_matches(is_mark));
    phrase.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn lower_case(text: &str) -> String {
    let plain = |letter| match letter {
        dot if is_middle_dot(dot) => '\u{b7}',
        apostrophe if is_apostrophe(apostrophe) => '\'',
        other => other,
    };
    let plain = text.chars().map(plain);
    if text.is_ascii() {
        plain.map(|letter| letter.to_ascii_lowercase()).collect()
    } else {
        plain.nfkc().collect::<String>().to_lowercase()
    }
}

/// Iterates over the pieces in stored words, each with its dimension.
pub(super) fn stored_pieces(stored: &str) -> impl Iterator<Item = (Dimension, &str)> {
    lines(stored).flat_map(|(dimension, line)| {
        let words = line.split(PHRASE).next().unwrap_or_default();
        words.split(' ').filter(|piece| !piece.is_empty()).map(move |piece| (dimension, piece))
    })
}

/// Iterates over the phrases in stored words, each with its dimension.
pub(super) fn stored_phrases(stored: &str) -> impl Iterator<Item = (Dimension, &str)> {
    lines(stored)
        .flat_map(|(dimension, line)| line.split(PHRASE).skip(1).map(move |phrase| (dimension, phrase)))
}

fn lines(stored: &str) -> impl Iterator<Item = (Dimension, &str)> {
    Dimension::ALL.into_iter().zip(stored.split('\n'))
}

impl WordStemmer {
    pub(super) fn new() -> WordStemmer {
        WordStemmer { english: Stemmer::new(Algorithm::English) }
    }

    fn stem(&self, folded: &str) -> String {
        if folded.is_ascii() { self.english.stem(folded).into_owned() } else { folded.to_owned() }
    }

    /// Returns the words of a stored piece, each as its stem and its form. In scripts without spaces each character is a word,
    /// and so is each pair of adjacent characters.
    pub(super) fn words_of_piece(&self, piece: &str) -> Vec<(String, String)> {
        let found = folded(piece);
        let wholes = found.iter().filter(|(_, kind)| *kind != Kind::Part).count();
        let is_one_word = wholes == 1 && matches!(found.first(), Some((_, Kind::Whole)));
        let mut written = Vec::new();
        if is_one_word {
            let trimmed = piece.trim_matches(is_apostrophe);
            written.push(trimmed);
            written.extend(trimmed.split(is_apostrophe).filter(|part| !part.is_empty()));
        }
        let is_as_written = written.len() == found.len() || found.len() == 1;
        let mut terms = Vec::with_capacity(found.len());
        for (at, (word, kind)) in found.iter().enumerate() {
            match kind {
                Kind::Whole | Kind::Part | Kind::Joined => {
                    let form = written.get(at).filter(|_| is_as_written).copied().unwrap_or(word);
                    terms.push((self.stem(word), form.to_owned()));
                }
                Kind::Character { continues } => {
                    terms.push((word.clone(), word.clone()));
                    if *continues {
                        let pair = format!("{}{word}", found[at - 1].0);
                        terms.push((pair.clone(), pair));
                    }
                }
            }
        }
        terms
    }

    /// Returns the stem of a phrase that is not a form of a word: of a single word its own, of several the folded words. Empty if the
    /// phrase has no word.
    pub(super) fn phrase_stem(&self, phrase: &str) -> String {
        let folded = text::fold(phrase);
        if folded.contains(' ') { folded } else { self.stem(&folded) }
    }

    /// Returns the distinct stems that a query text requires, at most `max`, and whether it has more. Of adjacent characters of
    /// a script without spaces each pair is required.
    pub(super) fn query_stems(&self, text: &str, max: usize) -> (Vec<String>, bool) {
        let mut stems: Vec<String> = Vec::new();
        let mut before: Option<String> = None;
        let mut is_lone = false;
        for (word, kind) in folded(text) {
            let stem = match kind {
                Kind::Part | Kind::Joined => continue,
                Kind::Whole => {
                    is_lone = false;
                    self.stem(&word)
                }
                Kind::Character { continues: false } => {
                    is_lone = true;
                    before = Some(word.clone());
                    word
                }
                Kind::Character { continues: true } => {
                    let pair = format!("{}{word}", before.as_deref().unwrap_or_default());
                    if std::mem::take(&mut is_lone) && stems.last() == before.as_ref() {
                        // The pair implies its first character.
                        stems.pop();
                    }
                    before = Some(word);
                    pair
                }
            };
            if !stems.contains(&stem) {
                stems.push(stem);
            }
        }
        let has_more = stems.len() > max;
        stems.truncate(max);
        (stems, has_more)
    }
}

/// Returns the folded words of a text.
fn folded(text: &str) -> Vec<(String, Kind)> {
    let mut found = Vec::new();
    let _ = words(text, &mut |word| {
        // A taste is described word by word.
        if word.kind != Kind::Joined {
            found.push((word.text.to_owned(), word.kind));
        }
        ControlFlow::Continue(())
    });
    found
}
