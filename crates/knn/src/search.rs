//! The nearest rows of all rows, or of some, by multiplying blocks of rows. Products of matrices round differently on each
//! machine and in each block, so they only decide which pairs may be near enough; those are scored by [`crate::dot`].

use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, Ordering};

use ndarray::linalg::general_mat_mul;
use ndarray::{ArrayView2, ArrayViewMut2, Axis};
use rayon::prelude::*;

use crate::candidates::compare_candidates;
use crate::compared::Compared;
use crate::rank::Rank;
use crate::space::{Block, VectorSpace};

/// Fewer rows than this are multiplied one by one: rearranging the other block would take longer.
const FEW: usize = 5;

/// The number of products that are compared at once.
const CHUNK: usize = 16;

/// Rows by id, each with its nearest rows, nearest first.
pub type Lists = Vec<(u32, Vec<Rank>)>;

/// The result of comparing some rows with all.
#[derive(Debug, Default)]
pub struct FoundForSome {
    /// The lists of those rows.
    pub own: Lists,
    /// For other rows, those of them that belong into their lists.
    pub offered: Lists,
}

impl VectorSpace {
    /// Returns the list of every row, each pair compared once; `None` if `stop` was set.
    pub fn nearest_of_all(&self, stop: &AtomicBool) -> Option<Lists> {
        let blocks: Vec<Compared<'_>> =
            self.blocks().into_iter().map(|block| Compared::new(block, |_| true, |_| Rank::LAST)).collect();
        let compare =
            |left: &Compared<'_>, right: &Compared<'_>| compare_unless_graph(self, left, right, stop);
        // Each block with itself first: from then on every list has a bar that excludes most of the others.
        blocks.par_iter().for_each(|block| compare(block, block));
        let pairs: Vec<(usize, usize)> = (0..blocks.len())
            .flat_map(|left| (left + 1..blocks.len()).map(move |right| (left, right)))
            .collect();
        pairs.into_par_iter().for_each(|(left, right)| compare(&blocks[left], &blocks[right]));
        compare_candidates(self, &blocks, &blocks, stop);
        let is_whole = !stop.load(Ordering::Relaxed);
        is_whole.then(|| blocks.into_iter().flat_map(Compared::into_found).collect())
    }

    /// Returns the lists of the rows of `some`, which are all here, and the lists of other rows into which the `new` ones of
    /// them belong; `None` if `stop` was set.
    pub fn nearest_of_some(
        &self,
        some: &VectorSpace,
        new: &HashSet<u32>,
        stop: &AtomicBool,
    ) -> Option<FoundForSome> {
        let left: Vec<Compared<'_>> = some
            .blocks()
            .into_iter()
            .map(|block| Compared::new(block, |id| new.contains(&id), |_| Rank::LAST))
            .collect();
        let right: Vec<Compared<'_>> = self
            .blocks()
            .into_iter()
            .map(|block| {
                // The rows of `some` get their lists from the left.
                let bar = |row: usize| {
                    let has_list = some.contains(block.ids[row]);
                    if has_list { Rank::FIRST } else { block.bars[row] }
                };
                Compared::new(block, |_| false, bar)
            })
            .collect();
        let compare =
            |left: &Compared<'_>, right: &Compared<'_>| compare_unless_graph(self, left, right, stop);
        right.par_iter().for_each(|right| left.iter().for_each(|left| compare(left, right)));
        compare_candidates(self, &left, &right, stop);
        let is_whole = !stop.load(Ordering::Relaxed);
        is_whole.then(|| FoundForSome {
            own: left.into_iter().flat_map(Compared::into_found).collect(),
            offered: right
                .into_iter()
                .flat_map(Compared::into_found)
                .filter(|(_, found)| !found.is_empty())
                .collect(),
        })
    }
}

