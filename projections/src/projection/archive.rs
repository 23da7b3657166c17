//! The projection of the archive: all listed projects, newest first, with the words of their taste.

use std::sync::Arc;

use read::archive::{ArchiveReader, ArchiveWriter};
use read::error::ModelError;
use schemas::envelope::Recorded;
use schemas::event::Event;

use crate::projection::{PoisonEvent, ProjectEvent, Projection, poison_events};

impl Projection for ArchiveWriter {
    type Model = ArchiveReader;

    type Event = ProjectEvent;

    fn select(recorded: &Arc<Recorded>, event: &Arc<Event>) -> Option<ProjectEvent> {
        ProjectEvent::if_visible_to_readers(recorded, event)
    }

    parts_of_the_writer!();

    async fn apply(&mut self, batch: Vec<ProjectEvent>) -> Result<Vec<PoisonEvent>, ModelError> {
        self.load(batch.iter().map(|event| event.project)).await?;
        Ok(poison_events(batch, |ProjectEvent { recorded, project, event }| {
            let applied = ArchiveWriter::apply(self, project, &event, recorded.position, recorded.time);
            (recorded, applied)
        }))
    }
}

#[cfg(test)]
mod tests {
    use read::archive::TasteRequest;
    use read::model::Model;
    use schemas::event::{
        PictureAttached, ProjectRenamed, ProjectRestored, ProjectRevised, ProjectSelected, ProjectWithdrawn,
        VectorsRecorded,
    };
    use schemas::ids::Position;
    use schemas::picture::{Colour, Picture, PictureFormat, PictureId};
    use schemas::record::Record;
    use schemas::taste::Dimension;

    use super::*;
    use crate::projection::tests::apply_log;

    fn record(material: &str) -> Record {
        let taste = serde_json::json!({ "material": material });
        let pictures = [serde_json::json!({"source": "a.jpg"})];
        let record =
            serde_json::json!({"name": "X", "category": "art", "taste": taste, "pictures": pictures});
        serde_json::from_value(record).unwrap()
    }

    fn selected(slug: &str, material: &str) -> Event {
        Event::ProjectSelected(ProjectSelected {
            slug: slug.parse().unwrap(),
            record: record(material),
            id: None,
        })
    }

    /// Returns the event of a picture whose palette is not UTF-8 text.
    fn attached() -> Event {
        let palette = vec![Colour([0xc0, 0x30, 0xff])];
        let id = PictureId([7; 32]);
        let picture = Picture { id, format: PictureFormat::Webp, width: 9, height: 9, palette };
        Event::PictureAttached(PictureAttached { source: "a.jpg".into(), picture })
    }

    /// Returns a log with two poison events: one of a project that was never selected, and a second selection.
    fn log() -> Vec<(u64, Event)> {
        let restored = || Event::ProjectRestored(ProjectRestored {});
        let vectors = VectorsRecorded { model: "m".into(), visual: None, semantic: None, computed: None };
        vec![
            (0, selected("a", "Oak")),
            (1, selected("b", "Oak, brass")),
            (9, restored()),
            (0, Event::ProjectRevised(ProjectRevised { record: record("Béton brut") })),
            (1, selected("b", "Glass")),
            (1, Event::VectorsRecorded(vectors)),
            (1, Event::ProjectWithdrawn(ProjectWithdrawn { reason: "sold".into() })),
            (0, Event::ProjectRenamed(ProjectRenamed { slug: "c".parse().unwrap() })),
            (1, restored()),
            (0, attached()),
        ]
    }

    #[tokio::test]
    async fn poison_events_are_returned_and_the_others_applied() {
        let folder = tempfile::tempdir().unwrap();
        let mut projection = ArchiveWriter::open(folder.path()).await.unwrap();
        let poison = apply_log(&mut projection, &log(), 4).await;
        let poison: Vec<(u64, &str)> =
            poison.iter().map(|poison| (poison.position.0, poison.reason.as_str())).collect();
        assert_eq!(
            poison,
            [
                (3, "it refers to a project that was not selected before"),
                (5, "it selects a project that was selected before"),
            ]
        );
        let reader = ArchiveReader::open(folder.path()).await.unwrap();
        let ordinals = |text| {
            let request = TasteRequest { limit: 10, ..TasteRequest::default() };
            let page = reader.listing().by_taste(&request.with(Dimension::Material, text)).unwrap();
            page.hits.iter().map(|hit| hit.ordinal).collect::<Vec<u64>>()
        };
        assert_eq!(["oak", "beton", "glass"].map(ordinals), [vec![2], vec![1], vec![]]);
    }

    #[tokio::test]
    async fn a_rebuild_has_the_digest_of_the_live_model() {
        let (live, rebuilt) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        apply_log(&mut ArchiveWriter::open(live.path()).await.unwrap(), &log(), 1).await;
        let mut projection = ArchiveWriter::open(rebuilt.path()).await.unwrap();
        projection.prepare_replay().await.unwrap();
        apply_log(&mut projection, &log(), 100).await;
        projection.optimize().await.unwrap();
        let of_live = ArchiveReader::digest(live.path()).await.unwrap();
        assert_eq!(ArchiveReader::digest(rebuilt.path()).await.unwrap(), of_live);
        assert_eq!(of_live.0.position, Position(10));
    }
}
