//! Detects a bulk load of a log, such as an import, from how fast the log grows, and bounds for how long the followers of the
//! log are throttled meanwhile: on a machine with few cores they would delay the end of the import (ADR 24).
//!
//! The relay and the workers of the write side use it, and the projection workers of a read node. It holds no clock: every
//! function takes the time, so that tests need not wait.
//!
//! ```
//! use std::time::{Duration, Instant};
//! use bulk_load::{BULK_RATE, BulkLoadDetector};
//!
//! let began = Instant::now();
//! let mut detector = BulkLoadDetector::new(Duration::from_millis(300));
//! assert_eq!(detector.observe(began, 0, BULK_RATE), None);
//! assert_eq!(detector.observe(began + Duration::from_secs(1), 10_000, BULK_RATE), Some(true));
//! ```

use std::time::{Duration, Instant};

/// The number of new events a second from which on the write side counts growth as a bulk load. Its own workers record
/// fewer.
pub const BULK_RATE: f64 = 4_000.0;

/// The maximum time that projections have to catch up after a bulk load; they have as long as it took.
const RECOVERY: Duration = Duration::from_secs(30);

/// Observes the head of one log.
#[derive(Debug)]
pub struct BulkLoadDetector {
    /// The time over which growth is measured, at least.
    interval: Duration,
    /// When the last interval began, and the head then.
    last: Option<(Instant, u64)>,
    /// Whether the log grew as in a bulk load during the last complete interval.
    is_bulk_load: Option<bool>,
    /// When the current bulk load began.
    since: Option<Instant>,
    /// When projections will have had as long as the last bulk load took.
    recovered: Option<Instant>,
}

impl BulkLoadDetector {
    /// Returns a detector that measures growth over at least this interval, which should contain several commits.
    pub fn new(interval: Duration) -> BulkLoadDetector {
        BulkLoadDetector { interval, last: None, is_bulk_load: None, since: None, recovered: None }
    }

    /// Records the current head of the log and returns whether it grows by at least `rate` positions a second; `None` before
    /// the first interval is over.
    pub fn observe(&mut self, now: Instant, head: u64, rate: f64) -> Option<bool> {
        let (at, before) = *self.last.get_or_insert((now, head));
        let elapsed = now - at;
        if elapsed >= self.interval {
            self.last = Some((now, head));
            let is_bulk_load = head.saturating_sub(before) as f64 >= rate * elapsed.as_secs_f64();
            self.is_bulk_load = Some(is_bulk_load);
            self.since = is_bulk_load.then(|| self.since.unwrap_or(at));
            if let Some(since) = self.since {
                self.recovered = Some(now + (now - since).min(RECOVERY));
            }
        }
        self.is_bulk_load
    }

    /// Returns whether projections are probably still applying the last bulk load.
    pub fn is_recent(&self, now: Instant) -> bool {
        self.recovered.is_some_and(|recovered| now < recovered)
    }
}

/// For how long a follower of the log lags. One that was throttled for the maximum time runs at full speed until it has caught
/// up.
#[derive(Debug)]
pub struct LagTimer {
    caught_up: u64,
    max: Duration,
    since: Option<Instant>,
}

/// The state of a follower of the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lag {
    /// It has caught up.
    CaughtUp,
    /// It lags, for less than the maximum time.
    Tolerated,
    /// It has lagged for the maximum time.
    Exceeded,
}

impl LagTimer {
    /// Returns a timer for a follower that counts as caught up with at most `caught_up` positions of lag, and may lag for
    /// `max`.
    pub fn new(caught_up: u64, max: Duration) -> LagTimer {
        LagTimer { caught_up, max, since: None }
    }

    /// Records the current lag, in positions.
    pub fn observe(&mut self, now: Instant, lag: u64) -> Lag {
        if lag <= self.caught_up {
            self.since = None;
            return Lag::CaughtUp;
        }
        match now - *self.since.get_or_insert(now) >= self.max {
            true => Lag::Exceeded,
            false => Lag::Tolerated,
        }
    }

    /// Counts the follower as caught up.
    pub fn reset(&mut self) {
        self.since = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bulk_load_and_its_end_are_detected_after_one_interval() {
        let (began, mut detector) = (Instant::now(), BulkLoadDetector::new(Duration::from_millis(300)));
        let mut observe = |milliseconds: u64, head: u64| {
            detector.observe(began + Duration::from_millis(milliseconds), head, 4_000.0)
        };
        assert_eq!(observe(0, 100_000), None);
        assert_eq!(observe(299, 110_000), None);
        assert_eq!(observe(300, 110_000), Some(true));
        assert_eq!(observe(599, 110_000), Some(true));
        assert_eq!(observe(600, 110_000), Some(false));
        // The mean over the whole interval counts.
        assert_eq!(observe(1_600, 113_999), Some(false));
        assert_eq!(observe(2_600, 117_999), Some(true));
    }

    #[test]
    fn a_bulk_load_is_recent_for_as_long_as_it_took() {
        let (began, mut detector) = (Instant::now(), BulkLoadDetector::new(Duration::from_millis(300)));
        let after = |seconds: u64| began + Duration::from_secs(seconds);
        for second in 0..=10 {
            detector.observe(after(second), 10_000 * second, 4_000.0);
        }
        assert_eq!(detector.observe(after(11), 100_000, 4_000.0), Some(false));
        assert!(detector.is_recent(after(19)));
        assert!(!detector.is_recent(after(20)));
        for second in 21..=100 {
            detector.observe(after(second), 10_000 * second, 4_000.0);
        }
        assert!(detector.is_recent(after(129)));
        assert!(!detector.is_recent(after(130)));
    }

    #[test]
    fn a_lag_is_tolerated_for_the_maximum_time_and_again_once_caught_up() {
        let (began, mut timer) = (Instant::now(), LagTimer::new(1_000, Duration::from_secs(10)));
        let mut observe = |seconds: u64, lag: u64| timer.observe(began + Duration::from_secs(seconds), lag);
        assert_eq!(observe(0, 1_001), Lag::Tolerated);
        assert_eq!(observe(9, 50_000), Lag::Tolerated);
        assert_eq!(observe(10, 1_001), Lag::Exceeded);
        assert_eq!(observe(11, 1_000), Lag::CaughtUp);
        assert_eq!(observe(12, 50_000), Lag::Tolerated);
        assert_eq!(observe(22, 50_000), Lag::Exceeded);
    }
}
