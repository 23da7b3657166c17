//! Tokens for hashing: words in NFKC, lower case, without accents and simple English endings. Scripts without spaces between words
//! give pairs of adjacent characters instead.

use deunicode::deunicode_char;
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::{decompose_canonical, is_combining_mark};

use super::hash::{Feature, feature};
use super::word_weights;

/// A word of a text, or the end of a phrase.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Token {
    /// A word that is not a stop word.
    Word {
        /// The hash of the folded word.
        word: Feature,
        /// Its weight, above 0 and at most 1.
        weight: f32,
    },
    /// The end of a phrase: words before and after it are not adjacent.
    Break,
}

/// Calls `visit` with the words of `text` and the breaks between its phrases, in order.
pub(super) fn tokens(text: &str, visit: &mut impl FnMut(Token)) {
    let mut tokenizer = Tokenizer { visit, word: String::with_capacity(32), run: None };
    if text.is_ascii() {
        text.chars().for_each(|character| tokenizer.character(character));
    } else {
        text.nfkc().for_each(|character| tokenizer.character(character));
    }
    tokenizer.end_word();
    tokenizer.end_run();
}

struct Tokenizer<'v, V> {
    visit: &'v mut V,
    word: String,
    /// Inside a run of characters without spaces: the last one, and whether it is in a pair already.
    run: Option<(char, bool)>,
}

impl<V: FnMut(Token)> Tokenizer<'_, V> {
    fn character(&mut self, character: char) {
        if character.is_ascii_alphanumeric() {
            self.end_run();
            self.word.push(character.to_ascii_lowercase());
        } else if is_unspaced(character) {
            self.end_word();
            self.unspaced(character);
        } else if character.is_alphanumeric() {
            self.end_run();
            self.letter(character);
        } else if is_combining_mark(character) {
            // A vowel sign that did not compose belongs to the word; an accent does not.
            if !is_accent(character) {
                self.word.push(character);
            }
        } else if !matches!(character, '\'' | '\u{2019}' | '\u{ad}') {
            self.end_word();
            self.end_run();
            if !character.is_whitespace() && character != '-' {
                (self.visit)(Token::Break);
            }
        }
    }

    fn letter(&mut self, letter: char) {
        // Latin letters such as ø and ß have no decomposition into letter and accent.
        let latin = matches!(letter, '\u{c0}'..='\u{24f}' | '\u{1e00}'..='\u{1eff}');
        if let Some(spelled) = deunicode_char(letter).filter(|_| latin) {
            self.word
                .extend(spelled.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()));
            return;
        }
        for lower in letter.to_lowercase() {
            decompose_canonical(lower, |part| {
                if !is_accent(part) {
                    self.word.push(if part == 'ς' { 'σ' } else { part });
                }
            });
        }
    }

    fn unspaced(&mut self, character: char) {
        if let Some((previous, _)) = self.run {
            let mut bytes = [0; 8];
            let first = previous.encode_utf8(&mut bytes).len();
            let both = first + character.encode_utf8(&mut bytes[first..]).len();
            (self.visit)(Token::Word { word: feature(&bytes[..both]), weight: 1.0 });
        }
        self.run = Some((character, self.run.is_some()));
    }

    /// Ends a run; a run of one character is a word.
    fn end_run(&mut self) {
        if let Some((alone, false)) = self.run.take() {
            let word = feature(alone.encode_utf8(&mut [0; 4]).as_bytes());
            (self.visit)(Token::Word { word, weight: 1.0 });
        }
    }

    fn end_word(&mut self) {
        if self.word.is_empty() {
            return;
        }
        let weight = word_weights::weight(&self.word);
        if weight > 0.0 {
            strip_ending(&mut self.word);
            (self.visit)(Token::Word { word: feature(self.word.as_bytes()), weight });
        }
        self.word.clear();
    }
}

