//! The projection of the keys: which there are, and what each may call.

use std::path::Path;
use std::sync::Arc;

use read::checkpoint::Checkpoint;
use read::error::ModelError;
use read::keys::{KeysReader, KeysWriter};
use schemas::envelope::Recorded;
use schemas::event::Event;

use crate::projection::{KeyEvent, Projection, Refused};
use crate::source::Sharing;

/// Keeps the keys model.
#[derive(Debug)]
pub struct KeysProjection {
    writer: KeysWriter,
}

impl Projection for KeysProjection {
    type Model = KeysReader;
    // A revoked key is refused at once, whatever the other models do.
    const SHARING: Sharing = Sharing::Apart;

    type Event = KeyEvent;

    fn select(recorded: &Arc<Recorded>, event: &Arc<Event>) -> Option<KeyEvent> {
        KeyEvent::of(recorded, event)
    }

    async fn open(folder: &Path) -> Result<Self, ModelError> {
        Ok(KeysProjection { writer: KeysWriter::open(folder).await? })
    }

    fn checkpoint(&self) -> &Checkpoint {
        self.writer.checkpoint()
    }

    async fn apply(&mut self, batch: Vec<KeyEvent>) -> Result<Vec<Refused>, ModelError> {
        self.writer.load(batch.iter().map(|event| (event.account, &event.event))).await?;
        let mut refused = Vec::new();
        for event in batch {
            if let Err(reason) = self.writer.apply(&event.recorded, event.account, event.event) {
                refused.push(Refused::of(&event.recorded, reason));
            }
        }
        Ok(refused)
    }

    async fn commit(&mut self, checkpoint: Checkpoint) -> Result<(), ModelError> {
        self.writer.commit(checkpoint).await
    }
}
