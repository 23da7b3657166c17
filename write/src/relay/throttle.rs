//! Throttles the relay during a bulk load: readers see the imported events a little later, and the import ends sooner.

use std::time::{Duration, Instant};

use bulk_load::{BULK_RATE, BulkLoadDetector, Lag, LagTimer};
use event_log::{EventLog, StoreError};
use schemas::ids::Position;
use tokio::time::sleep;

/// A relay with at most this lag, in events, counts as caught up.
const CAUGHT_UP_LAG: u64 = 2_000;

/// The interval over which growth is measured: several commits of an import, which are thousands of lines each.
const INTERVAL: Duration = Duration::from_millis(300);

/// How long the relay waits after each page during a bulk load.
const WAIT: Duration = Duration::from_secs(1);

/// How often it checks meanwhile whether the bulk load is over.
const HEAD_INTERVAL: Duration = Duration::from_millis(100);

/// The longest time that it may lag. Then it does not wait until it has caught up.
const MAX_LAG_TIME: Duration = Duration::from_secs(10);

#[derive(Debug)]
pub(super) struct Throttle {
    bulk_load: BulkLoadDetector,
    lag: LagTimer,
}

impl Default for Throttle {
    fn default() -> Throttle {
        Throttle {
            bulk_load: BulkLoadDetector::new(INTERVAL),
            lag: LagTimer::new(CAUGHT_UP_LAG, MAX_LAG_TIME),
        }
    }
}

impl Throttle {
    /// Returns whether the relay should wait, now that the events up to `published` are published.
    pub(super) async fn should_wait(
        &mut self,
        log: &EventLog,
        published: Position,
    ) -> Result<bool, StoreError> {
        Ok(self.should_wait_at(Instant::now(), published, log.head().await?.position))
    }

    /// Waits for a while if it should.
    pub(super) async fn wait(&mut self, log: &EventLog, published: Position) -> Result<(), StoreError> {
        let until = Instant::now() + WAIT;
        while Instant::now() < until && self.should_wait(log, published).await? {
            sleep(HEAD_INTERVAL).await;
        }
        Ok(())
    }

    fn should_wait_at(&mut self, now: Instant, published: Position, head: Position) -> bool {
        let is_bulk_load = self.bulk_load.observe(now, head.0, BULK_RATE) == Some(true);
        let lag = self.lag.observe(now, head.0.saturating_sub(published.0));
        is_bulk_load && lag == Lag::Tolerated
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_relay_is_throttled_until_it_lags_for_ten_seconds() {
        let (began, mut throttle) = (Instant::now(), Throttle::default());
        let mut should_wait_at = |seconds: u64, published: u64, head: u64| {
            throttle.should_wait_at(began + Duration::from_secs(seconds), Position(published), Position(head))
        };
        assert!(!should_wait_at(0, 0, 0));
        assert!(should_wait_at(1, 0, 10_000));
        assert!(should_wait_at(10, 0, 100_000));
        assert!(!should_wait_at(11, 0, 110_000));
        assert!(!should_wait_at(12, 60_000, 120_000));
        assert!(!should_wait_at(13, 128_000, 130_000));
        assert!(should_wait_at(14, 130_000, 140_000));
        assert!(!should_wait_at(15, 131_000, 140_000), "nothing more came");
    }
}
