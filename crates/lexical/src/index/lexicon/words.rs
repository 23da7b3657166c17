//! A set of distinct words, each with an index: a hash table over one piece of memory.

use std::ops::Range;

/// Distinct words; a word's index is the number of words added before it.
#[derive(Default)]
pub(crate) struct WordSet {
    /// All words, one after the other.
    letters: String,
    /// The offset of each word in `letters`, then the length of `letters`.
    starts: Vec<u32>,
    /// Open addressing: the upper half of a word's hash, and its index plus one; 0 for an empty slot. The number of slots is a power
    /// of two, and at most half of them are used.
    slots: Vec<(u32, u32)>,
}

impl WordSet {
    /// Creates a set of words that are distinct.
    pub(crate) fn new<'a>(words: impl Iterator<Item = &'a str>) -> WordSet {
        let mut set = WordSet::default();
        words.for_each(|word| set.push(word));
        set.finish()
    }

    /// Appends a word that is not in the set yet. It is found only after [`finish`](WordSet::finish).
    pub(crate) fn push(&mut self, word: &str) {
        if self.starts.is_empty() {
            self.starts.push(0);
        }
        self.letters.push_str(word);
        self.starts.push(self.letters.len() as u32);
    }

    /// Builds the hash table.
    pub(crate) fn finish(mut self) -> WordSet {
        self.letters.shrink_to_fit();
        self.starts.shrink_to_fit();
        self.slots = vec![(0, 0); (2 * self.len()).next_power_of_two().max(2)];
        for index in 0..self.len() {
            let hash = hash(self.word(index));
            let mut slot = hash as usize & (self.slots.len() - 1);
            while self.slots[slot].1 != 0 {
                slot = (slot + 1) & (self.slots.len() - 1);
            }
            self.slots[slot] = ((hash >> 32) as u32, index as u32 + 1);
        }
        self
    }

    pub(crate) fn len(&self) -> usize {
        self.starts.len().saturating_sub(1)
    }

    pub(crate) fn word(&self, index: usize) -> &str {
        &self.letters[self.starts[index] as usize..self.starts[index + 1] as usize]
    }

    /// Returns the indexes of the words that begin with `prefix`, if words were added in the order of their bytes.
    pub(crate) fn with_prefix(&self, prefix: &str) -> Range<usize> {
        let point = |Range { start: mut low, end: mut high }: Range<usize>, before: &dyn Fn(&str) -> bool| {
            while low < high {
                let middle = low.midpoint(high);
                if before(self.word(middle)) {
                    low = middle + 1;
                } else {
                    high = middle;
                }
            }
            low
        };
        let first = point(0..self.len(), &|word| word < prefix);
        first..point(first..self.len(), &|word| word.starts_with(prefix))
    }

    /// Returns the index of a word.
    pub(crate) fn find(&self, word: &str) -> Option<usize> {
        let mask = self.slots.len().checked_sub(1)?;
        let hash = hash(word);
        let mut slot = hash as usize & mask;
        loop {
            match self.slots[slot] {
                (_, 0) => return None,
                // The upper half of the hash excludes most other words without a comparison of letters.
                (upper, stored) if upper == (hash >> 32) as u32 && self.word(stored as usize - 1) == word => {
                    return Some(stored as usize - 1);
                }
                _ => slot = (slot + 1) & mask,
            }
        }
    }
}

/// A multiplicative hash over eight bytes at a time. WordSet are short; the hash is never stored on disk.
fn hash(word: &str) -> u64 {
    let mut hash = word.len() as u64;
    let (chunks, rest) = word.as_bytes().as_chunks::<8>();
    let mut mix =
        |bytes| hash = (hash.rotate_left(5) ^ u64::from_le_bytes(bytes)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    chunks.iter().for_each(|chunk| mix(*chunk));
    if !rest.is_empty() {
        let mut bytes = [0; 8];
        bytes[..rest.len()].copy_from_slice(rest);
        mix(bytes);
    }
    hash ^ hash >> 32
}
