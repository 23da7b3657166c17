#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod joined;

use std::path::Path;

use health::Health;
use schemas::account::{AccountEvent, AccountOpened, KeyIssued, KeyRevoked};
use schemas::event::Event;
use schemas::ids::{AccountId, Position, StreamId};
use schemas::key::KeyHash;
use tempfile::TempDir;
use tokio_util::sync::{CancellationToken, DropGuard};

use super::*;
use crate::catalog::CatalogWriter;
use crate::counters::{CountersWriter, Progress};
use crate::keys::KeysWriter;
use crate::neighbours::NeighboursWriter;
use archive::ArchiveWriter;
use model::checkpoint::Checkpoint;
use model::generation::Generation;
use model::search::SearchWriter;

/// A limit that a test which is right never reaches.
const TIMEOUT: Duration = Duration::from_secs(120);

fn clock() -> Clock {
    Clock::manual("2026-11-20T08:00:00Z".parse().unwrap())
}

fn generations(folder: &Path, model: ModelKind) -> Generations {
    model.generations(folder)
}

/// Creates an empty generation of a model and makes it current.
async fn create(folder: &Path, model: ModelKind) -> Generation {
    let generations = generations(folder, model);
    let generation = generations.create_next().unwrap();
    let (path, checkpoint) = (&generation.path, Checkpoint::default());
    match model {
        ModelKind::Keys => KeysWriter::open(path).await.unwrap().close().await.unwrap(),
        ModelKind::Counters => {
            let mut writer = CountersWriter::open(path).await.unwrap();
            writer.commit(&[], Progress::default(), "2026-11".parse().unwrap()).await.unwrap();
            writer.close().await.unwrap();
        }
        ModelKind::Catalog => CatalogWriter::open(path).await.unwrap().close().await.unwrap(),
        ModelKind::Search => SearchWriter::open_or_create(path).unwrap().commit("{}").unwrap(),
        ModelKind::Archive => ArchiveWriter::open(path).await.unwrap().close().await.unwrap(),
        ModelKind::Neighbours => {
            let mut writer = NeighboursWriter::open(path).await.unwrap();
            writer.commit(checkpoint).await.unwrap();
            writer.close().await.unwrap();
        }
    }
    generations.make_current(&generation).unwrap();
    generation
}

/// Makes a generation current that cannot be opened.
fn create_broken(folder: &Path, model: ModelKind) {
    let generations = generations(folder, model);
    let generation = generations.create_next().unwrap();
    for file in ["meta.json".to_owned(), format!("{}.db", model.name())] {
        std::fs::write(generation.path.join(file), [0xa5; 8192]).unwrap();
    }
    generations.make_current(&generation).unwrap();
}

fn opened(models: &ReadModels, model: ModelKind) -> Option<String> {
    match model {
        ModelKind::Keys => models.keys().map(|open| open.generation.name.clone()),
        ModelKind::Counters => models.counters().map(|open| open.generation.name.clone()),
        ModelKind::Catalog => models.catalog().map(|open| open.generation.name.clone()),
        ModelKind::Search => models.search().map(|open| open.generation.name.clone()),
        ModelKind::Archive => models.archive().map(|open| open.generation.name.clone()),
        ModelKind::Neighbours => models.neighbours().map(|open| open.generation.name.clone()),
    }
}

