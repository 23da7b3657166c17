//! The words of a snapshot and how many live documents hold each: what ranks, completes and corrects a query.
//!
//! Words live in two immutable tables that snapshots share: a large one and a small one with what came since. A commit copies the
//! counts, adds to the small table, and merges the two when the small one has grown.

mod distance;
mod table;
mod words;

use std::collections::HashMap;
use std::sync::Arc;

pub use distance::EditDistance;
use table::WordTable;
pub(super) use words::Words;

/// The small table is merged into the large one when it passes one part in so many of it, and this size.
const SMALL_SHARE: usize = 16;
const SMALL_SIZE: usize = 1024;

/// The words and their counts.
#[derive(Clone, Default)]
pub(super) struct Lexicon {
    large: Arc<WordTable>,
    small: Arc<WordTable>,
    /// The live documents of each word: those of the large table, then those of the small one.
    counts: Vec<u32>,
}

/// A word of the lexicon that stands in for a typed one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Found<'a> {
    pub(super) word: &'a str,
    /// How many live documents hold it; never 0.
    pub(super) count: u32,
    /// Edits between it and the typed word; 0 for completions.
    pub(super) distance: u32,
}

impl Lexicon {
    /// How many live documents hold `word`.
    pub(super) fn count(&self, word: &str) -> u32 {
        self.index(word).map_or(0, |index| self.counts[index])
    }

    /// The most frequent longer words that begin with `prefix`, at most `limit`.
    pub(super) fn completions(&self, prefix: &str, limit: usize) -> Vec<Found<'_>> {
        let mut found = Vec::new();
        for (table, first) in self.tables() {
            for index in table.starting_with(prefix) {
                let (word, count) = (table.word(index), self.counts[first + index]);
                if count > 0 && word.len() > prefix.len() {
                    found.push(Found { word, count, distance: 0 });
                }
            }
        }
        keep_best(&mut found, limit);
        found
    }

    /// The words nearest to `typed`: one insertion, deletion, replacement or swap of neighbours away from it; where there is none
    /// and `edits` allows, two. The nearest first, then the most frequent, at most `limit`.
    pub(super) fn near(&self, typed: &str, edits: u32, limit: usize) -> Vec<Found<'_>> {
        let mut found = Vec::new();
        let mut one_off = EditDistance::new(typed, 1);
        for (table, first) in self.tables() {
            table.one_edit_away(&mut one_off, |index| {
                let count = self.counts[first + index];
                if count > 0 {
                    found.push(Found { word: table.word(index), count, distance: 1 });
                }
            });
        }
        if found.is_empty() && edits > 1 {
            let mut off = EditDistance::new(typed, 2);
            for (table, first) in self.tables() {
                table.two_edits_away(&mut off, |index, distance| {
                    let count = self.counts[first + index];
                    if count > 0 && distance > 0 {
                        found.push(Found { word: table.word(index), count, distance });
                    }
                });
            }
        }
        keep_best(&mut found, limit);
        found
    }

    /// Starts a change of the counts.
    pub(super) fn change(&self) -> LexiconChange {
        LexiconChange { before: self.clone(), fresh: HashMap::new() }
    }

    fn index(&self, word: &str) -> Option<usize> {
        self.large.find(word).or_else(|| self.small.find(word).map(|index| self.large.len() + index))
    }

    /// Both tables, each with the place of its first count.
    fn tables(&self) -> [(&WordTable, usize); 2] {
        [(&self.large, 0), (&self.small, self.large.len())]
    }
}

fn keep_best(found: &mut Vec<Found<'_>>, limit: usize) {
    let order = |found: &Found<'_>| (found.distance, std::cmp::Reverse(found.count));
    if found.len() > limit {
        found.select_nth_unstable_by(limit, |a, b| order(a).cmp(&order(b)).then_with(|| a.word.cmp(b.word)));
        found.truncate(limit);
    }
    found.sort_unstable_by(|a, b| order(a).cmp(&order(b)).then_with(|| a.word.cmp(b.word)));
}

/// A change of counts on its way to the next lexicon. Counts may pass below zero in between, since the order of additions and
/// subtractions is free; the sum counts.
pub(super) struct LexiconChange {
    before: Lexicon,
    /// The words that no table holds yet.
    fresh: HashMap<String, i64>,
}

impl LexiconChange {
    /// Adds `documents` to the count of `word`; below zero subtracts.
    pub(super) fn add(&mut self, word: &str, documents: i64) {
        match self.before.index(word) {
            Some(index) => {
                let count = &mut self.before.counts[index];
                *count = count.wrapping_add_signed(documents as i32);
            }
            None => match self.fresh.get_mut(word) {
                Some(count) => *count += documents,
                None => {
                    self.fresh.insert(word.to_owned(), documents);
                }
            },
        }
    }

    /// The lexicon after the change.
    pub(super) fn finish(self) -> Lexicon {
        let Lexicon { large, small, mut counts } = self.before;
        let fresh = self.fresh.iter().filter(|(_, count)| **count > 0);
        let mut fresh: Vec<(&str, u32)> = fresh.map(|(word, &count)| (word.as_str(), count as u32)).collect();
        if fresh.is_empty() {
            return Lexicon { large, small, counts };
        }
        let known = |table: &WordTable, counts: &[u32]| -> Vec<(String, u32)> {
            let words = counts.iter().enumerate().filter(|(_, count)| **count > 0);
            words.map(|(index, &count)| (table.word(index).to_owned(), count)).collect()
        };
        let old_small = known(&small, &counts[large.len()..]);
        fresh.extend(old_small.iter().map(|(word, count)| (word.as_str(), *count)));
        let old_large;
        let merges = fresh.len() > SMALL_SIZE.max(large.len() / SMALL_SHARE);
        if merges {
            old_large = known(&large, &counts[..large.len()]);
            fresh.extend(old_large.iter().map(|(word, count)| (word.as_str(), *count)));
        }
        fresh.sort_unstable();
        let table = Arc::new(WordTable::new(fresh.iter().map(|(word, _)| *word)));
        let new_counts = fresh.iter().map(|(_, count)| *count);
        if merges {
            Lexicon { large: table, small: Arc::default(), counts: new_counts.collect() }
        } else {
            counts.truncate(large.len());
            counts.extend(new_counts);
            Lexicon { large, small: table, counts }
        }
    }
}

#[cfg(test)]
mod tests;
