//! One circuit breaker a tier's stream: a failing stream diverts only the calls of its own tier.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::{Duration, Instant};

use health::{Component, Health};
use schemas::tier::TierName;

/// While a breaker is open and nothing else probes the stream, one call in this interval is published.
const PROBE: Duration = Duration::from_millis(500);

/// The breakers of all streams.
#[derive(Debug)]
pub(super) struct Breakers {
    by_tier: RwLock<HashMap<TierName, Arc<Breaker>>>,
    began: Instant,
    /// How long a stream may fail before its breaker opens.
    grace: Duration,
    /// How long it may fail before the node is not ready.
    grace_period: Duration,
    health: Health,
}

/// The breaker of one stream. It is closed while the stream accepts calls, and opens after it has failed for the grace period.
#[derive(Debug)]
pub(super) struct Breaker {
    began: Instant,
    grace: u64,
    /// The start of the present failure, in milliseconds since `began`; 0 while the stream works.
    since: AtomicU64,
    /// When the next call may be published while the breaker is open.
    next: AtomicU64,
    /// The number of calls that are being published again until their outcome is known.
    retrying: AtomicUsize,
    component: Component,
}

/// Counts a call that is published again until its outcome is known, while this lives.
#[derive(Debug)]
pub(super) struct RetryGuard(Arc<Breaker>);

impl Breakers {
    pub(super) fn new(grace: Duration, grace_period: Duration, health: Health) -> Breakers {
        Breakers { by_tier: RwLock::default(), began: Instant::now(), grace, grace_period, health }
    }

    /// Returns the breaker of a tier's stream.
    pub(super) fn of(&self, tier: &TierName) -> Arc<Breaker> {
        let known = self.by_tier.read().unwrap_or_else(PoisonError::into_inner).get(tier).cloned();
        known.unwrap_or_else(|| {
            let mut by_tier = self.by_tier.write().unwrap_or_else(PoisonError::into_inner);
            by_tier.entry(tier.clone()).or_insert_with(|| Arc::new(self.breaker(tier))).clone()
        })
    }

    fn breaker(&self, tier: &TierName) -> Breaker {
        Breaker {
            began: self.began,
            grace: millis(self.grace),
            since: AtomicU64::new(0),
            next: AtomicU64::new(0),
            retrying: AtomicUsize::new(0),
            component: self.health.component(format!("metering {tier}")).grace_period(self.grace_period),
        }
    }
}

impl Breaker {
    /// Returns whether a call may be published. `is_probed`: calls from the spool probe the stream, so that no live call has to.
    pub(super) fn may_publish(&self, is_probed: impl FnOnce() -> bool) -> bool {
        self.may_publish_at(self.now(), is_probed)
    }

    fn may_publish_at(&self, now: u64, is_probed: impl FnOnce() -> bool) -> bool {
        let since = self.since.load(Ordering::Relaxed);
        if since == 0 || now < since + self.grace {
            return true;
        }
        let next = self.next.load(Ordering::Relaxed);
        now >= next
            && self.retrying.load(Ordering::Relaxed) == 0
            && !is_probed()
            && self
                .next
                .compare_exchange(next, now + millis(PROBE), Ordering::Relaxed, Ordering::Relaxed)
                .is_ok()
    }

    /// Records that the stream did not answer or did not store a call.
    pub(super) fn failed(&self, reason: &str) {
        self.failed_at(self.now(), reason);
    }

    fn failed_at(&self, now: u64, reason: &str) {
        if self.since.compare_exchange(0, now, Ordering::Relaxed, Ordering::Relaxed).is_ok() {
            self.next.store(now + self.grace + millis(PROBE), Ordering::Relaxed);
        }
        self.component.failed(format_args!("calls cannot be counted at present: {reason}"));
    }

    /// Records a definite answer of the stream.
    pub(super) fn succeeded(&self) {
        // Nearly always 0: a plain read does not contend for the cache line.
        if self.since.load(Ordering::Relaxed) != 0 && self.since.swap(0, Ordering::Relaxed) != 0 {
            self.component.recovered();
        }
    }

    /// Returns a guard that counts a call as published again until its outcome is known.
    pub(super) fn retrying(self: &Arc<Self>) -> RetryGuard {
        self.retrying.fetch_add(1, Ordering::Relaxed);
        RetryGuard(self.clone())
    }

    /// Returns the milliseconds since the start, never 0.
    fn now(&self) -> u64 {
        1 + millis(self.began.elapsed())
    }
}

impl Drop for RetryGuard {
    fn drop(&mut self) {
        self.0.retrying.fetch_sub(1, Ordering::Relaxed);
    }
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn breakers(grace: u64) -> (Breakers, Health) {
        let health = Health::default();
        (Breakers::new(Duration::from_millis(grace), Duration::ZERO, health.clone()), health)
    }

    fn tier(name: &str) -> TierName {
        name.parse().unwrap()
    }

    #[test]
    fn calls_are_published_during_the_grace_period_and_then_as_probes() {
        let (breakers, health) = breakers(2_000);
        let breaker = breakers.of(&tier("free"));
        let published = |from: u64, to: u64, probed: bool| -> Vec<u64> {
            (from..to).step_by(100).filter(|now| breaker.may_publish_at(*now, || probed)).collect()
        };
        assert_eq!(published(100, 400, false).len(), 3);
        breaker.failed_at(1_000, "no leader");
        breaker.failed_at(1_500, "no leader");
        assert_eq!(published(1_000, 3_000, false).len(), 20, "an election is waited for");
        assert_eq!(published(3_000, 4_600, false), [3_500, 4_000, 4_500]);
        assert_eq!(published(5_000, 9_000, true), [0; 0], "calls in the spool find out that it is back");
        let guard = breaker.retrying();
        assert_eq!(published(9_000, 9_900, false), [0; 0], "and so does a call under way");
        drop(guard);
        assert_eq!(published(10_000, 10_100, false), [10_000]);
        assert_eq!(health.failing().len(), 1);
        breaker.succeeded();
        assert_eq!((published(10_100, 10_400, false).len(), health.failing().len()), (3, 0));
    }

    #[test]
    fn without_a_grace_period_the_first_failure_opens_the_breaker() {
        let (breakers, health) = breakers(0);
        let breaker = breakers.of(&tier("free"));
        breaker.failed_at(100, "it does not answer");
        assert!((100..600).all(|now| !breaker.may_publish_at(now, || false)));
        assert!(breaker.may_publish_at(600, || false));
        let reason = health.not_ready().unwrap();
        assert!(reason.starts_with("metering free has failed for 0 s: calls cannot be counted"), "{reason}");
    }

    #[test]
    fn breakers_are_independent() {
        let (breakers, _) = breakers(0);
        breakers.of(&tier("studio")).failed_at(100, "no leader");
        assert!(!breakers.of(&tier("studio")).may_publish_at(101, || false));
        assert!(breakers.of(&tier("free")).may_publish_at(101, || false));
    }
}