/// Strips the most common English endings: plural, `-ing`, `-ed`, `-ly`, and a silent `e`, so that `lined`, `lines` and `lining`
/// are one word. Words of other languages may lose a letter, consistently.
fn strip_ending(word: &mut String) {
    const SHORTEST: usize = 3;
    if !word.bytes().all(|byte| byte.is_ascii_lowercase()) {
        return;
    }
    if word.len() > 4 && word.ends_with("ies") {
        word.truncate(word.len() - 3);
        word.push('y');
    } else if word.len() > SHORTEST
        && word.ends_with('s')
        && !["ss", "us", "is"].iter().any(|end| word.ends_with(end))
    {
        let has_es = ["sses", "xes", "zes", "ches", "shes"].iter().any(|end| word.ends_with(end));
        word.truncate(word.len() - if has_es { 2 } else { 1 });
    }
    for ending in ["ing", "ed", "ly"] {
        if let Some(stem) = word.strip_suffix(ending)
            && stem.len() >= SHORTEST
            && stem.bytes().any(|byte| b"aeiouy".contains(&byte))
        {
            let doubled = stem.as_bytes().ends_with(b"tt") || stem.as_bytes().ends_with(b"nn");
            word.truncate(stem.len() - usize::from(doubled));
            break;
        }
    }
    if word.len() > SHORTEST && word.ends_with('e') {
        word.pop();
    }
}

fn is_accent(character: char) -> bool {
    matches!(character, '\u{300}'..='\u{36f}' | '\u{591}'..='\u{5c7}' | '\u{64b}'..='\u{65f}' | '\u{670}')
}

/// Returns whether the character belongs to a script without spaces between words, or with few.
fn is_unspaced(character: char) -> bool {
    matches!(character,
        '\u{e01}'..='\u{eff}'                                 // Thai, Lao
        | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17d3}'   // Myanmar, Khmer
        | '\u{1100}'..='\u{11ff}' | '\u{ac00}'..='\u{d7ff}'   // Hangul
        | '\u{3005}'..='\u{3007}' | '\u{3041}'..='\u{3096}' | '\u{30a1}'..='\u{30fa}' | '\u{30fc}'
        | '\u{3105}'..='\u{312f}' | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}'
        | '\u{20000}'..='\u{323af}')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<Feature> {
        let mut words = Vec::new();
        tokens(text, &mut |token| {
            if let Token::Word { word, .. } = token {
                words.push(word);
            }
        });
        words
    }

    #[test]
    fn case_accents_and_width_are_folded() {
        let plain = words("beton brut cafe");
        assert_eq!(plain.len(), 3);
        for text in ["Béton brut café", "BE\u{301}TON BRUT CAFÉ", "ｂｅｔｏｎ brut café"] {
            assert_eq!(words(text), plain, "{text}");
        }
        assert_eq!(words("Łódź Smørrebrød Weiß"), words("lodz smorrebrod weiss"));
        assert_eq!(words("Ἀθήνα"), words("αθηνα"));
        assert_eq!(words("O\u{2019}Keeffe"), words("okeeffe"));
    }

    #[test]
    fn simple_endings_are_stripped() {
        for group in
            ["line lines lined lining", "study studies", "arch arches", "vault vaulted vaults", "soft softly"]
        {
            let words = words(group);
            assert!(words.windows(2).all(|two| two[0] == two[1]), "{group}");
        }
        for group in ["glass glas", "oak", "red", "bus bu", "king k"] {
            assert_eq!(words(group).len(), group.split(' ').count());
        }
        assert_ne!(words("glass")[0], words("glas")[0]);
        assert_ne!(words("sing")[0], words("s")[0]);
    }

    #[test]
    fn scripts_without_spaces_give_pairs() {
        assert_eq!(words("木造住宅").len(), 3);
        assert_eq!(words("木造").first(), words("木造住宅").first());
        assert_eq!(words("木").len(), 1);
        assert_eq!(words("木 oak 한옥").len(), 3);
        assert_eq!(words("木造。住宅"), [words("木造"), words("住宅")].concat());
    }

    #[test]
    fn phrases_end_at_punctuation() {
        let mut breaks = 0;
        tokens("pale oak, lime plaster; slate (dark)", &mut |token| {
            breaks += usize::from(token == Token::Break)
        });
        assert_eq!(breaks, 4);
    }

    #[test]
    fn stop_words_are_left_out() {
        assert!(words("the of and — … !?").is_empty());
        assert_eq!(words("a house of oak").len(), 2);
    }
}
