//! The picture fetcher on a real event store.

use std::path::Path;

use event_log::EventLog;
use kit::samples::{in_every_format, scene};
use media::MediaStore;
use pictures::fetch::{FetchRules, Fetcher};
use schemas::clock::Clock;
use schemas::command::{Command, CommandMessage, CommandReply, ImportLine, ImportOptions, LineResult};
use schemas::event::Event;
use schemas::ids::Position;
use schemas::record;
use schemas::versioned::Decoded;
use serde_json::{Map, Value, json};
use write::service::{CommandDispatcher, ProjectService};

use super::*;

/// Drawing pictures is slow in unoptimised builds.
const TIMEOUT: Duration = Duration::from_secs(120);

const DEMO: PictureGenerator = PictureGenerator {
    actor: demo::ACTOR,
    prefix: demo::pictures::SOURCE,
    picture: demo::pictures::picture_of,
};

/// A write side in a temporary folder.
struct WriteSide {
    pictures: Arc<PictureService>,
    commands: CommandDispatcher,
    clock: Clock,
    folder: tempfile::TempDir,
}

impl WriteSide {
    async fn open() -> WriteSide {
        let (folder, clock) = (tempfile::tempdir().unwrap(), Clock::system());
        let store = Arc::new(EventLog::open(folder.path(), &clock).await.unwrap());
        let pictures = pictures(store, &clock, &folder.path().join("media"));
        let commands = CommandDispatcher::new(pictures.projects().clone()).register(pictures.clone());
        WriteSide { pictures, commands, clock, folder }
    }

    async fn send(&self, command: Command) -> CommandReply {
        let (id, actor) = (self.clock.command_id(), "Ada".parse().unwrap());
        self.commands.execute(CommandMessage { id, actor, correlation: id, command, not_after: None }).await
    }

    /// Imports a record of the demo catalog; returns the result of its line.
    async fn import(&self, record: &Map<String, Value>, dry_run: bool) -> LineResult {
        let lines = vec![ImportLine { number: 1, text: Value::Object(record.clone()).to_string() }];
        let id = self.clock.command_id();
        let options = ImportOptions { dry_run, ..ImportOptions::default() };
        let message = CommandMessage {
            id,
            actor: demo::ACTOR.parse().unwrap(),
            correlation: id,
            command: Command::Import { lines, options },
            not_after: None,
        };
        match self.commands.execute(message).await {
            CommandReply::Imported { mut lines, .. } => lines.pop().unwrap().result,
            other => panic!("{other:?}"),
        }
    }

    async fn log(&self) -> Vec<Event> {
        let log = self.pictures.projects().log().read_all(Position::START, 1_000).await.unwrap();
        let known = log.iter().map(|recorded| match recorded.decode().unwrap() {
            Decoded::Known(event) => *event,
            Decoded::Unknown => panic!("{}", recorded.kind),
        });
        known.collect()
    }

    async fn attached(&self) -> usize {
        self.log().await.iter().filter(|event| matches!(event, Event::PictureAttached(_))).count()
    }
}

