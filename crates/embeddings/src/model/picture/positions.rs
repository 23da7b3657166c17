//! Position vectors for a grid of patches other than the one that they were learned for.

use ndarray::Array2;

/// Sharpness of the cubic curve, as the frameworks that trained these models have it.
const SHARPNESS: f32 = -0.75;

/// Stretches positions, the class token's first and then `own` rows of `own`, to `grid` rows and columns: bicubic
/// between the middles of the patches, the outermost repeated beyond the border.
pub(super) fn stretched(learned: Array2<f32>, own: usize, grid: [usize; 2]) -> Array2<f32> {
    let [rows, columns] = grid;
    if [own, own] == grid {
        return learned;
    }
    let mut stretched = Array2::zeros((rows * columns + 1, learned.ncols()));
    stretched.row_mut(0).assign(&learned.row(0));
    for row in 0..rows {
        for column in 0..columns {
            let mut place = stretched.row_mut(1 + row * columns + column);
            for (from_row, row_share) in sources(row, rows, own) {
                for (from_column, column_share) in sources(column, columns, own) {
                    let source = learned.row(1 + from_row * own + from_column);
                    place.scaled_add(row_share * column_share, &source);
                }
            }
        }
    }
    stretched
}

/// The four learned places around place `at` of `count`, and how much of each is taken.
fn sources(at: usize, count: usize, own: usize) -> [(usize, f32); 4] {
    let place = (at as f32 + 0.5) * own as f32 / count as f32 - 0.5;
    let below = place.floor();
    std::array::from_fn(|offset| {
        let source = below + offset as f32 - 1.0;
        (source.clamp(0.0, (own - 1) as f32) as usize, cubic((place - source).abs()))
    })
}

/// The share of a place at a distance of 0 to 2.
fn cubic(distance: f32) -> f32 {
    let (a, d) = (SHARPNESS, distance);
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
    fn the_learned_grid_stays_as_it_is() {
        let learned = array![[9.0], [1.0], [2.0], [3.0], [4.0]];
        assert_eq!(stretched(learned.clone(), 2, [2, 2]), learned);
    }

    #[test]
    fn what_is_even_stays_even_and_the_class_token_stays() {
        let mut learned = Array2::from_elem((17, 1), 0.5);
        learned[[0, 0]] = 9.0;
        let stretched = stretched(learned, 4, [3, 7]);
        assert_eq!((stretched.nrows(), stretched[[0, 0]]), (22, 9.0));
        assert!(stretched.iter().skip(1).all(|n| (n - 0.5).abs() < 1e-6), "{stretched}");
    }

    #[test]
    fn shares_sum_to_one_and_follow_the_place() {
        for (at, count, own) in [(0, 16, 37), (15, 16, 37), (3, 8, 4), (7, 8, 4)] {
            let sum: f32 = sources(at, count, own).iter().map(|(_, share)| share).sum();
            assert!((sum - 1.0).abs() < 1e-5, "{sum}");
        }
        assert_eq!(sources(1, 2, 6)[1], (4, 1.0), "a place that falls on a learned one is that one");
    }
}
