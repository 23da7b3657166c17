//! The picture fetcher on a real event store.

use kit::TIMEOUT;
use kit::samples::{in_every_format, scene};
use media::MediaStore;
use schemas::command::{Command, LineResult};
use schemas::event::Event;
use schemas::ids::Position;
use schemas::versioned::Decoded;
use serde_json::{Map, Value, json};

use super::*;
use crate::tests::{WriteSide, pictures};

const DEMO: PictureGenerator = PictureGenerator {
    actor: demo::ACTOR,
    prefix: demo::pictures::SOURCE,
    picture: demo::pictures::picture_of,
};

impl WriteSide {
    /// Imports a record of the demo catalog.
    async fn import_demo(&self, record: &Map<String, Value>, dry_run: bool) -> LineResult {
        self.import_as(demo::ACTOR, &Value::Object(record.clone()).to_string(), dry_run).await
    }

    async fn log(&self) -> Vec<Event> {
        let log = self.store.read_all(Position::START, 1_000).await.unwrap();
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

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn pictures_are_generated_while_projects_are_imported() {
    let write_side = WriteSide::open().await;
    let stop = CancellationToken::new();
    let fetcher = PictureFetcher::new(write_side.pictures.clone(), Some(DEMO)).unwrap();
    #[expect(clippy::disallowed_methods, reason = "the test stops it and waits for it")]
    let running = tokio::spawn(fetcher.run(stop.clone()));
    // Many commits, each of which the worker reads while it generates the pictures of earlier ones.
    for record in demo::catalog(demo::DEMO_SEED, 24) {
        assert!(matches!(write_side.import_demo(&record, false).await, LineResult::New { .. }));
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
    assert!(matches!(write_side.import_demo(&record, false).await, LineResult::New { .. }));
    let stream = write_side.store.read_all(Position::START, 1).await.unwrap()[0].stream.clone();
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
    assert!(matches!(write_side.import_demo(&record, true).await, LineResult::Same { .. }));
    assert!(matches!(write_side.import_demo(&record, false).await, LineResult::Same { .. }));
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
    write_side.attach("a", "front.jpg", picture, false).await;
    write_side.send(Command::ErasePicture { picture }).await;
    let events = write_side.log().await.len();

    let folder = write_side.folder.path().join("restored");
    let restored = MediaStore::open(&folder).unwrap();
    restored.put(&erased).unwrap();
    let kept = restored.put(&kept).unwrap().id;
    let fetcher =
        PictureFetcher::new(pictures(write_side.store.clone(), &write_side.clock, &folder), None).unwrap();
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