fn pictures(store: Arc<EventLog>, clock: &Clock, media: &Path) -> Arc<PictureService> {
    let media = Arc::new(MediaStore::open(media).unwrap());
    let projects = Arc::new(ProjectService::new(store, clock.clone()));
    let fetcher = Fetcher::new(FetchRules::default(), "tests", || None);
    Arc::new(PictureService::new(projects, media, fetcher))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn pictures_are_generated_while_projects_are_imported() {
    let write_side = WriteSide::open().await;
    let stop = CancellationToken::new();
    let fetcher = PictureFetcher::new(write_side.pictures.clone(), Some(DEMO)).unwrap();
    #[expect(clippy::disallowed_methods, reason = "the test stops it and waits for it")]
    let running = tokio::spawn(fetcher.run(stop.clone()));
    // Many commits, each of which the worker reads while it generates the pictures of earlier ones.
    for record in demo::catalog(demo::DEMO_SEED, 24) {
        assert!(matches!(write_side.import(&record, false).await, LineResult::New { .. }));
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    kit::wait_until(TIMEOUT, "a picture of every project", async || write_side.attached().await == 24).await;
    stop.cancel();
    running.await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_import_without_changes_retries_a_refused_picture() {
    let write_side = WriteSide::open().await;
    let record = demo::catalog(demo::DEMO_SEED, 1).next().unwrap();
    assert!(matches!(write_side.import(&record, false).await, LineResult::New { .. }));
    let stream =
        write_side.pictures.projects().log().read_all(Position::START, 1).await.unwrap()[0].stream.clone();
    let refuse = async |project: &Project| {
        let source = project.listing().unwrap().record.picture_sources().next().unwrap().to_owned();
        project::record_fetch(project, &source, Err("It was not there.".into()))
    };
    let observed =
        write_side.pictures.projects().observe(&stream, &"test".parse().unwrap(), refuse).await.unwrap();
    assert!(matches!(observed, Observed::Recorded(_)));

    let stop = CancellationToken::new();
    let fetcher = PictureFetcher::new(write_side.pictures.clone(), Some(DEMO)).unwrap();
    let counts = fetcher.counts();
    #[expect(clippy::disallowed_methods, reason = "the test stops it and waits for it")]
    let running = tokio::spawn(fetcher.run(stop.clone()));
    kit::wait_until(TIMEOUT, "the refused picture", async || (counts.waiting(), counts.refused()) == (0, 1))
        .await;
    assert!(matches!(write_side.import(&record, true).await, LineResult::Same { .. }));
    assert!(matches!(write_side.import(&record, false).await, LineResult::Same { .. }));
    kit::wait_until(TIMEOUT, "its picture", async || write_side.attached().await == 1).await;
    kit::wait_until(TIMEOUT, "the counts", async || (counts.waiting(), counts.refused()) == (0, 0)).await;
    stop.cancel();
    running.await.unwrap();
}

#[tokio::test]
async fn erased_pictures_are_removed_from_a_restored_media_folder() {
    let write_side = WriteSide::open().await;
    let [(_, erased), (_, kept), ..] = in_every_format(&scene(90, 90));
    let record = json!({"slug": "a", "name": "A", "category": "art"});
    write_side.send(Command::Select { record: record.as_object().unwrap().clone() }).await;
    let picture = write_side.pictures.store_bytes(erased.clone()).await.unwrap().id;
    let source = record::PictureSource { source: "front.jpg".into(), alt: None };
    let attach =
        Command::Attach { slug: "a".parse().unwrap(), picture: source, kept: Some(picture), as_named: false };
    let answer = write_side.send(attach).await;
    assert!(matches!(answer, CommandReply::Project(_)), "{answer:?}");
    let answer = write_side.send(Command::ErasePicture { picture }).await;
    assert!(matches!(answer, CommandReply::PictureErased(_)), "{answer:?}");
    let events = write_side.log().await.len();

    let folder = write_side.folder.path().join("restored");
    let restored = MediaStore::open(&folder).unwrap();
    restored.put(&erased).unwrap();
    let kept = restored.put(&kept).unwrap().id;
    let fetcher = PictureFetcher::new(
        pictures(write_side.pictures.projects().log().clone(), &write_side.clock, &folder),
        None,
    )
    .unwrap();
    let stop = CancellationToken::new();
    #[expect(clippy::disallowed_methods, reason = "the test stops it and waits for it")]
    let running = tokio::spawn(fetcher.run(stop.clone()));
    kit::wait_until(TIMEOUT, "the removal of the picture", async || !restored.contains(picture)).await;
    assert_eq!(restored.erased().unwrap()[0].picture, picture);
    assert!(restored.contains(kept));
    stop.cancel();
    running.await.unwrap();
    assert_eq!(write_side.log().await.len(), events, "nothing is recorded twice");
}
