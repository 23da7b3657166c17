//! The length of vectors.

/// Stretches `numbers` to the given length; all zero stays all zero.
pub(super) fn weigh(numbers: &mut [f32], length: f32) {
    let own = numbers.iter().map(|n| n * n).sum::<f32>().sqrt();
    if own > 0.0 {
        let scale = length / own;
        numbers.iter_mut().for_each(|n| *n *= scale);
    }
}
