//! Which colours a picture has, and how much of each.

use super::pixels::{Pixels, SIDE};

/// Steps of lightness, of green to red, and of blue to yellow.
const STEPS: usize = 4;
/// How many numbers [`histogram`] gives.
pub(super) const BINS: usize = STEPS * STEPS * STEPS;

/// A colour this far from grey stands three quarters of the way out: most of a picture lies nearer to grey than that,
/// and is told apart more finely.
const VIVID: f32 = 0.2;
/// Below one half, so that a small patch of colour still counts beside a large wall.
const SHARE_POWER: f32 = 0.4;
/// What stands in the middle counts most: the standard deviation of the weight, in pixels.
const MIDDLE: f32 = 20.0;

/// The share of each colour, softly divided between neighbouring bins so that a slight change of light changes little.
pub(super) fn histogram(pixels: &Pixels) -> Vec<f32> {
    let mut bins = vec![0.0; BINS];
    let weights: [f32; SIDE] = std::array::from_fn(weight_of_distance);
    for row in 0..SIDE {
        for column in 0..SIDE {
            let weight = weights[row] * weights[column];
            let [lightness, a, b] = pixels.at(column, row);
            for (first, share) in divided(lightness) {
                for (second, a_share) in divided(spread(a)) {
                    for (third, b_share) in divided(spread(b)) {
                        bins[(first * STEPS + second) * STEPS + third] += weight * share * a_share * b_share;
                    }
                }
            }
        }
    }
    bins.iter_mut().for_each(|bin| *bin = bin.powf(SHARE_POWER));
    bins
}

fn weight_of_distance(at: usize) -> f32 {
    let distance = at as f32 - (SIDE - 1) as f32 / 2.0;
    (-distance * distance / (2.0 * MIDDLE * MIDDLE)).exp()
}

/// Brings a chroma of about ±0.4 to 0 to 1.
fn spread(chroma: f32) -> f32 {
    0.5 + 0.5 * (chroma / VIVID).tanh()
}

/// The two bins that `value`, of 0 to 1, lies between, and how much of it falls to each.
fn divided(value: f32) -> [(usize, f32); 2] {
    let place = value.clamp(0.0, 1.0) * (STEPS - 1) as f32;
    let below = (place as usize).min(STEPS - 2);
    let share = place - below as f32;
    [(below, 1.0 - share), (below + 1, share)]
}
