//! The form in which whole values are told apart: names of studios, curators and places.

use unicode_normalization::UnicodeNormalization;

use crate::comparison::{AND, without_and};
use crate::{MAX_WORD_LENGTH, fold_whole};

/// Between two words it is written for `&` and `and`.
const PLUS: &str = "+";

/// Returns the form in which whole values are compared: the words of the comparison form ([`crate::comparison_form`]), long ones whole, with
/// the symbols among them. So `C`, `C++` and `C#` are three values. Punctuation does not count, nor does a `+` between two words, which
/// stands for `and`. A text with neither words nor symbols has an empty form.
///
/// ```
/// assert_eq!(text::value_form("C++"), "c++");
/// assert_eq!(text::value_form("Ålto, & Co."), "alto co");
/// assert_eq!(text::value_form("Alto + Co"), "alto co");
/// ```
pub fn value_form(text: &str) -> String {
    if !text.contains(is_symbol) {
        return without_and(fold_whole(text));
    }
    let mut pieces = Pieces { is_apart: true, ..Pieces::default() };
    let mut rest = text;
    while !rest.is_empty() {
        let is_of_symbols = rest.starts_with(is_symbol);
        let end = rest.find(|character| is_symbol(character) != is_of_symbols).unwrap_or(rest.len());
        let (run, after) = rest.split_at(end);
        if is_of_symbols {
            pieces.push_symbols(run.nfkc().collect(), after);
        } else {
            pieces.push_words(run);
        }
        rest = after;
    }
    pieces.finish()
}

/// Returns whether a value form ([`value_form`]) is the comparison form of its text too: it has no symbols and no long words.
pub fn is_comparison_form(value: &str) -> bool {
    !value.contains(is_symbol) && value.split(' ').all(|word| word.len() <= MAX_WORD_LENGTH)
}

/// The words and symbols of a form.
#[derive(Default)]
struct Pieces {
    /// Each with whether it directly follows the one before it.
    pieces: Vec<(String, bool)>,
    /// Whether white space, or nothing, precedes the next piece.
    is_apart: bool,
    /// Whether there is a word but `and`.
    has_word: bool,
}

impl Pieces {
    /// Adds the words of a text without symbols.
    fn push_words(&mut self, run: &str) {
        let (before, after) = gaps(run);
        let mut follows = !self.is_apart && !before;
        let folded = fold_whole(run);
        if folded.is_empty() {
            self.is_apart |= before;
            return;
        }
        for word in folded.split(' ') {
            self.has_word |= word != AND;
            self.pieces.push((word.to_owned(), follows));
            follows = false;
        }
        self.is_apart = after;
    }

    /// Adds symbols, but not a `+` that is as near to the word before it as to the one `after` it: `A+B` and `A + B`, but not `A+ B`,
    /// where it belongs to the first word.
    fn push_symbols(&mut self, symbols: String, after: &str) {
        let next = after.find(is_symbol).map_or(after, |end| &after[..end]);
        let is_after_word = self.pieces.last().is_some_and(|(last, _)| !last.contains(is_symbol));
        let is_and =
            symbols == PLUS && is_after_word && !fold_whole(next).is_empty() && self.is_apart == gaps(next).0;
        if is_and {
            self.is_apart = true;
        } else {
            self.pieces.push((symbols, !self.is_apart));
            self.is_apart = false;
        }
    }

    /// Joins the pieces without each `and` that stands alone, unless no other word is left.
    fn finish(self) -> String {
        let mut form = String::new();
        let follows = |at: usize| self.pieces.get(at).is_some_and(|(_, follows)| *follows);
        for (at, (piece, is_joined)) in self.pieces.iter().enumerate() {
            if self.has_word && piece == AND && !is_joined && !follows(at + 1) {
                continue;
            }
            if !form.is_empty() && !is_joined {
                form.push(' ');
            }
            form.push_str(piece);
        }
        form
    }
}

