//! Which way the edges of a picture run, in each part of it.

use std::f32::consts::PI;

use super::pixels::{Oklab, Pixels, SIDE};

/// Parts on a side.
const CELLS: usize = 5;
/// Directions: across, down, and the two between. An edge counts the same from dark to light as from light to dark.
const DIRECTIONS: usize = 4;
/// How many numbers [`histogram`] gives.
pub(super) const BINS: usize = CELLS * CELLS * DIRECTIONS;

/// Colour differences are smaller than those of lightness, and as telling.
const CHROMA: f32 = 2.0;
/// What is fainter is noise.
const FAINTEST: f32 = 1e-4;

/// The strength of the edges of each direction in each part, softly divided between neighbouring parts and directions.
pub(super) fn histogram(pixels: &Pixels) -> Vec<f32> {
    let mut bins = vec![0.0; BINS];
    for row in 1..SIDE - 1 {
        for column in 1..SIDE - 1 {
            let (across, down) = slope(pixels, column, row);
            let strength = across.hypot(down);
            if strength < FAINTEST {
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

/// The steepest change at a pixel that has neighbours: of lightness or of one of the two colour axes.
fn slope(pixels: &Pixels, column: usize, row: usize) -> (f32, f32) {
    let difference =
        |one: Oklab, other: Oklab| -> Oklab { std::array::from_fn(|axis| one[axis] - other[axis]) };
    let across = difference(pixels.at(column + 1, row), pixels.at(column - 1, row));
    let down = difference(pixels.at(column, row + 1), pixels.at(column, row - 1));
    let axes = [(0, 1.0), (1, CHROMA), (2, CHROMA)];
    let slopes = axes.map(|(axis, weight)| (weight * across[axis], weight * down[axis]));
    let steepness = |(across, down): (f32, f32)| across * across + down * down;
    slopes
        .into_iter()
        .fold((0.0, 0.0), |best, slope| if steepness(slope) > steepness(best) { slope } else { best })
}

/// The cells that a pixel lies in or beside, and how much of it falls to each; at the border a part falls to none.
fn cells(at: usize) -> impl Iterator<Item = (usize, f32)> {
    let place = (at as f32 + 0.5) * CELLS as f32 / SIDE as f32 - 0.5;
    let below = place.floor();
    let share = place - below;
    [(below, 1.0 - share), (below + 1.0, share)]
        .into_iter()
        .filter(|(cell, _)| (0.0..CELLS as f32).contains(cell))
        .map(|(cell, share)| (cell as usize, share))
}
