//! The hand that draws: chance for what the record leaves open.

use super::super::dice::{Dice, mix};

/// Equal texts and seeds give equal hands.
pub(super) struct Hand(Dice);

impl Hand {
    /// The hand for a text under a seed.
    pub(super) fn of(text: &str, seed: u64) -> Self {
        let key = text.bytes().fold(seed, |key, byte| mix(key ^ u64::from(byte)));
        Self(Dice::new(seed, 977, key))
    }

    /// A number from `low` up to `high`.
    pub(super) fn between(&mut self, low: f32, high: f32) -> f32 {
        low + (high - low) * (self.0.below(1 << 20) as f32 / (1 << 20) as f32)
    }

    /// A whole number from `low` to `high`, both included.
    pub(super) fn count(&mut self, low: usize, high: usize) -> usize {
        low + self.0.below(high + 1 - low)
    }

    /// True in `percent` of a hundred.
    pub(super) fn chance(&mut self, percent: usize) -> bool {
        self.0.chance(percent)
    }

    /// One of `choices`, which has at least one.
    pub(super) fn one<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.0.below(choices.len())]
    }
}
