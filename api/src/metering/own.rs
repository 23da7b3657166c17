//! The calls of this node that the counters have not seen yet, so that what is left is right from the answer on.

use std::collections::{HashMap, VecDeque};
use std::hash::BuildHasher;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use read::counters::Counted;

use super::Budget;

/// Threads that count calls of different keys seldom meet.
const SHARDS: usize = 16;
/// The counters follow within a fraction of a second; behind this, something else made them go backwards.
const FORGOTTEN: Duration = Duration::from_secs(60);
/// So many budgets in one shard are looked through for what can go.
const MANY: usize = 4_096;

#[derive(Debug, Default)]
pub(super) struct OwnCalls {
    shards: [Mutex<HashMap<Budget, Own, foldhash::fast::FixedState>>; SHARDS],
    hasher: foldhash::fast::FixedState,
}

/// Of one budget.
#[derive(Debug, Default)]
struct Own {
    /// Sequences in the tier's stream, ascending but for a few that overtook each other, and when they came.
    counted: VecDeque<(u64, Instant)>,
    /// Calls in the spool.
    spooled: u64,
}

/// A call that is taken out of its budget before it is counted. It is given back when this is dropped, so that a request
/// which ends half way leaves nothing behind.
#[derive(Debug)]
pub(super) struct Reservation {
    own: Arc<OwnCalls>,
    budget: Option<Budget>,
}

impl Reservation {
    /// Leaves the call taken: it is in the spool, and [`OwnCalls::unspooled`] will give it back.
    pub(super) fn keep(mut self) {
        self.budget = None;
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        if let Some(budget) = self.budget.take() {
            self.own.unspooled(&budget, None);
        }
    }
}

impl OwnCalls {
    /// What counts against a budget in all. Calls that the counters have seen are forgotten.
    pub(super) fn used(&self, budget: &Budget, counted: Counted) -> u64 {
        let mut shard = self.shard(budget);
        let Some(own) = shard.get_mut(budget) else { return counted.used };
        let used = own.used(counted);
        if own.is_settled() {
            shard.remove(budget);
        }
        used
    }

    /// NATS has counted a call.
    pub(super) fn counted(&self, budget: &Budget, sequence: u64) {
        let mut shard = self.shard(budget);
        if shard.len() >= MANY && !shard.contains_key(budget) {
            shard.retain(|_, own| {
                own.forget_old();
                !own.is_settled()
            });
        }
        shard.entry(budget.clone()).or_default().counted.push_back((sequence, Instant::now()));
    }

    /// Takes one call out of what is left, for the spool; `None` if nothing is left.
    pub(super) fn reserve(
        self: &Arc<Self>,
        budget: &Budget,
        counted: Counted,
        limit: u64,
    ) -> Option<Reservation> {
        let mut shard = self.shard(budget);
        let own = shard.entry(budget.clone()).or_default();
        let is_left = own.used(counted) < limit;
        own.spooled += u64::from(is_left);
        if own.is_settled() {
            shard.remove(budget);
        }
        is_left.then(|| Reservation { own: self.clone(), budget: Some(budget.clone()) })
    }

    /// Takes one call for the spool, whatever is left.
    pub(super) fn take(self: &Arc<Self>, budget: &Budget) -> Reservation {
        self.spooled(budget, 1);
        Reservation { own: self.clone(), budget: Some(budget.clone()) }
    }

    /// Notes calls that are in the spool.
    pub(super) fn spooled(&self, budget: &Budget, calls: u64) {
        self.shard(budget).entry(budget.clone()).or_default().spooled += calls;
    }

    /// A call is no longer in the spool; it counts now if it has a sequence.
    pub(super) fn unspooled(&self, budget: &Budget, sequence: Option<u64>) {
        let mut shard = self.shard(budget);
        if let Some(own) = shard.get_mut(budget) {
            own.spooled = own.spooled.saturating_sub(1);
            own.counted.extend(sequence.map(|sequence| (sequence, Instant::now())));
            if own.is_settled() {
                shard.remove(budget);
            }
        }
    }

    fn shard(&self, budget: &Budget) -> MutexGuard<'_, HashMap<Budget, Own, foldhash::fast::FixedState>> {
        let hash = self.hasher.hash_one(budget.key_id);
        // The upper half: the map itself takes the lower bits.
        let index = (hash >> 32) as usize % SHARDS;
        self.shards[index].lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Own {
    fn used(&mut self, counted: Counted) -> u64 {
        self.forget_old();
        self.counted.retain(|(sequence, _)| *sequence > counted.through);
        counted.used + self.counted.len() as u64 + self.spooled
    }

    fn forget_old(&mut self) {
        while self.counted.front().is_some_and(|(_, at)| at.elapsed() > FORGOTTEN) {
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
        let (own, budget) = (OwnCalls::default(), budget("Ab3dEf9h"));
        let seen = |used, through| Counted { used, through };
        assert_eq!(own.used(&budget, seen(7, 40)), 7);
        for sequence in [41, 43, 42] {
            own.counted(&budget, sequence);
        }
        assert_eq!(own.used(&budget, seen(7, 40)), 10);
        assert_eq!(own.used(&budget, seen(9, 42)), 10);
        assert_eq!(own.used(&budget, seen(10, 43)), 10);
        assert!(own.shard(&budget).is_empty(), "nothing is kept of what the counters know");
    }

    #[test]
    fn the_spool_takes_no_more_than_what_is_left() {
        let (own, budget) = (Arc::new(OwnCalls::default()), budget("Ab3dEf9h"));
        let counted = Counted { used: 197, through: 9 };
        own.counted(&budget, 10);
        let taken: Vec<Reservation> = (0..5).filter_map(|_| own.reserve(&budget, counted, 200)).collect();
        assert_eq!((taken.len(), own.used(&budget, counted)), (2, 200));
        taken.into_iter().for_each(Reservation::keep);
        own.unspooled(&budget, Some(11));
        own.unspooled(&budget, None);
        assert_eq!(
            own.used(&budget, counted),
            199,
            "one was counted by NATS, one turned out to be over the quota"
        );
    }

    #[test]
    fn a_reservation_that_is_dropped_is_given_back() {
        let (own, budget) = (Arc::new(OwnCalls::default()), budget("Ab3dEf9h"));
        let counted = Counted { used: 199, through: 9 };
        let reserved = own.reserve(&budget, counted, 200).unwrap();
        assert!(own.reserve(&budget, counted, 200).is_none());
        drop(reserved);
        let reserved = own.reserve(&budget, counted, 200).unwrap();
        drop((reserved, own.take(&budget)));
        assert!(own.shard(&budget).is_empty());
    }

    #[test]
    fn budgets_do_not_touch_each_other() {
        let own = OwnCalls::default();
        let (one, other) = (budget("Ab3dEf9h"), budget("Ab3dEf9i"));
        own.counted(&one, 1);
        let next = Budget { month: one.month.next(), ..one.clone() };
        for budget in [&other, &next] {
            assert_eq!(own.used(budget, Counted { used: 0, through: 0 }), 0);
        }
        assert_eq!(own.used(&one, Counted { used: 0, through: 0 }), 1);
    }
}
