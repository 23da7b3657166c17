//! One circuit breaker a tier's stream: a failing stream delays and diverts only the calls of its own tier.
//!
//! A stream that fails may be electing its leader, so calls wait for it at first. Meanwhile one call at a time is published as a probe,
//! and preferably one whose outcome is unknown already: were all of them published, more calls than those under way might count
//! without anybody knowing.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::{Duration, Instant};

use health::{Component, Health};
use schemas::tier::TierName;
use tokio::sync::Notify;

/// While a stream may be electing its leader, one call in this interval is published.
pub(super) const ELECTION_PROBE: Duration = Duration::from_millis(100);
/// While a breaker is open and nothing else probes the stream, one call in this interval is published.
const PROBE: Duration = Duration::from_millis(500);

/// The breakers of all streams.
#[derive(Debug)]
pub(super) struct Breakers {
    by_tier: RwLock<HashMap<TierName, Arc<Breaker>>>,
    began: Instant,
    /// How long calls wait for a stream before its breaker opens.
    grace: Duration,
    /// How long it may fail before the node is not ready.
    grace_period: Duration,
    health: Health,
}

/// What a call may do next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Turn {
    /// It is published: the stream works.
    Publish,
    /// It is published to find out whether the stream works again.
    Probe,
    /// It waits for the stream.
    Wait,
    /// It goes elsewhere: the stream has failed for too long.
    Divert,
}

/// The breaker of one stream. It is closed while the stream accepts calls, and opens after it has failed for the grace period.
#[derive(Debug)]
pub(super) struct Breaker {
    began: Instant,
    grace: u64,
    /// The start of the present failure, in milliseconds since `began`; 0 while the stream works.
    since: AtomicU64,
    /// When the next call may be published as a probe.
    next: AtomicU64,
    /// Notified when the stream works again.
    works: Notify,
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
            works: Notify::new(),
            retrying: AtomicUsize::new(0),
            component: self.health.component(format!("metering {tier}")).grace_period(self.grace_period),
        }
    }
}

impl Breaker {
    /// Returns what a call may do next. `is_unknown`: it was published, and its outcome is unknown. `is_probed`: calls from the spool
    /// probe the stream, so that no live call has to.
    pub(super) fn turn(&self, is_unknown: bool, is_probed: impl FnOnce() -> bool) -> Turn {
        self.turn_at(self.now(), is_unknown, is_probed)
    }

    fn turn_at(&self, now: u64, is_unknown: bool, is_probed: impl FnOnce() -> bool) -> Turn {
        let since = self.since.load(Ordering::Relaxed);
        if since == 0 {
            return Turn::Publish;
        }
        let is_open = now >= since + self.grace;
        let (interval, otherwise) =
            if is_open { (PROBE, Turn::Divert) } else { (ELECTION_PROBE, Turn::Wait) };
        let next = self.next.load(Ordering::Relaxed);
        let may_probe = now >= next
            && (is_unknown || self.retrying.load(Ordering::Relaxed) == 0)
            && !(is_open && is_probed())
            && self
                .next
                .compare_exchange(next, now + millis(interval), Ordering::Relaxed, Ordering::Relaxed)
                .is_ok();
        if may_probe { Turn::Probe } else { otherwise }
    }

    /// Waits until the stream works again, no longer than until a call may be due as a probe.
    pub(super) async fn wait(&self) {
        // Whether it works or the time is up, the caller takes its next turn.
        let _works = tokio::time::timeout(ELECTION_PROBE, self.works.notified()).await;
    }

    /// Records that the stream did not answer or did not store a call that was published at `began`.
    pub(super) fn failed(&self, began: Instant, reason: &str) {
        let began = 1 + millis(began.saturating_duration_since(self.began));
        self.failed_at(began, self.now(), reason);
    }

    fn failed_at(&self, began: u64, now: u64, reason: &str) {
        if self.since.compare_exchange(0, began, Ordering::Relaxed, Ordering::Relaxed).is_ok() {
            let interval = if self.grace == 0 { PROBE } else { ELECTION_PROBE };
            self.next.store(now + millis(interval), Ordering::Relaxed);
        }
        self.component.failed(format_args!("calls cannot be counted at present: {reason}"));
    }

