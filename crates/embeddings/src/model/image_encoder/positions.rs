//! Interpolates position embeddings for another grid of patches than the trained one.

use ndarray::Array2;

/// The coefficient of the bicubic kernel, as in PyTorch.
const CUBIC_COEFFICIENT: f32 = -0.75;

/// Interpolates positions, the class token first and then `side` rows of `side`, to `grid` rows and columns: bicubic between the
/// centres of the patches, clamped at the border.
pub(super) fn interpolate(learned: Array2<f32>, side: usize, grid: [usize; 2]) -> Array2<f32> {
    let [rows, columns] = grid;
    if [side, side] == grid {
        return learned;
    }
    let mut interpolated = Array2::zeros((rows * columns + 1, learned.ncols()));
    interpolated.row_mut(0).assign(&learned.row(0));
    for row in 0..rows {
        for column in 0..columns {
            let mut target = interpolated.row_mut(1 + row * columns + column);
            for (from_row, row_weight) in sources(row, rows, side) {
                for (from_column, column_weight) in sources(column, columns, side) {
                    let source = learned.row(1 + from_row * side + from_column);
                    target.scaled_add(row_weight * column_weight, &source);
                }
            }
        }
    }
    interpolated
}

/// Returns the four trained positions around position `at` of `count`, with their weights.
fn sources(at: usize, count: usize, side: usize) -> [(usize, f32); 4] {
    let place = (at as f32 + 0.5) * side as f32 / count as f32 - 0.5;
    let below = place.floor();
    std::array::from_fn(|offset| {
        let source = below + offset as f32 - 1.0;
        (source.clamp(0.0, (side - 1) as f32) as usize, cubic((place - source).abs()))
    })
}

/// Returns the weight at a distance of 0 to 2.
fn cubic(distance: f32) -> f32 {
    let (a, d) = (CUBIC_COEFFICIENT, distance);
    if d <= 1.0 {
        ((a + 2.0) * d - (a + 3.0)) * d * d + 1.0
    } else {
        ((a * d - 5.0 * a) * d + 8.0 * a) * d - 4.0 * a
    }
}

#[cfg(test)]
mod tests {
    use ndarray::{Array2, array};

    use super::*;

    #[test]
    fn the_trained_grid_is_unchanged() {
        let learned = array![[9.0], [1.0], [2.0], [3.0], [4.0]];
        assert_eq!(interpolate(learned.clone(), 2, [2, 2]), learned);
    }

    #[test]
    fn constant_positions_and_the_class_token_are_unchanged() {
        let mut learned = Array2::from_elem((17, 1), 0.5);
        learned[[0, 0]] = 9.0;
        let interpolated = interpolate(learned, 4, [3, 7]);
        assert_eq!((interpolated.nrows(), interpolated[[0, 0]]), (22, 9.0));
        assert!(interpolated.iter().skip(1).all(|n| (n - 0.5).abs() < 1e-6), "{interpolated}");
    }

    #[test]
    fn weights_sum_to_one() {
        for (at, count, side) in [(0, 16, 37), (15, 16, 37), (3, 8, 4), (7, 8, 4)] {
            let sum: f32 = sources(at, count, side).iter().map(|(_, weight)| weight).sum();
            assert!((sum - 1.0).abs() < 1e-5, "{sum}");
        }
        assert_eq!(sources(1, 2, 6)[1], (4, 1.0), "a position on a trained one is that one");
    }
}
