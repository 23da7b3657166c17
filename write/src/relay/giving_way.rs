//! How the relay gives way to an import: readers see what it writes behind it, as they would anyway once it takes all
//! processors, and it is done the sooner.

use std::time::{Duration, Instant};

use schemas::ids::Position;
use tokio::time::sleep;

use crate::event_log::{EventLog, StoreError};
use crate::flood::Flood;

/// Whoever is no further behind than this is level with the log.
const LEVEL: u64 = 2_000;

/// How long it rests behind each page.
const REST: Duration = Duration::from_secs(1);

/// How often it looks meanwhile whether the flood is over.
const LOOK: Duration = Duration::from_millis(100);

/// For how long it may be behind. Then it goes on without a rest until it is level.
const PATIENCE: Duration = Duration::from_secs(10);

/// The rests of a relay.
#[derive(Debug, Default)]
pub(super) struct GivingWay {
    flood: Flood,
    /// Since when it is not level with the log.
    behind: Option<Instant>,
}

impl GivingWay {
    /// Whether others go first, now that events up to this one are carried.
    pub(super) async fn is_due(&mut self, store: &EventLog, carried: Position) -> Result<bool, StoreError> {
        Ok(self.judge(Instant::now(), carried, store.head().await?.position))
    }

    /// Lets others go first for a while, if that is due.
    pub(super) async fn rest(&mut self, store: &EventLog, carried: Position) -> Result<(), StoreError> {
        let until = Instant::now() + REST;
        while Instant::now() < until && self.is_due(store, carried).await? {
            sleep(LOOK).await;
        }
        Ok(())
    }

    fn judge(&mut self, now: Instant, carried: Position, head: Position) -> bool {
        let rises = self.flood.rises(now, head);
        if head.0.saturating_sub(carried.0) <= LEVEL {
            self.behind = None;
            return false;
        }
        rises && now - *self.behind.get_or_insert(now) < PATIENCE
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flood_goes_first_until_the_relay_is_ten_seconds_behind() {
        let (began, mut giving_way) = (Instant::now(), GivingWay::default());
        let mut judge = |seconds: u64, carried: u64, head: u64| {
            giving_way.judge(began + Duration::from_secs(seconds), Position(carried), Position(head))
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
