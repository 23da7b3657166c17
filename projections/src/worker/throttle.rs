//! How long a worker waits between two commits. A commit costs more than an event, so a worker that has caught up gathers
//! some events first. During a bulk load, when events come about as fast as the worker can apply them, it leaves most of the
//! processor to the import, which ends sooner that way; what was put off is applied at full speed afterwards (ADR 24).

use std::time::Duration;

use bulk_load::{BulkLoadDetector, Lag, LagTimer};
use schemas::ids::Position;
use tokio::time::{Instant, sleep};

use crate::source::EventSource;

/// Within this time after a commit, a worker gathers events before the next one; after it, a single edit is visible at once.
const RECENT_COMMIT: Duration = Duration::from_millis(200);
/// How long it gathers.
const GATHER_TIME: Duration = Duration::from_millis(100);
/// A batch of at least this many events may be part of a bulk load.
const BULK_BATCH: usize = 200;
/// A projection with at most this lag, in events, counts as caught up.
const CAUGHT_UP_LAG: u64 = 1_000;
/// How often the head of the log is read during a bulk load.
const HEAD_INTERVAL: Duration = Duration::from_millis(100);
/// During a bulk load, a worker waits this many times as long as its last batch took …
const WAIT_FACTOR: u32 = 9;
/// … but no longer than this, so that readers see progress …
const MAX_WAIT: Duration = Duration::from_secs(5);
/// … and only until it has lagged for this long. Then it does not wait until it has caught up.
const MAX_LAG_TIME: Duration = Duration::from_secs(10);

/// A bulk load adds events at least at this share of the rate at which the worker applies them.
const BULK_SHARE: f64 = 0.5;

#[derive(Debug)]
pub(crate) struct Throttle {
    last: Option<Batch>,
    bulk_load: BulkLoadDetector,
    lag: LagTimer,
}

impl Default for Throttle {
    fn default() -> Throttle {
        Throttle {
            last: None,
            bulk_load: BulkLoadDetector::new(HEAD_INTERVAL),
            lag: LagTimer::new(CAUGHT_UP_LAG, MAX_LAG_TIME),
        }
    }
}

/// The last batch that was committed.
#[derive(Debug, Clone, Copy)]
struct Batch {
    at: Instant,
    took: Duration,
    events: usize,
}

impl Throttle {
    /// Records that a batch of this many events, begun at `began`, is committed now.
    pub(crate) fn committed(&mut self, began: Instant, events: usize) {
        let at = Instant::now();
        self.last = Some(Batch { at, took: at - began, events });
    }

    /// Waits until the next commit is due; `position` is the last event that was applied.
    pub(crate) async fn wait(&mut self, source: &EventSource, position: Position) {
        let Some(last) = self.last.filter(|last| last.at.elapsed() < RECENT_COMMIT) else { return };
        if last.events < BULK_BATCH {
            self.lag.reset();
            return sleep(GATHER_TIME).await;
        }
        let until = last.at + (last.took * WAIT_FACTOR).clamp(GATHER_TIME, MAX_WAIT);
        while Instant::now() < until
            && let Ok(head) = source.stream_head().await
            && self.should_wait(last, position, Instant::now(), head)
        {
            sleep(HEAD_INTERVAL).await;
        }
    }

    /// Returns whether to wait after the batch `last`, now that the log ends at `head`.
    fn should_wait(&mut self, last: Batch, position: Position, now: Instant, head: Position) -> bool {
        let now = now.into_std();
        let rate = BULK_SHARE * last.events as f64 / last.took.as_secs_f64();
        // The rate is known from the second reading on.
        let is_bulk_load = self.bulk_load.observe(now, head.0, rate).unwrap_or(true);
        is_bulk_load && self.lag.observe(now, head.0.saturating_sub(position.0)) != Lag::Exceeded
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads the head of a log every `milliseconds`, which grows by `grows` events between two readings, and returns for each
    /// reading whether a worker at `position` waits. Its last batch had 1,000 events and took 100 ms.
    fn waits(milliseconds: u64, grows: u64, position: u64, count: u32) -> Vec<bool> {
        let began = Instant::now();
        let last = Batch { at: began, took: Duration::from_millis(100), events: 1_000 };
        let mut throttle = Throttle::default();
        (0..count)
            .map(|reading| {
                let now = began + Duration::from_millis(milliseconds) * reading;
                let head = Position(5_000 + grows * u64::from(reading));
                throttle.should_wait(last, Position(position), now, head)
            })
            .collect()
    }

    #[test]
    fn events_that_come_half_as_fast_as_they_are_applied_are_a_bulk_load() {
        assert_eq!(waits(200, 1_000, 0, 4), [true, true, true, true]);
        assert_eq!(waits(200, 999, 0, 4), [true, false, false, false]);
        assert_eq!(waits(200, 0, 0, 4), [true, false, false, false]);
    }

    #[test]
    fn a_lagging_worker_is_throttled_for_ten_seconds() {
        let waits = waits(1_000, 20_000, 0, 15);
        assert_eq!(waits.iter().take_while(|waits| **waits).count(), 10);
        assert!(waits[10..].iter().all(|waits| !waits), "{waits:?}");
    }

    #[test]
    fn the_ten_seconds_begin_again_once_the_worker_has_caught_up() {
        let began = Instant::now();
        let last = Batch { at: began, took: Duration::from_millis(100), events: 1_000 };
        let mut throttle = Throttle::default();
        let mut waits = |seconds: u64, position: u64, head: u64| {
            throttle.should_wait(
                last,
                Position(position),
                began + Duration::from_secs(seconds),
                Position(head),
            )
        };
        assert!(waits(0, 0, 50_000));
        assert!(!waits(10, 0, 150_000));
        assert!(waits(11, 159_000, 160_000));
        assert!(waits(20, 159_000, 250_000));
        assert!(!waits(30, 159_000, 350_000));
    }
}
