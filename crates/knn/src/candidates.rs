//! Comparing in a group with a graph: the rows that it proposes, and those that were added since.

use std::sync::atomic::{AtomicBool, Ordering};

use instant_distance::Search;
use rayon::prelude::*;

use crate::compared::Compared;
use crate::graph::Graph;
use crate::graph_state::Ids;
use crate::rank::Rank;
use crate::row::Layout;
use crate::space::{BLOCK, Place, VectorSpace};

/// Compares the rows of the left with their candidates, for layouts that have a graph; the right is the whole space.
pub(crate) fn compare_candidates(
    space: &VectorSpace,
    left: &[Compared<'_>],
    right: &[Compared<'_>],
    stop: &AtomicBool,
) {
    left.par_iter().for_each_init(Search::default, |search, side| {
        let layout = side.block.layout;
        let Some((graph, since)) = space.graph(layout) else { return };
        let group = Group { space, layout, graph, since, right };
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
    since: &'a Ids,
    right: &'a [Compared<'a>],
}

impl Group<'_> {
    fn compare(&self, side: &Compared<'_>, row: usize, search: &mut Search) {
        let width = side.block.width();
        let values = &side.block.values[row * width..][..width];
        let proposed = self.graph.propose(values, search).into_iter().filter(|o| !self.since.contains(o));
        proposed.chain(self.since.iter().copied()).for_each(|id| self.meet(side, row, id));
        let is_full = side.best()[row].is_full();
        if !is_full {
            // Too many of the proposed were removed, which is rare.
            self.space.ids().for_each(|id| self.meet(side, row, id));
        }
    }

    /// Compares a row with another, if that has this layout now.
    fn meet(&self, side: &Compared<'_>, row: usize, id: u32) {
        let own = side.block.ids[row];
        let Some(place @ Place { layout, .. }) = self.space.place(id) else { return };
        if layout != self.layout || id == own {
            return;
        }
        let score = self.space.row(id).and_then(|other| side.block.row(row).score(other));
        let Some(score) = score else { return };
        side.best()[row].offer(Rank { score, id });
        if side.gives[row] {
            self.offer(place, Rank { score, id: own });
        }
    }

    /// Offers a rank to the row at a place.
    fn offer(&self, Place { layout, row, .. }: Place, rank: Rank) {
        let first = self.right.iter().position(|side| side.block.layout == layout);
        if let Some(side) = first.and_then(|first| self.right.get(first + row / BLOCK)) {
            side.best()[row % BLOCK].offer(rank);
        }
    }
}
