//! The query parser: turns what a user typed into words and phrases. Every text is a legal query.

use std::hash::Hasher;
use std::ops::ControlFlow;

use text::{Kind, words};

use crate::fnv::Fnv;

/// The most words of a text that are searched for; [`SearchPage::is_truncated`](crate::SearchPage::is_truncated) tells whether there
/// were more.
pub const MAX_QUERY_WORDS: usize = 16;
/// The most words that are compared with names.
const MAX_NAME_WORDS: usize = 64;

/// A parsed query: distinct words, and the phrases that some of them form.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Query {
    /// The distinct folded words in the order in which they were typed.
    pub(crate) words: Vec<String>,
    /// Words that must follow each other, at least two in each phrase.
    pub(crate) phrases: Vec<Phrase>,
    /// Whether the last word may be the prefix of a longer one, because the user may still be typing it: it is outside closed quotes,
    /// and no character of a script without spaces.
    pub(crate) last_is_prefix: bool,
    /// Whether that last word is a single letter: any word that begins with it matches as well as the letter itself.
    pub(crate) ends_with_letter: bool,
    /// All words as they were typed, folded, with single blanks between them: compared with the beginnings of names. Empty for too
    /// many words.
    pub(crate) typed: String,
    /// Whether the last of the typed words may go on in a name: as `last_is_prefix`, also for a word that was typed before.
    pub(crate) is_open: bool,
    /// Whether words after the first [`MAX_QUERY_WORDS`] were dropped.
    pub(crate) is_truncated: bool,
}

/// Words that follow each other: the index of each in the query, and the distance of its position from the first.
pub(crate) type Phrase = Vec<(usize, u32)>;

impl Query {
    /// Parses a text. Quotes of any style make phrases; a quote that is never closed counts as a space. A run of characters of a
    /// script without spaces is a phrase too.
    pub(crate) fn parse(text: &str) -> Query {
        let mut query = Query::default();
        let mut count = 0;
        let pieces: Vec<&str> = text.split(is_quote).collect();
        for (index, piece) in pieces.iter().enumerate() {
            let is_quoted = index % 2 == 1 && index + 1 < pieces.len();
            let mut phrase = Phrase::new();
            let flow = words(piece, &mut |word| {
                if word.kind == Kind::Part {
                    return ControlFlow::Continue(());
                }
                count += 1;
                query.push_typed(word.text, count);
                query.is_open = !is_quoted && word.kind == Kind::Whole;
                if count > MAX_QUERY_WORDS {
                    query.is_truncated = true;
                    return if query.typed.is_empty() {
                        ControlFlow::Break(())
                    } else {
                        ControlFlow::Continue(())
                    };
                }
                if !is_quoted && word.kind != (Kind::Character { continues: true }) {
                    query.end_phrase(&mut phrase);
                }
                query.last_is_prefix = query.is_open;
                phrase.push((query.intern(word.text), word.position));
                ControlFlow::Continue(())
            });
            query.end_phrase(&mut phrase);
            if flow.is_break() {
                break;
            }
        }
        query.last_is_prefix &= !query.is_truncated;
        query.ends_with_letter =
            query.last_is_prefix && query.words.last().is_some_and(|word| is_single_letter(word));
        query
    }

    fn push_typed(&mut self, word: &str, count: usize) {
        if count > MAX_NAME_WORDS {
            self.typed.clear();
        } else {
            if count > 1 {
                self.typed.push(' ');
            }
            self.typed.push_str(word);
        }
    }

    /// Returns the index of a word; appends it if it is new.
    fn intern(&mut self, word: &str) -> usize {
        match self.words.iter().position(|other| other == word) {
            Some(index) => {
                // The last distinct word may then not be the one that was typed last.
                self.last_is_prefix &= index + 1 == self.words.len();
                index
            }
            None => {
                self.words.push(word.to_owned());
                self.words.len() - 1
            }
        }
    }

    /// Returns whether the text is one word, and no single letter.
    pub(crate) fn is_one_whole_word(&self) -> bool {
        self.words.len() == 1 && !self.ends_with_letter
    }

    /// Returns the phrases that are runs of characters: approximate tiers ignore quotes, but keep these together.
    pub(crate) fn character_runs(&self) -> Vec<Phrase> {
        let is_run = |phrase: &&Phrase| phrase.iter().all(|(word, _)| text::is_character(&self.words[*word]));
        self.phrases.iter().filter(is_run).cloned().collect()
    }

    fn end_phrase(&mut self, words: &mut Phrase) {
        if words.len() > 1 {
            let first = words[0].1;
            let phrase = words.iter().map(|&(word, position)| (word, position - first)).collect();
            self.phrases.push(phrase);
        }
        words.clear();
    }

