//! The search in groups with a graph: rows are compared with those that the graph proposes, and those that were added since.

use std::sync::atomic::{AtomicBool, Ordering};

use instant_distance::Search;
use rayon::prelude::*;

use super::BlockResults;
use crate::graph::{Graph, Ids};
use crate::rank::Rank;
use crate::row::Layout;
use crate::space::{BLOCK, Position, VectorSpace};

/// Compares the rows of `left` with their candidates, for layouts that have a graph. `right` has all blocks of the space.
pub(super) fn compare_candidates(
    space: &VectorSpace,
    left: &[BlockResults<'_>],
    right: &[BlockResults<'_>],
    stop: &AtomicBool,
) {
    left.par_iter().for_each_init(Search::default, |search, side| {
        let layout = side.block.layout;
        let Some((graph, added)) = space.graph(layout) else { return };
        let group = Group { space, layout, graph, added, right };
        for row in 0..side.block.ids.len() {
            if !stop.load(Ordering::Relaxed) {
                group.compare(side, row, search);
            }
        }
    });
}

/// The rows of one layout and their graph.
struct Group<'a> {
    space: &'a VectorSpace,
    layout: Layout,
    graph: &'a Graph,
    /// The rows added or replaced since the graph was built.
    added: &'a Ids,
    right: &'a [BlockResults<'a>],
}

impl Group<'_> {
    /// Compares a row with its candidates.
    fn compare(&self, side: &BlockResults<'_>, row: usize, search: &mut Search) {
        let proposed = self.graph.propose(side.block.row(row), search).into_iter();
        let proposed = proposed.filter(|id| !self.added.contains(id));
        proposed.chain(self.added.iter().copied()).for_each(|id| self.compare_with(side, row, id));
        let is_full = side.best()[row].is_full();
        if !is_full {
            // Too many of the proposed rows were removed since, which is rare.
            self.space.ids().for_each(|id| self.compare_with(side, row, id));
        }
    }

    /// Compares a row with another, if that still has this layout.
    fn compare_with(&self, side: &BlockResults<'_>, row: usize, id: u32) {
        let own = side.block.ids[row];
        let Some(position) = self.space.position(id) else { return };
        if position.layout != self.layout || id == own {
            return;
        }
        let score = self.space.row(id).and_then(|other| side.block.row(row).score(other));
        let Some(score) = score else { return };
        side.best()[row].offer(Rank { score, id });
        if side.offers[row] {
            self.offer(position, Rank { score, id: own });
        }
    }

    /// Offers a rank to the list of the row at a position.
    fn offer(&self, Position { layout, row, .. }: Position, rank: Rank) {
        let first = self.right.iter().position(|side| side.block.layout == layout);
        if let Some(side) = first.and_then(|first| self.right.get(first + row / BLOCK)) {
            side.best()[row % BLOCK].offer(rank);
        }
    }
}
