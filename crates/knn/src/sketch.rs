//! Sketches of the rows of a large group: a fifth of their numbers, which tell with near certainty that two rows are not near enough.
//!
//! A row is the concatenation of its sides, of unit length, so that the dot product of two rows is their score. Its sketch has its
//! coordinates in orthonormal directions: in the principal ones of the group, and in random ones. The products of the principal
//! coordinates are that part of the score exactly. The rest is estimated by the products of the random coordinates, scaled by how many
//! dimensions each stands for; the standard deviation of this estimate is that of a random projection (Johnson and
//! Lindenstrauss): the lengths of both rests divided by the root of the number of coordinates. This holds for any data, since the
//! randomness is that of the directions. A pair is dropped where the estimate lies [`CERTAINTY`] standard deviations below what is needed.

mod basis;

use std::ops::Range;

use rayon::prelude::*;

use crate::vector::dot_bytes;

pub(crate) use basis::product;

/// The number of principal directions. (Measured with vectors of encoders: with 128 to 256, and as many random ones, the time of a search is
/// the same within a tenth.)
const PRINCIPAL: usize = 192;
/// The number of random directions.
const RANDOM: usize = 191;
/// The numbers of a sketch.
const COORDINATES: usize = PRINCIPAL + RANDOM;
/// The numbers of a row for a matrix product: its coordinates and the margin.
pub(crate) const HEAD: usize = COORDINATES + 1;

/// Sketches are worthwhile for rows of at least this many dimensions.
pub(crate) const MIN_DIMENSIONS: usize = 2 * HEAD;

/// The standard deviations below a threshold from which a pair is dropped. Of the pairs that just reach the threshold, one in 4,000 is
/// further off by chance; of those that are well above it, none.
const CERTAINTY: f32 = 3.5;

/// The number of rows from which the principal directions are computed.
const SAMPLE: usize = 8_192;

/// Every so many rows one is a pivot for their order.
const PIVOT: usize = 256;

/// The number of rows that are projected at once.
const PART: usize = 256;

/// The sketches of the rows of a group.
#[derive(Debug)]
pub(crate) struct Sketches {
    /// `[rows x COORDINATES]`, in steps.
    coordinates: Vec<i8>,
    rows: Vec<Scale>,
    /// The dimensions of the space without the principal directions.
    rest: usize,
    /// By how much a product of heads can be too low because coordinates are rounded to steps.
    pub(crate) slack: f32,
}

/// What the numbers of a row stand for.
#[derive(Debug, Clone, Copy)]
struct Scale {
    /// The step of the principal coordinates, and that of the random ones.
    steps: [f32; 2],
    /// The length of the row without its principal part.
    rest: f32,
}

impl Sketches {
    /// Computes the sketches of `rows` rows of at least [`MIN_DIMENSIONS`]. `append` appends a row, of unit length.
    pub(crate) fn new(
        rows: usize,
        dimensions: usize,
        append: impl Fn(usize, &mut Vec<f32>) + Sync,
    ) -> Sketches {
        let unit_rows = |rows: &mut dyn Iterator<Item = usize>| {
            let mut values = Vec::new();
            rows.for_each(|row| append(row, &mut values));
            values
        };
        let sample = unit_rows(&mut (0..rows).step_by(rows.div_ceil(SAMPLE).max(1)));
        let directions = basis::directions(&sample, dimensions, PRINCIPAL, RANDOM);
        drop(sample);
        let mut coordinates = vec![0; rows * COORDINATES];
        let mut scales = vec![Scale { steps: [0.0; 2], rest: 0.0 }; rows];
        let parts = coordinates.par_chunks_mut(PART * COORDINATES).zip(scales.par_chunks_mut(PART));
        parts.enumerate().for_each(|(at, (coordinates, scales))| {
            let part = unit_rows(&mut (at * PART..at * PART + scales.len()));
            let exact = product(&part, &directions, dimensions);
            let rows = exact.chunks_exact(COORDINATES).zip(coordinates.chunks_exact_mut(COORDINATES));
            rows.zip(scales).for_each(|((exact, coordinates), scale)| *scale = quantise(exact, coordinates));
        });
        let greatest = scales.iter().fold(0.0, |greatest: f32, scale| greatest.max(scale.steps[0]));
        // What is rounded to a step is off by its twelfth in the mean of squares, in both rows. The error of the random coordinates
        // is far below that of the estimate itself.
        let slack = CERTAINTY * greatest * (2.0_f32 / 12.0).sqrt();
        Sketches { coordinates, rows: scales, rest: dimensions - PRINCIPAL, slack }
    }

