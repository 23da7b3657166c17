//! The words of a dimension's text: how they are kept, and how they are compared.
//!
//! Kept are the pieces of the text as they are written, in lower case; compared are their stems. A stem is made of the
//! folded word, so what is kept stays readable and a better stemmer needs no rebuild.

use std::fmt;
use std::ops::ControlFlow;

use frostem::{Algorithm, Stemmer};
use schemas::taste::{Dimension, Taste};
use unicode_normalization::UnicodeNormalization;

use text::{Kind, is_apostrophe, pieces, words};

/// What the words of a text are reduced to.
pub(super) struct Stems {
    english: Stemmer,
}

impl fmt::Debug for Stems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Stems(English)")
    }
}

/// What is kept of a project's taste: a line a dimension, its distinct pieces in lower case with blanks between.
#[cfg_attr(not(feature = "apply"), expect(dead_code, reason = "only the writer keeps words"))]
pub(super) fn kept(taste: &Taste) -> String {
    let line = |dimension: Dimension| {
        let mut line: Vec<String> = Vec::new();
        for piece in pieces(taste.get(dimension).unwrap_or_default()) {
            let plain = |letter| if is_apostrophe(letter) { '\'' } else { letter };
            let plain = piece.chars().map(plain);
            let piece = if piece.is_ascii() {
                plain.map(|letter| letter.to_ascii_lowercase()).collect()
            } else {
                plain.nfkc().collect::<String>().to_lowercase()
            };
            if !line.contains(&piece) {
                line.push(piece);
            }
        }
        line.join(" ")
    };
    Dimension::ALL.map(line).join("\n")
}

/// The pieces of each dimension.
pub(super) fn read(kept: &str) -> impl Iterator<Item = (Dimension, &str)> {
    let lines = Dimension::ALL.into_iter().zip(kept.split('\n'));
    lines.flat_map(|(dimension, line)| {
        line.split(' ').filter(|piece| !piece.is_empty()).map(move |piece| (dimension, piece))
    })
}

impl Stems {
    pub(super) fn new() -> Stems {
        Stems { english: Stemmer::new(Algorithm::English) }
    }

    fn stem(&self, folded: &str) -> String {
        if folded.is_ascii() { self.english.stem(folded).into_owned() } else { folded.to_owned() }
    }

    /// The words of a kept piece: the stem of each and how it is written. A character of a script without spaces is a word,
    /// and so is each pair of neighbours.
    pub(super) fn of_piece(&self, piece: &str) -> Vec<(String, String)> {
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
                Kind::Whole | Kind::Part => {
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

    /// The distinct stems that an asked text demands, at most so many, and whether it had more. Of characters that stand
    /// side by side each pair of neighbours is demanded.
    pub(super) fn of_question(&self, text: &str, most: usize) -> (Vec<String>, bool) {
        let mut stems: Vec<String> = Vec::new();
        let mut before: Option<String> = None;
        let mut is_lone = false;
        for (word, kind) in folded(text) {
            let stem = match kind {
                Kind::Part => continue,
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
                        // The pair says more than the character that begins it.
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
        let has_more = stems.len() > most;
        stems.truncate(most);
        (stems, has_more)
    }
}

fn folded(text: &str) -> Vec<(String, Kind)> {
    let mut found = Vec::new();
    let _ = words(text, &mut |word| {
        found.push((word.text.to_owned(), word.kind));
        ControlFlow::Continue(())
    });
    found
}
