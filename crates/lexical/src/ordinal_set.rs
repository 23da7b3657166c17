//! Sets of projects by ordinal: what a search is restricted to, and what other models select.

/// A set of ordinals as a bitmap: one bit for each ordinal up to the greatest of the set.
#[derive(Clone, Debug, Default)]
pub struct OrdinalSet {
    /// Bit `n % 64` of word `n / 64` stands for ordinal `n`.
    words: Vec<u64>,
}

impl OrdinalSet {
    /// Returns an empty set with room for the ordinals below `bound`.
    pub fn with_room(bound: u64) -> OrdinalSet {
        OrdinalSet { words: vec![0; word_of(bound) + 1] }
    }

    /// Adds an ordinal. The set grows to hold it: one bit for each ordinal below.
    #[inline]
    pub fn insert(&mut self, ordinal: u64) {
        let at = word_of(ordinal);
        if at >= self.words.len() {
            self.words.resize(at + 1, 0);
        }
        self.words[at] |= 1 << (ordinal % 64);
    }

    /// Returns whether the set contains an ordinal.
    #[inline]
    pub fn contains(&self, ordinal: u64) -> bool {
        self.words.get(word_of(ordinal)).is_some_and(|word| word >> (ordinal % 64) & 1 == 1)
    }

    /// Returns the number of ordinals in the set.
    pub fn len(&self) -> u64 {
        self.words.iter().map(|word| u64::from(word.count_ones())).sum()
    }

    /// Returns whether the set is empty.
    pub fn is_empty(&self) -> bool {
        self.words.iter().all(|word| *word == 0)
    }

    /// Returns the ordinals in ascending order.
    pub fn iter(&self) -> impl Iterator<Item = u64> {
        self.words.iter().zip(0_u64..).flat_map(|(word, at)| {
            (0..64).filter(move |bit| word >> bit & 1 == 1).map(move |bit| 64 * at + bit)
        })
    }

    /// Returns the bits of the ordinals from `64 × at` to `64 × at + 63`.
    #[inline]
    pub fn word(&self, at: usize) -> u64 {
        self.words.get(at).copied().unwrap_or_default()
    }
}

impl Extend<u64> for OrdinalSet {
    fn extend<I: IntoIterator<Item = u64>>(&mut self, ordinals: I) {
        ordinals.into_iter().for_each(|ordinal| self.insert(ordinal));
    }
}

impl FromIterator<u64> for OrdinalSet {
    fn from_iter<I: IntoIterator<Item = u64>>(ordinals: I) -> OrdinalSet {
        let mut set = OrdinalSet::default();
        set.extend(ordinals);
        set
    }
}

impl PartialEq for OrdinalSet {
    /// Two sets are equal if they contain the same ordinals, whatever room they have.
    fn eq(&self, other: &OrdinalSet) -> bool {
        (0..self.words.len().max(other.words.len())).all(|at| self.word(at) == other.word(at))
    }
}

impl Eq for OrdinalSet {}

fn word_of(ordinal: u64) -> usize {
    // Ordinals are below 2^40.
    (ordinal / 64) as usize
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn a_set_contains_what_was_inserted() {
        let ordinals = [0, 1, 63, 64, 65, 4_095, 4_096, 1_000_003];
        let set: OrdinalSet = ordinals.into_iter().collect();
        let found: BTreeSet<u64> = (0..1_000_100).filter(|ordinal| set.contains(*ordinal)).collect();
        assert_eq!(found, ordinals.into_iter().collect());
        assert_eq!((set.len(), set.word(0), set.word(1)), (8, 1 | 1 << 1 | 1 << 63, 3));
        assert!(!set.contains(1 << 39) && set.word(1 << 30) == 0 && !set.is_empty());
        let mut roomy = OrdinalSet::with_room(5_000_000);
        assert!(roomy.is_empty() && roomy == OrdinalSet::default());
        ordinals.into_iter().for_each(|ordinal| roomy.insert(ordinal));
        assert_eq!((&roomy, roomy.len()), (&set, 8));
        roomy.insert(2);
        assert!(roomy != set);
    }
}
