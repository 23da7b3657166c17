//! Distinct words that are found by hash.

/// Words in one piece of memory; a word's index is its place in the order in which they were given.
#[derive(Default)]
pub(crate) struct Words {
    letters: String,
    /// Where each word begins in `letters`; one more at the end.
    starts: Vec<u32>,
    /// Open addressing: the upper half of a word's hash, and its index plus one; 0 for an empty slot. A power of two in length,
    /// at most half full.
    slots: Vec<(u32, u32)>,
}

impl Words {
    /// Takes up words that are distinct.
    pub(crate) fn new<'a>(words: impl Iterator<Item = &'a str>) -> Words {
        let mut taken = Words::default();
        words.for_each(|word| taken.push(word));
        taken.finish()
    }

    /// Adds a word that is not there yet. It is found once the words are finished.
    pub(crate) fn push(&mut self, word: &str) {
        if self.starts.is_empty() {
            self.starts.push(0);
        }
        self.letters.push_str(word);
        self.starts.push(self.letters.len() as u32);
    }

    /// Makes the words ready to be found.
    pub(crate) fn finish(mut self) -> Words {
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

    /// The index of the word, if it is there.
    pub(crate) fn find(&self, word: &str) -> Option<usize> {
        let mask = self.slots.len().checked_sub(1)?;
        let hash = hash(word);
        let mut slot = hash as usize & mask;
        loop {
            match self.slots[slot] {
                (_, 0) => return None,
                // Most words that are not the one are told by their hash, without a look at their letters.
                (upper, held) if upper == (hash >> 32) as u32 && self.word(held as usize - 1) == word => {
                    return Some(held as usize - 1);
                }
                _ => slot = (slot + 1) & mask,
            }
        }
    }
}

/// A multiplicative hash over eight bytes at a time; words are short and the table is rebuilt, never stored.
fn hash(word: &str) -> u64 {
    let mut hash = word.len() as u64;
    let (chunks, rest) = word.as_bytes().as_chunks::<8>();
    let mut take =
        |bytes| hash = (hash.rotate_left(5) ^ u64::from_le_bytes(bytes)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    chunks.iter().for_each(|chunk| take(*chunk));
    if !rest.is_empty() {
        let mut bytes = [0; 8];
        bytes[..rest.len()].copy_from_slice(rest);
        take(bytes);
    }
    hash ^ hash >> 32
}
