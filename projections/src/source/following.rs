//! One who follows the events, at a pace of its own.

use std::sync::Arc;

use schemas::ids::Position;

use super::SourceError;
use super::arrived::Arrived;
use super::feed::Sharing;
use super::feeds::{Feeds, Place};

/// Follows the stream behind a position; dropping the last follower of a place ends the consumer.
#[derive(Debug)]
pub struct Following {
    feeds: Arc<Feeds>,
    place: Place,
}

impl Following {
    pub(super) fn new(feeds: &Arc<Feeds>, after: Position, sharing: Sharing) -> Following {
        Following { feeds: feeds.clone(), place: feeds.join(after, sharing) }
    }

    /// Waits for at least one event and takes up to `most` of those that are there. Behind an error nothing comes any
    /// more; whoever wants more follows anew.
    pub async fn next(&mut self, most: usize) -> Result<Vec<Arc<Arrived>>, SourceError> {
        let mut batch = Vec::new();
        loop {
            let arrived = self.feeds.arrived().notified();
            self.feeds.take(&mut self.place, most, &mut batch)?;
            if !batch.is_empty() {
                return Ok(batch);
            }
            arrived.await;
        }
    }

    /// Takes what else is there by now, up to `most` in all.
    pub fn more(&mut self, batch: &mut Vec<Arc<Arrived>>, most: usize) -> Result<(), SourceError> {
        match most.saturating_sub(batch.len()) {
            0 => Ok(()),
            most => self.feeds.take(&mut self.place, most, batch),
        }
    }
}

impl Drop for Following {
    fn drop(&mut self) {
        self.feeds.leave(&self.place);
    }
}
