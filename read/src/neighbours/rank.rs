//! The order of neighbours, and the best of many.

use std::cmp::Ordering;

use super::KEPT;

/// Where a project stands in the list of another: nearer ones are less.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Rank {
    /// The mean of the cosines of the common sides.
    pub(super) score: f32,
    /// Who it is.
    pub(super) ordinal: u32,
}

impl Rank {
    /// Behind everyone: who ranks before it is anyone.
    pub(super) const LAST: Rank = Rank { score: f32::NEG_INFINITY, ordinal: u32::MAX };
    /// Before everyone: nobody ranks before it.
    pub(super) const FIRST: Rank = Rank { score: f32::INFINITY, ordinal: 0 };
}

impl Eq for Rank {}

impl Ord for Rank {
    fn cmp(&self, other: &Rank) -> Ordering {
        other.score.total_cmp(&self.score).then(self.ordinal.cmp(&other.ordinal))
    }
}

impl PartialOrd for Rank {
    fn partial_cmp(&self, other: &Rank) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// The nearest that were found so far, among those before a bar.
#[derive(Debug)]
pub(super) struct Best {
    bar: Rank,
    found: Vec<Rank>,
}

impl Best {
    /// Takes those that rank before the bar.
    pub(super) fn before(bar: Rank) -> Best {
        Best { bar, found: Vec::new() }
    }

    /// No score below this is taken.
    pub(super) fn least(&self) -> f32 {
        self.bar.score
    }

    /// Takes it if it is among the best; who is among them already is not taken again.
    pub(super) fn offer(&mut self, rank: Rank) {
        if rank >= self.bar {
            return;
        }
        let at = self.found.partition_point(|found| *found < rank);
        if self.found.get(at) == Some(&rank) {
            return;
        }
        if self.found.len() == KEPT {
            self.found.pop();
        }
        self.found.insert(at, rank);
        if let (KEPT, Some(last)) = (self.found.len(), self.found.last()) {
            self.bar = *last;
        }
    }

    /// Whether there are as many as can be.
    pub(super) fn is_full(&self) -> bool {
        self.found.len() == KEPT
    }

    /// What was found, nearest first.
    pub(super) fn into_found(self) -> Vec<Rank> {
        self.found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_are_kept_in_order_and_ties_by_age() {
        let rank = |n: u32| Rank { score: f32::from((n % 10) as u8), ordinal: n };
        let mut best = Best::before(Rank { score: 2.0, ordinal: 500 });
        (0..1_000).rev().chain(0..1_000).for_each(|n| best.offer(rank(n)));
        let found = best.into_found();
        let mut all: Vec<Rank> = (0..1_000).map(rank).collect();
        all.sort_unstable();
        assert_eq!(found, all[..KEPT]);
        let mut strict = Best::before(all[3]);
        all.iter().for_each(|rank| strict.offer(*rank));
        assert_eq!(strict.into_found(), all[..3]);
        let mut closed = Best::before(Rank::FIRST);
        closed.offer(all[0]);
        assert_eq!(closed.into_found(), []);
    }
}