/// Leaves the pairs of a layout that has a graph to [`compare_candidates`].
fn compare_unless_graph(space: &VectorSpace, left: &Compared<'_>, right: &Compared<'_>, stop: &AtomicBool) {
    let has_graph = left.block.layout == right.block.layout && space.graph(left.block.layout).is_some();
    if !has_graph {
        compare(left, right, stop);
    }
}

/// Compares every row of one block with every row of another, or of itself.
fn compare(left: &Compared<'_>, right: &Compared<'_>, stop: &AtomicBool) {
    if stop.load(Ordering::Relaxed) {
        return;
    }
    let Some((products, slack)) = multiply(&left.block, &right.block) else { return };
    let columns = right.block.ids.len();
    let closed = vec![f32::INFINITY; columns];
    let open: Vec<f32> = if std::ptr::eq(left, right) {
        // Within a block each row is compared with all others.
        closed.clone()
    } else {
        right.best().iter().map(|best| best.least() - slack).collect()
    };
    let mut for_right: Vec<(usize, Rank)> = Vec::new();
    let mut best = left.best();
    for (row, products) in products.chunks_exact(columns).enumerate() {
        let bars = if left.gives[row] { &open } else { &closed };
        for (start, (products, bars)) in products.chunks(CHUNK).zip(bars.chunks(CHUNK)).enumerate() {
            let least = best[row].least() - slack;
            if !any_passes(products, bars, least) {
                continue;
            }
            for (at, product) in products.iter().enumerate() {
                let column = start * CHUNK + at;
                let (to_left, to_right) = (*product >= best[row].least() - slack, *product >= bars[at]);
                if (to_left || to_right) && left.block.ids[row] != right.block.ids[column] {
                    let score = left.block.row(row).score(right.block.row(column));
                    let Some(score) = score else { continue };
                    best[row].offer(Rank { score, id: right.block.ids[column] });
                    if to_right {
                        for_right.push((column, Rank { score, id: left.block.ids[row] }));
                    }
                }
            }
        }
    }
    drop(best);
    if !for_right.is_empty() {
        let mut best = right.best();
        for_right.into_iter().for_each(|(column, rank)| best[column].offer(rank));
    }
}

/// Returns whether a product reaches the bar of its row or of its column; without a branch for each, since hardly any does.
fn any_passes(products: &[f32], bars: &[f32], least: f32) -> bool {
    match (products.as_array::<CHUNK>(), bars.as_array::<CHUNK>()) {
        (Some(products), Some(bars)) => {
            (0..CHUNK).fold(false, |any, at| any | (products[at] >= least) | (products[at] >= bars[at]))
        }
        _ => products.iter().zip(bars).any(|(product, bar)| *product >= least || *product >= *bar),
    }
}

/// Returns the approximate scores of all pairs, a line for each row of the left, and their greatest error; `None` without
/// a common side.
fn multiply(left: &Block<'_>, right: &Block<'_>) -> Option<(Vec<f32>, f32)> {
    let common = left.layout.common(right.layout)?;
    let (rows, columns) = (left.ids.len(), right.ids.len());
    // Each of n additions and multiplications of parts of unit vectors is off by half of EPSILON at most, on both sides of
    // the comparison.
    let slack = common.left.len() as f32 * f32::EPSILON;
    let mut products = vec![0.0; rows * columns];
    if rows < FEW {
        for (row, products) in products.chunks_exact_mut(columns).enumerate() {
            let row = left.row(row);
            for (column, product) in products.iter_mut().enumerate() {
                *product = row.score(right.row(column))?;
            }
        }
        return Some((products, slack));
    }
    let a = ArrayView2::from_shape((rows, left.width()), left.values).ok()?;
    let b = ArrayView2::from_shape((columns, right.width()), right.values).ok()?;
    let mut out = ArrayViewMut2::from_shape((rows, columns), &mut products).ok()?;
    general_mat_mul(
        common.factor,
        &a.slice_axis(Axis(1), common.left.into()),
        &b.slice_axis(Axis(1), common.right.into()).t(),
        0.0,
        &mut out,
    );
    Some((products, slack))
}
