//! The calls of this node that the counters have not seen yet, so that the remaining quota is right as soon as a call is answered.

use std::collections::{HashMap, VecDeque};
use std::hash::BuildHasher;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use schemas::usage::Counted;

use super::Budget;
use super::outage::Usage;

/// The number of shards: threads that meter different keys rarely share a lock.
const SHARDS: usize = 16;
/// The counters follow within a fraction of a second; after this long a call is no longer expected to appear in them.
const RETENTION: Duration = Duration::from_secs(60);
/// The number of budgets in a shard from which unused ones are removed.
const MANY: usize = 4_096;

/// The unconfirmed calls of all budgets, in shards.
#[derive(Debug, Default)]
pub(super) struct UnconfirmedUsage {
    shards: [Mutex<HashMap<Budget, Unconfirmed, foldhash::fast::FixedState>>; SHARDS],
    hasher: foldhash::fast::FixedState,
}

/// The unconfirmed calls of one budget.
#[derive(Debug, Default)]
struct Unconfirmed {
    /// Sequences in the tier's stream with the time of their acknowledgement, nearly in ascending order.
    counted: VecDeque<(u64, Instant)>,
    /// Calls in the spool.
    spooled: u64,
}

/// A call that is reserved in its budget before it is counted. Dropping this releases it, so that an interrupted request leaves
/// nothing reserved.
#[derive(Debug)]
pub(super) struct Reservation {
    unconfirmed: Arc<UnconfirmedUsage>,
    budget: Option<Budget>,
}

impl Reservation {
    /// Keeps the call reserved: it is in the spool, and [`UnconfirmedUsage::unspooled`] releases it.
    pub(super) fn keep(mut self) {
        self.budget = None;
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        if let Some(budget) = self.budget.take() {
            self.unconfirmed.unspooled(&budget, None);
        }
    }
}

impl UnconfirmedUsage {
    /// Returns the total that counts against a budget. Forgets calls that the counters have seen.
    pub(super) fn used(&self, budget: &Budget, counted: Counted) -> u64 {
        let mut shard = self.shard(budget);
        let Some(unconfirmed) = shard.get_mut(budget) else { return counted.used };
        let used = unconfirmed.used(counted);
        if unconfirmed.is_settled() {
            shard.remove(budget);
        }
        used
    }

    /// Returns what NATS has counted of a budget, and what waits in the spool.
    pub(super) fn usage(&self, budget: &Budget, counted: Counted) -> Usage {
        let mut shard = self.shard(budget);
        let Some(unconfirmed) = shard.get_mut(budget) else {
            return Usage { counted: counted.used, spooled: 0 };
        };
        let spooled = unconfirmed.spooled;
        Usage { counted: unconfirmed.used(counted) - spooled, spooled }
    }

    /// Records a call that NATS has counted.
    pub(super) fn counted(&self, budget: &Budget, sequence: u64) {
        let mut shard = self.shard(budget);
        if shard.len() >= MANY && !shard.contains_key(budget) {
            shard.retain(|_, unconfirmed| {
                unconfirmed.forget_old();
                !unconfirmed.is_settled()
            });
        }
        shard.entry(budget.clone()).or_default().counted.push_back((sequence, Instant::now()));
    }

    /// Reserves a call for the spool; `None` if the budget is used up.
    pub(super) fn reserve(
        self: &Arc<Self>,
        budget: &Budget,
        counted: Counted,
        limit: u64,
    ) -> Option<Reservation> {
        let mut shard = self.shard(budget);
        let unconfirmed = shard.entry(budget.clone()).or_default();
        let is_left = unconfirmed.used(counted) < limit;
        unconfirmed.spooled += u64::from(is_left);
        if unconfirmed.is_settled() {
            shard.remove(budget);
        }
        is_left.then(|| Reservation { unconfirmed: self.clone(), budget: Some(budget.clone()) })
    }

    /// Reserves a call for the spool, even if the budget is used up.
    pub(super) fn take(self: &Arc<Self>, budget: &Budget) -> Reservation {
        self.spooled(budget, 1);
        Reservation { unconfirmed: self.clone(), budget: Some(budget.clone()) }
    }

    /// Records calls that are in the spool.
    pub(super) fn spooled(&self, budget: &Budget, calls: u64) {
        self.shard(budget).entry(budget.clone()).or_default().spooled += calls;
    }