    /// Records a definite answer of the stream.
    pub(super) fn succeeded(&self) {
        // Nearly always 0: a plain read does not contend for the cache line.
        if self.since.load(Ordering::Relaxed) != 0 && self.since.swap(0, Ordering::Relaxed) != 0 {
            self.component.recovered();
            self.works.notify_waiters();
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

    /// The times from `from` to `to` at which a call is published, of those that ask every 100 ms, and what the others do.
    fn published(
        breaker: &Breaker,
        (from, to): (u64, u64),
        is_unknown: bool,
        is_probed: bool,
    ) -> (Vec<u64>, Vec<Turn>) {
        let turns = (from..to).step_by(100).map(|now| (now, breaker.turn_at(now, is_unknown, || is_probed)));
        let (published, others): (Vec<_>, Vec<_>) =
            turns.partition(|(_, turn)| matches!(turn, Turn::Publish | Turn::Probe));
        let mut others: Vec<Turn> = others.into_iter().map(|(_, turn)| turn).collect();
        others.dedup();
        (published.into_iter().map(|(now, _)| now).collect(), others)
    }

    #[test]
    fn calls_wait_for_an_election_and_are_diverted_after_it() {
        let (breakers, health) = breakers(2_000);
        let breaker = breakers.of(&tier("free"));
        assert_eq!(breaker.turn_at(100, false, || false), Turn::Publish);
        breaker.failed_at(1_000, 1_300, "no leader");
        breaker.failed_at(1_350, 1_390, "no leader");
        assert_eq!(published(&breaker, (1_350, 1_450), false, false), (vec![], vec![Turn::Wait]));
        assert_eq!(
            published(&breaker, (1_450, 2_950), false, true).0.len(),
            15,
            "one call at a time, since the spool is empty or waits too"
        );
        assert_eq!(breaker.turn_at(2_940, false, || false), Turn::Wait, "of two at a time, one waits");
        assert_eq!(
            published(&breaker, (3_100, 4_700), false, false),
            (vec![3_100, 3_600, 4_100, 4_600], vec![Turn::Divert])
        );
        let spool_probes = published(&breaker, (5_100, 9_000), false, true);
        assert_eq!(spool_probes, (vec![], vec![Turn::Divert]), "calls in the spool find out that it is back");
        let guard = breaker.retrying();
        assert_eq!(
            published(&breaker, (9_000, 9_900), false, false),
            (vec![], vec![Turn::Divert]),
            "and so does a call under way"
        );
        assert_eq!(published(&breaker, (9_900, 10_100), true, false), (vec![9_900], vec![Turn::Divert]));
        drop(guard);
        assert_eq!(published(&breaker, (10_400, 10_500), false, false).0, [10_400]);
        assert_eq!(health.failing().len(), 1);
        breaker.succeeded();
        assert_eq!(breaker.turn_at(10_500, false, || true), Turn::Publish);
        assert_eq!(health.failing().len(), 0);
    }

    #[test]
    fn during_an_election_only_calls_of_unknown_outcome_are_published_again() {
        let (breakers, _) = breakers(9_500);
        let breaker = breakers.of(&tier("free"));
        breaker.failed_at(1_000, 1_500, "no answer came");
        let _guard = breaker.retrying();
        assert_eq!(published(&breaker, (1_600, 10_000), false, false), (vec![], vec![Turn::Wait]));
        assert_eq!(published(&breaker, (10_000, 10_300), true, false).0, [10_000, 10_100, 10_200]);
    }

    #[tokio::test]
    async fn waiting_calls_are_woken_when_the_stream_works() {
        let (breakers, _) = breakers(9_500);
        let breaker = breakers.of(&tier("free"));
        breaker.failed(Instant::now(), "no leader");
        let works = breaker.works.notified();
        breaker.succeeded();
        works.await;
        breaker.wait().await;
        assert_eq!(breaker.turn(false, || false), Turn::Publish);
    }

    #[test]
    fn without_a_grace_period_the_first_failure_opens_the_breaker() {
        let (breakers, health) = breakers(0);
        let breaker = breakers.of(&tier("free"));
        breaker.failed_at(90, 100, "it does not answer");
        assert!((100..600).all(|now| breaker.turn_at(now, false, || false) == Turn::Divert));
        assert_eq!(breaker.turn_at(600, false, || false), Turn::Probe);
        let reason = health.not_ready().unwrap();
        assert!(reason.starts_with("metering free has failed for 0 s: calls cannot be counted"), "{reason}");
    }

    #[test]
    fn breakers_are_independent() {
        let (breakers, _) = breakers(0);
        breakers.of(&tier("studio")).failed_at(100, 100, "no leader");
        assert_eq!(breakers.of(&tier("studio")).turn_at(101, false, || false), Turn::Divert);
        assert_eq!(breakers.of(&tier("free")).turn_at(101, false, || false), Turn::Publish);
    }
}
