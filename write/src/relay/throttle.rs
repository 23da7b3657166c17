//! Throttles the relay during a bulk load: readers see the imported events a little later, and the import ends sooner.

use std::time::{Duration, Instant};

use event_log::bulk_load::BulkLoadDetector;
use event_log::{EventLog, StoreError};
use schemas::ids::Position;
use tokio::time::sleep;

/// A relay with at most this lag, in events, counts as caught up.
const CAUGHT_UP: u64 = 2_000;

/// How long it rests after each page.
const REST: Duration = Duration::from_secs(1);

/// How often it checks meanwhile whether the bulk load is over.
const LOOK: Duration = Duration::from_millis(100);

/// The longest time that it may lag. Then it goes on without a rest until it has caught up.
const PATIENCE: Duration = Duration::from_secs(10);

/// When a relay rests.
#[derive(Debug, Default)]
pub(super) struct Throttle {
    bulk_load: BulkLoadDetector,
    /// Since when it lags.
    lagging: Option<Instant>,
}

impl Throttle {
    /// Returns whether a rest is due, now that events up to this one are published.
    pub(super) async fn is_due(&mut self, store: &EventLog, published: Position) -> Result<bool, StoreError> {
        Ok(self.judge(Instant::now(), published, store.head().await?.position))
    }

    /// Rests for a while, if that is due.
    pub(super) async fn rest(&mut self, store: &EventLog, published: Position) -> Result<(), StoreError> {
        let until = Instant::now() + REST;
        while Instant::now() < until && self.is_due(store, published).await? {
            sleep(LOOK).await;
        }
        Ok(())
    }

    fn judge(&mut self, now: Instant, published: Position, head: Position) -> bool {
        let is_bulk_load = self.bulk_load.observe(now, head);
        if head.0.saturating_sub(published.0) <= CAUGHT_UP {
            self.lagging = None;
            return false;
        }
        is_bulk_load && now - *self.lagging.get_or_insert(now) < PATIENCE
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bulk_load_goes_first_until_the_relay_lags_for_ten_seconds() {
        let (began, mut throttle) = (Instant::now(), Throttle::default());
        let mut judge = |seconds: u64, published: u64, head: u64| {
            throttle.judge(began + Duration::from_secs(seconds), Position(published), Position(head))
        };
        assert!(!judge(0, 0, 0));
        assert!(judge(1, 0, 10_000));
        assert!(judge(10, 0, 100_000));
        assert!(!judge(11, 0, 110_000));
        assert!(!judge(12, 60_000, 120_000));
        assert!(!judge(13, 128_000, 130_000));
        assert!(judge(14, 130_000, 140_000));
        assert!(!judge(15, 131_000, 140_000), "nothing more came");
    }
}
