//! Text folding: turns texts and typed queries into the words that are compared.
//!
//! The search index (`lexical`) and the archive model of `read` use it. The folded form of a text never changes within a layout
//! of these: both store folded words.
//!
//! ```
//! use std::ops::ControlFlow;
//!
//! let mut folded = Vec::new();
//! let _ = text::words("O'Keeffe in Zürich", &mut |word| {
//!     if word.kind == text::Kind::Whole {
//!         folded.push(word.text.to_owned());
//!     }
//!     ControlFlow::Continue(())
//! });
//! assert_eq!(folded, ["okeeffe", "in", "zurich"]);
//! ```
//!
//! Documents and queries meet in the same form: compatibility-normalised (NFKC), lower-case, without accents. Apostrophes join
//! (`O'Keeffe` is `okeeffe`), every other punctuation splits, digits stay. Scripts that are written without spaces give one
//! word a character, so that a run of them is found as a phrase.

pub mod function_words;

use std::ops::ControlFlow;

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::{canonical_combining_class, decompose_canonical, is_combining_mark};

/// The longest word in bytes; what is longer is cut at a character, in documents and queries alike.
pub const LONGEST_WORD: usize = 48;

/// One word of a text, folded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Word<'a> {
    /// The folded form: lower-case, without accents, at most [`LONGEST_WORD`] bytes, never empty.
    pub text: &'a str,
    /// The place of the word in its text, counted from 0. Parts share the place of the word they are a part of.
    pub position: u32,
    /// How the word stands in the text.
    pub kind: Kind,
}

/// How a word stands in its text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A whole word between separators.
    Whole,
    /// A piece of a whole word between apostrophes (`keeffe` of `okeeffe`): documents are found by it, queries do without it.
    Part,
    /// A character of a script without spaces. `continues` says that the character before it was one as well.
    Character {
        /// Whether nothing stands between this character and such a character before it.
        continues: bool,
    },
}

/// Calls `visit` with every word of `text` in order, until it breaks off.
pub fn words(text: &str, visit: &mut impl FnMut(Word<'_>) -> ControlFlow<()>) -> ControlFlow<()> {
    let mut folder = Folder::new(visit);
    // Nothing composes across a space, so each piece is normalised for itself, and most need no normalising at all.
    for piece in text.split_inclusive(' ') {
        if piece.is_ascii() {
            for byte in piece.bytes() {
                match byte {
                    b'a'..=b'z' | b'0'..=b'9' => folder.letter(char::from(byte)),
                    b'A'..=b'Z' => folder.letter(char::from(byte.to_ascii_lowercase())),
                    b'\'' | b'`' => folder.apostrophe()?,
                    _ => folder.separator()?,
                }
            }
        } else {
            let normal = piece.chars().map(plain_apostrophe).nfkc();
            if piece.contains(may_hold_unseen) {
                // Marks that come together where something unseen stood between them get their order as well.
                folder.characters(normal.filter(|character| !is_unseen(*character)).nfkc())?;
            } else {
                folder.characters(normal)?;
            }
        }
    }
    folder.separator()
}

/// The pieces of `text` between characters that separate words wherever they stand, none of them empty. The words of the
/// pieces are the words of the text; a piece is most often one word as it is written.
pub fn pieces(text: &str) -> impl Iterator<Item = &str> {
    text.split(always_separates).filter(|piece| !piece.is_empty())
}

/// Whether the character joins what stands around it, as in `O'Keeffe`.
pub fn is_apostrophe(character: char) -> bool {
    plain_apostrophe(character) == '\''
}

fn always_separates(character: char) -> bool {
    if character.is_ascii() {
        return !character.is_ascii_alphanumeric() && !is_apostrophe(character);
    }
    // What turns into something else when it is normalised may become a letter: `㎡` is `m2`.
    !character.is_alphanumeric()
        && !is_combining_mark(character)
        && !is_accent(character)
        && !is_apostrophe(character)
        && character.nfkc().eq([character])
}

/// Folds `text` to its words, without parts, separated by single spaces.
pub fn fold(text: &str) -> String {
    let mut folded = String::with_capacity(text.len());
    let _ = words(text, &mut |word| {
        if word.kind != Kind::Part {
            if !folded.is_empty() {
                folded.push(' ');
            }
            folded.push_str(word.text);
        }
        ControlFlow::Continue(())
    });
    folded
}

/// Collects the characters of one word and hands the word on when it ends.
struct Folder<'v, V> {
    visit: &'v mut V,
    word: String,
    /// Where apostrophes stood in the word, as byte offsets.
    seams: Vec<usize>,
    /// An apostrophe was seen after the word so far; it joins only if a letter follows.
    apostrophe: bool,
    position: u32,
    /// The last thing seen was a character of a script without spaces.
    in_run: bool,
}

