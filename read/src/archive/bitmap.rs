//! Bits in words of 64, the first bit the lowest of the first word.

/// The words that so many bits take.
pub(super) fn words(bits: usize) -> usize {
    bits.div_ceil(64)
}

pub(super) fn set(bits: &mut [u64], at: usize) {
    bits[at / 64] |= 1 << (at % 64);
}

pub(super) fn has(bits: &[u64], at: usize) -> bool {
    bits[at / 64] >> (at % 64) & 1 == 1
}

pub(super) fn count(bits: &[u64]) -> u64 {
    bits.iter().map(|word| u64::from(word.count_ones())).sum()
}

/// The numbers of the bits in a word that is the `index`th.
pub(super) fn ones(index: usize, mut word: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let bit = word.trailing_zeros() as usize;
        (word != 0).then(|| {
            word &= word - 1;
            index * 64 + bit
        })
    })
}

/// All bits from this one of the `index`th word on.
pub(super) fn from(index: usize, first: usize) -> u64 {
    match first.checked_sub(index * 64) {
        None | Some(0) => u64::MAX,
        Some(bit @ 1..64) => u64::MAX << bit,
        Some(_) => 0,
    }
}
