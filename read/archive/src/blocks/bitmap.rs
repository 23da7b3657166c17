//! Bitmaps in words of 64 bits; bit 0 is the lowest bit of the first word.

/// Returns the number of words that hold this many bits.
pub(crate) fn word_count(bits: usize) -> usize {
    bits.div_ceil(64)
}

pub(crate) fn set(bits: &mut [u64], at: usize) {
    bits[at / 64] |= 1 << (at % 64);
}

pub(crate) fn contains(bits: &[u64], at: usize) -> bool {
    bits[at / 64] >> (at % 64) & 1 == 1
}

/// Returns the number of bits that are set.
pub(crate) fn count(bits: &[u64]) -> u64 {
    bits.iter().map(|word| u64::from(word.count_ones())).sum()
}

/// Removes the bits that are not set in `others`.
pub(crate) fn intersect(bits: &mut [u64], others: &[u64]) {
    bits.iter_mut().zip(others).for_each(|(bits, others)| *bits &= others);
}

/// Iterates over the positions of the bits that are set in the word at `index`.
pub(crate) fn ones(index: usize, mut word: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let bit = word.trailing_zeros() as usize;
        (word != 0).then(|| {
            word &= word - 1;
            index * 64 + bit
        })
    })
}

/// Returns a mask of the bits of the word at `index` whose position is at least `first`.
pub(crate) fn mask_from(index: usize, first: usize) -> u64 {
    match first.checked_sub(index * 64) {
        None | Some(0) => u64::MAX,
        Some(bit @ 1..64) => u64::MAX << bit,
        Some(_) => 0,
    }
}
