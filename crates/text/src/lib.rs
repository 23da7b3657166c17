//! Text folding: splits texts and queries into the words that are compared.
//!
//! Texts and queries are folded alike: normalised by compatibility (NFKC), lower case, without accents. Apostrophes join
//! (`O'Keeffe` is `okeeffe`), and so does the middle dot of Catalan (`Col·legi`); all other punctuation splits, digits stay. Words of
//! letters with single hyphens between them (`re-use`), and single letters with points (`S.M.A.K.`), are also one word. In scripts that
//! are written without spaces each character is a word, so that a run of them is found as a phrase.
//!
//! The search index (`lexical`) and the archive model of `read` use it. Both store folded words, so the folded form of a text must
//! not change within one layout of their files. Folding is idempotent.
//!
//! [`words`] visits all words with their positions, [`fold`] joins them to one text and [`fold_whole`] without cutting long ones, [`pieces`]
//! returns the words as they are written, [`comparison_form`] is how names are compared with what was typed and [`value_form`] how whole
//! values are, [`is_stop_word`] tells which words say little by themselves, and [`forms`] which are the same word in another number.
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

mod comparison;
mod forms;
mod joined;
mod values;

use std::ops::ControlFlow;

use joined::{Hyphened, Initials};
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::{canonical_combining_class, decompose_canonical, is_combining_mark};

pub use comparison::comparison_form;
pub use forms::{forms, forms_of_owner};
pub use values::{is_comparison_form, value_form};

/// The maximum length of a word in bytes; longer words are truncated at a character boundary.
pub const MAX_WORD_LENGTH: usize = 48;

/// One word of a text, folded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Word<'a> {
    /// The folded form: lower case, without accents, at most [`MAX_WORD_LENGTH`] bytes, never empty.
    pub text: &'a str,
    /// The position of the word in its text, from 0. Parts have the position of their whole word, joined words that of the first.
    pub position: u32,
    /// How the word was found.
    pub kind: Kind,
}

/// How a word was found in its text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A whole word between separators.
    Whole,
    /// A part of a whole word between apostrophes (`keeffe` of `okeeffe`): indexed, but ignored in queries.
    Part,
    /// Words with hyphens between them, or letters with points, as one word (`reuse` of `re-use`), after the last of them. Of at most
    /// [`MAX_WORD_LENGTH`] bytes; longer ones are left out.
    Joined,
    /// A character of a script without spaces.
    Character {
        /// Whether it directly follows another such character.
        continues: bool,
    },
}

