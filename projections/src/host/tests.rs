//! A host of a model that is damaged when the test says so, without a server.

#![allow(clippy::disallowed_methods, reason = "a test waits for its tasks itself")]

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use read::keys::KeysReader;
use read::models::{CommitSignals, ModelKind};
use read::search::SearchError;
use tempfile::TempDir;
use tokio::task::JoinHandle;

use super::*;
use crate::worker::ProgressFn;

/// A worker on the model `keys` whose file is `fine`, `busy`, or anything else when damaged.
struct Fake {
    folder: PathBuf,
}

/// Returns the error that the file of a fake stands for.
fn read_state(folder: &Path) -> Result<(), ModelError> {
    match fs::read_to_string(folder.join(KeysReader::FILE)).unwrap_or_default().as_str() {
        "fine" => Ok(()),
        "busy" => Err(SearchError::Busy.into()),
        other => Err(SearchError::Corrupt(other.to_owned()).into()),
    }
}

impl Worker for Fake {
    type Model = KeysReader;

    async fn open(folder: &Path, _: EventSource, _: Status, _: Clock) -> Result<Fake, ModelError> {
        if !folder.join(KeysReader::FILE).exists() {
            fs::write(folder.join(KeysReader::FILE), "fine").unwrap();
        }
        read_state(folder).map(|()| Fake { folder: folder.to_owned() })
    }

    fn position(&self) -> Position {
        Position(7)
    }

    fn report_to(&mut self, _: Status) {}

