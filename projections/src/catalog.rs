//! The projection of the catalog: records, revisions and slugs.

use std::path::Path;
use std::sync::Arc;

use read::catalog::{CatalogReader, CatalogWriter};
use read::checkpoint::Checkpoint;
use schemas::envelope::Recorded;
use schemas::event::Event;

use crate::projection::{ProjectEvent, Projection, ProjectionError, Refused, copy_database};

/// Keeps the catalog model.
#[derive(Debug)]
pub struct CatalogProjection {
    writer: CatalogWriter,
}

impl Projection for CatalogProjection {
    const NAME: &'static str = "catalog";
    const LAYOUT: u32 = read::catalog::LAYOUT;
    const FILE: &'static str = "catalog.db";

    type Event = ProjectEvent;

    fn select(recorded: &Arc<Recorded>, event: &Arc<Event>) -> Option<ProjectEvent> {
        ProjectEvent::of_what_is_told(recorded, event)
    }

    async fn open(folder: &Path) -> Result<Self, ProjectionError> {
        Ok(CatalogProjection { writer: CatalogWriter::open(folder).await? })
    }

    fn checkpoint(&self) -> &Checkpoint {
        self.writer.checkpoint()
    }

    async fn apply(&mut self, batch: Vec<ProjectEvent>) -> Result<Vec<Refused>, ProjectionError> {
        self.writer.load(batch.iter().map(|event| event.project)).await?;
        let mut refused = Vec::new();
        for event in batch {
            if let Err(reason) = self.writer.apply(&event.recorded, event.project, &event.event) {
                refused.push(Refused::of(&event.recorded, reason));
            }
        }
        Ok(refused)
    }

    async fn commit(&mut self, checkpoint: Checkpoint) -> Result<(), ProjectionError> {
        Ok(self.writer.commit(checkpoint).await?)
    }

    async fn prepare_replay(&mut self) -> Result<(), ProjectionError> {
        Ok(self.writer.prepare_replay().await?)
    }

    async fn settle(&mut self) -> Result<(), ProjectionError> {
        Ok(self.writer.settle().await?)
    }

    async fn digest(folder: &Path) -> Result<(Checkpoint, [u8; 32]), ProjectionError> {
        let reader = CatalogReader::open(folder).await?;
        let digest = reader.digest().await?;
        reader.close().await;
        Ok(digest)
    }

    async fn copy(from: &Path, to: &Path) -> Result<Checkpoint, ProjectionError> {
        copy_database(Self::NAME, Self::FILE, from, to).await
    }
}
