//! The nearest rows of all rows, or of some, by multiplying blocks of rows as matrices. Matrix products round differently on each
//! machine and in each block, so they only decide which pairs may be near enough; those are scored by [`crate::Row::score`]. In large
//! groups the matrices are sketches of the rows.

mod candidates;
mod seed;

use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use ndarray::linalg::general_mat_mul;
use ndarray::{ArrayView2, ArrayViewMut2};
use rayon::prelude::*;

use crate::rank::{Rank, TopK};
use crate::sketch::{HEAD, product};
use crate::space::{Block, VectorSpace};
use candidates::compare_candidates;

/// Blocks of fewer rows than this are multiplied row by row: the matrix product would first rearrange the other block.
const MIN_MATRIX_ROWS: usize = 5;

/// The number of products that are compared with thresholds at once.
const CHUNK: usize = 16;

/// Every so many rows of a block one is looked at to decide how the others are compared.
const SAMPLED: usize = 16;

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

    /// Returns the mean of the heads of its sketches; zeros without sketches.
    fn mean_head(&self) -> Vec<f32> {
        let mut mean = vec![0.0; HEAD];
        if let Some((sketches, rows)) = self.block.sketches() {
            let share = 1.0 / rows.len() as f32;
            for head in sketches.heads(rows).chunks_exact(HEAD) {
                mean.iter_mut().zip(head).for_each(|(mean, number)| *mean += number * share);
            }
        }
        mean
    }

    /// Returns the id of each row and its list.
    fn into_lists(self) -> impl Iterator<Item = (u32, Vec<Rank>)> {
        let best = self.best.into_inner().unwrap_or_else(PoisonError::into_inner);
        self.block.ids.iter().copied().zip(best.into_iter().map(|top| top.found))
    }
}

impl VectorSpace {
    /// Returns the list of every row, each pair compared once; `None` if `stop` was set. The rows of large groups are reordered.
    pub fn nearest_of_all(&mut self, stop: &AtomicBool) -> Option<Lists> {
        self.sketch();
        let lists = self.compare_all(stop);
        self.drop_sketches();
        lists
    }

