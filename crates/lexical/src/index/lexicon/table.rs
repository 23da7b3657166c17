//! An immutable table of words: found by hash, by prefix, by suffix, and by edit distance.

use std::ops::Range;

use super::distance::{EditDistance, Signature};
use super::words::WordSet;
use crate::index::partition_point;

/// Distinct words in the order of their bytes; a word's index is its position in that order.
#[derive(Default)]
pub(crate) struct WordTable {
    words: WordSet,
    /// The first eight bytes of each word as a number: ascending too, and searched without a look at the letters.
    prefix_keys: Vec<u64>,
    signatures: Vec<Signature>,
    /// The words' indexes in the order of their reversed bytes.
    by_suffix: Vec<u32>,
    /// The last eight bytes of each word in `by_suffix` as a number, the last byte first.
    suffix_keys: Vec<u64>,
    /// The words' indexes by length in characters.
    by_length: Vec<u32>,
    /// The signature of each word in `by_length`, once more, since scans are in that order.
    length_signatures: Vec<Signature>,
    /// Where each length begins in `by_length`, then its end.
    length_starts: Vec<u32>,
}

impl WordTable {
    /// Creates a table of distinct words that are sorted by their bytes.
    pub(crate) fn new<'a>(words: impl Iterator<Item = &'a str>) -> WordTable {
        let mut table = WordTable { words: WordSet::new(words), ..WordTable::default() };
        table.build_orders();
        table
    }

    fn build_orders(&mut self) {
        let all = || 0..self.len() as u32;
        let word = |index: u32| self.word(index as usize);
        let signatures: Vec<Signature> = all().map(|index| Signature::of(word(index))).collect();
        let mut by_suffix: Vec<u32> = all().collect();
        by_suffix.sort_unstable_by(|&a, &b| word(a).bytes().rev().cmp(word(b).bytes().rev()));
        let lengths: Vec<u32> = all().map(|index| word(index).chars().count() as u32).collect();
        let mut by_length: Vec<u32> = all().collect();
        by_length.sort_by_key(|&index| lengths[index as usize]);
        let longest = lengths.iter().copied().max().unwrap_or(0);
        let start = |length| by_length.partition_point(|&index| lengths[index as usize] < length) as u32;
        let prefix_keys = all().map(|index| key(word(index).bytes())).collect();
        let suffix_keys = by_suffix.iter().map(|&index| key(word(index).bytes().rev())).collect();
        (self.prefix_keys, self.suffix_keys) = (prefix_keys, suffix_keys);
        self.length_starts = (0..=longest + 1).map(start).collect();
        self.length_signatures = by_length.iter().map(|&index| signatures[index as usize]).collect();
        (self.signatures, self.by_suffix, self.by_length) = (signatures, by_suffix, by_length);
    }

    pub(crate) fn len(&self) -> usize {
        self.words.len()
    }

    pub(crate) fn word(&self, index: usize) -> &str {
        self.words.word(index)
    }

    pub(crate) fn find(&self, word: &str) -> Option<usize> {
        self.words.find(word)
    }

    /// Returns the indexes of the words that begin with `prefix`.
    pub(crate) fn with_prefix(&self, prefix: &str) -> Range<usize> {
        let Range { start, end } = key_range(&self.prefix_keys, prefix.bytes());
        if prefix.len() <= 8 {
            return start..end;
        }
        let first = partition_point(start..end, |index| self.word(index) < prefix);
        first..partition_point(first..end, |index| self.word(index).starts_with(prefix))
    }

    /// Returns the indexes of the words that end with `suffix`.
    fn with_suffix(&self, suffix: &str) -> &[u32] {
        let Range { start, end } = key_range(&self.suffix_keys, suffix.bytes().rev());
        if suffix.len() <= 8 {
            return &self.by_suffix[start..end];
        }
        let word = |at: usize| self.word(self.by_suffix[at] as usize);
        let before = |at| word(at).bytes().rev().lt(suffix.bytes().rev());
        let first = partition_point(start..end, before);
        let end = partition_point(first..end, |at| word(at).ends_with(suffix));
        &self.by_suffix[first..end]
    }

    /// Calls `visit` with the index of every word that is exactly one edit away from `typed`.
    pub(crate) fn for_each_at_one_edit(&self, typed: &mut EditDistance<'_>, mut visit: impl FnMut(usize)) {
        // One edit leaves the first or the second half of a word unchanged, or transposes the two letters in the middle.
        let (first, second) = typed.halves();
        let mut consider = |index: usize| {
            if typed.may_be_one_edit(self.signatures[index]) && typed.distance(self.word(index)) == Some(1) {
                visit(index);
            }
        };
        let with_first = self.with_prefix(first);
        with_first.clone().for_each(&mut consider);
        for &index in self.with_suffix(second) {
            if !with_first.contains(&(index as usize)) {
                consider(index as usize);
            }
        }
        if let Some(index) = transposed_in_the_middle(first, second).and_then(|word| self.find(&word)) {
            consider(index);
        }
    }

    /// Calls `visit` with the index and the distance of every word that is at most two edits away from `typed`. Scans all words of
    /// a possible length.
    pub(crate) fn for_each_within_two_edits(
        &self,
        typed: &mut EditDistance<'_>,
        mut visit: impl FnMut(usize, u32),
    ) {
        const STEP: usize = 64;
        let longest = self.length_starts.len().saturating_sub(1);
        let Range { start, end } = typed.lengths();
        let (start, end) = (start.min(longest), end.min(longest));
        if start >= end {
            return;
        }
        let range = self.length_starts[start] as usize..self.length_starts[end] as usize;
        let mut excess = [0; STEP];
        for (signatures, indexes) in
            self.length_signatures[range.clone()].chunks(STEP).zip(self.by_length[range].chunks(STEP))
        {
            // First the arithmetic alone, which the compiler vectorises; then the few words that are left.
            for (signature, excess) in signatures.iter().zip(&mut excess) {
                *excess = typed.excess_letters::<2>(*signature);
            }
            for (&index, _) in indexes.iter().zip(&excess).filter(|(_, excess)| **excess == 0) {
                if let Some(distance) = typed.distance(self.word(index as usize)) {
                    visit(index as usize, distance);
                }
            }
        }
    }
}

/// Returns the word with its two middle letters transposed: the last of the first half and the first of the second. `None` if they
/// are equal.
fn transposed_in_the_middle(first: &str, second: &str) -> Option<String> {
    let (last, next) = (first.chars().next_back()?, second.chars().next()?);
    let ends = (&first[..first.len() - last.len_utf8()], &second[next.len_utf8()..]);
    (last != next).then(|| format!("{}{next}{last}{}", ends.0, ends.1))
}

/// Returns the first eight bytes as a number with the same order, padded with zeros, which no word contains.
fn key(bytes: impl Iterator<Item = u8>) -> u64 {
    let mut first = [0; 8];
    first.iter_mut().zip(bytes).for_each(|(slot, byte)| *slot = byte);
    u64::from_be_bytes(first)
}

/// Returns the range of these sorted keys that begin with the first eight of the bytes.
fn key_range(keys: &[u64], bytes: impl ExactSizeIterator<Item = u8>) -> Range<usize> {
    let rest = u64::MAX.checked_shr(8 * bytes.len() as u32).unwrap_or(0);
    let least = key(bytes);
    let first = keys.partition_point(|key| *key < least);
    first..first + keys[first..].partition_point(|key| *key <= least | rest)
}
