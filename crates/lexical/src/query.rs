//! A query: what a user typed, as words and what they form. Every text is a legal query.

mod parse;

pub use parse::is_quote;

use std::hash::Hasher;

use crate::fnv::Fnv;

/// The most words of a text that are searched for; [`SearchPage::is_truncated`](crate::SearchPage::is_truncated) tells whether there
/// were more.
pub const MAX_QUERY_WORDS: usize = 16;

/// A parsed query: distinct words, and what they form.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Query {
    /// The distinct folded words in the order in which they were typed. Outside quotes `and` is punctuation, as `&` is.
    pub(crate) words: Vec<String>,
    /// For each word whether it was typed in quotes.
    is_quoted: Vec<bool>,
    /// For each word the others that are the same word: its number forms, and what it is the possessive of. None for words in quotes,
    /// and for parts of a compound.
    pub(crate) forms: Vec<Vec<String>>,
    /// What every result contains, in the order in which it was typed: all words but the optional ones.
    pub(crate) terms: Vec<Term>,
    /// Words that must follow each other, at least two in each phrase: quoted ones and runs of characters, then compounds.
    phrases: Vec<Phrase>,
    /// The number of phrases before those of compounds.
    strict_phrases: usize,
    /// Whether the last word may be the prefix of a longer one, because the user may still be typing it: it is outside closed quotes,
    /// and no character of a script without spaces.
    pub(crate) last_is_prefix: bool,
    /// Whether that last word is a single letter: any word that begins with it matches as well as the letter itself.
    pub(crate) ends_with_letter: bool,
    /// All words as they were typed, in the form in which names are compared, with single blanks between them. Empty for too many
    /// words.
    pub(crate) typed: String,
    /// Whether the last of the typed words may go on in a name: as `last_is_prefix`, also for a word that was typed before.
    pub(crate) is_open: bool,
    /// The last term if it consists of several words of which the last may go on.
    pub(crate) open_compound: Option<Term>,
    /// Whether words after the first [`MAX_QUERY_WORDS`] were dropped.
    pub(crate) is_truncated: bool,
}

/// Words that follow each other: the index of each in the query, and the distance of its position from the first.
pub(crate) type Phrase = Vec<(usize, u32)>;

/// What every result contains: a word in some form, or several that were typed with hyphens between them or as letters with points.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Term {
    /// The word; of several, those that must follow each other.
    pub(crate) words: Phrase,
    /// Several words joined to one, and the forms of that; one of them may match in their place.
    pub(crate) joined: Vec<String>,
}

impl Term {
    /// Returns the index of the only word; `None` if there are several.
    pub(crate) fn only_word(&self) -> Option<usize> {
        if let [(word, _)] = self.words[..] { Some(word) } else { None }
    }

    fn contains(&self, word: usize) -> bool {
        self.words.iter().any(|(other, _)| *other == word)
    }
}

impl Query {
    /// Returns whether the text is one word, and no single letter.
    pub(crate) fn is_one_whole_word(&self) -> bool {
        self.words.len() == 1 && !self.ends_with_letter
    }

    /// Returns the words that every result contains, each once, in the order of the query; those of compounds by themselves.
    pub(crate) fn required_words(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.words.len()).filter(|word| self.is_required(*word))
    }

    /// Returns whether every result contains the word, in some form.
    pub(crate) fn is_required(&self, word: usize) -> bool {
        self.terms.iter().any(|term| term.contains(word))
    }

    /// Returns whether the word may have been meant as a part of a longer one, or as two.
    pub(crate) fn may_respell(&self, word: usize) -> bool {
        let is_term = self.terms.iter().any(|term| term.only_word() == Some(word));
        is_term && !self.is_verbatim(word) && !text::is_character(&self.words[word])
    }

    /// Returns whether the word was typed in quotes: it stands for itself alone, and is never corrected.
    pub(crate) fn is_verbatim(&self, word: usize) -> bool {
        self.is_quoted[word]
    }

    /// Returns all phrases: what was typed is contained only with these.
    pub(crate) fn phrases(&self) -> &[Phrase] {
        &self.phrases
    }

    /// Returns the phrases that no other form replaces: quoted ones and runs of characters.
    pub(crate) fn strict_phrases(&self) -> &[Phrase] {
        &self.phrases[..self.strict_phrases]
    }

    /// Returns the phrases that are runs of characters: approximate tiers ignore quotes, but keep these together.
    pub(crate) fn character_runs(&self) -> Vec<Phrase> {
        let is_run = |phrase: &&Phrase| phrase.iter().all(|(word, _)| text::is_character(&self.words[*word]));
        self.phrases.iter().filter(is_run).cloned().collect()
    }

    /// Returns a hash of the query and its category: a cursor holds it, and continues no other query.
    pub(crate) fn fingerprint(&self, category: Option<&str>) -> u64 {
        let mut hash = Fnv::default();
        for (index, word) in self.words.iter().enumerate() {
            hash.write(word.as_bytes());
            hash.write(if self.is_required(index) { b" " } else { b"?" });
            for form in &self.forms[index] {
                hash.write(form.as_bytes());
                hash.write(b"|");
            }
        }
        for phrase in &self.phrases {
            hash.write(b"\"");
            for &(word, offset) in phrase {
                hash.write_u64((word as u64) << 32 | u64::from(offset));
            }
        }
        hash.write_u64(self.strict_phrases as u64);
        hash.write(if self.last_is_prefix { b"*" } else { b"." });
        hash.write(category.unwrap_or_default().as_bytes());
        hash.finish()
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
        assert_eq!(query.phrases(), [vec![(1, 0), (2, 1)]]);
        assert!(query.last_is_prefix);

        let query = Query::parse("turner \"art nouveau");
        assert_eq!((query.words.len(), query.phrases().len(), query.last_is_prefix), (3, 0, true));
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
        assert_eq!(query.phrases(), [vec![(0, 0), (1, 1), (2, 2)]]);
        assert!(!query.last_is_prefix);
    }

    #[test]
    fn a_word_with_an_apostrophe_is_one_word() {
        assert_eq!(words_of("O'Keeffe's"), ["okeeffes"]);
    }

    #[test]
    fn each_run_with_hyphens_or_points_is_one_term() {
        let joined = |text: &str| -> Vec<String> {
            let terms = Query::parse(text).terms;
            terms.into_iter().map(|term| term.joined.first().cloned().unwrap_or_default()).collect()
        };
        assert_eq!(joined("re-use day-care"), ["reuse", "daycare"]);
        // What is no compound because of its and, or shares a word with the one before it, ends no other.
        assert_eq!(joined("and-so re-use"), ["", "reuse"]);
        assert_eq!(joined("A-B.C. re-use"), ["ab", "", "reuse"]);
        assert_eq!(joined("\"re-use\" re-use"), ["", "", "reuse"]);
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
