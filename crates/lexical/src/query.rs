//! What the user typed, as words and phrases. No text is an error.

use std::hash::Hasher;
use std::ops::ControlFlow;

use super::fnv::Fnv;
use text::{Kind, words};

/// At most so many words of a text are looked for; the rest is ignored, and the answer says so.
pub const MOST_WORDS: usize = 16;
/// The shortest word, in bytes, that may be the beginning of a longer one.
const SHORTEST_BEGINNING: usize = 2;

/// A query: distinct words, and the phrases that some of them form.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Query {
    /// The folded words in the order in which they were typed.
    pub(super) words: Vec<String>,
    /// Words that must follow each other: of two at least.
    pub(super) phrases: Vec<Phrase>,
    /// Whether the last word may still be being typed: it is no character of its own and stands in no closed quotes.
    pub(super) unfinished: bool,
    /// Whether there are more words than are looked for.
    pub(super) is_cut: bool,
}

/// Words that follow each other: the index of each in the query, and its distance from the first.
pub(super) type Phrase = Vec<(usize, u32)>;

impl Query {
    /// Takes a text apart. Quotes of any style make phrases; one that is never closed counts as a space.
    pub(super) fn parse(text: &str) -> Query {
        let mut query = Query::default();
        let mut taken = 0;
        let pieces: Vec<&str> = text.split(is_quote).collect();
        for (place, piece) in pieces.iter().enumerate() {
            let quoted = place % 2 == 1 && place + 1 < pieces.len();
            let mut run = Phrase::new();
            let flow = words(piece, &mut |word| {
                if word.kind == Kind::Part {
                    return ControlFlow::Continue(());
                }
                if taken == MOST_WORDS {
                    return ControlFlow::Break(());
                }
                taken += 1;
                if !quoted && word.kind != (Kind::Character { continues: true }) {
                    query.end_phrase(&mut run);
                }
                query.unfinished =
                    !quoted && word.kind == Kind::Whole && word.text.len() >= SHORTEST_BEGINNING;
                run.push((query.intern(word.text), word.position));
                ControlFlow::Continue(())
            });
            query.end_phrase(&mut run);
            if flow.is_break() {
                query.unfinished = false;
                query.is_cut = true;
                break;
            }
        }
        query
    }

    fn intern(&mut self, word: &str) -> usize {
        match self.words.iter().position(|known| known == word) {
            Some(known) => {
                // The last word is then not the one that was typed last.
                self.unfinished &= known + 1 == self.words.len();
                known
            }
            None => {
                self.words.push(word.to_owned());
                self.words.len() - 1
            }
        }
    }

    /// The phrases that are runs of characters: what is written without spaces stays together, whatever is forgiven.
    pub(super) fn runs(&self) -> Vec<Phrase> {
        let is_run = |phrase: &&Phrase| phrase.iter().all(|(word, _)| text::is_character(&self.words[*word]));
        self.phrases.iter().filter(is_run).cloned().collect()
    }

    fn end_phrase(&mut self, run: &mut Phrase) {
        if run.len() > 1 {
            let first = run[0].1;
            let phrase = run.iter().map(|&(word, position)| (word, position - first)).collect();
            self.phrases.push(phrase);
        }
        run.clear();
    }

    /// Stands for the query and its category in cursors.
    pub(super) fn identity(&self, category: Option<&str>) -> u64 {
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
        hash.write(if self.unfinished { b"*" } else { b"." });
        hash.write(category.unwrap_or_default().as_bytes());
        hash.finish()
    }
}

fn is_quote(character: char) -> bool {
    matches!(character, '"' | '“' | '”' | '„' | '‟' | '«' | '»' | '＂' | '〝' | '〞' | '〟')
}

/// A stage of a search; each finds more, and less exactly, than the one before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MatchTier {
    /// All words and phrases exactly.
    Exact = 0,
    /// Exact matches, then those in which the last word is the beginning of a longer one.
    Prefix = 1,
    /// Every word or one near to it.
    Fuzzy = 2,
    /// Most of the words, or ones near to them.
    Any = 3,
}

impl MatchTier {
    pub(super) fn from_code(code: u8) -> Option<MatchTier> {
        [MatchTier::Exact, MatchTier::Prefix, MatchTier::Fuzzy, MatchTier::Any]
            .into_iter()
            .find(|tier| *tier as u8 == code)
    }
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
        assert!(query.unfinished);

        let query = Query::parse("turner \"art nouveau");
        assert_eq!((query.words.len(), query.phrases.len(), query.unfinished), (3, 0, true));
        assert_eq!(Query::parse("\"art\"").phrases.len(), 0);
        assert!(!Query::parse("\"art deco\"").unfinished);
        assert_eq!(Query::parse("\"very very big\"").phrases, [vec![(0, 0), (0, 1), (1, 2)]]);
    }

    #[test]
    fn a_run_of_characters_is_a_phrase() {
        let query = Query::parse("東京駅 tower 北");
        assert_eq!(query.words, ["東", "京", "駅", "tower", "北"]);
        assert_eq!(query.phrases, [vec![(0, 0), (1, 1), (2, 2)]]);
        assert!(!query.unfinished);
    }

    #[test]
    fn apostrophes_ask_for_the_whole_word() {
        assert_eq!(words_of("O'Keeffe's"), ["okeeffes"]);
    }

    #[test]
    fn only_the_first_words_count() {
        let many: String = (0..100).map(|number| format!("w{number} ")).collect();
        assert_eq!(Query::parse(&many).words.len(), MOST_WORDS);
        assert_eq!(Query::parse(&"東".repeat(100)).phrases[0].len(), MOST_WORDS);
        assert_eq!(words_of(&"(".repeat(60_000)), Vec::<String>::new());
    }

    #[test]
    fn identity_tells_queries_apart_but_not_their_decoration() {
        let identity = |text: &str| Query::parse(text).identity(None);
        assert_eq!(identity("Zürich,  Haus!"), identity("zurich haus"));
        assert_ne!(identity("zurich haus"), identity("haus zurich"));
        assert_ne!(identity("\"zurich haus\""), identity("zurich haus"));
        assert_ne!(identity("zurich"), Query::parse("zurich").identity(Some("art")));
    }
}
