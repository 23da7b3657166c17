//! Suggestions for a word that is not used: used words that are spelt similarly.

use std::cmp::Reverse;

use schemas::taste::Dimension;

use lexical::EditDistance;
use text::fold;

use super::Vocabulary;
use super::counts::TermUse;
use super::most_used::Term;
use crate::dictionary::{Dictionary, StemKey, TermKind};
use crate::snapshot::Snapshot;
use crate::stemming::WordStemmer;
use crate::taste_query::MAX_QUERY_WORDS;

/// The maximum number of words that are looked up: each is compared with all words of the dimension.
const MAX_LOOKUPS: usize = 3;
/// Words of at least this many characters may differ by two edits, shorter ones by one.
const TWO_EDITS_FROM: usize = 5;
/// The minimum length of a prefix, in characters.
const MIN_PREFIX: usize = 3;

/// Returns at most `limit` used words that are nearest to the unused words of a text.
pub(crate) fn nearest_terms(
    (snapshot, stemmer): (&Snapshot, &WordStemmer),
    vocabulary: &Vocabulary,
    dimension: Dimension,
    text: &str,
    limit: usize,
) -> Vec<Term> {
    let folded = fold(text);
    let mut words: Vec<&str> = Vec::with_capacity(MAX_LOOKUPS);
    for word in folded.split(' ').filter(|word| !word.is_empty()).take(MAX_QUERY_WORDS) {
        if words.len() < MAX_LOOKUPS && !words.contains(&word) && !is_used(snapshot, stemmer, dimension, word)
        {
            words.push(word);
        }
    }
    let (uses, dictionary) =
        (vocabulary.counts(TermKind::Word, None).of_dimension(dimension), vocabulary.dictionary());
    let mut found = similar_words(&words, uses, dictionary);
    let form = |one: &TermUse| dictionary.form(one.form);
    found.sort_unstable_by(|(distance, a), (others, b)| {
        let key = |distance, one: &TermUse| (distance, Reverse(one.projects));
        key(*distance, a).cmp(&key(*others, b)).then_with(|| form(a).cmp(form(b)))
    });
    let mut taken: Vec<u32> = Vec::with_capacity(limit);
    found.retain(|(_, one)| {
        let is_new = taken.len() < limit && !taken.contains(&one.form);
        if is_new {
            taken.push(one.form);
        }
        is_new
    });
    found.iter().map(|(_, one)| one.term(dictionary)).collect()
}

/// Returns whether a dimension has a form of the word's stem.
pub(super) fn is_used(snapshot: &Snapshot, stemmer: &WordStemmer, dimension: Dimension, word: &str) -> bool {
    let (stems, _) = stemmer.query_stems(word, 1);
    let stem = stems.first().and_then(|stem| snapshot.dictionary.stem(stem));
    let key = stem.map(|stem| StemKey::new(TermKind::Word, dimension, stem));
    key.is_some_and(|key| snapshot.block_list.blocks.iter().any(|block| !block.find(key).is_empty()))
}

/// Returns the used words that are similar to one of `words`, each with its distance: the number of edits, or 1 if one of the two is
/// a prefix of the other.
fn similar_words(words: &[&str], uses: &[TermUse], dictionary: &Dictionary) -> Vec<(u32, TermUse)> {
    let mut typed: Vec<(&str, EditDistance<'_>)> =
        words.iter().map(|word| (*word, EditDistance::new(word, edits(word)))).collect();
    let mut found = Vec::new();
    if typed.is_empty() {
        return found;
    }
    for one in uses {
        let form = dictionary.form(one.form);
        let other;
        // Folded once for all words: few forms are similar to any of them.
        let form = if form.bytes().all(|byte| byte.is_ascii_lowercase()) {
            form
        } else {
            other = fold(form);
            &other
        };
        for (word, typed) in &mut typed {
            if is_prefix(form, word) || is_prefix(word, form) {
                found.push((1, *one));
            } else if typed.may_match(form)
                && let Some(distance) = typed.distance(form)
            {
                found.push((distance, *one));
            }
        }
    }
    found
}

/// Returns the maximum number of edits.
fn edits(word: &str) -> u32 {
    if word.chars().count() >= TWO_EDITS_FROM { 2 } else { 1 }
}

fn is_prefix(long: &str, short: &str) -> bool {
    long.starts_with(short) && short.chars().count() >= MIN_PREFIX
}
