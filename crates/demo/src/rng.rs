//! The random numbers of the catalog: SplitMix64, written out here so that a seed gives the same catalog with every version of
//! the random-number crates.

/// A deterministic generator. Equal seeds give equal sequences.
#[derive(Clone, Debug)]
pub(super) struct Rng(u64);

/// The output function of SplitMix64: each input bit affects every output bit.
pub(super) const fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

impl Rng {
    /// Returns the generator for one purpose (`salt`) and one item (`index`) of a catalog (`seed`).
    pub(super) const fn new(seed: u64, salt: u64, index: u64) -> Self {
        Self(mix(mix(seed ^ mix(salt)).wrapping_add(index)))
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        mix(self.0)
    }

    /// Returns a number in `0..end`; 0 if `end` is 0.
    pub(super) fn below(&mut self, end: usize) -> usize {
        // The high half of a 64x64 product is unbiased to within end/2^64.
        ((u128::from(self.next()) * end as u128) >> 64) as usize
    }

    /// Returns a number in `low..=high`.
    pub(super) fn range(&mut self, low: i32, high: i32) -> i32 {
        let width = usize::try_from(high - low).map_or(1, |width| width + 1);
        low + i32::try_from(self.below(width)).unwrap_or(0)
    }

    /// Returns true with a probability of `percent` in a hundred.
    pub(super) fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    /// Returns a number in `0..end`, small ones more often: the distribution of works over studios.
    pub(super) fn skewed(&mut self, end: usize) -> usize {
        let first = self.below(end.max(1));
        if self.chance(45) { self.below(first + 1) } else { first }
    }

    /// Returns one of `choices`, each equally likely; `None` if the slice is empty.
    pub(super) fn choose<'a, T>(&mut self, choices: &'a [T]) -> Option<&'a T> {
        let at = self.below(choices.len());
        choices.get(at)
    }
}

/// The generator of a drawing, with the distributions that drawing needs. Equal texts and seeds give equal sequences.
pub(super) struct DrawingRng(Rng);

impl DrawingRng {
    /// Returns the generator for a text under a seed.
    pub(super) fn new(text: &str, seed: u64) -> Self {
        let key = text.bytes().fold(seed, |key, byte| mix(key ^ u64::from(byte)));
        Self(Rng::new(seed, 977, key))
    }

    /// Returns a number in `low..high`, in steps of 2^-20 of the range.
    pub(super) fn range(&mut self, low: f32, high: f32) -> f32 {
        low + (high - low) * (self.0.below(1 << 20) as f32 / (1 << 20) as f32)
    }

    /// Returns a whole number in `low..=high`.
    pub(super) fn count(&mut self, low: usize, high: usize) -> usize {
        low + self.0.below(high + 1 - low)
    }

    /// Returns true with a probability of `percent` in a hundred.
    pub(super) fn chance(&mut self, percent: usize) -> bool {
        self.0.chance(percent)
    }

    /// Returns one of `choices`, which must not be empty.
    pub(super) fn choose<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.0.below(choices.len())]
    }
}