    /// Records that a call left the spool; it counts if it has a sequence.
    pub(super) fn unspooled(&self, budget: &Budget, sequence: Option<u64>) {
        let mut shard = self.shard(budget);
        if let Some(unconfirmed) = shard.get_mut(budget) {
            unconfirmed.spooled = unconfirmed.spooled.saturating_sub(1);
            unconfirmed.counted.extend(sequence.map(|sequence| (sequence, Instant::now())));
            if unconfirmed.is_settled() {
                shard.remove(budget);
            }
        }
    }

    fn shard(
        &self,
        budget: &Budget,
    ) -> MutexGuard<'_, HashMap<Budget, Unconfirmed, foldhash::fast::FixedState>> {
        let hash = self.hasher.hash_one(budget.key_id);
        // The upper half: the map itself takes the lower bits.
        let index = (hash >> 32) as usize % SHARDS;
        self.shards[index].lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Unconfirmed {
    fn used(&mut self, counted: Counted) -> u64 {
        self.forget_old();
        self.counted.retain(|(sequence, _)| *sequence > counted.through);
        counted.used + self.counted.len() as u64 + self.spooled
    }

    fn forget_old(&mut self) {
        while self.counted.front().is_some_and(|(_, at)| at.elapsed() > RETENTION) {
            self.counted.pop_front();
        }
    }

    fn is_settled(&self) -> bool {
        self.counted.is_empty() && self.spooled == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn budget(key: &str) -> Budget {
        Budget {
            key_id: key.parse().unwrap(),
            tier: Arc::new("free".parse().unwrap()),
            month: "2026-11".parse().unwrap(),
        }
    }

    #[test]
    fn a_call_counts_once_whether_the_counters_have_seen_it_or_not() {
        let (unconfirmed, budget) = (UnconfirmedUsage::default(), budget("Ab3dEf9h"));
        let seen = |used, through| Counted { used, through };
        assert_eq!(unconfirmed.used(&budget, seen(7, 40)), 7);
        for sequence in [41, 43, 42] {
            unconfirmed.counted(&budget, sequence);
        }
        assert_eq!(unconfirmed.used(&budget, seen(7, 40)), 10);
        assert_eq!(unconfirmed.used(&budget, seen(9, 42)), 10);
        assert_eq!(unconfirmed.used(&budget, seen(10, 43)), 10);
        assert!(unconfirmed.shard(&budget).is_empty(), "nothing is kept of what the counters know");
    }

    #[test]
    fn the_spool_accepts_only_the_remaining_quota() {
        let (unconfirmed, budget) = (Arc::new(UnconfirmedUsage::default()), budget("Ab3dEf9h"));
        let counted = Counted { used: 197, through: 9 };
        unconfirmed.counted(&budget, 10);
        let taken: Vec<Reservation> =
            (0..5).filter_map(|_| unconfirmed.reserve(&budget, counted, 200)).collect();
        assert_eq!((taken.len(), unconfirmed.used(&budget, counted)), (2, 200));
        taken.into_iter().for_each(Reservation::keep);
        assert_eq!(unconfirmed.usage(&budget, counted), Usage { counted: 198, spooled: 2 });
        unconfirmed.unspooled(&budget, Some(11));
        unconfirmed.unspooled(&budget, None);
        assert_eq!(
            unconfirmed.used(&budget, counted),
            199,
            "one was counted by NATS, one turned out to be over the quota"
        );
    }

    #[test]
    fn a_reservation_that_is_dropped_is_given_back() {
        let (unconfirmed, budget) = (Arc::new(UnconfirmedUsage::default()), budget("Ab3dEf9h"));
        let counted = Counted { used: 199, through: 9 };
        let reserved = unconfirmed.reserve(&budget, counted, 200).unwrap();
        assert!(unconfirmed.reserve(&budget, counted, 200).is_none());
        drop(reserved);
        let reserved = unconfirmed.reserve(&budget, counted, 200).unwrap();
        drop((reserved, unconfirmed.take(&budget)));
        assert!(unconfirmed.shard(&budget).is_empty());
    }

    #[test]
    fn budgets_do_not_touch_each_other() {
        let unconfirmed = UnconfirmedUsage::default();
        let (one, other) = (budget("Ab3dEf9h"), budget("Ab3dEf9i"));
        unconfirmed.counted(&one, 1);
        let next = Budget { month: one.month.next(), ..one.clone() };
        for budget in [&other, &next] {
            assert_eq!(unconfirmed.used(budget, Counted { used: 0, through: 0 }), 0);
        }
        assert_eq!(unconfirmed.used(&one, Counted { used: 0, through: 0 }), 1);
    }
}
