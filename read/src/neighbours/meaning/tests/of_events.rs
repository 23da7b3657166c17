//! The meanings that a reader loads of what happened.

use std::path::Path;

use schemas::event::{Event, ProjectRestored, ProjectSelected, ProjectWithdrawn, VectorsRecorded};
use schemas::ids::{Position, ProjectId};
use schemas::vector::Vector;
use tempfile::TempDir;

use super::*;
use crate::neighbours::{NeighboursReader, NeighboursWriter};
use model::checkpoint::Checkpoint;

const MODEL: &str = "loggia-1+texts";

/// The neighbours in a temporary folder.
struct Fixture {
    folder: TempDir,
    writer: NeighboursWriter,
    reader: NeighboursReader,
    position: u64,
}

fn id(number: u64) -> ProjectId {
    format!("01ARZ3NDEKTSV4RRFFQ69G{number:04}").parse().unwrap()
}

fn selected(number: u64) -> Event {
    let record = serde_json::from_str(r#"{"name": "A", "category": "art"}"#).unwrap();
    let slug = format!("project-{number}").parse().unwrap();
    Event::ProjectSelected(ProjectSelected { slug, record, id: None })
}

fn recorded(model: &str, seed: u64) -> Event {
    let whole = [vec![0.25; DIMENSIONS], numbers(seed)].concat();
    let semantic = Some(Vector::quantized(&whole).unwrap());
    Event::VectorsRecorded(VectorsRecorded {
        model: model.to_owned(),
        visual: None,
        semantic,
        computed: None,
    })
}

async fn read(folder: &Path) -> NeighboursReader {
    NeighboursReader::open_with_meanings(folder, Some("texts".into())).await.unwrap()
}

impl Fixture {
    async fn new() -> Fixture {
        let folder = tempfile::tempdir().unwrap();
        let writer = NeighboursWriter::open(folder.path()).await.unwrap();
        let reader = read(folder.path()).await;
        Fixture { folder, writer, reader, position: 0 }
    }

    /// Commits events of projects, and lets the reader load them.
    async fn commit(&mut self, events: Vec<(u64, Event)>) {
        self.writer.load(events.iter().map(|(number, _)| id(*number))).await.unwrap();
        for (number, event) in events {
            self.position += 1;
            self.writer.apply(id(number), &event, Position(self.position)).unwrap();
        }
        let checkpoint = Checkpoint { position: Position(self.position), ..Checkpoint::default() };
        self.writer.commit(checkpoint).await.unwrap();
        self.reader.refresh().await.unwrap();
    }

    /// The ordinals of the projects that mean what a seed does, once another reader that begins now agrees.
    async fn near(&self, seed: u64) -> Vec<u64> {
        let floor = Floor { least: 0.98, of_best: 0.0 };
        let near = |reader: &NeighboursReader| {
            let found = reader.meanings().unwrap().near(&numbers(seed), floor);
            let mut found: Vec<u64> = found.iter().map(|near| near.ordinal).collect();
            found.sort_unstable();
            found
        };
        let found = near(&self.reader);
        assert_eq!(found, near(&read(self.folder.path()).await));
        found
    }
}

#[tokio::test]
async fn a_reader_has_the_meanings_of_listed_projects() {
    let mut fixture = Fixture::new().await;
    assert_eq!(fixture.near(1).await, [0; 0]);
    fixture.commit(vec![(1, selected(1)), (2, selected(2)), (3, selected(3))]).await;
    fixture.commit(vec![(1, recorded(MODEL, 1)), (2, recorded(MODEL, 1)), (3, recorded(MODEL, 2))]).await;
    assert_eq!((fixture.near(1).await, fixture.near(2).await), (vec![1, 2], vec![3]));
    fixture.commit(vec![(3, recorded(MODEL, 1))]).await;
    assert_eq!((fixture.near(1).await, fixture.near(2).await), (vec![1, 2, 3], vec![]));
    let withdrawn = Event::ProjectWithdrawn(ProjectWithdrawn { reason: "It left.".into() });
    fixture.commit(vec![(1, withdrawn.clone()), (3, withdrawn)]).await;
    assert_eq!(fixture.near(1).await, [2]);
    fixture.commit(vec![(1, Event::ProjectRestored(ProjectRestored {}))]).await;
    assert_eq!(fixture.near(1).await, [1, 2]);
    fixture.commit(vec![(2, recorded("another-model", 1))]).await;
    assert_eq!(fixture.near(1).await, [1], "vectors of another model have no meaning here");
    fixture.writer.finish_lists().await.unwrap();
    fixture.reader.refresh().await.unwrap();
    assert_eq!((fixture.near(1).await, fixture.reader.of(1).is_some()), (vec![1], true));
}

#[tokio::test]
async fn without_a_text_model_no_meanings_are_loaded() {
    let fixture = Fixture::new().await;
    assert!(NeighboursReader::open(fixture.folder.path()).await.unwrap().meanings().is_none());
}
