//! Vectors of unit length, and the one product that decides about order.

use schemas::vector::Vector;

use super::corrupt;
use crate::error::ModelError;

/// Sums that are kept apart, so that the compiler can use whole registers. The number is a part of every score: with
/// another one, last bits come out otherwise.
const LANES: usize = 16;

/// The vector's direction: its numbers divided by its length.
pub(super) fn unit(vector: &Vector) -> Vec<f32> {
    let numbers = vector.as_slice();
    // The greatest and the least 32-bit floats have squares in 64 bits.
    let length = numbers.iter().map(|n| f64::from(*n).powi(2)).sum::<f64>().sqrt();
    numbers.iter().map(|n| (f64::from(*n) / length) as f32).collect()
}

/// The cosine of two unit vectors of as many dimensions. It is the same on every machine and whichever comes first,
/// since no instruction that rounds otherwise is used. (Measured at 512 dimensions: 44 ns in the cache, the same as
/// with fused instructions chosen at run time; 207 against 173 ns from memory.)
pub(super) fn dot(a: &[f32], b: &[f32]) -> f32 {
    let ((a, a_rest), (b, b_rest)) = (a.as_chunks::<LANES>(), b.as_chunks::<LANES>());
    let mut sums = [0.0_f32; LANES];
    for (a, b) in a.iter().zip(b) {
        for lane in 0..LANES {
            sums[lane] += a[lane] * b[lane];
        }
    }
    let mut width = LANES / 2;
    while width > 0 {
        for lane in 0..width {
            sums[lane] += sums[lane + width];
        }
        width /= 2;
    }
    sums[0] + a_rest.iter().zip(b_rest).map(|(a, b)| a * b).sum::<f32>()
}

/// As it is stored.
pub(super) fn to_bytes(numbers: &[f32]) -> Vec<u8> {
    numbers.iter().flat_map(|n| n.to_le_bytes()).collect()
}

/// As it was stored.
pub(super) fn from_bytes(bytes: &[u8]) -> Result<Vec<f32>, ModelError> {
    let (numbers, rest) = bytes.as_chunks::<4>();
    if numbers.is_empty() || !rest.is_empty() {
        return Err(corrupt("a vector of a strange length"));
    }
    Ok(numbers.iter().map(|n| f32::from_le_bytes(*n)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn extremes_have_a_direction() {
        for extreme in [f32::MAX, f32::MIN_POSITIVE, 1e-45] {
            let unit = unit(&Vector::new(vec![extreme, 0.0, -extreme]).unwrap());
            assert!((dot(&unit, &unit) - 1.0).abs() < 1e-6, "{extreme}: {unit:?}");
        }
    }

    #[test]
    fn a_product_counts_every_dimension_once() {
        for dimensions in [1, 15, 16, 17, 512, 515] {
            let ones = vec![1.0; dimensions];
            assert_eq!(dot(&ones, &ones), dimensions as f32);
        }
    }
}
