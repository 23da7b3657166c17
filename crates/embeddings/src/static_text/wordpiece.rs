//! WordPiece as BERT's uncased models use it: words in lower case without accents, each the longest pieces of a vocabulary.

use std::collections::HashMap;

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

/// Stands before pieces that continue a word.
const CONTINUES: &str = "##";
/// A longer word is unknown, in characters.
const LONGEST_WORD: usize = 100;

/// A vocabulary of word pieces.
#[derive(Debug)]
pub(super) struct WordPieces {
    first: HashMap<Box<str>, usize>,
    continuing: HashMap<Box<str>, usize>,
    /// The longest piece in bytes.
    longest: usize,
}

impl WordPieces {
    /// Builds a vocabulary; a piece is known by its place in it.
    pub(super) fn new<'a>(pieces: impl Iterator<Item = &'a str>) -> WordPieces {
        let mut vocabulary = WordPieces { first: HashMap::new(), continuing: HashMap::new(), longest: 0 };
        for (place, piece) in pieces.enumerate() {
            vocabulary.longest = vocabulary.longest.max(piece.len());
            match piece.strip_prefix(CONTINUES) {
                Some(rest) if !rest.is_empty() => vocabulary.continuing.insert(rest.into(), place),
                _ => vocabulary.first.insert(piece.into(), place),
            };
        }
        vocabulary
    }

    /// Returns the pieces of a word, from the left the longest that exists; none if a part of it is no piece.
    pub(super) fn of(&self, word: &str) -> Vec<usize> {
        let mut pieces = Vec::new();
        if word.chars().nth(LONGEST_WORD).is_some() {
            return pieces;
        }
        let mut rest = word;
        while !rest.is_empty() {
            let known = if rest.len() == word.len() { &self.first } else { &self.continuing };
            let longest = rest.len().min(self.longest);
            let mut ends = (1..=longest).rev().filter(|end| rest.is_char_boundary(*end));
            let Some((end, piece)) = ends.find_map(|end| known.get(&rest[..end]).map(|piece| (end, *piece)))
            else {
                return Vec::new();
            };
            pieces.push(piece);
            rest = &rest[end..];
        }
        pieces
    }
}

/// A word or a punctuation character of a text.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Word<'w> {
    /// In lower case and without accents.
    pub(super) folded: &'w str,
    /// Whether the text has it in ASCII, so without accents.
    pub(super) is_ascii: bool,
}

/// Calls `visit` with the words of a text in order.
pub(super) fn words(text: &str, visit: &mut impl FnMut(Word<'_>)) {
    let mut folded = String::new();
    let mut is_ascii = true;
    let mut end = |folded: &mut String, is_ascii: &mut bool| {
        if !folded.is_empty() {
            visit(Word { folded, is_ascii: *is_ascii });
            folded.clear();
        }
        *is_ascii = true;
    };
    for character in text.nfd() {
        let is_alone = is_alone(character);
        if is_alone || character.is_whitespace() {
            end(&mut folded, &mut is_ascii);
        }
        if !is_ignored(character) {
            folded.extend(character.to_lowercase());
        }
        is_ascii &= character.is_ascii();
        if is_alone {
            end(&mut folded, &mut is_ascii);
        }
    }
    end(&mut folded, &mut is_ascii);
}

/// Returns whether a character is a word of its own: punctuation, and Chinese characters.
fn is_alone(character: char) -> bool {
    character.is_ascii_punctuation()
        || matches!(character,
            '¡' | '§' | '«' | '¶' | '·' | '»' | '¿'
            | '\u{2010}'..='\u{2027}' | '\u{2030}'..='\u{2043}' | '\u{2045}'..='\u{2051}' | '\u{2053}'..='\u{205e}'
            | '\u{3001}'..='\u{3003}' | '\u{3008}'..='\u{3011}' | '\u{3014}'..='\u{301f}' | '\u{30fb}'
            | '\u{ff01}'..='\u{ff03}' | '\u{ff05}'..='\u{ff0a}' | '\u{ff0c}'..='\u{ff0f}' | '\u{ff1a}' | '\u{ff1b}'
            | '\u{ff1f}' | '\u{ff20}' | '\u{ff3b}'..='\u{ff3d}' | '\u{ff3f}' | '\u{ff5b}' | '\u{ff5d}'
            | '\u{ff5f}'..='\u{ff65}'
            | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}'
            | '\u{20000}'..='\u{2a6df}' | '\u{2a700}'..='\u{2b81f}' | '\u{2b820}'..='\u{2ceaf}'
            | '\u{2f800}'..='\u{2fa1f}')
}

/// Returns whether a character is left out: space, accents, control and format characters.
fn is_ignored(character: char) -> bool {
    character.is_whitespace()
        || character.is_control()
        || is_combining_mark(character)
        || matches!(character,
            '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
            | '\u{feff}' | '\u{fffd}')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words_of(text: &str) -> Vec<(String, bool)> {
        let mut found = Vec::new();
        words(text, &mut |word| found.push((word.folded.to_owned(), word.is_ascii)));
        found
    }

    #[test]
    fn texts_are_split_and_folded() {
        let word = |folded: &str, is_ascii| (folded.to_owned(), is_ascii);
        let expected =
            [("oak", true), (",", true), ("beton", false), ("(", true), ("1963", true), ("–", false)];
        assert_eq!(
            words_of(" Oak, BÉTON\u{a0}(1963–"),
            expected.map(|(folded, is_ascii)| word(folded, is_ascii))
        );
        let expected = [
            ("木", false),
            ("の", false),
            ("家", false),
            ("and", true),
            ("£1", false),
            (".", true),
            ("5", true),
        ];
        assert_eq!(words_of("木の家and\n£1.5"), expected.map(|(folded, is_ascii)| word(folded, is_ascii)));
        assert_eq!(words_of("so\u{ad}ft\u{0}ly"), [word("softly", false)]);
        assert_eq!(words_of("\u{301} \u{feff}"), []);
    }

    #[test]
    fn pieces_are_the_longest_from_the_left() {
        const NONE: [usize; 0] = [];
        let vocabulary = WordPieces::new(["un", "##aff", "##able", "##a", "##ü", "##", "x"].into_iter());
        assert_eq!(vocabulary.of("unaffable"), [0, 1, 2]);
        assert_eq!(vocabulary.of("una"), [0, 3]);
        assert_eq!(vocabulary.of("unü"), [0, 4]);
        assert_eq!(vocabulary.of("unb"), NONE, "a part is no piece");
        assert_eq!(vocabulary.of("aff"), NONE, "it only continues words");
        assert_eq!(vocabulary.of(""), NONE);
        assert_eq!(vocabulary.of(&format!("un{}", "a".repeat(98))).len(), 99);
        assert_eq!(vocabulary.of(&format!("un{}", "a".repeat(99))), NONE, "longer than 100 characters");
    }
}
