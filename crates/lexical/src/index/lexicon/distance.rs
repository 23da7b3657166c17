//! The edit distance of words (optimal string alignment): a cheap filter by letters, and the exact distance up to a small bound.

use std::ops::Range;

/// The letters of a word as a bit set: those that occur (lower half) and those that occur twice or more (upper half). An insertion
/// or a deletion changes at most one bit, a transposition none, a substitution two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Signature(u64);

impl Signature {
    pub(crate) fn of(word: &str) -> Signature {
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

/// The edit distance of one word from others, up to a bound: insertions, deletions, substitutions, and transpositions of neighbours.
///
/// Its buffers are reused, so compare one word with many by one value.
///
/// ```
/// let mut museum = lexical::EditDistance::new("museum", 2);
/// assert_eq!(museum.distance("musuem"), Some(1));
/// assert_eq!(museum.distance("mausoleum"), None);
/// ```
#[derive(Debug)]
pub struct EditDistance<'a> {
    word: &'a str,
    letters: Vec<char>,
    signature: Signature,
    max_edits: u32,
    other: Vec<char>,
    /// Three rows of the table of distances: the last but one, the last, the current.
    rows: [Vec<u32>; 3],
}

impl<'a> EditDistance<'a> {
    /// Prepares to compare `word` with others that are at most `max_edits` away.
    pub fn new(word: &'a str, max_edits: u32) -> EditDistance<'a> {
        let letters: Vec<char> = word.chars().collect();
        let row = vec![0; letters.len() + 1];
        EditDistance {
            word,
            signature: Signature::of(word),
            letters,
            max_edits,
            other: Vec::new(),
            rows: [row.clone(), row.clone(), row],
        }
    }

    /// Returns both halves of the word; of an odd number of letters the second half has one more.
    pub(crate) fn halves(&self) -> (&'a str, &'a str) {
        let middle = self.letters[..self.letters.len() / 2].iter().map(|letter| letter.len_utf8()).sum();
        self.word.split_at(middle)
    }

    /// Returns the lengths, in characters, that other words within the bound can have.
    pub(crate) fn lengths(&self) -> Range<usize> {
        let edits = self.max_edits as usize;
        self.letters.len().saturating_sub(edits)..self.letters.len() + edits + 1
    }

    /// Returns whether a word with this signature may be one edit away; no false negatives.
    #[inline]
    pub(crate) fn may_be_one_edit(&self, signature: Signature) -> bool {
        self.excess_letters::<1>(signature) == 0
    }

    /// Returns whether a word may be within the bound, by a cheap comparison of its letters; no false negatives. For a bound of 1 or 2.
    pub fn may_match(&self, word: &str) -> bool {
        let signature = Signature::of(word);
        if self.max_edits > 1 {
            self.excess_letters::<2>(signature) == 0
        } else {
            self.may_be_one_edit(signature)
        }
    }

    /// Returns the differing letters but for two for each of `EDITS` edits: 0 if the word may be that near; no false negatives.
    /// Clearing the lowest bits is faster than a population count, for which the x86-64 baseline has no instruction.
    #[inline]
    pub(crate) fn excess_letters<const EDITS: usize>(&self, signature: Signature) -> u64 {
        let mut differing = self.signature.0 ^ signature.0;
        for _ in 0..2 * EDITS {
            differing &= differing.wrapping_sub(1);
        }
        differing
    }

    /// Returns the edit distance of the words; `None` if it is above the bound. No letters are edited twice.
    pub fn distance(&mut self, word: &str) -> Option<u32> {
        self.other.clear();
        self.other.extend(word.chars());
        let [before, last, current] = &mut self.rows;
        last.iter_mut().enumerate().for_each(|(column, edits)| *edits = column as u32);
        for (row, &letter_of_other) in self.other.iter().enumerate() {
            current[0] = row as u32 + 1;
            let mut least = current[0];
            for (column, &letter_of_word) in self.letters.iter().enumerate() {
                let substituted = last[column] + u32::from(letter_of_word != letter_of_other);
                let mut edits = substituted.min(last[column + 1] + 1).min(current[column] + 1);
                if row > 0
                    && column > 0
                    && letter_of_word == self.other[row - 1]
                    && self.letters[column - 1] == letter_of_other
                {
                    edits = edits.min(before[column - 1] + 1);
                }
                current[column + 1] = edits;
                least = least.min(edits);
            }
            if least > self.max_edits {
                return None;
            }
            std::mem::swap(before, last);
            std::mem::swap(last, current);
        }
        last.last().copied().filter(|edits| *edits <= self.max_edits)
    }
}
