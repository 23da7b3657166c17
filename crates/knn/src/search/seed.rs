//! The first ranks of the lists of a large group, so that they exclude most rows before all pairs are compared: the best of a few
//! similar blocks, then neighbours of neighbours (as in NN-descent).

use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, Ordering};

use foldhash::fast::RandomState;
use rayon::prelude::*;

use super::BlockResults;
use crate::rank::{Rank, TopK};
use crate::sketch::{HEAD, Sketches, product};
use crate::space::{BLOCK, VectorSpace};

/// The number of similar blocks, its own among them, that give a block its first lists.
const SIMILAR: usize = 8;

/// How many times neighbours of neighbours are compared.
const ROUNDS: usize = 2;

/// The number of neighbours whose nearest ones are compared, and of these.
const WIDTH: usize = 16;

/// In place of a row where a list is shorter.
const NONE: u32 = u32::MAX;

/// The nearest rows of a row, nearest first, by their indices in the group.
type Nearest = [u32; WIDTH];

/// All blocks of a group with sketches.
pub(super) struct Group<'a> {
    pub(super) space: &'a VectorSpace,
    pub(super) blocks: &'a [BlockResults<'a>],
    pub(super) sketches: &'a Sketches,
}

impl Group<'_> {
    /// Gives every list its first ranks.
    pub(super) fn seed(&self, stop: &AtomicBool) {
        let blocks = self.blocks.par_iter().filter(|_| !stop.load(Ordering::Relaxed));
        let means: Vec<f32> = self.blocks.par_iter().flat_map_iter(BlockResults::mean_head).collect();
        blocks.clone().for_each(|block| self.compare_similar(block, &means));
        for _ in 0..ROUNDS {
            let nearest: Vec<Nearest> =
                self.blocks.par_iter().flat_map_iter(|block| self.nearest(block)).collect();
            blocks.clone().for_each(|block| self.compare_neighbours(block, &nearest));
        }
    }

    /// Fills the lists of a block from the blocks that are most similar by their mean heads.
    fn compare_similar(&self, left: &BlockResults<'_>, means: &[f32]) {
        let first = left.block.start;
        let similarity = product(&means[first / BLOCK * HEAD..][..HEAD], means, HEAD);
        let mut similar: Vec<usize> = (0..self.blocks.len()).collect();
        similar.sort_by(|a, b| similarity[*b].total_cmp(&similarity[*a]));
        similar.truncate(SIMILAR);
        let heads = |block: &BlockResults<'_>| {
            self.sketches.heads(block.block.start..block.block.start + block.block.ids.len())
        };
        let (left_heads, k) = (heads(left), left.block.k);
        let bounds = |at: usize| product(&left_heads, &heads(&self.blocks[at]), HEAD);
        let bounds: Vec<(usize, Vec<f32>)> = similar.into_iter().map(|at| (at * BLOCK, bounds(at))).collect();
        let mut best = left.best();
        let mut found: Vec<(f32, usize)> = Vec::new();
        for row in 0..left.block.ids.len() {
            found.clear();
            for (start, bounds) in &bounds {
                let columns = bounds.len() / left.block.ids.len();
                let bounds = bounds[row * columns..][..columns].iter().copied();
                found.extend(bounds.zip(*start..).filter(|(_, other)| *other != first + row));
            }
            if found.len() > k {
                found.select_nth_unstable_by(k, |a, b| b.0.total_cmp(&a.0));
                found.truncate(k);
            }
            found.iter().for_each(|(_, other)| self.compare(left, row, *other, &mut best[row]));
        }
    }

    /// Returns the nearest rows of each row of a block so far.
    fn nearest(&self, block: &BlockResults<'_>) -> Vec<Nearest> {
        let row = |rank: &Rank| self.space.position(rank.id).map(|position| position.row as u32);
        let of_row = |best: &TopK| std::array::from_fn(|at| best.found.get(at).and_then(row).unwrap_or(NONE));
        block.best().iter().map(of_row).collect()
    }

    /// Compares the rows of a block with the nearest rows of their nearest rows.
    fn compare_neighbours(&self, left: &BlockResults<'_>, nearest: &[Nearest]) {
        let first = left.block.start;
        let mut best = left.best();
        let mut seen: HashSet<u32, RandomState> = HashSet::default();
        for (row, best) in best.iter_mut().enumerate() {
            seen.clear();
            seen.extend([NONE, (first + row) as u32]);
            let listed = best.found.iter().filter_map(|rank| self.space.position(rank.id));
            seen.extend(listed.map(|position| position.row as u32));
            let neighbours = nearest[first + row].iter().filter(|neighbour| **neighbour != NONE);
            for other in neighbours.flat_map(|neighbour| nearest[*neighbour as usize]) {
                let is_new = seen.insert(other);
                if is_new && self.sketches.bound(first + row, other as usize) >= best.min_score() {
                    self.compare(left, row, other as usize, best);
                }
            }
        }
    }

    /// Offers a row of the group to the list of a row of a block.
    fn compare(&self, left: &BlockResults<'_>, row: usize, other: usize, best: &mut TopK) {
        let right = &self.blocks[other / BLOCK].block;
        let score = left.block.row(row).score(right.row(other % BLOCK));
        if let Some(score) = score {
            best.offer(Rank { score, id: right.ids[other % BLOCK] });
        }
    }
}
