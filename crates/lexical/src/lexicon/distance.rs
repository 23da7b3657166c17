//! Edits between words: a cheap filter over their letters, and the exact count up to a small bound.

use std::ops::Range;

/// Which letters a word holds once or more (lower half) and twice or more (upper half). An insertion, a deletion or a swap
/// changes at most one bit, a replacement two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Signature(u64);

impl Signature {
    pub(super) fn of(word: &str) -> Signature {
        let mut signature = 0_u64;
        for letter in word.chars() {
            let bit = match letter {
                'a'..='z' => letter as u32 - 'a' as u32,
                other => 26 + other as u32 % 6,
            };
            let once = 1 << bit;
            signature |= if signature & once == 0 { once } else { once << 32 };
        }
        Signature(signature)
    }
}

/// The edit distance of one word from others, up to a bound.
///
/// It keeps the rows of its table, so one value serves many comparisons.
#[derive(Debug)]
pub struct EditDistance<'a> {
    word: &'a str,
    letters: Vec<char>,
    signature: Signature,
    edits: u32,
    other: Vec<char>,
    /// Three rows of the table of distances: the one before last, the last, the current.
    rows: [Vec<u32>; 3],
}

impl<'a> EditDistance<'a> {
    /// Measures from this word, and finds others within so many edits.
    pub fn new(word: &'a str, edits: u32) -> EditDistance<'a> {
        let letters: Vec<char> = word.chars().collect();
        let row = vec![0; letters.len() + 1];
        EditDistance {
            word,
            signature: Signature::of(word),
            letters,
            edits,
            other: Vec::new(),
            rows: [row.clone(), row.clone(), row],
        }
    }

    /// Both halves of the word; the first is the shorter by a letter if one is.
    pub(super) fn halves(&self) -> (&'a str, &'a str) {
        let middle = self.letters[..self.letters.len() / 2].iter().map(|letter| letter.len_utf8()).sum();
        self.word.split_at(middle)
    }

    /// The lengths in characters that are within reach.
    pub(super) fn lengths(&self) -> Range<usize> {
        let edits = self.edits as usize;
        self.letters.len().saturating_sub(edits)..self.letters.len() + edits + 1
    }

    /// Whether a word with this signature may be one edit away; never a false no.
    #[inline]
    pub(super) fn may_be_next(&self, signature: Signature) -> bool {
        self.letters_beyond::<1>(signature) == 0
    }

    /// Whether a word may be within reach by the letters that it holds; never a false no.
    pub fn may_reach(&self, word: &str) -> bool {
        let signature = Signature::of(word);
        if self.edits > 1 { self.letters_beyond::<2>(signature) == 0 } else { self.may_be_next(signature) }
    }

    /// The letters that differ beyond what `EDITS` edits explain: 0 where the word may be within that reach; never a false no.
    /// Counting bits is slow on processors of any age; taking away two for each edit and looking at the rest is not.
    #[inline]
    pub(super) fn letters_beyond<const EDITS: usize>(&self, signature: Signature) -> u64 {
        let mut differing = self.signature.0 ^ signature.0;
        for _ in 0..2 * EDITS {
            differing &= differing.wrapping_sub(1);
        }
        differing
    }

    /// The number of insertions, deletions, replacements and swaps of neighbours between the words (none twice at the same
    /// letters), if it is within reach.
    pub fn distance(&mut self, word: &str) -> Option<u32> {
        self.other.clear();
        self.other.extend(word.chars());
        let [before, last, current] = &mut self.rows;
        last.iter_mut().enumerate().for_each(|(column, edits)| *edits = column as u32);
        for (row, &letter) in self.other.iter().enumerate() {
            current[0] = row as u32 + 1;
            let mut nearest = current[0];
            for (column, &own) in self.letters.iter().enumerate() {
                let replaced = last[column] + u32::from(own != letter);
                let mut edits = replaced.min(last[column + 1] + 1).min(current[column] + 1);
                if row > 0 && column > 0 && own == self.other[row - 1] && self.letters[column - 1] == letter {
                    edits = edits.min(before[column - 1] + 1);
                }
                current[column + 1] = edits;
                nearest = nearest.min(edits);
            }
            if nearest > self.edits {
                return None;
            }
            std::mem::swap(before, last);
            std::mem::swap(last, current);
        }
        last.last().copied().filter(|edits| *edits <= self.edits)
    }
}
