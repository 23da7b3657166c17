//! An immutable table of distinct words: found by hash, walked in order, filtered by length and letters.

use std::ops::Range;

use super::distance::{Signature, Typed};

/// Words in alphabetical order; a word's index is its place in that order.
#[derive(Default)]
pub(super) struct WordTable {
    letters: String,
    /// Where each word begins in `letters`; one more at the end.
    starts: Vec<u32>,
    /// Open addressing: an index plus one, 0 for an empty slot. A power of two in length, at most half full.
    slots: Vec<u32>,
    signatures: Vec<Signature>,
    /// The words' indexes in the alphabetical order of their letters from the last to the first.
    by_ending: Vec<u32>,
    /// The words' indexes by length in characters, and beside each its signature once more, since scans are over those.
    by_length: Vec<u32>,
    length_signatures: Vec<Signature>,
    /// Where each length begins in `by_length`; one more at the end.
    lengths: Vec<u32>,
}

impl WordTable {
    /// Builds the table from words in alphabetical order without repetition.
    pub(super) fn new<'a>(words: impl Iterator<Item = &'a str>) -> WordTable {
        let mut table = WordTable { starts: vec![0], ..WordTable::default() };
        for word in words {
            table.letters.push_str(word);
            table.starts.push(table.letters.len() as u32);
        }
        table.fill_slots();
        table.sort();
        table
    }

    fn fill_slots(&mut self) {
        self.slots = vec![0; (2 * self.len()).next_power_of_two().max(2)];
        for index in 0..self.len() {
            let mut slot = hash(self.word(index)) as usize & (self.slots.len() - 1);
            while self.slots[slot] != 0 {
                slot = (slot + 1) & (self.slots.len() - 1);
            }
            self.slots[slot] = index as u32 + 1;
        }
    }

    fn sort(&mut self) {
        let all = || 0..self.len() as u32;
        let word = |index: u32| self.word(index as usize);
        let signatures: Vec<Signature> = all().map(|index| Signature::of(word(index))).collect();
        let mut by_ending: Vec<u32> = all().collect();
        by_ending.sort_unstable_by(|&a, &b| word(a).bytes().rev().cmp(word(b).bytes().rev()));
        let lengths: Vec<u32> = all().map(|index| word(index).chars().count() as u32).collect();
        let mut by_length: Vec<u32> = all().collect();
        by_length.sort_by_key(|&index| lengths[index as usize]);
        let longest = lengths.iter().copied().max().unwrap_or(0);
        let begin = |length| by_length.partition_point(|&index| lengths[index as usize] < length) as u32;
        self.lengths = (0..=longest + 1).map(begin).collect();
        self.length_signatures = by_length.iter().map(|&index| signatures[index as usize]).collect();
        (self.signatures, self.by_ending, self.by_length) = (signatures, by_ending, by_length);
    }

    pub(super) fn len(&self) -> usize {
        self.starts.len().saturating_sub(1)
    }

    pub(super) fn word(&self, index: usize) -> &str {
        &self.letters[self.starts[index] as usize..self.starts[index + 1] as usize]
    }

    pub(super) fn find(&self, word: &str) -> Option<usize> {
        let mask = self.slots.len().checked_sub(1)?;
        let mut slot = hash(word) as usize & mask;
        loop {
            match self.slots[slot] {
                0 => return None,
                held if self.word(held as usize - 1) == word => return Some(held as usize - 1),
                _ => slot = (slot + 1) & mask,
            }
        }
    }

    /// The indexes of the words that begin with `prefix`.
    pub(super) fn starting_with(&self, prefix: &str) -> Range<usize> {
        let first = partition_point(0..self.len(), |index| self.word(index) < prefix);
        first..partition_point(first..self.len(), |index| self.word(index).starts_with(prefix))
    }

    /// The words that end with `suffix`.
    fn ending_with(&self, suffix: &str) -> &[u32] {
        let word = |place: usize| self.word(self.by_ending[place] as usize);
        let before = |place| word(place).bytes().rev().lt(suffix.bytes().rev());
        let first = partition_point(0..self.len(), before);
        let end = partition_point(first..self.len(), |place| word(place).ends_with(suffix));
        &self.by_ending[first..end]
    }

    /// Calls `visit` with the index of every word that is one edit away from `typed`.
    pub(super) fn one_edit_away(&self, typed: &mut Typed<'_>, mut visit: impl FnMut(usize)) {
        // One edit leaves the first half of a word alone or the second, or swaps the letters between.
        let (first, second) = typed.halves();
        let (first, second) = (first.to_owned(), second.to_owned());
        let mut consider = |index: usize| {
            if typed.may_be_next(self.signatures[index]) && typed.distance(self.word(index)) == Some(1) {
                visit(index);
            }
        };
        self.starting_with(&first).for_each(&mut consider);
        for &index in self.ending_with(&second) {
            if !self.word(index as usize).starts_with(&first) {
                consider(index as usize);
            }
        }
        if let Some(index) = swapped_between(&first, &second).and_then(|swapped| self.find(&swapped)) {
            consider(index);
        }
    }

    /// Calls `visit` with the index of every word that is at most two edits away from `typed`, and their number. Walks over all
    /// words of fitting length.
    pub(super) fn two_edits_away(&self, typed: &mut Typed<'_>, mut visit: impl FnMut(usize, u32)) {
        const STEP: usize = 64;
        let longest = self.lengths.len().saturating_sub(1);
        let Range { start, end } = typed.lengths();
        let (start, end) = (start.min(longest), end.min(longest));
        if start >= end {
            return;
        }
        let range = self.lengths[start] as usize..self.lengths[end] as usize;
        let mut beyond = [0; STEP];
        for (signatures, indexes) in
            self.length_signatures[range.clone()].chunks(STEP).zip(self.by_length[range].chunks(STEP))
        {
            // First the arithmetic alone, over several words at once; then the few that are left.
            for (signature, beyond) in signatures.iter().zip(&mut beyond) {
                *beyond = typed.letters_beyond::<2>(*signature);
            }
            for (&index, _) in indexes.iter().zip(&beyond).filter(|(_, beyond)| **beyond == 0) {
                if let Some(distance) = typed.distance(self.word(index as usize)) {
                    visit(index as usize, distance);
                }
            }
        }
    }
}

/// The word with the letters swapped between which its halves meet, if that is another word that is in neither half's reach.
fn swapped_between(first: &str, second: &str) -> Option<String> {
    let (last, next) = (first.chars().next_back()?, second.chars().next()?);
    let ends = (&first[..first.len() - last.len_utf8()], &second[next.len_utf8()..]);
    (last != next).then(|| format!("{}{next}{last}{}", ends.0, ends.1))
}

/// The first of the places for which `before` says no, where it says yes to all before that.
fn partition_point(places: Range<usize>, before: impl Fn(usize) -> bool) -> usize {
    let Range { start: mut low, end: mut high } = places;
    while low < high {
        let middle = low.midpoint(high);
        if before(middle) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    low
}

/// A multiplicative hash over eight bytes at a time; words are short and the table is rebuilt, never stored.
fn hash(word: &str) -> u64 {
    let mut hash = word.len() as u64;
    for chunk in word.as_bytes().chunks(8) {
        let mut bytes = [0; 8];
        bytes[..chunk.len()].copy_from_slice(chunk);
        hash = (hash.rotate_left(5) ^ u64::from_le_bytes(bytes)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }
    hash ^ hash >> 32
}
