//! The projection of the catalog: records, revisions and slugs.

use std::path::Path;
use std::sync::Arc;

use read::catalog::{CatalogReader, CatalogWriter};
use read::checkpoint::Checkpoint;
use read::error::ModelError;
use schemas::envelope::Recorded;
use schemas::event::Event;

use crate::projection::{PoisonEvent, ProjectEvent, Projection};

/// Writes the catalog model.
#[derive(Debug)]
pub struct CatalogProjection {
    writer: CatalogWriter,
}

impl Projection for CatalogProjection {
    type Model = CatalogReader;

    type Event = ProjectEvent;

    fn select(recorded: &Arc<Recorded>, event: &Arc<Event>) -> Option<ProjectEvent> {
        ProjectEvent::if_visible_to_readers(recorded, event)
    }

    async fn open(folder: &Path) -> Result<Self, ModelError> {
        Ok(CatalogProjection { writer: CatalogWriter::open(folder).await? })
    }

    fn checkpoint(&self) -> &Checkpoint {
        self.writer.checkpoint()
    }

    async fn apply(&mut self, batch: Vec<ProjectEvent>) -> Result<Vec<PoisonEvent>, ModelError> {
        self.writer.load(batch.iter().map(|event| event.project)).await?;
        let mut poison = Vec::new();
        for event in batch {
            if let Err(reason) = self.writer.apply(&event.recorded, event.project, &event.event) {
                poison.push(PoisonEvent::new(&event.recorded, reason));
            }
        }
        Ok(poison)
    }

    async fn commit(&mut self, checkpoint: Checkpoint) -> Result<(), ModelError> {
        self.writer.commit(checkpoint).await
    }

    async fn prepare_replay(&mut self) -> Result<(), ModelError> {
        self.writer.prepare_replay().await
    }

    async fn optimize(&mut self) -> Result<(), ModelError> {
        self.writer.finish_replay().await
    }
}
