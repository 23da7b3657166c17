//! The directions of sketches: those in which rows vary most, and random ones.

use ndarray::linalg::general_mat_mul;
use ndarray::{ArrayView2, ArrayViewMut2};
use rayon::prelude::*;

use crate::vector::dot;

/// The number of times that the principal directions are improved; each time the others are weaker by the ratio of their shares.
const ITERATIONS: usize = 5;

/// A direction that is almost a combination of the previous ones is replaced: it would be rounding errors.
const MIN_REST: f32 = 1e-4;

/// Returns orthonormal directions `[(principal + random) x dimensions]`: first those in which `rows` (`[rows x dimensions]`, of unit
/// length) vary most, then random ones.
pub(super) fn directions(rows: &[f32], dimensions: usize, principal: usize, random: usize) -> Vec<f32> {
    let mut numbers = Random(SEED);
    let mut basis: Vec<f32> = (0..principal * dimensions).map(|_| numbers.normal()).collect();
    orthonormalise(&mut basis, dimensions, 0, &mut numbers);
    for _ in 0..ITERATIONS {
        basis = improved(rows, &basis, dimensions);
        orthonormalise(&mut basis, dimensions, 0, &mut numbers);
    }
    basis.extend((0..random * dimensions).map(|_| numbers.normal()));
    orthonormalise(&mut basis, dimensions, principal, &mut numbers);
    basis
}

/// Returns the directions multiplied by the second moments of the rows.
fn improved(rows: &[f32], basis: &[f32], dimensions: usize) -> Vec<f32> {
    let part_len = rows.len().div_ceil(dimensions * rayon::current_num_threads()) * dimensions;
    let of_part = |part: &[f32]| {
        let coordinates = product(part, basis, dimensions);
        let (count, directions) = (part.len() / dimensions, basis.len() / dimensions);
        let mut improved = vec![0.0; basis.len()];
        let shapes = (
            ArrayView2::from_shape((count, directions), &coordinates),
            ArrayView2::from_shape((count, dimensions), part),
            ArrayViewMut2::from_shape((directions, dimensions), &mut improved),
        );
        if let (Ok(coordinates), Ok(part), Ok(mut out)) = shapes {
            general_mat_mul(1.0, &coordinates.t(), &part, 0.0, &mut out);
        }
        improved
    };
    let parts: Vec<Vec<f32>> = rows.par_chunks(part_len.max(dimensions)).map(of_part).collect();
    let mut sum = vec![0.0; basis.len()];
    for part in parts {
        sum.iter_mut().zip(part).for_each(|(sum, part)| *sum += part);
    }
    sum
}

/// Returns the dot products of all rows of `a` with all rows of `b`: `[rows of a x rows of b]`.
pub(crate) fn product(a: &[f32], b: &[f32], dimensions: usize) -> Vec<f32> {
    let (rows, columns) = (a.len() / dimensions, b.len() / dimensions);
    let mut products = vec![0.0; rows * columns];
    let shapes = (
        ArrayView2::from_shape((rows, dimensions), a),
        ArrayView2::from_shape((columns, dimensions), b),
        ArrayViewMut2::from_shape((rows, columns), &mut products),
    );
    if let (Ok(a), Ok(b), Ok(mut out)) = shapes {
        general_mat_mul(1.0, &a, &b.t(), 0.0, &mut out);
    }
    products
}

/// Makes the rows from `first` on orthogonal to all rows before them, and of unit length.
fn orthonormalise(basis: &mut [f32], dimensions: usize, first: usize, numbers: &mut Random) {
    for at in first..basis.len() / dimensions {
        let (previous, rest) = basis.split_at_mut(at * dimensions);
        let row = &mut rest[..dimensions];
        loop {
            scale_to_unit(row);
            // The second time removes what the first one left by rounding.
            let rest = remove(row, previous).min(remove(row, previous));
            if rest > MIN_REST {
                break;
            }
            row.iter_mut().for_each(|number| *number = numbers.normal());
        }
    }
}

/// Removes the directions from a row of unit length and scales it to unit length again. Returns the length in between.
fn remove(row: &mut [f32], directions: &[f32]) -> f32 {
    for direction in directions.chunks_exact(row.len()) {
        let product = dot(row, direction);
        row.iter_mut().zip(direction).for_each(|(number, part)| *number -= product * part);
    }
    scale_to_unit(row)
}

/// Scales a row to unit length, unless it is zero, and returns its former length.
fn scale_to_unit(row: &mut [f32]) -> f32 {
    let length = dot(row, row).sqrt();
    if length > 0.0 {
        row.iter_mut().for_each(|number| *number /= length);
    }
    length
}

const SEED: u64 = 0x6c6f_6767_6961;

/// A reproducible source of numbers (SplitMix64).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut n = self.0;
        n = (n ^ (n >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        n = (n ^ (n >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        n ^ (n >> 31)
    }

    /// Returns a number that is nearly normally distributed: the sum of four.
    fn normal(&mut self) -> f32 {
        let n = self.next();
        let part = |shift: u32| f32::from((n >> shift) as i16);
        part(0) + part(16) + part(32) + part(48)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directions_are_orthonormal_and_the_first_ones_hold_what_varies() {
        // Rows that lie in the first three of 40 dimensions, so that most directions have nothing to follow.
        let mut numbers = Random(1);
        let mut rows = vec![0.0; 50 * 40];
        for row in rows.chunks_exact_mut(40) {
            row[..3].iter_mut().for_each(|number| *number = numbers.normal());
            scale_to_unit(row);
        }
        let basis = directions(&rows, 40, 5, 10);
        let products = product(&basis, &basis, 40);
        for (at, product) in products.iter().enumerate() {
            let expected = if at / 15 == at % 15 { 1.0 } else { 0.0 };
            assert!((product - expected).abs() < 1e-5, "{at}: {product}");
        }
        for row in rows.chunks_exact(40) {
            let held: f32 =
                basis[..5 * 40].chunks_exact(40).map(|direction| dot(row, direction).powi(2)).sum();
            assert!((held - 1.0).abs() < 1e-4, "{held}");
        }
    }
}