    /// Returns the heads of rows: `[rows x HEAD]`. The dot product of two is the highest score that is to be expected, but for the slack.
    pub(crate) fn heads(&self, range: Range<usize>) -> Vec<f32> {
        let mut heads = Vec::with_capacity(range.len() * HEAD);
        let each_stands_for = (self.rest as f32 / RANDOM as f32).sqrt();
        let margin = (CERTAINTY / (RANDOM as f32).sqrt()).sqrt();
        for row in range {
            let (principal, random) = self.coordinates(row);
            let Scale { steps, rest } = self.rows[row];
            heads.extend(principal.iter().map(|n| f32::from(*n) * steps[0]));
            heads.extend(random.iter().map(|n| f32::from(*n) * (steps[1] * each_stands_for)));
            heads.push(margin * rest);
        }
        heads
    }

    /// Returns what the score of two rows is at most, as a product of heads does.
    pub(crate) fn bound(&self, a: usize, b: usize) -> f32 {
        let ((a_principal, a_random), (b_principal, b_random)) = (self.coordinates(a), self.coordinates(b));
        let (a, b) = (self.rows[a], self.rows[b]);
        let principal = dot_bytes(a_principal, b_principal) as f32 * (a.steps[0] * b.steps[0]);
        let random = dot_bytes(a_random, b_random) as f32 * (a.steps[1] * b.steps[1]);
        let margin = CERTAINTY / (RANDOM as f32).sqrt() * (a.rest * b.rest);
        principal + random * (self.rest as f32 / RANDOM as f32) + margin
    }

    fn coordinates(&self, row: usize) -> (&[i8], &[i8]) {
        self.coordinates[row * COORDINATES..][..COORDINATES].split_at(PRINCIPAL)
    }

    /// Returns the rows in an order in which similar ones are near each other: by the one of some rows that each is most similar to.
    pub(crate) fn order(&self) -> Vec<usize> {
        let rows = self.rows.len();
        let pivots: Vec<f32> = (0..rows).step_by(PIVOT).flat_map(|row| self.heads(row..row + 1)).collect();
        let nearest_pivot = |products: &[f32]| {
            let products = products.iter().enumerate();
            products.max_by(|(_, a), (_, b)| a.total_cmp(b)).map_or(0, |(pivot, _)| pivot)
        };
        let of_part = |start: usize| {
            let products = product(&self.heads(start..rows.min(start + PART)), &pivots, HEAD);
            products.chunks_exact(pivots.len() / HEAD).map(nearest_pivot).collect::<Vec<usize>>()
        };
        let starts: Vec<usize> = (0..rows).step_by(PART).collect();
        let nearest: Vec<usize> = starts.into_par_iter().flat_map_iter(of_part).collect();
        let mut order: Vec<usize> = (0..rows).collect();
        order.sort_by_key(|row| nearest[*row]);
        order
    }

    /// Reorders the rows: row n is then the former row `order[n]`.
    pub(crate) fn reorder(&mut self, order: &[usize]) {
        let coordinates = |row: &usize| &self.coordinates[row * COORDINATES..][..COORDINATES];
        self.coordinates = order.iter().flat_map(coordinates).copied().collect();
        self.rows = order.iter().map(|row| self.rows[*row]).collect();
    }
}

/// Rounds the coordinates of a row of unit length to steps.
fn quantise(exact: &[f32], coordinates: &mut [i8]) -> Scale {
    let (principal, random) = exact.split_at(PRINCIPAL);
    let (to_principal, to_random) = coordinates.split_at_mut(PRINCIPAL);
    let steps = [(principal, to_principal), (random, to_random)].map(|(exact, rounded)| {
        let greatest = exact.iter().fold(0.0, |greatest: f32, number| greatest.max(number.abs()));
        let step = greatest / f32::from(i8::MAX);
        // Of nothing but zeros each is a NaN, which is cast to 0.
        rounded.iter_mut().zip(exact).for_each(|(to, number)| *to = (number / step).round() as i8);
        step
    });
    let held: f32 = principal.iter().map(|number| number * number).sum();
    Scale { steps, rest: (1.0 - held).max(0.0).sqrt() }
}
