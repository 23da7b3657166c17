//! The collector on a real store.

use schemas::command::{Answer, Command, CommandMessage, ImportLine, ImportOptions};
use schemas::event::Event;
use schemas::ids::Position;
use schemas::versioned::Decoded;
use serde_json::Value;

use super::*;
use crate::clock::Clock;
use crate::demo;
use crate::event_store::{EventStore, SqliteStore};
use crate::media::MediaStore;
use crate::media::fetch::{FetchRules, Fetcher};

/// Pictures drawn without optimisation take their time.
const PATIENCE: Duration = Duration::from_secs(120);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn pictures_are_drawn_while_projects_come() {
    let (folder, clock) = (tempfile::tempdir().unwrap(), Clock::system());
    let store = Arc::new(SqliteStore::open(folder.path(), &clock).await.unwrap());
    let media = MediaStore::open(&folder.path().join("media")).unwrap();
    let pictures = Pictures::new(Arc::new(media), Fetcher::new(FetchRules::default()));
    let service = CommandService::new(store.clone(), clock.clone()).with_pictures(pictures);
    let stop = CancellationToken::new();
    let collector = Collector::new(service.clone()).unwrap();
    #[expect(clippy::disallowed_methods, reason = "it is told to stop at the end")]
    let working = tokio::spawn(collector.run(stop.clone()));
    let records = demo::catalog(demo::DEMO_SEED, 24);
    // Many commits, each of which the collector hears while it works on the pictures of those before.
    for record in records {
        let lines = vec![ImportLine { number: 1, text: Value::Object(record).to_string() }];
        let id = clock.command_id();
        let command = Command::Import { lines, options: ImportOptions::default() };
        let message = CommandMessage {
            id,
            actor: demo::ACTOR.parse().unwrap(),
            correlation: id,
            command,
            not_after: None,
        };
        assert!(matches!(service.handle(message).await, Answer::Imported { .. }));
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    kit::wait_until(PATIENCE, "a picture of every project", async || {
        let log = store.read_all(Position::START, 1_000).await.unwrap();
        let attached = log.iter().filter(|recorded| match recorded.decode().unwrap() {
            Decoded::Known(event) => matches!(*event, Event::PictureAttached(_)),
            Decoded::Unknown => false,
        });
        attached.count() == 24
    })
    .await;
    stop.cancel();
    working.await.unwrap();
}