/// Returns whether there is white space before the first letter or digit of a text, and after the last.
fn gaps(text: &str) -> (bool, bool) {
    let first = text.find(char::is_alphanumeric).unwrap_or(text.len());
    let last = text.rfind(char::is_alphanumeric).unwrap_or(0);
    (text[..first].contains(char::is_whitespace), text[last..].contains(char::is_whitespace))
}

/// Returns whether the character is a symbol, in full width or not: it tells names apart, and is neither a letter nor punctuation, which
/// only separates and encloses words.
fn is_symbol(character: char) -> bool {
    if character.is_ascii() {
        return is_plain_symbol(character);
    }
    let mut normal = character.nfkc();
    // What is normalised to letters, such as ™, is a word.
    matches!((normal.next(), normal.next()), (Some(plain), None) if is_plain_symbol(plain))
}

fn is_plain_symbol(character: char) -> bool {
    matches!(character,
        '!' | '#' | '$' | '%' | '*' | '+' | '<' | '=' | '>' | '?' | '@' | '^' | '~'
        | '\u{a2}'..='\u{a7}' | '©' | '¬' | '®' | '°' | '±' | '¶' | '×' | '÷'
        | '†' | '‡' | '‰' | '※'
        | '\u{20a0}'..='\u{20cf}' // currencies
        | '\u{2100}'..='\u{214f}' | '\u{2190}'..='\u{23ff}' // letterlike, arrows, mathematics, technical
        | '\u{2500}'..='\u{2767}' | '\u{2794}'..='\u{27e5}' | '\u{27f0}'..='\u{2982}' | '\u{2999}'..='\u{2bff}' // shapes, dingbats
        | '\u{3012}'..='\u{3013}' | '\u{1f000}'..='\u{1faff}' // postal marks, pictographs
    ) && !character.is_alphanumeric()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::comparison_form;

    #[test]
    fn symbols_tell_values_apart_and_punctuation_does_not() {
        for (text, form) in [
            ("C", "c"),
            ("c++", "c++"),
            ("C ++", "c ++"),
            ("Ｃ＋＋", "c++"),
            ("C#", "c#"),
            ("C.", "c"),
            ("(C)", "c"),
            ("A*", "a*"),
            ("A+", "a+"),
            ("A+ Büro", "a+ buro"),
            ("+A", "+a"),
            ("A + Büro", "a buro"),
            ("A+Büro", "a buro"),
            ("A & Büro", "a buro"),
            ("A++Büro", "a++buro"),
            ("Ålto & Co.", "alto co"),
            ("ALTO and CO", "alto co"),
            ("C++ and Co.", "c++ co"),
            ("And+", "and+"),
            ("and & and", "and and"),
            ("Who?", "who?"),
            ("Nº 5 ™", "no 5 tm"),
            ("Studio ★", "studio ★"),
            ("***", "***"),
            (" *** ", "***"),
            ("…", ""),
            ("", ""),
        ] {
            assert_eq!(value_form(text), form, "{text}");
            assert_eq!(value_form(form), form, "{text}");
        }
    }

    #[test]
    fn long_words_are_told_apart_by_their_ends() {
        // Seventeen letters of three bytes.
        let long = |end: &str| format!("{}{end}", "ა".repeat(17));
        assert_eq!(comparison_form(&long("ბ")), comparison_form(&long("გ")));
        assert_ne!(value_form(&long("ბ")), value_form(&long("გ")));
        assert!(!is_comparison_form(&value_form(&long("ბ"))));
    }

    proptest! {
        #[test]
        fn a_form_is_its_own_and_has_the_words_of_the_comparison_form(text in "([a-c &.+#!Ä'★-]|and| ){0,12}") {
            let form = value_form(&text);
            prop_assert_eq!(value_form(&form), form.clone(), "{}", text);
            prop_assert_eq!(comparison_form(&form), comparison_form(&text), "{}", text);
            if is_comparison_form(&form) {
                prop_assert_eq!(form, comparison_form(&text));
            }
        }
    }
}
