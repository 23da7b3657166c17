//! The three parts of the built-in vector of a picture.

use std::f32::consts::PI;

use super::pixels::{Oklab, Pixels, SIDE};

/// Bins per axis: lightness, green to red, and blue to yellow.
const COLOUR_STEPS: usize = 4;
/// The length of [`colour_histogram`].
pub(super) const COLOUR_BINS: usize = COLOUR_STEPS * COLOUR_STEPS * COLOUR_STEPS;
/// The scale of the chroma axes, compressed by tanh: most pixels have less chroma than this and get finer bins.
const CHROMA_SCALE: f32 = 0.2;
/// The exponent of each share: below 0.5, so that a small patch of colour counts beside a large wall.
const SHARE_POWER: f32 = 0.4;
/// The standard deviation of the Gaussian weight around the centre, in pixels.
const CENTRE_DEVIATION: f32 = 20.0;

/// Gradient cells per side.
const CELLS: usize = 5;
/// Unsigned gradient directions: dark to light counts the same as light to dark.
const DIRECTIONS: usize = 4;
/// The length of [`gradient_histogram`].
pub(super) const GRADIENT_BINS: usize = CELLS * CELLS * DIRECTIONS;
/// The weight of chroma differences against lightness, for gradients: they are smaller and as significant.
const GRADIENT_CHROMA: f32 = 2.0;
/// Weaker gradients are noise.
const MIN_GRADIENT: f32 = 1e-4;

/// Cosine frequencies per side: 0, 1/2 and 1 wave.
const WAVES: usize = 3;
/// The length of [`layout_terms`].
pub(super) const LAYOUT_TERMS: usize = 3 * WAVES * WAVES;
/// The weight of chroma against lightness, for the layout.
const LAYOUT_CHROMA: f32 = 3.0;
/// Subtracted from lightness, so that it is centred like chroma.
const MIDDLE_LIGHTNESS: f32 = 0.5;

/// Returns the weighted share of each colour. Each pixel is divided between neighbouring bins, so that slightly different light
/// changes the histogram only slightly.
pub(super) fn colour_histogram(pixels: &Pixels) -> Vec<f32> {
    let mut bins = vec![0.0; COLOUR_BINS];
    let weights: [f32; SIDE] = std::array::from_fn(centre_weight);
    for row in 0..SIDE {
        for column in 0..SIDE {
            let weight = weights[row] * weights[column];
            let [lightness, a, b] = pixels.at(column, row);
            for (first, share) in colour_steps(lightness) {
                for (second, a_share) in colour_steps(compress_chroma(a)) {
                    for (third, b_share) in colour_steps(compress_chroma(b)) {
                        bins[(first * COLOUR_STEPS + second) * COLOUR_STEPS + third] +=
                            weight * share * a_share * b_share;
                    }
                }
            }
        }
    }
    bins.iter_mut().for_each(|bin| *bin = bin.powf(SHARE_POWER));
    bins
}

fn centre_weight(at: usize) -> f32 {
    let distance = at as f32 - (SIDE - 1) as f32 / 2.0;
    (-distance * distance / (2.0 * CENTRE_DEVIATION * CENTRE_DEVIATION)).exp()
}

/// Maps a chroma of about ±0.4 to 0 to 1.
fn compress_chroma(chroma: f32) -> f32 {
    0.5 + 0.5 * (chroma / CHROMA_SCALE).tanh()
}

/// Returns the two bins around `value`, which is 0 to 1, with the share of each.
fn colour_steps(value: f32) -> [(usize, f32); 2] {
    let place = value.clamp(0.0, 1.0) * (COLOUR_STEPS - 1) as f32;
    let below = (place as usize).min(COLOUR_STEPS - 2);
    let share = place - below as f32;
    [(below, 1.0 - share), (below + 1, share)]
}

/// Returns the strength of gradients per cell and direction (HOG), each divided between neighbouring cells and directions.
pub(super) fn gradient_histogram(pixels: &Pixels) -> Vec<f32> {
    let mut bins = vec![0.0; GRADIENT_BINS];
    for row in 1..SIDE - 1 {
        for column in 1..SIDE - 1 {
            let (across, down) = gradient(pixels, column, row);
            let strength = across.hypot(down);
            if strength < MIN_GRADIENT {
                continue;
            }
            let turn = (down.atan2(across) / PI + 1.0) * DIRECTIONS as f32;
            let direction = turn as usize;
            let share = turn - direction as f32;
            for (cell_row, row_share) in cells(row) {
                for (cell_column, column_share) in cells(column) {
                    let strength = strength * row_share * column_share;
                    let cell = (cell_row * CELLS + cell_column) * DIRECTIONS;
                    bins[cell + direction % DIRECTIONS] += strength * (1.0 - share);
                    bins[cell + (direction + 1) % DIRECTIONS] += strength * share;
                }
            }
        }
    }
    bins.iter_mut().for_each(|bin| *bin = bin.sqrt());
    bins
}

/// Returns the gradient of the axis, lightness or one of chroma, that is steepest at an inner pixel.
fn gradient(pixels: &Pixels, column: usize, row: usize) -> (f32, f32) {
    let difference =
        |one: Oklab, other: Oklab| -> Oklab { std::array::from_fn(|axis| one[axis] - other[axis]) };
    let across = difference(pixels.at(column + 1, row), pixels.at(column - 1, row));
    let down = difference(pixels.at(column, row + 1), pixels.at(column, row - 1));
    let axes = [(0, 1.0), (1, GRADIENT_CHROMA), (2, GRADIENT_CHROMA)];
    let gradients = axes.map(|(axis, weight)| (weight * across[axis], weight * down[axis]));
    let steepness = |(across, down): (f32, f32)| across * across + down * down;
    gradients
        .into_iter()
        .fold((0.0, 0.0), |best, next| if steepness(next) > steepness(best) { next } else { best })
}

/// Returns the cells around a pixel with the share of each; at the border, the share outside is lost.
fn cells(at: usize) -> impl Iterator<Item = (usize, f32)> {
    let place = (at as f32 + 0.5) * CELLS as f32 / SIDE as f32 - 0.5;
    let below = place.floor();
    let share = place - below;
    [(below, 1.0 - share), (below + 1.0, share)]
        .into_iter()
        .filter(|(cell, _)| (0.0..CELLS as f32).contains(cell))
        .map(|(cell, share)| (cell as usize, share))
}

/// Returns the lowest terms of the discrete cosine transform of lightness and chroma: the layout of the largest shapes.
pub(super) fn layout_terms(pixels: &Pixels) -> Vec<f32> {
    let waves: [[f32; SIDE]; WAVES] = std::array::from_fn(|wave| {
        std::array::from_fn(|at| (PI * (at as f32 + 0.5) * wave as f32 / SIDE as f32).cos())
    });
    let mut terms = vec![0.0; LAYOUT_TERMS];
    for row in 0..SIDE {
        // The transform is separable: first along the row, then over the rows.
        let mut along = [[0.0; WAVES]; 3];
        for column in 0..SIDE {
            let [lightness, a, b] = pixels.at(column, row);
            let axes = [lightness - MIDDLE_LIGHTNESS, LAYOUT_CHROMA * a, LAYOUT_CHROMA * b];
            for (sums, value) in along.iter_mut().zip(axes) {
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
