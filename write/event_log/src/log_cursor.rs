//! Reads the log from its start, for workers of the write side that keep no checkpoint: what they have done is in the log.

use std::sync::Arc;
use std::time::{Duration, Instant};

use bulk_load::{BULK_RATE, BulkLoadDetector};
use schemas::envelope::Recorded;
use schemas::ids::Position;
use tokio::time::sleep;

use crate::{EventLog, StoreError};

/// The number of events read at once.
const PAGE: usize = 1_000;

/// With at most this lag, events are read during a bulk load too.
const SMALL_LAG: u64 = 800;

/// The interval over which growth is measured: several commits of an import, which are thousands of lines each.
const INTERVAL: Duration = Duration::from_millis(300);

/// How often a bulk load is checked for its end.
const THROTTLE: Duration = Duration::from_millis(200);

const RETRY_DELAY: Duration = Duration::from_secs(1);

/// A position in the log that moves with the events read.
pub struct LogCursor {
    store: Arc<EventLog>,
    after: Position,
    bulk_load: BulkLoadDetector,
    failing: bool,
}

impl LogCursor {
    /// Returns a cursor before the first event.
    pub fn new(store: Arc<EventLog>) -> LogCursor {
        LogCursor {
            store,
            after: Position::START,
            bulk_load: BulkLoadDetector::new(INTERVAL),
            failing: false,
        }
    }

    /// Applies every event up to the end of the log. Waits during a bulk load, which reading would delay, and then as long again, so
    /// that projections catch up first.
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
            let is_bulk_load = self.bulk_load.observe(now, head.0, BULK_RATE) == Some(true);
            let is_bulk_load = is_bulk_load || self.bulk_load.is_recent(now);
            if head.0.saturating_sub(self.after.0) <= SMALL_LAG || !is_bulk_load {
                return;
            }
            sleep(THROTTLE).await;
        }
    }

    /// Returns the next events; empty at the end of the log.
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

    /// Waits for the next event at the end of the log.
    pub async fn wait(&mut self) {
        if let Err(error) = self.store.wait_beyond(self.after).await {
            self.wait_after(error).await;
        }
    }

    /// Waits after a failure, and logs the first of several in a row.
    async fn wait_after(&mut self, error: StoreError) {
        if !std::mem::replace(&mut self.failing, true) {
            tracing::warn!(%error, "a worker cannot read the log; it tries again");
        }
        sleep(RETRY_DELAY).await;
    }
}
