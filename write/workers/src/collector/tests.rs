//! The collector on a real store.

use std::path::Path;

use event_log::EventLog;
use kit::samples::{in_every_format, scene};
use media::MediaStore;
use pictures::fetch::{FetchRules, Fetcher};
use schemas::clock::Clock;
use schemas::command::{Answer, Command, CommandMessage, ImportLine, ImportOptions, LineResult};
use schemas::event::Event;
use schemas::ids::Position;
use schemas::record;
use schemas::versioned::Decoded;
use serde_json::{Map, Value, json};

use super::*;

/// Pictures drawn without optimisation take their time.
const PATIENCE: Duration = Duration::from_secs(120);

const DRAWN: PictureSource =
    PictureSource { actor: demo::ACTOR, prefix: demo::pictures::SOURCE, picture: demo::pictures::picture_of };

/// A write side on a folder of its own.
struct Desk {
    service: CommandService,
    clock: Clock,
    folder: tempfile::TempDir,
}

impl Desk {
    async fn open() -> Desk {
        let (folder, clock) = (tempfile::tempdir().unwrap(), Clock::system());
        let store = Arc::new(EventLog::open(folder.path(), &clock).await.unwrap());
        let service = service(store, &clock, &folder.path().join("media"));
        Desk { service, clock, folder }
    }

    async fn send(&self, command: Command) -> Answer {
        let (id, actor) = (self.clock.command_id(), "Ada".parse().unwrap());
        self.service.handle(CommandMessage { id, actor, correlation: id, command, not_after: None }).await
    }

    /// Imports a record of the demo catalog; returns what became of it.
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
        match self.service.handle(message).await {
            Answer::Imported { mut lines, .. } => lines.pop().unwrap().result,
            other => panic!("{other:?}"),
        }
    }

    async fn log(&self) -> Vec<Event> {
        let log = self.service.store().read_all(Position::START, 1_000).await.unwrap();
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

fn service(store: Arc<EventLog>, clock: &Clock, media: &Path) -> CommandService {
    let media = Arc::new(MediaStore::open(media).unwrap());
    let pictures = Pictures::new(media, Fetcher::new(FetchRules::default(), "tests", || None));
    CommandService::new(store, clock.clone()).with_pictures(pictures)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn pictures_are_drawn_while_projects_come() {
    let desk = Desk::open().await;
    let stop = CancellationToken::new();
    let collector = Collector::new(desk.service.clone(), Some(DRAWN)).unwrap();
    #[expect(clippy::disallowed_methods, reason = "it is told to stop at the end")]
    let working = tokio::spawn(collector.run(stop.clone()));
    // Many commits, each of which the collector hears while it works on the pictures of those before.
    for record in demo::catalog(demo::DEMO_SEED, 24) {
        assert!(matches!(desk.import(&record, false).await, LineResult::New { .. }));
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    kit::wait_until(PATIENCE, "a picture of every project", async || desk.attached().await == 24).await;
    stop.cancel();
    working.await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_import_that_changes_nothing_has_a_refused_picture_tried_again() {
    let desk = Desk::open().await;
    let record = demo::catalog(demo::DEMO_SEED, 1).next().unwrap();
    assert!(matches!(desk.import(&record, false).await, LineResult::New { .. }));
    let stream = desk.service.store().read_all(Position::START, 1).await.unwrap()[0].stream.clone();
    let refuse = async |project: &Project| {
        let source = project.listing().unwrap().record.picture_sources().next().unwrap().to_owned();
        project::look_at(project, &source, Err("It was not there.".into()))
    };
    let observed = desk.service.observe(&stream, &"test".parse().unwrap(), refuse).await.unwrap();
    assert!(matches!(observed, Observed::Recorded(_)));

    let stop = CancellationToken::new();
    let collector = Collector::new(desk.service.clone(), Some(DRAWN)).unwrap();
    let counts = collector.counts();
    #[expect(clippy::disallowed_methods, reason = "it is told to stop at the end")]
    let working = tokio::spawn(collector.run(stop.clone()));
    kit::wait_until(PATIENCE, "the refused picture", async || (counts.waiting(), counts.refused()) == (0, 1))
        .await;
    assert!(matches!(desk.import(&record, true).await, LineResult::Same { .. }));
    assert!(matches!(desk.import(&record, false).await, LineResult::Same { .. }));
    kit::wait_until(PATIENCE, "its picture", async || desk.attached().await == 1).await;
    kit::wait_until(PATIENCE, "the counts", async || (counts.waiting(), counts.refused()) == (0, 0)).await;
    stop.cancel();
    working.await.unwrap();
}

#[tokio::test]
async fn erased_pictures_are_removed_from_a_media_folder_of_an_earlier_day() {
    let desk = Desk::open().await;
    let [(_, erased), (_, kept), ..] = in_every_format(&scene(90, 90));
    let record = json!({"slug": "a", "name": "A", "category": "art"});
    desk.send(Command::Select { record: record.as_object().unwrap().clone() }).await;
    let picture = desk.service.pictures().unwrap().take(erased.clone()).await.unwrap().id;
    let source = record::PictureSource { source: "front.jpg".into(), alt: None };
    let attach =
        Command::Attach { slug: "a".parse().unwrap(), picture: source, kept: Some(picture), as_named: false };
    let answer = desk.send(attach).await;
    assert!(matches!(answer, Answer::Done(_)), "{answer:?}");
    let answer = desk.send(Command::ErasePicture { picture }).await;
    assert!(matches!(answer, Answer::PictureErased(_)), "{answer:?}");
    let events = desk.log().await.len();

    let folder = desk.folder.path().join("former");
    let former = MediaStore::open(&folder).unwrap();
    former.take(&erased).unwrap();
    let kept = former.take(&kept).unwrap().id;
    let collector =
        Collector::new(service(desk.service.store().clone(), &desk.clock, &folder), None).unwrap();
    let stop = CancellationToken::new();
    #[expect(clippy::disallowed_methods, reason = "it is told to stop at the end")]
    let working = tokio::spawn(collector.run(stop.clone()));
    kit::wait_until(PATIENCE, "the removal of the picture", async || !former.holds(picture)).await;
    assert_eq!(former.erased().unwrap()[0].picture, picture);
    assert!(former.holds(kept));
    stop.cancel();
    working.await.unwrap();
    assert_eq!(desk.log().await.len(), events, "nothing is recorded twice");
}
