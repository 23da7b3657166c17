//! The chance behind the catalog: SplitMix64, written out here so that the same seed gives the same catalog for ever,
//! whichever version of a random-number crate the workspace uses.

/// A small deterministic source of choices. Equal keys give equal sequences.
#[derive(Clone, Debug)]
pub(super) struct Dice(u64);

/// The output function of SplitMix64: every bit of the input moves every bit of the output.
pub(super) const fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

impl Dice {
    /// Dice for one question (`salt`) about one thing (`index`) under one `seed`.
    pub(super) const fn new(seed: u64, salt: u64, index: u64) -> Self {
        Self(mix(mix(seed ^ mix(salt)).wrapping_add(index)))
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        mix(self.0)
    }

    /// A number from 0 up to, not including, `end`; 0 when `end` is 0.
    pub(super) fn below(&mut self, end: usize) -> usize {
        // The high half of a 64x64 product is unbiased to within end/2^64.
        ((u128::from(self.next()) * end as u128) >> 64) as usize
    }

    /// A number from `low` to `high`, both included.
    pub(super) fn within(&mut self, low: i32, high: i32) -> i32 {
        let width = usize::try_from(high - low).map_or(1, |width| width + 1);
        low + i32::try_from(self.below(width)).unwrap_or(0)
    }

    /// True in `percent` of a hundred throws.
    pub(super) fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    /// A number from 0 up to `end` in which small ones are much more frequent, as the works of a few busy studios are.
    pub(super) fn skewed(&mut self, end: usize) -> usize {
        let first = self.below(end.max(1));
        if self.chance(45) { self.below(first + 1) } else { first }
    }

    /// One of `choices`, each as likely; `None` of an empty slice.
    pub(super) fn of<'a, T>(&mut self, choices: &'a [T]) -> Option<&'a T> {
        let at = self.below(choices.len());
        choices.get(at)
    }
}