impl<'v, V: FnMut(Word<'_>) -> ControlFlow<()>> Folder<'v, V> {
    fn new(visit: &'v mut V) -> Self {
        Folder {
            visit,
            word: String::with_capacity(LONGEST_WORD),
            seams: Vec::new(),
            apostrophe: false,
            position: 0,
            in_run: false,
        }
    }

    /// A letter or digit that is folded already.
    fn letter(&mut self, letter: char) {
        self.in_run = false;
        if self.apostrophe {
            self.apostrophe = false;
            self.seams.push(self.word.len());
        }
        self.word.push(letter);
    }

    fn apostrophe(&mut self) -> ControlFlow<()> {
        if self.word.is_empty() || self.apostrophe {
            return self.separator();
        }
        self.apostrophe = true;
        ControlFlow::Continue(())
    }

    fn separator(&mut self) -> ControlFlow<()> {
        self.in_run = false;
        self.end_word()
    }

    /// A piece of a text that was compatibility-normalised.
    fn characters(&mut self, normal: impl Iterator<Item = char>) -> ControlFlow<()> {
        for character in normal {
            self.character(plain_apostrophe(character))?;
        }
        ControlFlow::Continue(())
    }

    /// Any character of a text that was compatibility-normalised.
    fn character(&mut self, character: char) -> ControlFlow<()> {
        if character == '\'' {
            return self.apostrophe();
        }
        if self.apostrophe && canonical_combining_class(character) != 0 {
            // A mark on the apostrophe: beside the letters before it, it would be taken for theirs.
            return ControlFlow::Continue(());
        }
        if stands_alone(character) {
            return self.standing_character(character);
        }
        if is_accent(character) || (is_combining_mark(character) && !self.word.is_empty()) {
            if !is_accent(character) {
                self.letter(character);
            }
            return ControlFlow::Continue(());
        }
        if !character.is_alphanumeric() {
            return self.separator();
        }
        if character.is_ascii() {
            self.letter(character.to_ascii_lowercase());
            return ControlFlow::Continue(());
        }
        for lower in character.to_lowercase() {
            decompose_canonical(lower, |piece| match spelled_out(piece) {
                Some(letters) => letters.chars().for_each(|letter| self.letter(letter)),
                None if is_accent(piece) => {}
                None => self.letter(piece),
            });
        }
        ControlFlow::Continue(())
    }

    fn standing_character(&mut self, character: char) -> ControlFlow<()> {
        let continues = self.in_run;
        self.end_word()?;
        self.in_run = true;
        let mut bytes = [0; 4];
        let word = Word {
            text: character.encode_utf8(&mut bytes),
            position: self.position,
            kind: Kind::Character { continues },
        };
        self.position += 1;
        (self.visit)(word)
    }

    fn end_word(&mut self) -> ControlFlow<()> {
        self.apostrophe = false;
        if self.word.is_empty() {
            return ControlFlow::Continue(());
        }
        let position = self.position;
        self.position += 1;
        (self.visit)(Word { text: within_bound(&self.word), position, kind: Kind::Whole })?;
        if !self.seams.is_empty() {
            self.seams.push(self.word.len());
            let mut start = 0;
            for &end in &self.seams {
                (self.visit)(Word {
                    text: within_bound(&self.word[start..end]),
                    position,
                    kind: Kind::Part,
                })?;
                start = end;
            }
            self.seams.clear();
        }
        self.word.clear();
        ControlFlow::Continue(())
    }
}

/// The longest beginning of `word` that keeps within [`LONGEST_WORD`].
fn within_bound(word: &str) -> &str {
    &word[..word.floor_char_boundary(LONGEST_WORD)]
}

/// Typographic and modifier apostrophes as the plain one, everything else as it is.
fn plain_apostrophe(character: char) -> char {
    match character {
        '`'
        | '\u{b4}'
        | '\u{2018}'..='\u{201b}'
        | '\u{2b9}'..='\u{2bd}'
        | '\u{2c8}'
        | '\u{2032}'
        | '\u{2035}'
        | '\u{ff07}'
        | '\u{55a}' => '\'',
        other => other,
    }
}

