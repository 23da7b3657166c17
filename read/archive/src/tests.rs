#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod catalog;
mod chance;
mod counted;
mod filtered;
mod matching;
mod naive;
mod near;
mod pages;
mod suggested;
mod used;
mod years;

use jiff::{SignedDuration, Timestamp};
use schemas::event::{
    Event, ProjectRenamed, ProjectRestored, ProjectRevised, ProjectSelected, ProjectWithdrawn,
};
use schemas::ids::{Position, ProjectId};
use schemas::record::{Category, Record};
use schemas::taste::Dimension;
use serde_json::{Map, Value, json};

use super::*;

/// A block size at which a handful of projects needs several blocks.
const SMALL: usize = 8;

/// The number of a project and an event of it.
type NumberedEvent = (u64, Event);

/// A model in a temporary folder, with a reader in small blocks.
struct Archive {
    writer: ArchiveWriter,
    reader: ArchiveReader,
    folder: tempfile::TempDir,
}

impl Archive {
    async fn new() -> Archive {
        let folder = tempfile::tempdir().unwrap();
        let writer = ArchiveWriter::open(folder.path()).await.unwrap();
        let reader = ArchiveReader::open_in_blocks(folder.path(), SMALL, None).await.unwrap();
        Archive { writer, reader, folder }
    }

    async fn of(events: &[NumberedEvent]) -> Archive {
        let mut archive = Archive::new().await;
        archive.apply(events).await;
        archive
    }

    /// Applies events in one commit and refreshes the reader. The ordinal of a project is the position of its selection.
    async fn apply(&mut self, events: &[NumberedEvent]) {
        self.writer.load(events.iter().map(|(number, _)| id(*number))).await.unwrap();
        let mut checkpoint = self.writer.checkpoint().clone();
        for (number, event) in events {
            checkpoint.position = checkpoint.position.next();
            self.writer.apply(id(*number), event, checkpoint.position, at(checkpoint.position)).unwrap();
        }
        self.writer.commit(checkpoint).await.unwrap();
        self.reader.refresh().await.unwrap();
    }

    /// Opens another reader, with another block size.
    async fn reopened(&self) -> ArchiveReader {
        ArchiveReader::open_in_blocks(self.folder.path(), SMALL + 3, None).await.unwrap()
    }

    /// Returns the ordinals and the number of projects that match a text in one dimension.
    fn found(&self, dimension: Dimension, text: &str) -> (Vec<u64>, u64) {
        let page = self.reader.listing().by_taste(&taste_request(&[(dimension, text)])).unwrap();
        (page.hits.iter().map(|hit| hit.ordinal).collect(), page.total)
    }
}

fn id(number: u64) -> ProjectId {
    format!("01ARZ3NDEKTSV4RRFFQ69G{number:04}").parse().unwrap()
}

/// Returns the time of the event at a position: three events per day, from 2020-01-01 on.
fn at(position: Position) -> Timestamp {
    let first: Timestamp = "2020-01-01T00:00:00Z".parse().unwrap();
    first + SignedDuration::from_hours(8 * position.0.cast_signed())
}

fn taste_request<'a>(taste: &[(Dimension, &'a str)]) -> TasteRequest<'a> {
    let request = TasteRequest { limit: MAX_PAGE_SIZE, ..TasteRequest::default() };
    taste.iter().fold(request, |request, (dimension, text)| request.with(*dimension, text))
}

fn record(category: Category, published: Option<&str>, taste: &[(Dimension, &str)]) -> Record {
    let taste: Map<String, Value> =
        taste.iter().map(|(dimension, text)| (dimension.as_str().to_owned(), (*text).into())).collect();
    let record = json!({"name": "X", "category": category.as_str(), "published": published, "taste": taste});
    serde_json::from_value(record).unwrap()
}

fn selected(number: u64, slug: &str, record: Record) -> NumberedEvent {
    (number, Event::ProjectSelected(ProjectSelected { slug: slug.parse().unwrap(), record, id: None }))
}

/// The selection of an art project without a date, with a text in one dimension.
fn with_text(number: u64, dimension: Dimension, text: &str) -> NumberedEvent {
    selected(number, &format!("p{number:03}"), record(Category::Art, None, &[(dimension, text)]))
}

fn revised(number: u64, record: Record) -> NumberedEvent {
    (number, Event::ProjectRevised(ProjectRevised { record }))
}

fn renamed(number: u64, slug: &str) -> NumberedEvent {
    (number, Event::ProjectRenamed(ProjectRenamed { slug: slug.parse().unwrap() }))
}

fn withdrawn(number: u64) -> NumberedEvent {
    (number, Event::ProjectWithdrawn(ProjectWithdrawn { reason: "sold".into() }))
}

fn restored(number: u64) -> NumberedEvent {
    (number, Event::ProjectRestored(ProjectRestored {}))
}