/// Calls `visit` with every word of `text` in order, until it returns [`ControlFlow::Break`].
pub fn words(text: &str, visit: &mut impl FnMut(Word<'_>) -> ControlFlow<()>) -> ControlFlow<()> {
    words_up_to(MAX_WORD_LENGTH, text, visit)
}

/// Visits the words of a text, each cut at a length in bytes.
fn words_up_to(
    longest: usize,
    text: &str,
    visit: &mut impl FnMut(Word<'_>) -> ControlFlow<()>,
) -> ControlFlow<()> {
    let mut folder = Folder::new(longest, visit);
    // No characters compose across a space, so each piece is normalised by itself, and ASCII not at all.
    for piece in text.split_inclusive(' ') {
        if piece.is_ascii() {
            for byte in piece.bytes() {
                match byte {
                    b'a'..=b'z' | b'0'..=b'9' => folder.letter(char::from(byte)),
                    b'A'..=b'Z' => folder.letter(char::from(byte.to_ascii_lowercase())),
                    b'\'' | b'`' => folder.apostrophe()?,
                    other => folder.separator(char::from(other))?,
                }
            }
        } else {
            let normal = piece.chars().map(plain_apostrophe).nfkc();
            if piece.contains(may_contain_invisible) {
                // Marks that become neighbours without the invisible character between them need canonical order too.
                folder.characters(normal.filter(|character| !is_invisible(*character)).nfkc())?;
            } else {
                folder.characters(normal)?;
            }
        }
    }
    folder.end()
}

/// Returns the pieces of `text` between characters that separate words in any context, without those of nothing but apostrophes. The
/// words of the pieces are the words of the text; most pieces are one word as it is written.
pub fn pieces(text: &str) -> impl Iterator<Item = &str> {
    text.split(is_separator).filter(|piece| !piece.chars().all(is_apostrophe))
}

/// Returns whether the character joins the letters around it, as in `O'Keeffe` and `Col·legi`.
pub fn is_apostrophe(character: char) -> bool {
    plain_apostrophe(character) == '\''
}

/// Returns whether the character is a middle dot, one of those that [`is_apostrophe`] accepts.
pub fn is_middle_dot(character: char) -> bool {
    matches!(character, '\u{b7}' | '\u{387}' | '\u{2027}')
}

/// Returns whether the character is a comma or a semicolon, of any script and in any width: between the parts of a place, or phrases.
pub fn is_comma(character: char) -> bool {
    matches!(
        character,
        ',' | ';'
        | '，' | '；' | '\u{fe50}' | '\u{fe54}' | '\u{fe10}' | '\u{fe14}' // in full width, small and upright
        | '、' | '\u{ff64}' | '\u{fe51}' | '\u{fe11}' // of Japanese and Chinese
        | '،' | '؛' // of Arabic
        | '\u{37e}' // of Greek, the question mark, which is written as a semicolon
        | '\u{55d}' | '\u{7f8}' | '\u{1363}' | '\u{1364}' | '\u{1808}' | '\u{a4fe}' | '\u{a60d}' // of Armenian and others
    )
}

fn is_separator(character: char) -> bool {
    if character.is_ascii() {
        return !character.is_ascii_alphanumeric() && !is_apostrophe(character);
    }
    // A character that normalisation changes may become letters: `㎡` is `m2`.
    !character.is_alphanumeric()
        && !is_combining_mark(character)
        && !is_accent(character)
        && !is_apostrophe(character)
        && character.nfkc().eq([character])
}

/// Returns the words of `text`, without parts and joined words, separated by single spaces.
pub fn fold(text: &str) -> String {
    fold_up_to(MAX_WORD_LENGTH, text)
}

/// Returns the words of `text` as [`fold`] does, but long ones whole: what names are sorted by, and what tells values apart. A word of
/// some scripts reaches [`MAX_WORD_LENGTH`] with sixteen letters.
pub fn fold_whole(text: &str) -> String {
    fold_up_to(usize::MAX, text)
}

fn fold_up_to(longest: usize, text: &str) -> String {
    let mut folded = String::with_capacity(text.len());
    let _ = words_up_to(longest, text, &mut |word| {
        if !matches!(word.kind, Kind::Part | Kind::Joined) {
            if !folded.is_empty() {
                folded.push(' ');
            }
            folded.push_str(word.text);
        }
        ControlFlow::Continue(())
    });
    folded
}

/// Collects the characters of the current word, and passes it to the visitor when it ends.
struct Folder<'v, V> {
    visit: &'v mut V,
    /// The length in bytes at which words and their parts are cut.
    longest: usize,
    word: String,
    /// Where the parts of the word between apostrophes end, as byte offsets, but for the last.
    part_ends: Vec<usize>,
    /// Whether an apostrophe follows the word so far; it joins only if a letter comes next.
    pending_apostrophe: bool,
    position: u32,
    /// Whether the last character was one of a script without spaces.
    after_unspaced: bool,
    hyphened: Hyphened,
    initials: Initials,
}

impl<'v, V: FnMut(Word<'_>) -> ControlFlow<()>> Folder<'v, V> {
    fn new(longest: usize, visit: &'v mut V) -> Self {
        Folder {
            visit,
            longest,
            word: String::with_capacity(MAX_WORD_LENGTH),
            part_ends: Vec::new(),
            pending_apostrophe: false,
            position: 0,
            after_unspaced: false,
            hyphened: Hyphened::default(),
            initials: Initials::default(),
        }
    }

    /// Appends a letter or digit that is folded already.
    fn letter(&mut self, letter: char) {
        self.after_unspaced = false;
        if self.pending_apostrophe {
            self.pending_apostrophe = false;
            self.part_ends.push(self.word.len());
        }
        self.word.push(letter);
    }

    fn apostrophe(&mut self) -> ControlFlow<()> {
        if self.word.is_empty() || self.pending_apostrophe {
            return self.separator('\'');
        }
        self.pending_apostrophe = true;
        ControlFlow::Continue(())
    }

    fn separator(&mut self, separator: char) -> ControlFlow<()> {
        self.after_unspaced = false;
        self.end_word(separator)
    }

    /// Ends the text.
    fn end(&mut self) -> ControlFlow<()> {
        // A separator that no run goes on after.
        self.end_word('\n')
    }

    /// Processes the characters of a piece that is normalised (NFKC).
    fn characters(&mut self, normal: impl Iterator<Item = char>) -> ControlFlow<()> {
        for character in normal {
            self.character(plain_apostrophe(character))?;
        }
        ControlFlow::Continue(())
    }

    /// Processes one normalised character.
    fn character(&mut self, character: char) -> ControlFlow<()> {
        if character == '\'' {
            return self.apostrophe();
        }
        if self.pending_apostrophe && canonical_combining_class(character) != 0 {
            // A mark on an apostrophe: without the apostrophe it would combine with the letter before.
            return ControlFlow::Continue(());
        }
        if is_of_unspaced_script(character) {
            return self.unspaced_character(character);
        }
        if is_accent(character) || (is_combining_mark(character) && !self.word.is_empty()) {
            if !is_accent(character) {
                self.letter(character);
            }
            return ControlFlow::Continue(());
        }
        if !character.is_alphanumeric() {
            return self.separator(character);
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

    fn unspaced_character(&mut self, character: char) -> ControlFlow<()> {
        let continues = self.after_unspaced;
        self.end_word(character)?;
        self.after_unspaced = true;
        let mut bytes = [0; 4];
        let word = Word {
            text: character.encode_utf8(&mut bytes),
            position: self.position,
            kind: Kind::Character { continues },
        };
        self.position += 1;
        (self.visit)(word)
    }

    /// Ends the current word, if there is one, and the runs that do not go on after the separator that follows.
    fn end_word(&mut self, separator: char) -> ControlFlow<()> {
        // An apostrophe at the end is a separator too.
        let separator = if self.pending_apostrophe { '\'' } else { separator };
        self.pending_apostrophe = false;
        if self.word.is_empty() {
            return self.end_runs(separator);
        }
        let position = self.position;
        self.position += 1;
        for joined in [self.hyphened.before(&self.word), self.initials.before(&self.word, separator)] {
            visit_joined(self.visit, joined)?;
        }
        (self.visit)(Word { text: truncated(&self.word, self.longest), position, kind: Kind::Whole })?;
        if !self.part_ends.is_empty() {
            self.part_ends.push(self.word.len());
            let mut start = 0;
            for &end in &self.part_ends {
                let text = truncated(&self.word[start..end], self.longest);
                (self.visit)(Word { text, position, kind: Kind::Part })?;
                start = end;
            }
            self.part_ends.clear();
        }
        self.hyphened.push(&self.word, position, separator);
        self.initials.push(&self.word, position, separator);
        self.word.clear();
        self.end_runs(separator)
    }

    /// Ends the runs of words that a separator ends.
    fn end_runs(&mut self, separator: char) -> ControlFlow<()> {
        visit_joined(self.visit, self.hyphened.after(separator))?;
        visit_joined(self.visit, self.initials.after(separator))
    }
}

/// Visits a run of words as one.
fn visit_joined(
    visit: &mut impl FnMut(Word<'_>) -> ControlFlow<()>,
    joined: Option<(String, u32)>,
) -> ControlFlow<()> {
    match joined {
        Some((text, position)) => visit(Word { text: &text, position, kind: Kind::Joined }),
        None => ControlFlow::Continue(()),
    }
}

/// Returns the longest prefix of `word` of at most `longest` bytes.
fn truncated(word: &str, longest: usize) -> &str {
    &word[..word.floor_char_boundary(longest)]
}

/// Returns `'` for typographic and modifier apostrophes and middle dots, and any other character unchanged.
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
        dot if is_middle_dot(dot) => '\'',
        other => other,
    }
}

