//! Follows the log from its start, for workers of the write side that keep no place of their own: what they have done
//! already stands in the log itself.

use std::sync::Arc;
use std::time::{Duration, Instant};

use schemas::envelope::Recorded;
use schemas::ids::Position;
use tokio::time::sleep;

use crate::event_log::{EventLog, StoreError};
use crate::flood::Flood;

/// Events read at once.
const PAGE: usize = 1_000;

/// So few events are read at once, whatever happens.
const FEW: u64 = 800;

/// How long a flood is let go before the next look.
const STAND_BACK: Duration = Duration::from_millis(200);

/// How long to wait before a store that cannot be read is tried again.
const PAUSE: Duration = Duration::from_secs(1);

/// A place in the log.
pub(crate) struct Follower {
    store: Arc<EventLog>,
    after: Position,
    flood: Flood,
    failing: bool,
}

impl Follower {
    /// Stands before the first event.
    pub(crate) fn new(store: Arc<EventLog>) -> Follower {
        Follower { store, after: Position::START, flood: Flood::default(), failing: false }
    }

    /// Hears everything up to the end of the log. While events come in masses it waits, for what is read beside an import
    /// is read at its cost; and then as long again, for readers wait for what they were told of first.
    pub(crate) async fn hear(&mut self, mut heed: impl FnMut(&Recorded)) {
        loop {
            self.stand_back().await;
            let page = self.page().await;
            if page.is_empty() {
                return;
            }
            page.iter().for_each(&mut heed);
        }
    }

    async fn stand_back(&mut self) {
        loop {
            let head = match self.store.head().await {
                Ok(head) => head.position,
                Err(error) => return self.wait_after(error).await,
            };
            let now = Instant::now();
            let is_flooded = self.flood.rises(now, head) || self.flood.is_recent(now);
            if head.0.saturating_sub(self.after.0) <= FEW || !is_flooded {
                return;
            }
            sleep(STAND_BACK).await;
        }
    }

    /// The next events; none at the end of the log.
    async fn page(&mut self) -> Vec<Recorded> {
        loop {
            match self.store.read_all(self.after, PAGE).await {
                Ok(page) => {
                    self.failing = false;
                    self.after = page.last().map_or(self.after, |last| last.position);
                    return page;
                }
                Err(error) => self.wait_after(error).await,
            }
        }
    }

    /// Waits at the end of the log for more.
    pub(crate) async fn wait(&mut self) {
        if let Err(error) = self.store.wait_beyond(self.after).await {
            self.wait_after(error).await;
        }
    }

    /// Tells a failure once, however often it is met.
    async fn wait_after(&mut self, error: StoreError) {
        if !std::mem::replace(&mut self.failing, true) {
            tracing::warn!(%error, "a worker cannot read the log; it tries again");
        }
        sleep(PAUSE).await;
    }
}
