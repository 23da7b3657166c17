//! Sketches of meanings: on which side of each of 256 random hyperplanes they lie, a bit for each.
//!
//! Two directions lie on different sides of a random hyperplane with the probability of their angle divided by π (Charikar, "Similarity
//! estimation techniques from rounding algorithms", 2002). So the number of bits that differ tells their cosine, with a standard deviation
//! of at most 0.1, from an eighth of the memory of a meaning.

use std::f32::consts::PI;

use super::DIMENSIONS;

const WORDS: usize = DIMENSIONS / 64;

/// The signs that numbers get before each of two transforms: a bit that is set stands for minus. They are arbitrary, and the same on every
/// machine.
const SIGNS: [[u64; WORDS]; 2] = signs();

/// The sides of a meaning.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Sketch([u64; WORDS]);

impl Sketch {
    /// Returns the sketch of a direction. It depends only on the numbers, not on the machine.
    pub(super) fn new(mut numbers: [f32; DIMENSIONS]) -> Sketch {
        for signs in SIGNS {
            for (at, number) in numbers.iter_mut().enumerate() {
                if signs[at / 64] >> (at % 64) & 1 == 1 {
                    *number = -*number;
                }
            }
            transform(&mut numbers);
        }
        let mut bits = [0; WORDS];
        for (at, number) in numbers.iter().enumerate() {
            bits[at / 64] |= u64::from(*number > 0.0) << (at % 64);
        }
        Sketch(bits)
    }

    /// Returns the number of bits that differ, at most 255.
    #[inline]
    pub(super) fn distance(&self, other: &Sketch) -> u8 {
        let differing: u32 = self.0.iter().zip(other.0).map(|(a, b)| (a ^ b).count_ones()).sum();
        differing.min(255) as u8
    }
}

/// Returns the distance that is expected of two directions with this cosine.
pub(super) fn distance_of(cosine: f32) -> u8 {
    // A cosine is from -1 to 1; at most 255 of 256 bits are counted.
    (DIMENSIONS as f32 * cosine.clamp(-1.0, 1.0).acos() / PI).round().min(255.0) as u8
}

/// Multiplies by the Hadamard matrix, whose rows are orthogonal.
fn transform(numbers: &mut [f32; DIMENSIONS]) {
    let mut half = 1;
    while half < DIMENSIONS {
        for pairs in numbers.chunks_exact_mut(2 * half) {
            let (first, second) = pairs.split_at_mut(half);
            for (a, b) in first.iter_mut().zip(second) {
                (*a, *b) = (*a + *b, *a - *b);
            }
        }
        half *= 2;
    }
}

/// Returns the first numbers of SplitMix64.
const fn signs() -> [[u64; WORDS]; 2] {
    let mut signs = [[0; WORDS]; 2];
    let mut state = 0_u64;
    let mut at = 0;
    while at < 2 * WORDS {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        signs[at / WORDS][at % WORDS] = mixed ^ (mixed >> 31);
        at += 1;
    }
    signs
}

#[cfg(test)]
mod tests {
    use super::super::tests::numbers;
    use super::*;

    /// A mix of two directions that are nearly orthogonal.
    fn mix(a: u64, b: u64, share: f32) -> [f32; DIMENSIONS] {
        let mixed: Vec<f32> =
            numbers(a).iter().zip(numbers(b)).map(|(a, b)| a * (1.0 - share) + b * share).collect();
        mixed.try_into().unwrap()
    }

    #[test]
    fn distances_tell_cosines() {
        let cosine = |a: &[f32], b: &[f32]| {
            let dot = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f32>();
            dot(a, b) / (dot(a, a) * dot(b, b)).sqrt()
        };
        let mut mean = [0.0; 11];
        for seed in 1..=100 {
            let a = mix(seed, 0, 0.0);
            for (step, mean) in mean.iter_mut().enumerate() {
                let b = mix(seed, seed + 1_000, step as f32 / 10.0);
                let distance = Sketch::new(a).distance(&Sketch::new(b));
                let error = f32::from(distance) - f32::from(distance_of(cosine(&a, &b)));
                // Five standard deviations of 256 coins.
                assert!(error.abs() < 40.0, "seed {seed}, step {step}: {error}");
                *mean += error / 100.0;
            }
        }
        assert!(mean.iter().all(|mean| mean.abs() < 3.0), "they are off to one side: {mean:?}");
        assert_eq!(mean[0], 0.0);
    }

    #[test]
    fn only_the_direction_counts() {
        let numbers = mix(1, 2, 0.3);
        let sketch = Sketch::new(numbers);
        assert_eq!(Sketch::new(numbers.map(|number| number * 0.25)), sketch);
        assert_eq!(Sketch::new(numbers.map(|number| -number)).distance(&sketch), 255);
    }

    #[test]
    fn expected_distances_are_in_bounds() {
        assert_eq!([1.0, 0.5, 0.0, -1.0, 1.1].map(distance_of), [0, 85, 128, 255, 0]);
    }
}
