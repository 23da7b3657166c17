//! An immutable table of distinct words: found by hash, walked in order, filtered by length and letters.

use std::ops::Range;

use super::distance::{EditDistance, Signature};
use super::words::Words;

/// Words in alphabetical order; a word's index is its place in that order.
#[derive(Default)]
pub(super) struct WordTable {
    words: Words,
    /// The first eight bytes of each word as a number: in alphabetical order too, and searched without looking at letters.
    beginnings: Vec<u64>,
    signatures: Vec<Signature>,
    /// The words' indexes in the alphabetical order of their letters from the last to the first.
    by_ending: Vec<u32>,
    /// The last eight bytes of each of them as a number, the last first.
    endings: Vec<u64>,
    /// The words' indexes by length in characters, and beside each its signature once more, since scans are over those.
    by_length: Vec<u32>,
    length_signatures: Vec<Signature>,
    /// Where each length begins in `by_length`; one more at the end.
    lengths: Vec<u32>,
}

impl WordTable {
    /// Builds the table from words in alphabetical order without repetition.
    pub(super) fn new<'a>(words: impl Iterator<Item = &'a str>) -> WordTable {
        let mut table = WordTable { words: Words::new(words), ..WordTable::default() };
        table.sort();
        table
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
        let beginnings = all().map(|index| number(word(index).bytes())).collect();
        let endings = by_ending.iter().map(|&index| number(word(index).bytes().rev())).collect();
        (self.beginnings, self.endings) = (beginnings, endings);
        self.lengths = (0..=longest + 1).map(begin).collect();
        self.length_signatures = by_length.iter().map(|&index| signatures[index as usize]).collect();
        (self.signatures, self.by_ending, self.by_length) = (signatures, by_ending, by_length);
    }

    pub(super) fn len(&self) -> usize {
        self.words.len()
    }

    pub(super) fn word(&self, index: usize) -> &str {
        self.words.word(index)
    }

    pub(super) fn find(&self, word: &str) -> Option<usize> {
        self.words.find(word)
    }

    /// The indexes of the words that begin with `prefix`.
    pub(super) fn starting_with(&self, prefix: &str) -> Range<usize> {
        let Range { start, end } = within(&self.beginnings, prefix.bytes());
        if prefix.len() <= 8 {
            return start..end;
        }
        let first = partition_point(start..end, |index| self.word(index) < prefix);
        first..partition_point(first..end, |index| self.word(index).starts_with(prefix))
    }

    /// The words that end with `suffix`.
    fn ending_with(&self, suffix: &str) -> &[u32] {
        let Range { start, end } = within(&self.endings, suffix.bytes().rev());
        if suffix.len() <= 8 {
            return &self.by_ending[start..end];
        }
        let word = |place: usize| self.word(self.by_ending[place] as usize);
        let before = |place| word(place).bytes().rev().lt(suffix.bytes().rev());
        let first = partition_point(start..end, before);
        let end = partition_point(first..end, |place| word(place).ends_with(suffix));
        &self.by_ending[first..end]
    }

    /// Calls `visit` with the index of every word that is one edit away from `typed`.
    pub(super) fn one_edit_away(&self, typed: &mut EditDistance<'_>, mut visit: impl FnMut(usize)) {
        // One edit leaves the first half of a word alone or the second, or swaps the letters between.
        let (first, second) = typed.halves();
        let mut consider = |index: usize| {
            if typed.may_be_next(self.signatures[index]) && typed.distance(self.word(index)) == Some(1) {
                visit(index);
            }
        };
        let beginning = self.starting_with(first);
        beginning.clone().for_each(&mut consider);
        for &index in self.ending_with(second) {
            if !beginning.contains(&(index as usize)) {
                consider(index as usize);
            }
        }
        if let Some(index) = swapped_between(first, second).and_then(|swapped| self.find(&swapped)) {
            consider(index);
        }
    }

    /// Calls `visit` with the index of every word that is at most two edits away from `typed`, and their number. Walks over all
    /// words of fitting length.
    pub(super) fn two_edits_away(&self, typed: &mut EditDistance<'_>, mut visit: impl FnMut(usize, u32)) {
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

/// The first eight bytes as a number that is ordered as they are. Words hold no zero bytes, which fill it up.
fn number(bytes: impl Iterator<Item = u8>) -> u64 {
    let mut first = [0; 8];
    first.iter_mut().zip(bytes).for_each(|(place, byte)| *place = byte);
    u64::from_be_bytes(first)
}

/// Where in these ordered numbers those stand that begin with the first eight of the bytes.
fn within(numbers: &[u64], bytes: impl ExactSizeIterator<Item = u8>) -> Range<usize> {
    let rest = u64::MAX.checked_shr(8 * bytes.len() as u32).unwrap_or(0);
    let least = number(bytes);
    let first = numbers.partition_point(|number| *number < least);
    first..first + numbers[first..].partition_point(|number| *number <= least | rest)
}
