//! The projection of the keys: all API keys with their tiers.

use std::path::Path;
use std::sync::Arc;

use read::checkpoint::Checkpoint;
use read::error::ModelError;
use read::keys::{KeysReader, KeysWriter};
use schemas::envelope::Recorded;
use schemas::event::Event;

use crate::projection::{KeyEvent, PoisonEvent, Projection};
use crate::source::Sharing;

/// Writes the keys model.
#[derive(Debug)]
pub struct KeysProjection {
    writer: KeysWriter,
}

impl Projection for KeysProjection {
    type Model = KeysReader;
    // A revoked key must be refused at once, even while other models lag.
    const SHARING: Sharing = Sharing::Dedicated;

    type Event = KeyEvent;

    fn select(recorded: &Arc<Recorded>, event: &Arc<Event>) -> Option<KeyEvent> {
        KeyEvent::from_event(recorded, event)
    }

    async fn open(folder: &Path) -> Result<Self, ModelError> {
        Ok(KeysProjection { writer: KeysWriter::open(folder).await? })
    }

    fn checkpoint(&self) -> &Checkpoint {
        self.writer.checkpoint()
    }

    async fn apply(&mut self, batch: Vec<KeyEvent>) -> Result<Vec<PoisonEvent>, ModelError> {
        self.writer.load(batch.iter().map(|event| (event.account, &event.event))).await?;
        let mut poison = Vec::new();
        for event in batch {
            if let Err(reason) = self.writer.apply(&event.recorded, event.account, event.event) {
                poison.push(PoisonEvent::new(&event.recorded, reason));
            }
        }
        Ok(poison)
    }

    async fn commit(&mut self, checkpoint: Checkpoint) -> Result<(), ModelError> {
        self.writer.commit(checkpoint).await
    }
}
