//! The words of a snapshot with their document frequencies: what ranks, completes and corrects a query.
//!
//! Words are in two immutable tables that snapshots share: a large one, and a small one with the words that were added since. A
//! commit copies the counts and adds to the small table; the two are merged when the small one has grown.

mod distance;
mod table;
mod words;

use std::collections::HashMap;
use std::sync::Arc;

pub use distance::EditDistance;
use table::WordTable;
pub(crate) use words::WordSet;

/// The small table is merged into the large one when it has more than this many words, and more than one for this many of the
/// large table.
const MIN_MERGE_SIZE: usize = 1024;
const MERGE_RATIO: usize = 16;

/// The words of the live documents and their document frequencies.
#[derive(Clone, Default)]
pub(crate) struct Lexicon {
    large: Arc<WordTable>,
    small: Arc<WordTable>,
    /// The document frequency of each word of the large table, then of each of the small one.
    counts: Vec<u32>,
}

/// A word of the lexicon that may replace a typed one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SimilarWord<'a> {
    pub(crate) word: &'a str,
    /// The number of live documents that contain it; above 0.
    pub(crate) document_frequency: u32,
    /// Edits between it and the typed word; 0 for completions.
    pub(crate) distance: u32,
}

impl Lexicon {
    /// Returns the number of live documents that contain `word`.
    pub(crate) fn document_frequency(&self, word: &str) -> u32 {
        self.index(word).map_or(0, |index| self.counts[index])
    }

    /// Returns the word as it is stored here if a live document contains it.
    pub(crate) fn stored(&self, word: &str) -> Option<&str> {
        let index = self.index(word).filter(|index| self.counts[*index] > 0)?;
        let in_large = index.checked_sub(self.large.len());
        Some(in_large.map_or_else(|| self.large.word(index), |index| self.small.word(index)))
    }

    /// Returns the most frequent words that begin with `prefix` and are longer, at most `limit`.
    pub(crate) fn completions(&self, prefix: &str, limit: usize) -> Vec<SimilarWord<'_>> {
        let mut found = Vec::new();
        for (table, first) in self.tables() {
            for index in table.with_prefix(prefix) {
                let (word, count) = (table.word(index), self.counts[first + index]);
                if count > 0 && word.len() > prefix.len() {
                    found.push(SimilarWord { word, document_frequency: count, distance: 0 });
                }
            }
        }
        keep_best(&mut found, limit);
        found
    }

    /// Calls `visit` with every word that begins with `prefix`, and with the number of live documents that contain it, which is above
    /// 0.
    pub(crate) fn for_each_with_prefix<'l>(&'l self, prefix: &str, mut visit: impl FnMut(&'l str, u32)) {
        for (table, first) in self.tables() {
            for index in table.with_prefix(prefix) {
                if self.counts[first + index] > 0 {
                    visit(table.word(index), self.counts[first + index]);
                }
            }
        }
    }

    /// Returns the words nearest to `typed`, which is not among them: those one edit away; if there is none and `max_edits` is 2,
    /// those two edits away. An edit is an insertion, a deletion, a substitution or a transposition of neighbours. The most
    /// frequent first, at most `limit`.
    pub(crate) fn nearest(&self, typed: &str, max_edits: u32, limit: usize) -> Vec<SimilarWord<'_>> {
        let mut found = Vec::new();
        let mut within_one = EditDistance::new(typed, 1);
        for (table, first) in self.tables() {
            table.for_each_at_one_edit(&mut within_one, |index| {
                let count = self.counts[first + index];
                if count > 0 {
                    found.push(SimilarWord {
                        word: table.word(index),
                        document_frequency: count,
                        distance: 1,
                    });
                }
            });
        }
        if found.is_empty() && max_edits > 1 {
            let mut within_two = EditDistance::new(typed, 2);
            for (table, first) in self.tables() {
                table.for_each_within_two_edits(&mut within_two, |index, distance| {
                    let count = self.counts[first + index];
                    if count > 0 && distance > 0 {
                        found.push(SimilarWord {
                            word: table.word(index),
                            document_frequency: count,
                            distance,
                        });
                    }
                });
            }
        }
        keep_best(&mut found, limit);
        found
    }

    /// Starts the lexicon of the next commit.
    pub(crate) fn update(&self) -> LexiconUpdate {
        LexiconUpdate { base: self.clone(), added: HashMap::new() }
    }

    fn index(&self, word: &str) -> Option<usize> {
        self.large.find(word).or_else(|| self.small.find(word).map(|index| self.large.len() + index))
    }

    /// Returns both tables, each with the index of its first count.
    fn tables(&self) -> [(&WordTable, usize); 2] {
        [(&self.large, 0), (&self.small, self.large.len())]
    }
}

fn keep_best(found: &mut Vec<SimilarWord<'_>>, limit: usize) {
    let order = |found: &SimilarWord<'_>| (found.distance, std::cmp::Reverse(found.document_frequency));
    if found.len() > limit {
        found.select_nth_unstable_by(limit, |a, b| order(a).cmp(&order(b)).then_with(|| a.word.cmp(b.word)));
        found.truncate(limit);
    }
    found.sort_unstable_by(|a, b| order(a).cmp(&order(b)).then_with(|| a.word.cmp(b.word)));
}

/// A lexicon under construction. Additions and subtractions may come in any order, so a count may be below zero (or wrap around)
/// until all are done.
pub(crate) struct LexiconUpdate {
    base: Lexicon,
    /// The counts of words that are in neither table.
    added: HashMap<String, i64>,
}

impl LexiconUpdate {
    /// Adds `documents`, which may be negative, to the document frequency of `word`.
    pub(crate) fn add(&mut self, word: &str, documents: i64) {
        match self.base.index(word) {
            Some(index) => {
                let count = &mut self.base.counts[index];
                *count = count.wrapping_add_signed(documents as i32);
            }
            None => match self.added.get_mut(word) {
                Some(count) => *count += documents,
                None => {
                    self.added.insert(word.to_owned(), documents);
                }
            },
        }
    }

    /// Returns the updated lexicon.
    pub(crate) fn finish(self) -> Lexicon {
        let Lexicon { large, small, mut counts } = self.base;
        let added = self.added.iter().filter(|(_, count)| **count > 0);
        let mut words: Vec<(&str, u32)> = added.map(|(word, &count)| (word.as_str(), count as u32)).collect();
        if words.is_empty() {
            return Lexicon { large, small, counts };
        }
        let used = |table: &WordTable, counts: &[u32]| -> Vec<(String, u32)> {
            let words = counts.iter().enumerate().filter(|(_, count)| **count > 0);
            words.map(|(index, &count)| (table.word(index).to_owned(), count)).collect()
        };
        let old_small = used(&small, &counts[large.len()..]);
        words.extend(old_small.iter().map(|(word, count)| (word.as_str(), *count)));
        let old_large;
        let merges = words.len() > MIN_MERGE_SIZE.max(large.len() / MERGE_RATIO);
        if merges {
            old_large = used(&large, &counts[..large.len()]);
            words.extend(old_large.iter().map(|(word, count)| (word.as_str(), *count)));
        }
        words.sort_unstable();
        let table = Arc::new(WordTable::new(words.iter().map(|(word, _)| *word)));
        let new_counts = words.iter().map(|(_, count)| *count);
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
