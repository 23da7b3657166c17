//! The nearest rows of all rows, or of some, by multiplying blocks of rows as matrices. Matrix products round differently on each
//! machine and in each block, so they only decide which pairs may be near enough; those are scored by [`crate::dot`].

mod candidates;

use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use ndarray::linalg::general_mat_mul;
use ndarray::{ArrayView2, ArrayViewMut2, Axis};
use rayon::prelude::*;

use crate::rank::{Rank, TopK};
use crate::space::{Block, VectorSpace};
use candidates::compare_candidates;

/// Blocks of fewer rows than this are multiplied row by row: the matrix product would first rearrange the other block.
const MIN_MATRIX_ROWS: usize = 5;

/// The number of products that are compared with thresholds at once.
const CHUNK: usize = 16;

/// The ids of rows, each with the ranks of its nearest rows, nearest first.
pub type Lists = Vec<(u32, Vec<Rank>)>;

/// The result of [`VectorSpace::nearest_of_some`].
#[derive(Debug, Default)]
pub struct NearestOfSome {
    /// The complete lists of these rows.
    pub lists: Lists,
    /// For other rows, the new ones of these rows that enter their lists.
    pub additions: Lists,
}

/// A block, and the top k of each of its rows so far.
pub(crate) struct BlockResults<'a> {
    block: Block<'a>,
    /// Whether each row is offered to the lists of the rows that it is compared with.
    offers: Vec<bool>,
    best: Mutex<Vec<TopK>>,
}

impl<'a> BlockResults<'a> {
    fn new(
        block: Block<'a>,
        offers: impl Fn(u32) -> bool,
        threshold: impl Fn(usize) -> Rank,
    ) -> BlockResults<'a> {
        let rows = block.ids.len();
        BlockResults {
            block,
            offers: block.ids.iter().map(|id| offers(*id)).collect(),
            best: Mutex::new((0..rows).map(|row| TopK::new(block.k, threshold(row))).collect()),
        }
    }

    fn best(&self) -> MutexGuard<'_, Vec<TopK>> {
        // A panic ends the whole search, so the lists of a poisoned lock are never returned.
        self.best.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the id of each row and its list.
    fn into_lists(self) -> impl Iterator<Item = (u32, Vec<Rank>)> {
        let best = self.best.into_inner().unwrap_or_else(PoisonError::into_inner);
        self.block.ids.iter().copied().zip(best.into_iter().map(|top| top.found))
    }
}

impl VectorSpace {
    /// Returns the list of every row, each pair compared once; `None` if `stop` was set.
    pub fn nearest_of_all(&self, stop: &AtomicBool) -> Option<Lists> {
        let blocks: Vec<BlockResults<'_>> = self
            .blocks()
            .into_iter()
            .map(|block| BlockResults::new(block, |_| true, |_| Rank::LAST))
            .collect();
        let compare =
            |left: &BlockResults<'_>, right: &BlockResults<'_>| compare_unless_graph(self, left, right, stop);
        // Each block with itself first: after that every list has a threshold that excludes most other rows.
        blocks.par_iter().for_each(|block| compare(block, block));
        let pairs: Vec<(usize, usize)> = (0..blocks.len())
            .flat_map(|left| (left + 1..blocks.len()).map(move |right| (left, right)))
            .collect();
        pairs.into_par_iter().for_each(|(left, right)| compare(&blocks[left], &blocks[right]));
        compare_candidates(self, &blocks, &blocks, stop);
        let is_complete = !stop.load(Ordering::Relaxed);
        is_complete.then(|| blocks.into_iter().flat_map(BlockResults::into_lists).collect())
    }

