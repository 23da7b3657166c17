//! The projection of the catalog: records, revisions and slugs.

use std::path::Path;
use std::sync::Arc;

use read::catalog::{CatalogReader, CatalogWriter};
use read::checkpoint::Checkpoint;
use read::error::ModelError;
use schemas::envelope::Recorded;
use schemas::event::Event;

use crate::projection::{PoisonEvent, ProjectEvent, Projection, poison_events};

impl Projection for CatalogWriter {
    type Model = CatalogReader;

    type Event = ProjectEvent;

    fn select(recorded: &Arc<Recorded>, event: &Arc<Event>) -> Option<ProjectEvent> {
        ProjectEvent::if_visible_to_readers(recorded, event)
    }

    async fn open(folder: &Path) -> Result<Self, ModelError> {
        CatalogWriter::open(folder).await
    }

    fn checkpoint(&self) -> &Checkpoint {
        CatalogWriter::checkpoint(self)
    }

    async fn apply(&mut self, batch: Vec<ProjectEvent>) -> Result<Vec<PoisonEvent>, ModelError> {
        self.load(batch.iter().map(|event| event.project)).await?;
        Ok(poison_events(batch, |ProjectEvent { recorded, project, event }| {
            let applied = CatalogWriter::apply(self, &recorded, project, &event);
            (recorded, applied)
        }))
    }

    async fn commit(&mut self, checkpoint: Checkpoint) -> Result<(), ModelError> {
        CatalogWriter::commit(self, checkpoint).await
    }

    async fn prepare_replay(&mut self) -> Result<(), ModelError> {
        CatalogWriter::prepare_replay(self).await
    }

    async fn optimize(&mut self) -> Result<(), ModelError> {
        self.finish_replay().await
    }
}