/// Whether the word is one character of a script without spaces.
pub fn is_character(word: &str) -> bool {
    let mut characters = word.chars();
    characters.next().is_some_and(stands_alone) && characters.next().is_none()
}

/// Whether the character belongs to a script without spaces between words and so is a word of its own.
fn stands_alone(character: char) -> bool {
    matches!(character,
        '\u{0e01}'..='\u{0eff}'     // Thai, Lao
        | '\u{1000}'..='\u{109f}'   // Myanmar
        | '\u{1780}'..='\u{17d3}'   // Khmer
        | '\u{1100}'..='\u{11ff}' | '\u{a960}'..='\u{a97f}' | '\u{ac00}'..='\u{d7ff}' // Hangul
        | '\u{3005}'..='\u{3007}' | '\u{3021}'..='\u{3029}' | '\u{3031}'..='\u{3035}' // iteration marks, numerals
        | '\u{3041}'..='\u{3096}' | '\u{309d}'..='\u{309f}' // Hiragana
        | '\u{30a1}'..='\u{30fa}' | '\u{30fc}'..='\u{30ff}' | '\u{31f0}'..='\u{31ff}' // Katakana
        | '\u{3105}'..='\u{312f}' | '\u{31a0}'..='\u{31bf}' // Bopomofo
        | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{323af}' // Han
    ) && character.is_alphanumeric()
        || (is_combining_mark(character)
            && matches!(character, '\u{0e01}'..='\u{0eff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17d3}'))
}

/// Marks that are accents to a reader of Latin, Greek, Cyrillic, Hebrew or Arabic; vowel signs of other scripts are not.
fn is_accent(character: char) -> bool {
    matches!(character,
        '\u{0300}'..='\u{036f}' | '\u{1ab0}'..='\u{1aff}' | '\u{1dc0}'..='\u{1dff}' | '\u{20d0}'..='\u{20ff}' | '\u{fe20}'..='\u{fe2f}'
        | '\u{0483}'..='\u{0487}' | '\u{0591}'..='\u{05bd}' | '\u{05bf}' | '\u{05c1}'..='\u{05c2}' | '\u{05c4}'..='\u{05c5}' | '\u{05c7}'
        | '\u{0610}'..='\u{061a}' | '\u{064b}'..='\u{065f}' | '\u{0670}')
        || is_unseen(character)
}

/// What stretches, joins or parts letters and is none: soft hyphen, Arabic tatweel, zero-width spaces and joiners.
fn is_unseen(character: char) -> bool {
    matches!(character, '\u{00ad}' | '\u{0640}' | '\u{200b}'..='\u{200d}' | '\u{2060}' | '\u{feff}')
}

/// Whether the character is unseen or may become something with an unseen one in it when it is normalised: some of the Arabic
/// presentation forms hold a tatweel.
fn may_hold_unseen(character: char) -> bool {
    is_unseen(character) || matches!(character, '\u{fc00}'..='\u{fe7f}')
}

/// Letters that carry their accent inside, where no decomposition frees it.
fn spelled_out(letter: char) -> Option<&'static str> {
    Some(match letter {
        'ß' => "ss",
        'æ' | 'ӕ' => "ae",
        'œ' => "oe",
        'ø' => "o",
        'ł' | 'ƚ' => "l",
        'đ' | 'ð' | 'ɖ' => "d",
        'þ' => "th",
        'ħ' => "h",
        'ı' | 'ɨ' => "i",
        'ĸ' => "k",
        'ŋ' => "n",
        'ŧ' => "t",
        'ƀ' => "b",
        'ɇ' => "e",
        'ǥ' => "g",
        'ɉ' => "j",
        'ɍ' => "r",
        'ƶ' => "z",
        'ʉ' => "u",
        'ɏ' => "y",
        'ⱥ' => "a",
        'ȼ' => "c",
        'ς' => "σ",
        // Letters of Arabic and Persian that are written for one another, and their digits.
        'ى' | 'ی' => "ي",
        'ک' => "ك",
        'ة' => "ه",
        '٠' | '۰' => "0",
        '١' | '۱' => "1",
        '٢' | '۲' => "2",
        '٣' | '۳' => "3",
        '٤' | '۴' => "4",
        '٥' | '۵' => "5",
        '٦' | '۶' => "6",
        '٧' | '۷' => "7",
        '٨' | '۸' => "8",
        '٩' | '۹' => "9",
        _ => return None,
    })
}

#[cfg(test)]
mod tests;