    /// Returns a hash of the query and its category: a cursor holds it, and continues no other query.
    pub(crate) fn fingerprint(&self, category: Option<&str>) -> u64 {
        let mut hash = Fnv::default();
        for word in &self.words {
            hash.write(word.as_bytes());
            hash.write(b" ");
        }
        for phrase in &self.phrases {
            hash.write(b"\"");
            for &(word, offset) in phrase {
                hash.write_u64((word as u64) << 32 | u64::from(offset));
            }
        }
        hash.write(if self.last_is_prefix { b"*" } else { b"." });
        hash.write(category.unwrap_or_default().as_bytes());
        hash.finish()
    }
}

fn is_single_letter(word: &str) -> bool {
    let mut letters = word.chars();
    letters.next().is_some_and(char::is_alphabetic) && letters.next().is_none()
}

fn is_quote(character: char) -> bool {
    matches!(character, '"' | '“' | '”' | '„' | '‟' | '«' | '»' | '＂' | '〝' | '〞' | '〟')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words_of(text: &str) -> Vec<String> {
        Query::parse(text).words
    }

    #[test]
    fn quotes_make_phrases_and_an_open_one_is_a_space() {
        let query = Query::parse("Turner “Art Nouveau” villa");
        assert_eq!(query.words, ["turner", "art", "nouveau", "villa"]);
        assert_eq!(query.phrases, [vec![(1, 0), (2, 1)]]);
        assert!(query.last_is_prefix);

        let query = Query::parse("turner \"art nouveau");
        assert_eq!((query.words.len(), query.phrases.len(), query.last_is_prefix), (3, 0, true));
        assert_eq!(Query::parse("\"art\"").phrases.len(), 0);
        assert!(!Query::parse("\"art deco\"").last_is_prefix);
        assert_eq!(Query::parse("\"very very big\"").phrases, [vec![(0, 0), (0, 1), (1, 2)]]);
    }

    #[test]
    fn the_words_as_typed_keep_repetitions_and_those_that_are_not_searched_for() {
        let query = Query::parse("The “Very very” Big H");
        assert_eq!(query.typed, "the very very big h");
        assert_eq!((query.is_open, query.last_is_prefix, query.ends_with_letter), (true, true, true));
        let query = Query::parse("view of a a");
        assert_eq!((query.is_open, query.last_is_prefix, query.ends_with_letter), (true, true, true));
        let query = Query::parse("a view of a");
        assert_eq!((query.is_open, query.last_is_prefix, query.ends_with_letter), (true, false, false));
        assert!(!Query::parse("house 1").ends_with_letter);
        assert!(!Query::parse("house \"h\"").is_open);
        let words: Vec<String> = (0..20).map(|number| format!("w{number}")).collect();
        let query = Query::parse(&words.join(" "));
        assert_eq!((query.words.len(), query.typed), (MAX_QUERY_WORDS, words.join(" ")));
        assert_eq!((query.is_open, query.last_is_prefix, query.is_truncated), (true, false, true));
        assert_eq!(Query::parse(&"w ".repeat(100)).typed, "");
    }

    #[test]
    fn a_run_of_characters_is_a_phrase() {
        let query = Query::parse("東京駅 tower 北");
        assert_eq!(query.words, ["東", "京", "駅", "tower", "北"]);
        assert_eq!(query.phrases, [vec![(0, 0), (1, 1), (2, 2)]]);
        assert!(!query.last_is_prefix);
    }

    #[test]
    fn a_word_with_an_apostrophe_is_one_word() {
        assert_eq!(words_of("O'Keeffe's"), ["okeeffes"]);
    }

    #[test]
    fn only_the_first_words_are_searched_for() {
        let many: String = (0..100).map(|number| format!("w{number} ")).collect();
        assert_eq!(Query::parse(&many).words.len(), MAX_QUERY_WORDS);
        assert_eq!(Query::parse(&"東".repeat(100)).phrases[0].len(), MAX_QUERY_WORDS);
        assert_eq!(words_of(&"(".repeat(60_000)), Vec::<String>::new());
    }

    #[test]
    fn fingerprints_differ_between_queries_and_ignore_case_accents_and_punctuation() {
        let fingerprint = |text: &str| Query::parse(text).fingerprint(None);
        assert_eq!(fingerprint("Zürich,  Haus!"), fingerprint("zurich haus"));
        assert_ne!(fingerprint("zurich haus"), fingerprint("haus zurich"));
        assert_ne!(fingerprint("\"zurich haus\""), fingerprint("zurich haus"));
        assert_ne!(fingerprint("zurich"), Query::parse("zurich").fingerprint(Some("art")));
    }
}
