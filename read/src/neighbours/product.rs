//! The nearest of everyone, or of some, by multiplying blocks of rows. A product is only trusted to tell who may be near
//! enough: it rounds otherwise on each machine and in each block. Who passes is scored by the one product that decides.

use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, Ordering};

use ndarray::linalg::general_mat_mul;
use ndarray::{ArrayView2, ArrayViewMut2, Axis};
use rayon::prelude::*;

use super::propose::propose;
use super::rank::Rank;
use super::side::Side;
use super::space::{Block, Space};

/// Fewer rows than this are multiplied one by one: arranging the other block for more would take longer.
const FEW: usize = 5;

/// How many products are compared at once.
const CHUNK: usize = 16;

/// Projects and who was found for each, nearest first.
pub(super) type Found = Vec<(u32, Vec<Rank>)>;

/// What a comparison of some with all has found.
#[derive(Debug, Default)]
pub(super) struct FoundForSome {
    /// The whole lists of the some.
    pub(super) own: Found,
    /// Who of the some belongs into the lists of others.
    pub(super) offered: Found,
}

/// The nearest of everyone, each pair multiplied once; none if it was told to stop.
pub(super) fn of_all(space: &Space, stop: &AtomicBool) -> Option<Found> {
    let sides: Vec<Side<'_>> =
        space.blocks().into_iter().map(|block| Side::new(block, |_| true, |_| Rank::LAST)).collect();
    let meet = |left: &Side<'_>, right: &Side<'_>| meet_unless_proposed(space, left, right, stop);
    // Each block with itself first: from then on every list has a bar that keeps most of the others out.
    sides.par_iter().for_each(|side| meet(side, side));
    let pairs: Vec<(usize, usize)> =
        (0..sides.len()).flat_map(|left| (left + 1..sides.len()).map(move |right| (left, right))).collect();
    pairs.into_par_iter().for_each(|(left, right)| meet(&sides[left], &sides[right]));
    propose(space, &sides, &sides, stop);
    let is_whole = !stop.load(Ordering::Relaxed);
    is_whole.then(|| sides.into_iter().flat_map(Side::into_found).collect())
}

/// The nearest of some projects of the space, and the lists of others into which those of them belong that are new there;
/// none if it was told to stop.
pub(super) fn of_some(
    space: &Space,
    wanted: &Space,
    new: &HashSet<u32>,
    stop: &AtomicBool,
) -> Option<FoundForSome> {
    let left: Vec<Side<'_>> = wanted
        .blocks()
        .into_iter()
        .map(|block| Side::new(block, |ordinal| new.contains(&ordinal), |_| Rank::LAST))
        .collect();
    let right: Vec<Side<'_>> = space
        .blocks()
        .into_iter()
        .map(|block| {
            // Those that are wanted get their lists from the left.
            let bar = |row: usize| {
                let is_wanted = wanted.row(block.ordinals[row]).is_some();
                if is_wanted { Rank::FIRST } else { block.bars[row] }
            };
            Side::new(block, |_| false, bar)
        })
        .collect();
    let meet = |left: &Side<'_>, right: &Side<'_>| meet_unless_proposed(space, left, right, stop);
    right.par_iter().for_each(|right| left.iter().for_each(|left| meet(left, right)));
    propose(space, &left, &right, stop);
    let is_whole = !stop.load(Ordering::Relaxed);
    is_whole.then(|| FoundForSome {
        own: left.into_iter().flat_map(Side::into_found).collect(),
        offered: right
            .into_iter()
            .flat_map(Side::into_found)
            .filter(|(_, found)| !found.is_empty())
            .collect(),
    })
}

/// Leaves the pairs of a kind that has a graph to [`propose`].
fn meet_unless_proposed(space: &Space, left: &Side<'_>, right: &Side<'_>, stop: &AtomicBool) {
    let is_proposed = left.block.kind == right.block.kind && space.base(left.block.kind).is_some();
    if !is_proposed {
        meet(left, right, stop);
    }
}

/// Compares every row of one block with every row of another, or of itself.
fn meet(left: &Side<'_>, right: &Side<'_>, stop: &AtomicBool) {
    if stop.load(Ordering::Relaxed) {
        return;
    }
    let Some((products, slack)) = multiply(&left.block, &right.block) else { return };
    let columns = right.block.ordinals.len();
    let closed = vec![f32::INFINITY; columns];
    let open: Vec<f32> = if std::ptr::eq(left, right) {
        // Within a block each row sees all others by itself.
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
                if (to_left || to_right) && left.block.ordinals[row] != right.block.ordinals[column] {
                    let score = left.block.row(row).score(right.block.row(column));
                    let Some(score) = score else { continue };
                    best[row].offer(Rank { score, ordinal: right.block.ordinals[column] });
                    if to_right {
                        for_right.push((column, Rank { score, ordinal: left.block.ordinals[row] }));
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

/// Whether a product reaches the bar of its row or of its column. Without a branch for each, since hardly any does.
fn any_passes(products: &[f32], bars: &[f32], least: f32) -> bool {
    match (products.as_array::<CHUNK>(), bars.as_array::<CHUNK>()) {
        (Some(products), Some(bars)) => {
            (0..CHUNK).fold(false, |any, at| any | (products[at] >= least) | (products[at] >= bars[at]))
        }
        _ => products.iter().zip(bars).any(|(product, bar)| *product >= least || *product >= *bar),
    }
}

/// The approximate scores of all pairs, a line for each row of the left, and how far they may be from the true ones; none
/// where there is no common side.
fn multiply(left: &Block<'_>, right: &Block<'_>) -> Option<(Vec<f32>, f32)> {
    let common = left.kind.common(right.kind)?;
    let (rows, columns) = (left.ordinals.len(), right.ordinals.len());
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
    let a = ArrayView2::from_shape((rows, left.width()), left.numbers).ok()?;
    let b = ArrayView2::from_shape((columns, right.width()), right.numbers).ok()?;
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
