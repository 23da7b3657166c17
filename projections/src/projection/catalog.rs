//! The projection of the catalog: records, revisions and slugs.

use std::sync::Arc;

use read::catalog::{CatalogReader, CatalogWriter};
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

    parts_of_the_writer!();

    async fn apply(&mut self, batch: Vec<ProjectEvent>) -> Result<Vec<PoisonEvent>, ModelError> {
        self.load(batch.iter().map(|event| event.project)).await?;
        Ok(poison_events(batch, |ProjectEvent { recorded, project, event }| {
            let applied = CatalogWriter::apply(self, &recorded, project, &event);
            (recorded, applied)
        }))
    }

    async fn prepare_replay(&mut self) -> Result<(), ModelError> {
        CatalogWriter::prepare_replay(self).await
    }

    async fn optimize(&mut self) -> Result<(), ModelError> {
        self.finish_replay().await
    }
}
