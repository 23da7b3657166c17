//! The order of neighbours, and the best k of many.

use std::cmp::Ordering;

/// The place of a row in the list of another: nearer rows are less.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rank {
    /// The mean of the cosines of the common sides.
    pub score: f32,
    /// The id of the row.
    pub id: u32,
}

impl Rank {
    /// After every other rank.
    pub const LAST: Rank = Rank { score: f32::NEG_INFINITY, id: u32::MAX };
    /// Before every other rank.
    pub const FIRST: Rank = Rank { score: f32::INFINITY, id: 0 };
}

impl Eq for Rank {}

impl Ord for Rank {
    fn cmp(&self, other: &Rank) -> Ordering {
        other.score.total_cmp(&self.score).then(self.id.cmp(&other.id))
    }
}

impl PartialOrd for Rank {
    fn partial_cmp(&self, other: &Rank) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// The best k ranks of those offered so far, among those before a bar.
#[derive(Debug)]
pub(crate) struct Best {
    k: usize,
    bar: Rank,
    found: Vec<Rank>,
}

impl Best {
    /// Accepts at most `k` ranks before the bar.
    pub(crate) fn before(bar: Rank, k: usize) -> Best {
        Best { k, bar, found: Vec::new() }
    }

    /// Returns the lowest score that may be accepted.
    pub(crate) fn least(&self) -> f32 {
        self.bar.score
    }

    /// Adds a rank if it is among the best and not there already.
    pub(crate) fn offer(&mut self, rank: Rank) {
        if rank >= self.bar {
            return;
        }
        let at = self.found.partition_point(|found| *found < rank);
        if self.found.get(at) == Some(&rank) {
            return;
        }
        if self.found.len() == self.k {
            self.found.pop();
        }
        self.found.insert(at, rank);
        if self.is_full()
            && let Some(last) = self.found.last()
        {
            self.bar = *last;
        }
    }

    /// Returns whether there are k.
    pub(crate) fn is_full(&self) -> bool {
        self.found.len() == self.k
    }

    /// Returns the ranks, nearest first.
    pub(crate) fn into_found(self) -> Vec<Rank> {
        self.found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_are_kept_in_order_and_ties_by_id() {
        let rank = |n: u32| Rank { score: f32::from((n % 10) as u8), id: n };
        let mut best = Best::before(Rank { score: 2.0, id: 500 }, 64);
        (0..1_000).rev().chain(0..1_000).for_each(|n| best.offer(rank(n)));
        let found = best.into_found();
        let mut all: Vec<Rank> = (0..1_000).map(rank).collect();
        all.sort_unstable();
        assert_eq!(found, all[..64]);
        let mut strict = Best::before(all[3], 64);
        all.iter().for_each(|rank| strict.offer(*rank));
        assert_eq!(strict.into_found(), all[..3]);
        let mut closed = Best::before(Rank::FIRST, 64);
        closed.offer(all[0]);
        assert_eq!(closed.into_found(), []);
    }
}
