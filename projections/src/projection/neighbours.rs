//! The projection of the neighbours: which projects look and read most alike.

use std::path::Path;
use std::sync::Arc;

use read::checkpoint::Checkpoint;
use read::error::ModelError;
use read::neighbours::{NeighboursReader, NeighboursWriter};
use schemas::envelope::Recorded;
use schemas::event::Event;

use crate::projection::{PoisonEvent, ProjectEvent, Projection};
use crate::source::Sharing;

/// Writes the neighbours model.
#[derive(Debug)]
pub struct NeighboursProjection {
    writer: NeighboursWriter,
}

impl Projection for NeighboursProjection {
    type Model = NeighboursReader;
    // Commits that write the lists of a large catalog take seconds.
    const SHARING: Sharing = Sharing::LowPriority;

    type Event = ProjectEvent;

    fn select(recorded: &Arc<Recorded>, event: &Arc<Event>) -> Option<ProjectEvent> {
        ProjectEvent::from_event(recorded, event)
    }

    async fn open(folder: &Path) -> Result<Self, ModelError> {
        Ok(NeighboursProjection { writer: NeighboursWriter::open(folder).await? })
    }

    fn checkpoint(&self) -> &Checkpoint {
        self.writer.checkpoint()
    }

    async fn apply(&mut self, batch: Vec<ProjectEvent>) -> Result<Vec<PoisonEvent>, ModelError> {
        self.writer.load(batch.iter().map(|event| event.project)).await?;
        let mut poison = Vec::new();
        for ProjectEvent { recorded, project, event } in batch {
            if let Err(reason) = self.writer.apply(project, &event, recorded.position) {
                poison.push(PoisonEvent::new(&recorded, reason));
            }
        }
        Ok(poison)
    }

    async fn commit(&mut self, checkpoint: Checkpoint) -> Result<(), ModelError> {
        self.writer.commit(checkpoint).await
    }

    async fn prepare_replay(&mut self) -> Result<(), ModelError> {
        self.writer.prepare_replay();
        Ok(())
    }

    async fn optimize(&mut self) -> Result<(), ModelError> {
        self.writer.finish_lists().await
    }

    fn is_optimizing(&self) -> bool {
        self.writer.has_unfinished_lists()
    }
}

#[cfg(test)]
mod tests {
    use read::model::Model;
    use read::neighbours::ListStatus;
    use schemas::event::{ProjectRestored, ProjectSelected, ProjectWithdrawn, VectorsRecorded};
    use schemas::ids::Position;
    use schemas::vector::Vector;

    use super::*;
    use crate::projection::tests::recorded;

    fn event(position: u64, number: u64, event: Event) -> ProjectEvent {
        let recorded = recorded(position, number, &event);
        NeighboursProjection::select(&recorded, &Arc::new(event)).unwrap()
    }

    fn selected() -> Event {
        let record = serde_json::from_str(r#"{"name": "X", "category": "art"}"#).unwrap();
        Event::ProjectSelected(ProjectSelected { slug: "x".parse().unwrap(), record, id: None })
    }

    fn embedded(numbers: &[f32]) -> Event {
        let visual = Vector::new(numbers.to_vec()).ok();
        Event::VectorsRecorded(VectorsRecorded { model: "m".into(), visual, semantic: None, computed: None })
    }

    fn log() -> Vec<Event> {
        vec![
            selected(),
            embedded(&[1.0, 0.0]),
            selected(),
            embedded(&[1.0]),
            embedded(&[1.0, 1.0]),
            Event::ProjectWithdrawn(ProjectWithdrawn { reason: "sold".into() }),
            Event::ProjectRestored(ProjectRestored {}),
        ]
    }

    /// Applies the log in batches of this size, from position 3 on as events of a second project; returns the poison events.
    async fn apply(projection: &mut NeighboursProjection, batch: usize) -> Vec<PoisonEvent> {
        let events = (1..).zip(log()).map(|(at, happened)| event(at, u64::from(at > 2), happened));
        let (mut poison, mut events) = (Vec::new(), events.peekable());
        while events.peek().is_some() {
            poison.extend(projection.apply(events.by_ref().take(batch).collect()).await.unwrap());
            let position = Position(projection.checkpoint().position.0 + batch as u64);
            let checkpoint = Checkpoint { position, ..projection.checkpoint().clone() };
            projection.commit(checkpoint).await.unwrap();
        }
        poison
    }

    #[tokio::test]
    async fn vectors_of_other_dimensions_are_returned_as_poison_and_the_other_events_applied() {
        let folder = tempfile::tempdir().unwrap();
        let mut projection = NeighboursProjection::open(folder.path()).await.unwrap();
        let poison = apply(&mut projection, 7).await;
        let reason = "its visual vector has 1 dimensions, but those of the model m have 2 since the first one; \
                      record vectors of other dimensions under another model's name";
        assert_eq!(
            poison,
            [PoisonEvent {
                position: Position(4),
                kind: "loggia.curation.vectors_recorded.v1".into(),
                reason: reason.into()
            }]
        );
        let early = event(8, 9, embedded(&[1.0, 2.0]));
        let poison = projection.apply(vec![early]).await.unwrap();
        assert_eq!(poison[0].reason, "it refers to a project that was not selected before");
        let reader = NeighboursReader::open(folder.path()).await.unwrap();
        let list: Vec<u64> = reader.of(1).unwrap().iter().map(|neighbour| neighbour.ordinal).collect();
        assert_eq!((list, reader.status(3)), (vec![3], ListStatus::Ready));
    }

    #[tokio::test]
    async fn a_rebuild_has_the_digest_of_the_live_model() {
        let (live, rebuilt) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let mut projection = NeighboursProjection::open(live.path()).await.unwrap();
        apply(&mut projection, 1).await;
        let mut projection = NeighboursProjection::open(rebuilt.path()).await.unwrap();
        projection.prepare_replay().await.unwrap();
        apply(&mut projection, 7).await;
        let of_live = NeighboursReader::digest(live.path()).await.unwrap();
        assert_eq!(NeighboursReader::digest(rebuilt.path()).await.unwrap(), of_live);
        let reader = NeighboursReader::open(rebuilt.path()).await.unwrap();
        assert_eq!(reader.status(1), ListStatus::Pending, "a replay leaves the lists to its end");
        projection.optimize().await.unwrap();
        reader.refresh().await.unwrap();
        assert_eq!(reader.status(1), ListStatus::Ready);
        assert_eq!(NeighboursReader::digest(rebuilt.path()).await.unwrap(), of_live);
    }
}
