#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod chance;
mod matching;
mod naive;
mod pages;
mod used;

use jiff::{SignedDuration, Timestamp};
use schemas::event::{
    Event, ProjectRenamed, ProjectRestored, ProjectRevised, ProjectSelected, ProjectWithdrawn,
};
use schemas::ids::{Position, ProjectId};
use schemas::record::{Category, Record};
use schemas::taste::Dimension;
use serde_json::{Map, Value, json};

use super::*;

/// Blocks so small that a handful of projects is cut into several.
const SMALL: usize = 8;

/// An event of the project with this number.
type Happened = (u64, Event);

/// A model in a folder of its own, with a reader in small blocks.
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

    async fn of(events: &[Happened]) -> Archive {
        let mut archive = Archive::new().await;
        archive.apply(events).await;
        archive
    }

    /// Applies events in one commit and takes it up. The ordinal of a project is the position of its selection.
    async fn apply(&mut self, events: &[Happened]) {
        self.writer.load(events.iter().map(|(number, _)| id(*number))).await.unwrap();
        let mut checkpoint = self.writer.checkpoint().clone();
        for (number, event) in events {
            checkpoint.position = checkpoint.position.next();
            self.writer.apply(id(*number), event, checkpoint.position, at(checkpoint.position)).unwrap();
        }
        self.writer.commit(checkpoint).await.unwrap();
        self.reader.refresh().await.unwrap();
    }

    /// Another reader of the same, opened now.
    async fn reopened(&self) -> ArchiveReader {
        ArchiveReader::open_in_blocks(self.folder.path(), SMALL + 3, None).await.unwrap()
    }

    /// What is found for one text in one dimension: the ordinals, and how many.
    fn found(&self, dimension: Dimension, text: &str) -> (Vec<u64>, u64) {
        let page = self.reader.now().by_taste(&asking(&[(dimension, text)])).unwrap();
        (page.hits.iter().map(|hit| hit.ordinal).collect(), page.total)
    }
}

fn id(number: u64) -> ProjectId {
    format!("01ARZ3NDEKTSV4RRFFQ69G{number:04}").parse().unwrap()
}

/// When the event at a position was recorded: three of them a day, from 2020-01-01 on.
fn at(position: Position) -> Timestamp {
    let first: Timestamp = "2020-01-01T00:00:00Z".parse().unwrap();
    first + SignedDuration::from_hours(8 * position.0.cast_signed())
}

fn asking<'a>(asked: &[(Dimension, &'a str)]) -> TasteRequest<'a> {
    let request = TasteRequest { limit: LARGEST_PAGE, ..TasteRequest::default() };
    asked.iter().fold(request, |request, (dimension, text)| request.asking(*dimension, text))
}

fn record(category: Category, published: Option<&str>, taste: &[(Dimension, &str)]) -> Record {
    let taste: Map<String, Value> =
        taste.iter().map(|(dimension, text)| (dimension.as_str().to_owned(), (*text).into())).collect();
    let record = json!({"name": "X", "category": category.as_str(), "published": published, "taste": taste});
    serde_json::from_value(record).unwrap()
}

fn selected(number: u64, slug: &str, record: Record) -> Happened {
    (number, Event::ProjectSelected(ProjectSelected { slug: slug.parse().unwrap(), record, id: None }))
}

/// A project of art without a day that says this in one dimension; its slug tells its number.
fn saying(number: u64, dimension: Dimension, text: &str) -> Happened {
    selected(number, &format!("p{number:03}"), record(Category::Art, None, &[(dimension, text)]))
}

fn revised(number: u64, record: Record) -> Happened {
    (number, Event::ProjectRevised(ProjectRevised { record }))
}

fn renamed(number: u64, slug: &str) -> Happened {
    (number, Event::ProjectRenamed(ProjectRenamed { slug: slug.parse().unwrap() }))
}

fn withdrawn(number: u64) -> Happened {
    (number, Event::ProjectWithdrawn(ProjectWithdrawn { reason: "sold".into() }))
}

fn restored(number: u64) -> Happened {
    (number, Event::ProjectRestored(ProjectRestored {}))
}