    async fn follow(&mut self, stop: &CancellationToken) -> Result<(), WorkerError> {
        while !stop.is_cancelled() {
            read_state(&self.folder)?;
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
        Ok(())
    }

    async fn replay_all(
        &mut self,
        _: Option<Position>,
        _: &CancellationToken,
        progress: ProgressFn<'_>,
    ) -> Result<(), ReplayError> {
        progress(Position(1), Position(7));
        while !self.folder.with_file_name("release").exists() {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
        Ok(())
    }

    async fn overtake(&mut self, _: Position, _: &CancellationToken) -> Result<(), WorkerError> {
        Ok(())
    }
}

/// A running host of a fake with one generation.
struct Hosted {
    folder: TempDir,
    generations: Generations,
    status: Status,
    health: Health,
    requests: mpsc::Sender<RebuildRequest>,
    stop: CancellationToken,
    running: JoinHandle<Result<(), WorkerError>>,
}

fn settings(models: &Path, health: &Health) -> NodeSettings {
    let clock = Clock::manual(jiff::Timestamp::UNIX_EPOCH);
    let (models, name, health) = (models.to_owned(), "node".into(), health.clone());
    NodeSettings { models, name, clock, health, signals: CommitSignals::default(), waits_for_rebuild: false }
}

impl Hosted {
    async fn with(first: &str) -> Hosted {
        let folder = tempfile::tempdir().unwrap();
        let generations = ModelKind::Keys.generations(folder.path());
        let generation = generations.create_next().unwrap();
        fs::write(generation.path.join(KeysReader::FILE), first).unwrap();
        generations.make_current(&generation).unwrap();
        Hosted::start(folder, Status::new("keys"), Health::default()).await
    }

    async fn start(folder: TempDir, status: Status, health: Health) -> Hosted {
        let generations = ModelKind::Keys.generations(folder.path());
        let stop = CancellationToken::new();
        let options = async_nats::ConnectOptions::new().retry_on_initial_connect();
        let source = EventSource::new(options.connect("127.0.0.1:1").await.unwrap());
        let host = Host::new::<Fake>(&settings(folder.path(), &health), source, status.clone());
        let (requests, receiver) = mpsc::channel(1);
        let running = tokio::spawn(host.run::<Fake>(receiver, stop.clone()));
        Hosted { folder, generations, status, health, requests, stop, running }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join("keys").join(name)
    }

    fn set(&self, generation: &str, state: &str) {
        // Atomically, because the worker reads it all the time.
        let new = self.path("new");
        fs::write(&new, state).unwrap();
        fs::rename(new, self.path(generation).join(KeysReader::FILE)).unwrap();
    }

    fn release(&self) {
        fs::write(self.path("release"), "").unwrap();
    }

    fn current(&self) -> Option<String> {
        self.generations.current().unwrap().map(|generation| generation.name)
    }

    async fn request_rebuild(&self) -> mpsc::UnboundedReceiver<RebuildProgress> {
        let (progress, messages) = mpsc::unbounded_channel();
        self.requests.send(RebuildRequest { progress }).await.unwrap();
        messages
    }

    async fn until(&self, what: &str, mut holds: impl FnMut() -> bool) {
        for _ in 0..24_000 {
            if holds() {
                return;
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        panic!("timed out waiting for {what}: {:?}", self.status.get());
    }

    async fn is_quarantined(&self) {
        self.until("the quarantine", || self.path("quarantined-g000001/reason").exists()).await;
        self.until("its status", || self.status.get().quarantined.is_some()).await;
        assert_eq!(self.current(), None);
    }

    async fn end(self) {
        self.stop.cancel();
        self.running.await.unwrap().unwrap();
    }
}

/// Returns the last message of a rebuild.
async fn last(messages: &mut mpsc::UnboundedReceiver<RebuildProgress>) -> RebuildProgress {
    let mut last = None;
    while let Some(progress) = messages.recv().await {
        last = Some(progress);
    }
    last.unwrap()
}

fn swapped_to(progress: &RebuildProgress) -> &str {
    let RebuildProgress::Swapped { generation, .. } = progress else { panic!("{progress:?}") };
    generation
}

#[tokio::test]
async fn a_damaged_model_is_quarantined_and_rebuilt() {
    let hosted = Hosted::with("damaged").await;
    hosted.is_quarantined().await;
    let reason = "The search index is damaged: damaged. It must be rebuilt.";
    let note = fs::read_to_string(hosted.path("quarantined-g000001/reason")).unwrap();
    assert_eq!(note, format!("{reason}\n"));
    let not_ready = hosted.health.not_ready().unwrap();
    assert!(not_ready.contains(reason) && not_ready.starts_with("keys rebuild has failed"), "{not_ready}");
    // A request meanwhile is answered with that rebuild, not with another one.
    let mut messages = hosted.request_rebuild().await;
    assert!(matches!(messages.recv().await.unwrap(), RebuildProgress::Replaying { .. }));
    hosted.release();
    assert_eq!(swapped_to(&last(&mut messages).await), "g000002");
    assert_eq!(hosted.current().as_deref(), Some("g000002"));
    hosted.until("readiness", || hosted.health.not_ready().is_none()).await;
    assert_eq!(hosted.status.get().quarantined, None);
    hosted.until("the removal", || !hosted.path("quarantined-g000001").exists()).await;
    hosted.end().await;
}

#[tokio::test]
async fn a_model_whose_file_is_missing_or_empty_is_damaged() {
    let hosted = Hosted::with("").await;
    hosted.is_quarantined().await;
    hosted.release();
    hosted.until("the rebuilt model", || hosted.current().as_deref() == Some("g000002")).await;
    fs::remove_file(hosted.path("g000002").join(KeysReader::FILE)).unwrap();
    hosted.until("the next one", || hosted.current().as_deref() == Some("g000003")).await;
    hosted.end().await;
}

#[tokio::test]
async fn a_rebuild_continues_when_the_live_model_is_damaged() {
    let hosted = Hosted::with("fine").await;
    let mut messages = hosted.request_rebuild().await;
    let replaying = |applied| RebuildProgress::Replaying { model: "keys".into(), applied, of: applied * 7 };
    assert_eq!(messages.recv().await, Some(replaying(0)));
    assert_eq!(messages.recv().await, Some(replaying(1)));
    hosted.set("g000001", "damaged");
    hosted.is_quarantined().await;
    hosted.release();
    assert_eq!(swapped_to(&last(&mut messages).await), "g000002", "the rebuild that was running");
    assert_eq!(hosted.current().as_deref(), Some("g000002"));
    hosted.end().await;
}

#[tokio::test]
async fn a_model_that_cannot_be_opened_at_present_is_kept_and_can_be_rebuilt() {
    let hosted = Hosted::with("busy").await;
    hosted.until("a failure", || !hosted.health.failing().is_empty()).await;
    let failing = hosted.health.failing();
    assert_eq!((failing[0].component.as_str(), failing[0].is_not_ready), ("keys worker", false));
    assert_eq!(hosted.current().as_deref(), Some("g000001"), "the error may pass");
    let mut messages = hosted.request_rebuild().await;
    hosted.release();
    assert_eq!(swapped_to(&last(&mut messages).await), "g000002");
    hosted.until("recovery", || hosted.health.failing().is_empty()).await;
    assert!(!hosted.path("quarantined-g000001").exists());
    hosted.end().await;
}

#[tokio::test]
async fn a_quarantined_model_is_rebuilt_after_a_restart_before_readers_see_it() {
    let hosted = Hosted::with("damaged").await;
    hosted.is_quarantined().await;
    let Hosted { folder, status, health, stop, running, .. } = hosted;
    stop.cancel();
    running.await.unwrap().unwrap();
    let hosted = Hosted::start(folder, status, health).await;
    let mut messages = hosted.request_rebuild().await;
    messages.recv().await.unwrap();
    assert_eq!(hosted.current(), None, "readers see nothing before it is complete");
    hosted.release();
    swapped_to(&last(&mut messages).await);
    assert!(hosted.current().is_some());
    hosted.end().await;
}
