//! What may be meant by the words of a query that matches nothing as it stands.
//!
//! A word of six letters or more may be misspelt, and one of four or five beside another that stands as it was typed: short
//! names are near to too many words. It is never mended towards a word that stands in more than one project of
//! twenty, nor towards others where such a word is as near: whether the frequent one was meant cannot be known, and it would
//! bring up a large part of the catalog. Short words, frequent ones and function words of English count for nothing by
//! themselves. Numbers are never mended, and what is written without spaces is never left out.

use super::lexicon::{Found, Lexicon};
use super::matching::{Clause, Standing, Variant};
use super::query::Query;
use super::snapshot::Snapshot;
use super::weights::Weights;
use text::function_words;

/// At most so many near words stand for a misspelt one, and for one that is spelt right.
const MOST_NEAR: usize = 16;
const MOST_NEAR_OF_KNOWN: usize = 8;
/// From this length on a word may hold one typo beside a word that stands as it was typed, one in any case, and two. Shorter
/// ones count for nothing.
const ONE_TYPO: usize = 4;
const ONE_TYPO_ALONE: usize = 6;
const TWO_TYPOS: usize = 8;
/// What a word with one typo or two counts beside an exact one.
const TYPO_WEIGHTS: [f32; 3] = [1.0, 0.7, 0.4];
/// What the completion of a misspelt query's last word counts.
const COMPLETION_WEIGHT: f32 = 0.6;

/// For every word of the query the words that may be meant by it; there may be none. Where not all words have to be held, a
/// known one stands for itself alone. `weights` are those of the page before, if there is one.
pub(super) fn clauses<'q>(
    snapshot: &'q Snapshot,
    query: &'q Query,
    needs_all: bool,
    weights: Option<&Weights>,
) -> Vec<Clause<'q>> {
    let mut clauses = Vec::with_capacity(query.words.len());
    for (place, word) in query.words.iter().enumerate() {
        let is_unfinished = query.unfinished && place + 1 == query.words.len();
        let is_mended = needs_all || snapshot.lexicon.count(word) == 0;
        let near = if is_mended { near(&snapshot.lexicon, query, word) } else { Vec::new() };
        let meant = Meant::by(snapshot, word, near, is_unfinished);
        let rarity = weights.and_then(|weights| weights.rarities().get(place).copied());
        let rarity = rarity.unwrap_or_else(|| snapshot.rarity(meant.count));
        clauses.push(Clause { variants: meant.variants, rarity, standing: meant.standing });
    }
    clauses
}

/// What may be meant by one word.
struct Meant<'q> {
    variants: Vec<Variant<'q>>,
    /// How many projects hold the variants, counted one by one.
    count: u32,
    standing: Standing,
}

impl<'q> Meant<'q> {
    fn by(snapshot: &'q Snapshot, word: &'q str, near: Vec<Found<'q>>, is_unfinished: bool) -> Meant<'q> {
        let (lexicon, most) = (&snapshot.lexicon, snapshot.most_holders());
        let own = lexicon.count(word);
        let (is_exact, is_small) = (is_exact(word), is_small(word));
        let says = if is_exact { is_telling(word) } else { !is_small && !function_words::contains(word) };
        let counts = own <= most && says;
        let standing = Standing { counts, is_required: text::is_character(word) };
        let mut meant = Meant { variants: Vec::new(), count: 0, standing };
        if own > 0 {
            meant.add(word, own, 1.0);
        }
        if !is_exact && standing.counts {
            if near.iter().any(|found| found.count > most && !is_small_form(found.word)) {
                // Most likely the frequent word is meant, which counts for nothing.
                meant.standing.counts = own > 0;
            } else if near.iter().all(|found| found.count <= most) {
                let limit = if own > 0 { MOST_NEAR_OF_KNOWN } else { MOST_NEAR };
                for found in near.iter().filter(|found| !is_small_form(found.word)).take(limit) {
                    meant.add(found.word, found.count, TYPO_WEIGHTS[found.distance as usize]);
                }
            }
        }
        if is_unfinished && !is_exact && standing.counts | is_small {
            for found in lexicon.completions(word, MOST_NEAR) {
                if found.count <= most {
                    meant.add(found.word, found.count, COMPLETION_WEIGHT);
                }
            }
        }
        meant
    }

    fn add(&mut self, word: &'q str, count: u32, weight: f32) {
        self.count = self.count.saturating_add(count);
        self.variants.push(Variant { word, weight });
    }
}

/// The words of the catalog that a word of the query may stand for, the nearest first, then the most frequent.
fn near<'l>(lexicon: &'l Lexicon, query: &Query, word: &str) -> Vec<Found<'l>> {
    let is_as_typed = |other: &String| other != word && !is_small(other) && lexicon.count(other) > 0;
    let is_short = word.chars().count() < ONE_TYPO_ALONE;
    if is_short && !query.words.iter().any(is_as_typed) { Vec::new() } else { alike(lexicon, word) }
}

/// The words of the catalog that are spelt almost like a word, whatever stands beside it, in the same order.
pub(super) fn alike<'l>(lexicon: &'l Lexicon, word: &str) -> Vec<Found<'l>> {
    let edits = match word.chars().count() {
        _ if is_exact(word) => 0,
        length if length >= TWO_TYPOS && lexicon.count(word) == 0 => 2,
        length if length >= ONE_TYPO => 1,
        _ => 0,
    };
    if edits == 0 { Vec::new() } else { lexicon.near(word, edits, MOST_NEAR) }
}

/// Whether the word is never mended.
pub(super) fn is_exact(word: &str) -> bool {
    word.contains(char::is_numeric) || text::is_character(word)
}

/// Whether a number is long enough to count, as a year is; a character is in any case.
fn is_telling(exact: &str) -> bool {
    text::is_character(exact) || exact.chars().count() >= 3
}

/// Whether the word is too short to be mended, and to count.
pub(super) fn is_small(word: &str) -> bool {
    word.chars().count() < ONE_TYPO
}

/// Whether a word is too short for another to be mended towards it.
fn is_small_form(word: &str) -> bool {
    is_small(word) || is_exact(word)
}
