//! The projection of the neighbours: which projects look and read most alike.

use std::path::Path;

use read::checkpoint::Checkpoint;
use read::neighbours::NeighboursWriter;
use schemas::envelope::Recorded;
use schemas::event::Event;

use crate::projection::{ProjectEvent, Projection, ProjectionError, Refused};

/// Keeps the neighbours model.
#[derive(Debug)]
pub struct NeighboursProjection {
    writer: NeighboursWriter,
}

impl Projection for NeighboursProjection {
    const NAME: &'static str = "neighbours";

    type Event = ProjectEvent;

    fn select(recorded: Recorded, event: Event) -> Option<ProjectEvent> {
        ProjectEvent::of(recorded, event)
    }

    async fn open(folder: &Path) -> Result<Self, ProjectionError> {
        Ok(NeighboursProjection { writer: NeighboursWriter::open(folder).await? })
    }

    fn checkpoint(&self) -> &Checkpoint {
        self.writer.checkpoint()
    }

    async fn apply(&mut self, batch: Vec<ProjectEvent>) -> Result<Vec<Refused>, ProjectionError> {
        self.writer.load(batch.iter().map(|event| event.project)).await?;
        let mut refused = Vec::new();
        for ProjectEvent { recorded, project, event } in batch {
            if let Err(refusal) = self.writer.apply(project, &event, recorded.position) {
                let reason = refusal.to_string();
                refused.push(Refused { position: recorded.position, kind: recorded.kind, reason });
            }
        }
        Ok(refused)
    }

    async fn commit(&mut self, checkpoint: Checkpoint) -> Result<(), ProjectionError> {
        Ok(self.writer.commit(checkpoint).await?)
    }

    fn prepare_replay(&mut self) {
        self.writer.prepare_replay();
    }

    async fn settle(&mut self) -> Result<(), ProjectionError> {
        Ok(self.writer.settle().await?)
    }

    async fn digest(folder: &Path) -> Result<(Checkpoint, [u8; 32]), ProjectionError> {
        Ok(NeighboursWriter::digest(folder).await?)
    }
}
