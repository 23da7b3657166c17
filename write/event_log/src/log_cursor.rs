//! Reads the log from its start, for workers of the write side that keep no checkpoint: what they have done is in the log
//! itself.

use std::sync::Arc;
use std::time::{Duration, Instant};

use schemas::envelope::Recorded;
use schemas::ids::Position;
use tokio::time::sleep;

use crate::bulk_load::BulkLoadDetector;
use crate::{EventLog, StoreError};

/// Events read at once.
const PAGE: usize = 1_000;

/// At most this many events are read during a bulk load too.
const FEW: u64 = 800;

/// How long to wait during a bulk load before the next look.
const THROTTLE: Duration = Duration::from_millis(200);

/// How long to wait before a store that cannot be read is tried again.
const PAUSE: Duration = Duration::from_secs(1);

/// A position in the log, and what reads on from it.
pub struct LogCursor {
    store: Arc<EventLog>,
    after: Position,
    bulk_load: BulkLoadDetector,
    failing: bool,
}

impl LogCursor {
    /// Returns a cursor before the first event.
    pub fn new(store: Arc<EventLog>) -> LogCursor {
        LogCursor { store, after: Position::START, bulk_load: BulkLoadDetector::default(), failing: false }
    }

    /// Applies every event up to the end of the log. During a bulk load it waits, since reading would delay that, and then as
    /// long again, so that projections catch up first.
    pub async fn catch_up(&mut self, mut apply: impl FnMut(&Recorded)) {
        loop {
            self.throttle().await;
            let page = self.page().await;
            if page.is_empty() {
                return;
            }
            page.iter().for_each(&mut apply);
        }
    }

    async fn throttle(&mut self) {
        loop {
            let head = match self.store.head().await {
                Ok(head) => head.position,
                Err(error) => return self.wait_after(error).await,
            };
            let now = Instant::now();
            let is_bulk_load = self.bulk_load.observe(now, head) || self.bulk_load.is_recent(now);
            if head.0.saturating_sub(self.after.0) <= FEW || !is_bulk_load {
                return;
            }
            sleep(THROTTLE).await;
        }
    }

    /// Returns the next events; none at the end of the log.
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
    pub async fn wait(&mut self) {
        if let Err(error) = self.store.wait_beyond(self.after).await {
            self.wait_after(error).await;
        }
    }

    /// Waits after a failure, and logs the first of several.
    async fn wait_after(&mut self, error: StoreError) {
        if !std::mem::replace(&mut self.failing, true) {
            tracing::warn!(%error, "a worker cannot read the log; it tries again");
        }
        sleep(PAUSE).await;
    }
}
