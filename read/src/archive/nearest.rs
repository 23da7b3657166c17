//! Words that are used, near to one that is not.

use std::cmp::Reverse;

use schemas::taste::Dimension;

use super::counts::Use;
use super::dictionary::{Dictionary, Key};
use super::question::MOST_WORDS;
use super::snapshot::Snapshot;
use super::terms::Term;
use super::vocabulary::Vocabulary;
use super::words::Stems;
use lexical::EditDistance;
use text::fold;

/// How many words of a text are looked up: each is compared with the whole vocabulary of the dimension.
const LOOKED_UP: usize = 3;
/// Words so long, in characters, may differ by two edits; shorter ones by one.
const TWO_EDITS_FROM: usize = 5;
/// The shortest beginning, in characters, that is completed.
const SHORTEST_BEGINNING: usize = 3;

/// The used words nearest to those of a text that a dimension does not use at all, at most `limit`.
pub(super) fn nearest_terms(
    (snapshot, stems): (&Snapshot, &Stems),
    vocabulary: &Vocabulary,
    dimension: Dimension,
    text: &str,
    limit: usize,
) -> Vec<Term> {
    let folded = fold(text);
    let mut words: Vec<&str> = Vec::with_capacity(LOOKED_UP);
    for word in folded.split(' ').filter(|word| !word.is_empty()).take(MOST_WORDS) {
        if words.len() < LOOKED_UP && !words.contains(&word) && !is_used(snapshot, stems, dimension, word) {
            words.push(word);
        }
    }
    let (uses, dictionary) = (vocabulary.counts(None).of_dimension(dimension), vocabulary.dictionary());
    let mut found = near(&words, uses, dictionary);
    let form = |one: &Use| dictionary.form(one.form);
    found.sort_unstable_by(|(distance, a), (others, b)| {
        let key = |distance, one: &Use| (distance, Reverse(one.projects));
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

fn is_used(snapshot: &Snapshot, stems: &Stems, dimension: Dimension, word: &str) -> bool {
    let (stems, _) = stems.of_question(word, 1);
    let stem = stems.first().and_then(|stem| snapshot.dictionary.stem(stem));
    let key = stem.map(|stem| Key::new(dimension, stem));
    key.is_some_and(|key| snapshot.shelf.blocks.iter().any(|block| !block.find(key).is_empty()))
}

/// The words near to these, each with its distance: edits, or 1 where one of both begins the other.
fn near(words: &[&str], uses: &[Use], dictionary: &Dictionary) -> Vec<(u32, Use)> {
    let mut typed: Vec<(&str, EditDistance<'_>)> =
        words.iter().map(|word| (*word, EditDistance::new(word, edits(word)))).collect();
    let mut found = Vec::new();
    if typed.is_empty() {
        return found;
    }
    for one in uses {
        let form = dictionary.form(one.form);
        let other;
        // Folded once for all words: most of what is written otherwise is near to none of them.
        let form = if form.bytes().all(|byte| byte.is_ascii_lowercase()) {
            form
        } else {
            other = fold(form);
            &other
        };
        for (word, typed) in &mut typed {
            if begins(form, word) || begins(word, form) {
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

fn edits(word: &str) -> u32 {
    if word.chars().count() >= TWO_EDITS_FROM { 2 } else { 1 }
}

fn begins(long: &str, short: &str) -> bool {
    long.starts_with(short) && short.chars().count() >= SHORTEST_BEGINNING
}
