//! Who is compared in a group that has a graph: those that it proposes, and all that came since it was made.

use std::sync::atomic::{AtomicBool, Ordering};

use instant_distance::Search;
use rayon::prelude::*;

use super::base::Ordinals;
use super::graph::Graph;
use super::rank::Rank;
use super::rows::Kind;
use super::side::Side;
use super::space::{BLOCK, Place, Space};

/// Compares the rows of the left with who is proposed to them, for kinds that have a graph; the right is the whole
/// space.
pub(super) fn propose(space: &Space, left: &[Side<'_>], right: &[Side<'_>], stop: &AtomicBool) {
    left.par_iter().for_each_init(Search::default, |search, side| {
        let kind = side.block.kind;
        let Some((graph, since)) = space.base(kind) else { return };
        let group = Group { space, kind, graph, since, right };
        for row in 0..side.block.ordinals.len() {
            if !stop.load(Ordering::Relaxed) {
                group.compare(side, row, search);
            }
        }
    });
}

/// The projects of one kind, and what proposes them.
struct Group<'a> {
    space: &'a Space,
    kind: Kind,
    graph: &'a Graph,
    since: &'a Ordinals,
    right: &'a [Side<'a>],
}

impl Group<'_> {
    fn compare(&self, side: &Side<'_>, row: usize, search: &mut Search) {
        let width = side.block.width();
        let numbers = &side.block.numbers[row * width..][..width];
        let proposed = self.graph.propose(numbers, search).into_iter().filter(|o| !self.since.contains(o));
        proposed.chain(self.since.iter().copied()).for_each(|ordinal| self.meet(side, row, ordinal));
        let is_full = side.best()[row].is_full();
        if !is_full {
            // Too many of the proposed have left, which is rare: then everyone is looked at.
            self.space.ordinals().for_each(|ordinal| self.meet(side, row, ordinal));
        }
    }

    /// Compares a row with a project, if it is of this kind now.
    fn meet(&self, side: &Side<'_>, row: usize, ordinal: u32) {
        let own = side.block.ordinals[row];
        let Some(place @ Place { kind, .. }) = self.space.place(ordinal) else { return };
        if kind != self.kind || ordinal == own {
            return;
        }
        let score = self.space.row(ordinal).and_then(|other| side.block.row(row).score(other));
        let Some(score) = score else { return };
        side.best()[row].offer(Rank { score, ordinal });
        if side.gives[row] {
            self.offer(place, Rank { score, ordinal: own });
        }
    }

    /// Offers a project to the one at a place.
    fn offer(&self, Place { kind, row, .. }: Place, rank: Rank) {
        let first = self.right.iter().position(|side| side.block.kind == kind);
        if let Some(side) = first.and_then(|first| self.right.get(first + row / BLOCK)) {
            side.best()[row % BLOCK].offer(rank);
        }
    }
}