async fn wait_until(what: &str, reached: impl Fn() -> bool) {
    let all = async {
        while !reached() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    assert!(tokio::time::timeout(TIMEOUT, all).await.is_ok(), "{what} was not seen within {TIMEOUT:?}");
}

/// Models that are refreshed until this is dropped.
struct Refreshed {
    folder: TempDir,
    models: ReadModels,
    health: Health,
    _stop: DropGuard,
}

impl Refreshed {
    async fn start() -> Refreshed {
        let folder = tempfile::tempdir().unwrap();
        for model in ModelKind::ALL {
            create(folder.path(), model).await;
        }
        Refreshed::of(folder).await
    }

    async fn of(folder: TempDir) -> Refreshed {
        let models = ReadModels::new(folder.path(), clock());
        let (health, stop) = (Health::default(), CancellationToken::new());
        for model in ModelKind::ALL {
            #[expect(clippy::disallowed_methods, reason = "it ends with the runtime of the test")]
            tokio::spawn(models.clone().follow(model, health.clone(), stop.clone()));
        }
        let refreshed = Refreshed { folder, models, health, _stop: stop.drop_guard() };
        for model in ModelKind::ALL {
            refreshed.reads(model, "g000001").await;
        }
        refreshed
    }

    async fn reads(&self, model: ModelKind, generation: &str) {
        let is_read = || opened(&self.models, model).as_deref() == Some(generation);
        wait_until(&format!("{model:?} in {generation}"), is_read).await;
    }

    fn failing(&self) -> Vec<String> {
        self.health.failing().into_iter().map(|failing| failing.component).collect()
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_model_that_cannot_be_opened_does_not_affect_the_others() {
    for broken in ModelKind::ALL {
        let refreshed = Refreshed::start().await;
        create_broken(refreshed.folder.path(), broken);
        for model in ModelKind::ALL.into_iter().filter(|model| *model != broken) {
            create(refreshed.folder.path(), model).await;
        }
        for model in ModelKind::ALL.into_iter().filter(|model| *model != broken) {
            refreshed.reads(model, "g000002").await;
        }
        wait_until("a report", || refreshed.failing() == [broken.component()]).await;
        assert_eq!(opened(&refreshed.models, broken).as_deref(), Some("g000001"));
        create(refreshed.folder.path(), broken).await;
        refreshed.reads(broken, "g000003").await;
        wait_until("a recovery", || refreshed.failing().is_empty()).await;
    }
}

fn account() -> AccountId {
    "01ARZ3NDEKTSV4RRFFQ69G0001".parse().unwrap()
}

fn hash() -> KeyHash {
    KeyHash::of(b"key")
}

/// A writer of the keys, with one key.
struct Keys {
    writer: KeysWriter,
    position: Position,
}

impl Keys {
    async fn open(generation: &Generation) -> Keys {
        let writer = KeysWriter::open(&generation.path).await.unwrap();
        let mut keys = Keys { writer, position: Position::START };
        keys.apply(AccountEvent::AccountOpened(AccountOpened {})).await;
        let issued = KeyIssued {
            key_id: "Key00001".parse().unwrap(),
            hash: hash(),
            hint: "0001".into(),
            name: None,
            sealed_name: None,
            tier: "free".parse().unwrap(),
        };
        keys.apply(AccountEvent::KeyIssued(issued)).await;
        keys
    }

    async fn revoke(&mut self) {
        self.apply(AccountEvent::KeyRevoked(KeyRevoked { key_id: "Key00001".parse().unwrap() })).await;
    }

    async fn apply(&mut self, event: AccountEvent) {
        self.position = self.position.next();
        self.writer.load([(account(), &event)].into_iter()).await.unwrap();
        let stream = StreamId::account(account());
        let recorded = kit::samples::recorded(self.position, stream, &Event::Account(event.clone()));
        self.writer.apply(&recorded, account(), event).unwrap();
        let checkpoint = Checkpoint { position: self.position, ..Checkpoint::default() };
        self.writer.commit(checkpoint).await.unwrap();
    }
}

/// Returns refreshed models that know one key, and its writer.
async fn with_key() -> (Refreshed, Keys) {
    let refreshed = Refreshed::start().await;
    let current = generations(refreshed.folder.path(), ModelKind::Keys).current().unwrap().unwrap();
    let keys = Keys::open(&current).await;
    wait_until("the key", || is_active(&refreshed)).await;
    (refreshed, keys)
}

fn is_active(refreshed: &Refreshed) -> bool {
    refreshed.models.keys().is_some_and(|keys| keys.reader.find(&hash()).is_some())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_revoked_key_is_refused_while_the_search_index_is_damaged() {
    let (refreshed, mut keys) = with_key().await;
    let index = generations(refreshed.folder.path(), ModelKind::Search).current().unwrap().unwrap();
    std::fs::write(index.path.join("meta.json"), "not an index").unwrap();
    wait_until("a report", || refreshed.failing() == ["model search"]).await;
    keys.revoke().await;
    wait_until("the revocation", || !is_active(&refreshed)).await;
    assert_eq!(refreshed.failing(), ["model search"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[expect(clippy::await_holding_lock, reason = "the lock delays the refresh on another thread")]
async fn a_revoked_key_is_refused_while_the_search_index_is_slow() {
    let (refreshed, mut keys) = with_key().await;
    let search = refreshed.models.search().unwrap();
    let gate = search.reader.block_refresh();
    wait_until("a refresh of the index", || search.reader.is_refreshing()).await;
    keys.revoke().await;
    wait_until("the revocation", || !is_active(&refreshed)).await;
    assert!(search.reader.is_refreshing());
    drop(gate);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_revoked_key_is_refused_while_generations_cannot_be_listed() {
    let (refreshed, mut keys) = with_key().await;
    // As without free file descriptors: open files can be read, and nothing else.
    for model in ModelKind::ALL {
        let pointer = refreshed.folder.path().join(model.name()).join("current");
        std::fs::remove_file(&pointer).unwrap();
        std::fs::create_dir(&pointer).unwrap();
    }
    wait_until("reports", || refreshed.failing().len() == ModelKind::ALL.len()).await;
    keys.revoke().await;
    wait_until("the revocation", || !is_active(&refreshed)).await;
}