    /// Returns the lists of the rows of `some`, a subset of this space, and which `new` rows of them enter the lists of other rows;
    /// `None` if `stop` was set.
    pub fn nearest_of_some(
        &self,
        some: &VectorSpace,
        new: &HashSet<u32>,
        stop: &AtomicBool,
    ) -> Option<NearestOfSome> {
        let left: Vec<BlockResults<'_>> = some
            .blocks()
            .into_iter()
            .map(|block| BlockResults::new(block, |id| new.contains(&id), |_| Rank::LAST))
            .collect();
        let right: Vec<BlockResults<'_>> = self
            .blocks()
            .into_iter()
            .map(|block| {
                // The rows of `some` get their lists on the left.
                let threshold = |row: usize| {
                    let has_list = some.contains(block.ids[row]);
                    if has_list { Rank::FIRST } else { block.thresholds[row] }
                };
                BlockResults::new(block, |_| false, threshold)
            })
            .collect();
        let compare =
            |left: &BlockResults<'_>, right: &BlockResults<'_>| compare_unless_graph(self, left, right, stop);
        right.par_iter().for_each(|right| left.iter().for_each(|left| compare(left, right)));
        compare_candidates(self, &left, &right, stop);
        let is_complete = !stop.load(Ordering::Relaxed);
        is_complete.then(|| NearestOfSome {
            lists: left.into_iter().flat_map(BlockResults::into_lists).collect(),
            additions: right
                .into_iter()
                .flat_map(BlockResults::into_lists)
                .filter(|(_, found)| !found.is_empty())
                .collect(),
        })
    }
}

/// Compares two blocks, except those of one layout that has a graph: these are left to [`compare_candidates`].
fn compare_unless_graph(
    space: &VectorSpace,
    left: &BlockResults<'_>,
    right: &BlockResults<'_>,
    stop: &AtomicBool,
) {
    let has_graph = left.block.layout == right.block.layout && space.graph(left.block.layout).is_some();
    if !has_graph {
        compare(left, right, stop);
    }
}

/// Compares every row of one block with every row of another, or of itself.
fn compare(left: &BlockResults<'_>, right: &BlockResults<'_>, stop: &AtomicBool) {
    if stop.load(Ordering::Relaxed) {
        return;
    }
    let Some((products, max_error)) = multiply(&left.block, &right.block) else { return };
    let columns = right.block.ids.len();
    let closed = vec![f32::INFINITY; columns];
    let open: Vec<f32> = if std::ptr::eq(left, right) {
        // Within a block each row is compared with all others.
        closed.clone()
    } else {
        right.best().iter().map(|best| best.min_score() - max_error).collect()
    };
    let mut for_right: Vec<(usize, Rank)> = Vec::new();
    let mut best = left.best();
    for (row, products) in products.chunks_exact(columns).enumerate() {
        let thresholds = if left.offers[row] { &open } else { &closed };
        for (start, (products, thresholds)) in
            products.chunks(CHUNK).zip(thresholds.chunks(CHUNK)).enumerate()
        {
            let min_score = best[row].min_score() - max_error;
            if !any_passes(products, thresholds, min_score) {
                continue;
            }
            for (at, product) in products.iter().enumerate() {
                let column = start * CHUNK + at;
                let (to_left, to_right) =
                    (*product >= best[row].min_score() - max_error, *product >= thresholds[at]);
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

/// Returns whether a product reaches the score of its row or the threshold of its column; without a branch for each, since hardly any
/// does.
fn any_passes(products: &[f32], thresholds: &[f32], min_score: f32) -> bool {
    match (products.as_array::<CHUNK>(), thresholds.as_array::<CHUNK>()) {
        (Some(products), Some(thresholds)) => (0..CHUNK)
            .fold(false, |any, at| any | (products[at] >= min_score) | (products[at] >= thresholds[at])),
        _ => products
            .iter()
            .zip(thresholds)
            .any(|(product, threshold)| *product >= min_score || *product >= *threshold),
    }
}

/// Returns the approximate scores of all pairs (`[left rows x right rows]`) and their greatest error; `None` without a common side.
fn multiply(left: &Block<'_>, right: &Block<'_>) -> Option<(Vec<f32>, f32)> {
    let common = left.layout.common(right.layout)?;
    let (rows, columns) = (left.ids.len(), right.ids.len());
    // Each of n additions and multiplications of parts of unit vectors is off by at most half of EPSILON, on both sides of the
    // comparison.
    let max_error = common.left.len() as f32 * f32::EPSILON;
    let mut products = vec![0.0; rows * columns];
    if rows < MIN_MATRIX_ROWS {
        for (row, products) in products.chunks_exact_mut(columns).enumerate() {
            let row = left.row(row);
            for (column, product) in products.iter_mut().enumerate() {
                *product = row.score(right.row(column))?;
            }
        }
        return Some((products, max_error));
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
    Some((products, max_error))
}