    fn compare_all(&self, stop: &AtomicBool) -> Option<Lists> {
        let blocks: Vec<BlockResults<'_>> = self
            .blocks()
            .into_iter()
            .map(|block| BlockResults::new(block, |_| true, |_| Rank::LAST))
            .collect();
        let compare =
            |left: &BlockResults<'_>, right: &BlockResults<'_>| compare_unless_graph(self, left, right, stop);
        for group in blocks.chunk_by(|a, b| a.block.layout == b.block.layout) {
            if let Some((sketches, _)) = group[0].block.sketches() {
                seed::Group { space: self, blocks: group, sketches }.seed(stop);
            }
        }
        // Each block with itself first: after that every list has a threshold that excludes most other rows.
        blocks.par_iter().for_each(|block| compare(block, block));
        let pairs = pairs(&blocks);
        let next = AtomicUsize::new(0);
        // In this order on any number of threads.
        rayon::broadcast(|_| {
            while let Some((left, right)) = pairs.get(next.fetch_add(1, Ordering::Relaxed)) {
                compare(&blocks[*left], &blocks[*right]);
            }
        });
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

/// Returns the pairs of different blocks: those of similar rows first, so that the thresholds of lists are soon near what they will be.
fn pairs(blocks: &[BlockResults<'_>]) -> Vec<(usize, usize)> {
    let means: Vec<f32> = blocks.par_iter().flat_map_iter(BlockResults::mean_head).collect();
    let mut pairs: Vec<(f32, usize, usize)> = Vec::new();
    for left in 0..blocks.len() {
        let similarity = product(&means[left * HEAD..][..HEAD], &means, HEAD);
        pairs.extend((left + 1..blocks.len()).map(|right| (similarity[right], left, right)));
    }
    pairs.sort_by(|a, b| b.0.total_cmp(&a.0));
    pairs.into_iter().map(|(_, left, right)| (left, right)).collect()
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
    let Some(Products { values: products, max_error }) = compared(left, right) else { return };
    let columns = right.block.ids.len();
    let is_same = std::ptr::eq(left, right);
    let closed = vec![f32::INFINITY; columns];
    let open: Vec<f32> = right.best().iter().map(|best| best.min_score() - max_error).collect();
    let mut for_right: Vec<(usize, Rank)> = Vec::new();
    let mut passed = vec![0; columns];
    let mut best = left.best();
    for (row, products) in products.chunks_exact(columns).enumerate() {
        let thresholds = if left.offers[row] { &open } else { &closed };
        // Within a block, with the rows after it.
        let first = if is_same { row + 1 } else { 0 };
        let min_score = best[row].min_score() - max_error;
        let count = select(&products[first..], &thresholds[first..], min_score, &mut passed);
        for column in &passed[..count] {
            let column = first + *column;
            // The list of the row may have become better meanwhile.
            let least = (best[row].min_score() - max_error).min(thresholds[column]);
            if products[column] < least || left.block.ids[row] == right.block.ids[column] {
                continue;
            }
            let Some(score) = left.block.row(row).score(right.block.row(column)) else { continue };
            best[row].offer(Rank { score, id: right.block.ids[column] });
            let rank = Rank { score, id: left.block.ids[row] };
            if is_same {
                best[column].offer(rank);
            } else if score >= thresholds[column] {
                for_right.push((column, rank));
            }
        }
    }
    drop(best);
    if !for_right.is_empty() {
        let mut best = right.best();
        for_right.into_iter().for_each(|(column, rank)| best[column].offer(rank));
    }
}

/// Writes the columns whose product reaches the score of the row or the threshold of the column to the beginning of `passed`, and
/// returns their number.
fn select(products: &[f32], thresholds: &[f32], min_score: f32, passed: &mut [usize]) -> usize {
    let mut count = 0;
    for (at, (products, thresholds)) in products.chunks(CHUNK).zip(thresholds.chunks(CHUNK)).enumerate() {
        if any_passes(products, thresholds, min_score) {
            for (column, (product, threshold)) in (at * CHUNK..).zip(products.iter().zip(thresholds)) {
                // Without a branch, since it could not be predicted.
                passed[count] = column;
                count += usize::from((*product >= min_score) | (*product >= *threshold));
            }
        }
    }
    count
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

/// What the scores of all pairs of two blocks are at most.
struct Products {
    /// `[left rows x right rows]`.
    values: Vec<f32>,
    /// By how much they can be too low.
    max_error: f32,
}

/// Returns the products of two blocks: of their sketches, if they have them and that excludes enough; `None` without a common side.
fn compared(left: &BlockResults<'_>, right: &BlockResults<'_>) -> Option<Products> {
    let (of_left, of_right) = (left.block.sketches(), right.block.sketches());
    if left.block.layout == right.block.layout
        && let (Some((sketches, left_rows)), Some((_, right_rows))) = (of_left, of_right)
    {
        let values = product(&sketches.heads(left_rows), &sketches.heads(right_rows), HEAD);
        let products = Products { values, max_error: sketches.slack };
        if !is_crowded(&products, left, right) {
            return Some(products);
        }
    }
    multiply(&left.block, &right.block)
}

/// Returns whether so many pairs of two blocks may be near enough that to score each of them takes longer than to multiply whole rows:
/// more than one in eight.
fn is_crowded(products: &Products, left: &BlockResults<'_>, right: &BlockResults<'_>) -> bool {
    let thresholds: Vec<f32> =
        right.best().iter().map(|best| best.min_score() - products.max_error).collect();
    let best = left.best();
    let rows = products.values.chunks_exact(thresholds.len()).zip(best.iter().map(TopK::min_score));
    let (mut passed, mut all, mut columns) = (0, 0, vec![0; thresholds.len()]);
    for (values, min_score) in rows.step_by(SAMPLED) {
        passed += select(values, &thresholds, min_score - products.max_error, &mut columns);
        all += values.len();
    }
    passed * 8 > all
}

/// Returns the approximate scores of all pairs and their greatest error; `None` without a common side.
fn multiply(left: &Block<'_>, right: &Block<'_>) -> Option<Products> {
    let common = left.layout.common(right.layout);
    let sides = common.iter().flatten().count();
    if sides == 0 {
        return None;
    }
    let (rows, columns) = (left.ids.len(), right.ids.len());
    let dimensions: usize = common.iter().flatten().map(|encoding| encoding.dimensions).sum();
    // Each of n additions and multiplications of parts of unit vectors is off by at most half of EPSILON, on both sides of the
    // comparison; the numbers of quantized vectors by one more each.
    let max_error = (dimensions + 2 * sides) as f32 * f32::EPSILON;
    let mut products = vec![0.0; rows * columns];
    if rows < MIN_MATRIX_ROWS {
        for (row, products) in products.chunks_exact_mut(columns).enumerate() {
            let row = left.row(row);
            for (column, product) in products.iter_mut().enumerate() {
                *product = row.score(right.row(column))?;
            }
        }
        return Some(Products { values: products, max_error });
    }
    let mut out = ArrayViewMut2::from_shape((rows, columns), &mut products).ok()?;
    let (factor, mut kept) = (1.0 / sides as f32, 0.0);
    for (side, encoding) in common.into_iter().enumerate() {
        let Some(encoding) = encoding else { continue };
        let (left, right) = (left.unit_rows(side)?, right.unit_rows(side)?);
        let a = ArrayView2::from_shape((rows, encoding.dimensions), &left).ok()?;
        let b = ArrayView2::from_shape((columns, encoding.dimensions), &right).ok()?;
        general_mat_mul(factor, &a, &b.t(), kept, &mut out);
        kept = 1.0;
    }
    Some(Products { values: products, max_error })
}
