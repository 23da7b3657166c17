//! The projection of the neighbours: which projects look and read most alike.

use std::sync::Arc;

use read::error::ModelError;
use read::neighbours::{NeighboursReader, NeighboursWriter};
use schemas::envelope::Recorded;
use schemas::event::Event;

use crate::projection::{PoisonEvent, ProjectEvent, Projection, poison_events};
use crate::source::Sharing;

impl Projection for NeighboursWriter {
    type Model = NeighboursReader;
    // Commits that write the lists of a large catalog take seconds.
    const SHARING: Sharing = Sharing::LowPriority;

    type Event = ProjectEvent;

    fn select(recorded: &Arc<Recorded>, event: &Arc<Event>) -> Option<ProjectEvent> {
        ProjectEvent::from_event(recorded, event)
    }

    parts_of_the_writer!();

    async fn apply(&mut self, batch: Vec<ProjectEvent>) -> Result<Vec<PoisonEvent>, ModelError> {
        self.load(batch.iter().map(|event| event.project)).await?;
        Ok(poison_events(batch, |ProjectEvent { recorded, project, event }| {
            let applied = NeighboursWriter::apply(self, project, &event, recorded.position);
            (recorded, applied)
        }))
    }

    async fn prepare_replay(&mut self) -> Result<(), ModelError> {
        NeighboursWriter::prepare_replay(self);
        Ok(())
    }

    async fn optimize(&mut self) -> Result<(), ModelError> {
        self.finish_lists().await
    }

    fn is_optimizing(&self) -> bool {
        self.has_unfinished_lists()
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
    use crate::projection::tests::apply_log;

    fn selected() -> Event {
        let record = serde_json::from_str(r#"{"name": "X", "category": "art"}"#).unwrap();
        Event::ProjectSelected(ProjectSelected { slug: "x".parse().unwrap(), record, id: None })
    }

    fn embedded(numbers: &[f32]) -> Event {
        let visual = Vector::new(numbers.to_vec()).ok();
        Event::VectorsRecorded(VectorsRecorded { model: "m".into(), visual, semantic: None, computed: None })
    }

    fn log() -> Vec<(u64, Event)> {
        vec![
            (0, selected()),
            (0, embedded(&[1.0, 0.0])),
            (1, selected()),
            (1, embedded(&[1.0])),
            (1, embedded(&[1.0, 1.0])),
            (1, Event::ProjectWithdrawn(ProjectWithdrawn { reason: "sold".into() })),
            (1, Event::ProjectRestored(ProjectRestored {})),
        ]
    }

    #[tokio::test]
    async fn vectors_of_other_dimensions_are_returned_as_poison_and_the_other_events_applied() {
        let folder = tempfile::tempdir().unwrap();
        let mut projection = NeighboursWriter::open(folder.path()).await.unwrap();
        let poison = apply_log(&mut projection, &log(), 7).await;
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
        let poison = apply_log(&mut projection, &[(9, embedded(&[1.0, 2.0]))], 1).await;
        assert_eq!(poison[0].reason, "it refers to a project that was not selected before");
        let reader = NeighboursReader::open(folder.path()).await.unwrap();
        let list: Vec<u64> = reader.of(1).unwrap().iter().map(|neighbour| neighbour.ordinal).collect();
        assert_eq!((list, reader.status(3)), (vec![3], ListStatus::Ready));
    }

    #[tokio::test]
    async fn a_rebuild_has_the_digest_of_the_live_model() {
        let (live, rebuilt) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let mut projection = NeighboursWriter::open(live.path()).await.unwrap();
        apply_log(&mut projection, &log(), 1).await;
        let mut projection = NeighboursWriter::open(rebuilt.path()).await.unwrap();
        Projection::prepare_replay(&mut projection).await.unwrap();
        apply_log(&mut projection, &log(), 7).await;
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
