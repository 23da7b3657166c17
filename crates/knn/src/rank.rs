//! The order of neighbours, and the top k of many.

use std::cmp::Ordering;

/// What the neighbours of a row are sorted by; nearer rows are less.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rank {
    /// The mean of the cosines on the common sides, from -1 to 1.
    pub score: f32,
    /// The id of the neighbour.
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

/// The top k of the ranks offered so far, of those before a threshold.
#[derive(Debug)]
pub(crate) struct TopK {
    k: usize,
    /// Only ranks before this one are accepted; the last one, once there are k.
    threshold: Rank,
    /// Nearest first.
    pub(crate) found: Vec<Rank>,
}

impl TopK {
    /// Creates an empty top k that accepts ranks before the threshold.
    pub(crate) fn new(k: usize, threshold: Rank) -> TopK {
        TopK { k, threshold, found: Vec::new() }
    }

    /// Returns the lowest score that may be accepted.
    pub(crate) fn min_score(&self) -> f32 {
        self.threshold.score
    }

    /// Adds a rank if it is among the top k and not there already.
    pub(crate) fn offer(&mut self, rank: Rank) {
        if rank >= self.threshold {
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
            self.threshold = *last;
        }
    }

    /// Returns whether there are k ranks.
    pub(crate) fn is_full(&self) -> bool {
        self.found.len() == self.k
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_top_k_are_sorted_and_ties_by_id() {
        let rank = |n: u32| Rank { score: f32::from((n % 10) as u8), id: n };
        let mut top_k = TopK::new(64, Rank { score: 2.0, id: 500 });
        (0..1_000).rev().chain(0..1_000).for_each(|n| top_k.offer(rank(n)));
        let found = top_k.found;
        let mut all: Vec<Rank> = (0..1_000).map(rank).collect();
        all.sort_unstable();
        assert_eq!(found, all[..64]);
        let mut strict = TopK::new(64, all[3]);
        all.iter().for_each(|rank| strict.offer(*rank));
        assert_eq!(strict.found, all[..3]);
        let mut closed = TopK::new(64, Rank::FIRST);
        closed.offer(all[0]);
        assert_eq!(closed.found, []);
    }
}