/// Returns whether the word is one character of a script without spaces.
pub fn is_character(word: &str) -> bool {
    let mut characters = word.chars();
    characters.next().is_some_and(is_of_unspaced_script) && characters.next().is_none()
}

/// Returns whether the character belongs to a script without spaces between words, and so is a word by itself.
fn is_of_unspaced_script(character: char) -> bool {
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

/// Returns whether the character is an accent of Latin, Greek, Cyrillic, Hebrew or Arabic script, or invisible. Vowel signs of other
/// scripts are not accents.
fn is_accent(character: char) -> bool {
    matches!(character,
        '\u{0300}'..='\u{036f}' | '\u{1ab0}'..='\u{1aff}' | '\u{1dc0}'..='\u{1dff}' | '\u{20d0}'..='\u{20ff}' | '\u{fe20}'..='\u{fe2f}'
        | '\u{0483}'..='\u{0487}' | '\u{0591}'..='\u{05bd}' | '\u{05bf}' | '\u{05c1}'..='\u{05c2}' | '\u{05c4}'..='\u{05c5}' | '\u{05c7}'
        | '\u{0610}'..='\u{061a}' | '\u{064b}'..='\u{065f}' | '\u{0670}')
        || is_invisible(character)
}

/// Returns whether the character only stretches, joins or separates letters: soft hyphen, Arabic tatweel, zero-width spaces and
/// joiners.
fn is_invisible(character: char) -> bool {
    matches!(character, '\u{00ad}' | '\u{0640}' | '\u{200b}'..='\u{200d}' | '\u{2060}' | '\u{feff}')
}

/// Returns whether the character is invisible or may be normalised to a sequence with an invisible one: some Arabic presentation
/// forms contain a tatweel.
fn may_contain_invisible(character: char) -> bool {
    is_invisible(character) || matches!(character, '\u{fc00}'..='\u{fe7f}')
}

/// Returns the folded form of letters that no decomposition folds, and of variants of Arabic letters and digits.
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
        // Letters of Arabic and Persian that are used interchangeably, and digits.
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

/// Function words of English, and some of French that are frequent in names; folded and sorted.
const STOP_WORDS: [&str; 96] = [
    "about", "above", "across", "after", "against", "all", "almost", "along", "also", "among", "an", "and",
    "are", "around", "as", "at", "be", "been", "before", "behind", "below", "beneath", "beside", "between",
    "beyond", "both", "but", "by", "de", "des", "down", "du", "each", "for", "from", "has", "have", "in",
    "inside", "into", "is", "it", "its", "la", "le", "les", "like", "many", "more", "most", "much", "near",
    "no", "not", "of", "off", "on", "onto", "or", "other", "out", "outside", "over", "per", "so", "some",
    "such", "than", "that", "the", "their", "them", "then", "there", "these", "they", "this", "through",
    "to", "too", "toward", "towards", "under", "up", "upon", "very", "via", "was", "were", "where", "which",
    "while", "with", "within", "without", "yet",
];

/// Returns whether a folded word is a stop word, which is frequent and says little by itself: a function word or a Latin letter.
pub fn is_stop_word(folded: &str) -> bool {
    let is_letter = folded.len() == 1 && folded.bytes().all(|byte| byte.is_ascii_alphabetic());
    is_letter || STOP_WORDS.binary_search(&folded).is_ok()
}

#[cfg(test)]
mod tests;
