//! Where light and colour lie in a picture, seen from so far that only the largest shapes are left.

use std::f32::consts::PI;

use super::pixels::{Pixels, SIDE};

/// Waves on a side: the even tone, one half wave, one whole.
const WAVES: usize = 3;
/// How many numbers [`terms`] gives.
pub(super) const TERMS: usize = 3 * WAVES * WAVES;

/// Colour differences are smaller than those of lightness, and as telling.
const CHROMA: f32 = 3.0;
/// Lightness is taken from the middle, as colour is from grey.
const MIDDLE: f32 = 0.5;

/// The lowest cosine terms of lightness and of the two colour axes.
pub(super) fn terms(pixels: &Pixels) -> Vec<f32> {
    let waves: [[f32; SIDE]; WAVES] = std::array::from_fn(|wave| {
        std::array::from_fn(|at| (PI * (at as f32 + 0.5) * wave as f32 / SIDE as f32).cos())
    });
    let mut terms = vec![0.0; TERMS];
    for row in 0..SIDE {
        // First along the row, then down the rows: the sum over both is their product.
        let mut along = [[0.0; WAVES]; 3];
        for column in 0..SIDE {
            let [lightness, a, b] = pixels.at(column, row);
            for (sums, value) in along.iter_mut().zip([lightness - MIDDLE, CHROMA * a, CHROMA * b]) {
                for (sum, wave) in sums.iter_mut().zip(&waves) {
                    *sum += value * wave[column];
                }
            }
        }
        let down = waves.iter().flat_map(|wave| along.iter().flatten().map(|sum| sum * wave[row]));
        terms.iter_mut().zip(down).for_each(|(term, value)| *term += value);
    }
    terms
}
