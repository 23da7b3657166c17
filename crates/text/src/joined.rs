//! Runs of words that are also one word: those with hyphens between them, and letters with points.

use crate::MAX_WORD_LENGTH;

/// The words of a run so far.
#[derive(Default)]
struct Run {
    /// The words, joined; nothing more is added when it is too long.
    text: String,
    /// The position of the first.
    position: u32,
    words: usize,
}

impl Run {
    fn push(&mut self, word: &str, position: u32) {
        if self.words == 0 {
            self.position = position;
        }
        self.words += 1;
        // A longer run is left out.
        if self.text.len() <= MAX_WORD_LENGTH {
            self.text.push_str(word);
        }
    }

    /// Ends the run. Returns the joined word and the position of the first if there are several words, and they are not too long.
    fn end(&mut self) -> Option<(String, u32)> {
        let is_joined = self.words > 1 && self.text.len() <= MAX_WORD_LENGTH;
        self.words = 0;
        let joined = is_joined.then(|| (self.text.clone(), self.position));
        self.text.clear();
        joined
    }
}

/// Words of letters with a single hyphen between each two.
#[derive(Default)]
pub(crate) struct Hyphened {
    run: Run,
    /// Whether a hyphen follows the last word.
    is_open: bool,
}

impl Hyphened {
    /// Called before a word is visited. Returns the run before it if the word does not continue it.
    pub(crate) fn before(&mut self, word: &str) -> Option<(String, u32)> {
        let continues = self.run.words == 0 || self.is_open && is_of_letters(word);
        if continues { None } else { self.run.end() }
    }

    /// Adds a word that was visited and that a separator follows.
    pub(crate) fn push(&mut self, word: &str, position: u32, separator: char) {
        self.is_open = false;
        // Most words neither continue a run nor begin one.
        if (self.run.words > 0 || is_hyphen(separator)) && is_of_letters(word) {
            self.run.push(word, position);
        }
    }

    /// Called with each character that separates words. Returns the run if it ends there.
    pub(crate) fn after(&mut self, separator: char) -> Option<(String, u32)> {
        if self.run.words == 0 {
            return None;
        }
        if is_hyphen(separator) && !self.is_open {
            self.is_open = true;
            return None;
        }
        self.is_open = false;
        self.run.end()
    }
}

/// Single letters with a point after each, and at most one blank between each two.
#[derive(Default)]
pub(crate) struct Initials {
    run: Run,
    /// What follows the last letter.
    gap: Gap,
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Gap {
    #[default]
    Nothing,
    Point,
    PointAndBlank,
}

impl Initials {
    /// Called before a word is visited that a separator follows. Returns the run before it if the word does not continue it.
    pub(crate) fn before(&mut self, word: &str, separator: char) -> Option<(String, u32)> {
        let continues =
            self.run.words == 0 || separator == '.' && self.gap != Gap::Nothing && is_letter(word);
        if continues { None } else { self.run.end() }
    }

    /// Adds a word that was visited and that a separator follows.
    pub(crate) fn push(&mut self, word: &str, position: u32, separator: char) {
        self.gap = Gap::Nothing;
        if separator == '.' && is_letter(word) {
            self.run.push(word, position);
        }
    }

    /// Called with each character that separates words. Returns the run if it ends there.
    pub(crate) fn after(&mut self, separator: char) -> Option<(String, u32)> {
        if self.run.words == 0 {
            return None;
        }
        self.gap = match (self.gap, separator) {
            (Gap::Nothing, '.') => Gap::Point,
            (Gap::Point, ' ') => Gap::PointAndBlank,
            _ => {
                self.gap = Gap::Nothing;
                return self.run.end();
            }
        };
        None
    }
}

fn is_hyphen(character: char) -> bool {
    matches!(character, '-' | '\u{2010}' | '\u{2011}' | '\u{2013}')
}

fn is_of_letters(word: &str) -> bool {
    !word.contains(char::is_numeric)
}

fn is_letter(word: &str) -> bool {
    let mut letters = word.chars();
    letters.next().is_some_and(char::is_alphabetic) && letters.next().is_none()
}
