//! The relay on a real nats-server: the stream equals the log after any fault of either.

mod clustered;

use std::sync::Arc;
use std::time::Duration;

use async_nats::Client;
use async_nats::jetstream::stream::Config;
use async_nats::jetstream::{self, consumer, consumer::DeliverPolicy};
use event_log::EventLog;
use futures::StreamExt;
use kit::nats::Nats;
use kit::{TIMEOUT, wait_for, wait_until};
use schemas::clock::Clock;
use schemas::envelope::Recorded;
use schemas::ids::{Position, StoreId};
use schemas::{cloudevents, subject};
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{ConnectOptions, Connection};
use tempfile::TempDir;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use write::relay::{Relay, RelayProgress};

use crate::{append, everything};

struct Log {
    folder: TempDir,
    store: Arc<EventLog>,
    clock: Clock,
}

impl Log {
    async fn new() -> Log {
        let (folder, clock) = (tempfile::tempdir().unwrap(), Clock::system());
        let store = Arc::new(EventLog::open(folder.path(), &clock).await.unwrap());
        Log { folder, store, clock }
    }

    /// A second store with the content of this one as of now, as a restored backup has it.
    async fn copied(&self) -> Log {
        let folder = tempfile::tempdir().unwrap();
        self.store.copy_to(&folder.path().join("events.db")).await.unwrap();
        let store = Arc::new(EventLog::open(folder.path(), &self.clock).await.unwrap());
        Log { folder, store, clock: self.clock.clone() }
    }

    async fn add(&self, count: usize) {
        let appends = (0..count).map(|number| {
            let reason = format!("Łódź {number}");
            let append = append(&self.clock, &format!("s{}", number % 50), &reason);
            async move { self.store.append(append).await.unwrap() }
        });
        futures::stream::iter(appends).buffer_unordered(500).count().await;
    }

    async fn head(&self) -> Position {
        self.store.head().await.unwrap().position
    }

    /// Returns the same log after the event at position 7 was changed.
    async fn damaged(self) -> Log {
        self.store.close().await;
        let file = SqliteConnectOptions::new().filename(self.folder.path().join("events.db"));
        let mut connection = file.connect().await.unwrap();
        let tampering = "UPDATE events SET actor = 'Bea' WHERE position = 7";
        sqlx::query(tampering).execute(&mut connection).await.unwrap();
        connection.close().await.unwrap();
        let store = Arc::new(EventLog::open_read_only(self.folder.path()).await.unwrap());
        Log { store, ..self }
    }
}

/// A relay that runs until it is dropped.
struct RunningRelay {
    relayed: tokio::sync::watch::Receiver<RelayProgress>,
    stop: CancellationToken,
    task: JoinHandle<()>,
}

impl RunningRelay {
    async fn of(log: &Log, nats: &Nats) -> RunningRelay {
        RunningRelay::into(log, nats.client().await, 1)
    }

    /// Starts a relay, and waits until the whole log is acknowledged.
    async fn caught_up(log: &Log, nats: &Nats) -> RunningRelay {
        let mut relay = RunningRelay::of(log, nats).await;
        relay.wait_until_caught_up(log).await;
        relay
    }

    /// Returns why a relay fails.
    async fn failure(log: &Log, nats: &Nats) -> String {
        let relay = RunningRelay::of(log, nats).await;
        let failure = relay.wait_for_failure().await;
        relay.stopped().await;
        failure
    }

    fn into(log: &Log, client: Client, replicas: usize) -> RunningRelay {
        let relay = Relay::new(log.store.clone(), client).replicas(replicas);
        let (relayed, stop) = (relay.watch(), CancellationToken::new());
        let task = tokio::spawn(relay.run(stop.clone()));
        RunningRelay { relayed, stop, task }
    }

    /// Waits until the whole log is acknowledged.
    async fn wait_until_caught_up(&mut self, log: &Log) {
        let head = log.head().await;
        let reached = self.relayed.wait_for(|relayed| relayed.position >= head);
        tokio::time::timeout(TIMEOUT, reached).await.expect("the relay catches up").unwrap();
    }

    async fn wait_for_failure(&self) -> String {
        wait_for(TIMEOUT, "the relay's trouble", async || self.relayed.borrow().failure.clone()).await
    }

    async fn stopped(self) {
        self.stop.cancel();
        self.task.await.unwrap();
    }
}

/// Starts a server, and a log of this many events; `None` as for [`Nats::start`].
async fn ready(events: usize) -> Option<(Nats, Log)> {
    let (nats, log) = (Nats::start().await?, Log::new().await);
    log.add(events).await;
    Some((nats, log))
}

async fn jetstream(nats: &Nats) -> jetstream::Context {
    jetstream::new(nats.client().await)
}

/// Returns every message of the stream, in order, as an event.
async fn stream_events(client: Client) -> Vec<(u64, Recorded, StoreId)> {
    let stream = jetstream::new(client).get_stream(subject::EVENTS).await.unwrap();
    let count = stream.cached_info().state.messages as usize;
    if count == 0 {
        return Vec::new();
    }
    let consumer = stream
        .create_consumer(consumer::pull::OrderedConfig {
            deliver_policy: DeliverPolicy::All,
            ..Default::default()
        })
        .await
        .unwrap();
    let messages = consumer.messages().await.unwrap().take(count).map(|message| {
        let message = message.unwrap();
        let sequence = message.info().unwrap().stream_sequence;
        let headers = message.headers.as_ref().unwrap();
        let header = |name| headers.get(name).map(|value| value.as_str());
        let (event, store) = cloudevents::parse(header, &message.payload).unwrap();
        assert_eq!(message.subject.as_str(), subject::of_stream(&event.stream));
        // The expected last sequence, which keeps two relays in order for longer than the duplicate window; a batch has
        // one.
        let before = (sequence - 1).to_string();
        let is_within = header("Nats-Batch-Sequence").is_some_and(|number| number != "1");
        let fence = (!is_within).then_some(before.as_str());
        assert_eq!(header("Nats-Expected-Last-Sequence"), fence);
        (sequence, event, store)
    });
    messages.collect().await
}

/// Checks that the stream equals the log: every event once, at the sequence of its position, byte for byte.
async fn assert_stream_is_log(log: &Log, client: Client) {
    let (stream_events, expected) = (stream_events(client).await, everything(&log.store).await);
    assert_eq!(stream_events.len(), expected.len());
    for ((sequence, event, store), expected) in stream_events.iter().zip(&expected) {
        assert_eq!((Position(*sequence), *store), (expected.position, log.store.store_id()));
        assert_eq!(serde_json::to_string(event).unwrap(), serde_json::to_string(expected).unwrap());
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_stream_is_the_log() {
    let Some((nats, log)) = ready(1_500).await else { return };
    let mut relay = RunningRelay::caught_up(&log, &nats).await;
    assert_stream_is_log(&log, nats.client().await).await;
    log.add(3).await;
    relay.wait_until_caught_up(&log).await;
    assert_stream_is_log(&log, nats.client().await).await;
    assert_eq!(relay.relayed.borrow().failure, None);
    relay.stopped().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_stream_has_no_limits_and_names_its_store() {
    let Some((nats, log)) = ready(1).await else { return };
    let relay = RunningRelay::caught_up(&log, &nats).await;
    let stream = jetstream(&nats).await.get_stream(subject::EVENTS).await.unwrap();
    let config = &stream.cached_info().config;
    assert_eq!(config.subjects, subject::EVENT_SUBJECTS);
    assert_eq!((config.max_age, config.max_messages, config.max_bytes), (Duration::ZERO, -1, -1));
    assert_eq!(config.duplicate_window, Duration::from_secs(20));
    assert!(config.allow_direct && config.deny_delete);
    assert_eq!(config.metadata["loggia.store"], log.store.store_id().to_string());
    relay.stopped().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_concurrent_relays_neither_reorder_nor_repeat() {
    let Some((nats, log)) = ready(0).await else { return };
    let mut relays = [RunningRelay::of(&log, &nats).await, RunningRelay::of(&log, &nats).await];
    for _ in 0..5 {
        log.add(600).await;
    }
    for relay in &mut relays {
        relay.wait_until_caught_up(&log).await;
    }
    assert_stream_is_log(&log, nats.client().await).await;
    for relay in relays {
        relay.stopped().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_relay_catches_up_after_a_server_was_killed() {
    let Some((mut nats, log)) = ready(0).await else { return };
    let mut relay = RunningRelay::of(&log, &nats).await;
    for _ in 0..3 {
        log.add(2_000).await;
        nats.kill9().await;
        log.add(200).await;
        nats.restart().await;
    }
    relay.wait_until_caught_up(&log).await;
    assert_stream_is_log(&log, nats.client().await).await;
    relay.stopped().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_wiped_server_is_refilled() {
    let Some((mut nats, log)) = ready(500).await else { return };
    let mut relay = RunningRelay::caught_up(&log, &nats).await;
    nats.wipe().await;
    wait_until(TIMEOUT, "the stream to be filled again", async || is_full(&log, &nats).await).await;
    log.add(10).await;
    relay.wait_until_caught_up(&log).await;
    assert_stream_is_log(&log, nats.client().await).await;
    relay.stopped().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_deleted_stream_is_recreated_and_refilled_even_when_idle() {
    let Some((nats, log)) = ready(700).await else { return };
    let relay = RunningRelay::caught_up(&log, &nats).await;
    let jetstream = jetstream(&nats).await;
    let config = jetstream.get_stream(subject::EVENTS).await.unwrap().cached_info().config.clone();
    jetstream.delete_stream(subject::EVENTS).await.unwrap();
    wait_until(TIMEOUT, "the stream to be filled again", async || is_full(&log, &nats).await).await;
    assert_stream_is_log(&log, nats.client().await).await;

    jetstream.delete_stream(subject::EVENTS).await.unwrap();
    jetstream.create_stream(config).await.ok();
    wait_until(TIMEOUT, "the new stream to be filled", async || is_full(&log, &nats).await).await;
    assert_stream_is_log(&log, nats.client().await).await;
    relay.stopped().await;
}

async fn is_full(log: &Log, nats: &Nats) -> bool {
    match jetstream(nats).await.get_stream(subject::EVENTS).await {
        Ok(stream) => stream.cached_info().state.last_sequence == log.head().await.0,
        Err(_) => false,
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_purged_stream_continues_at_its_last_sequence() {
    let Some((nats, log)) = ready(20).await else { return };
    RunningRelay::caught_up(&log, &nats).await.stopped().await;
    let jetstream = jetstream(&nats).await;
    let stream = jetstream.get_stream(subject::EVENTS).await.unwrap();
    assert!(stream.purge().await.is_err(), "a stream of this version cannot be purged");
    // One of version 0.1 can be purged: it keeps its last sequence, and is empty.
    let made = stream.cached_info().config.clone();
    jetstream.delete_stream(subject::EVENTS).await.unwrap();
    let purged = Config { deny_purge: false, first_sequence: Some(21), ..made };
    jetstream.create_stream(purged).await.unwrap();
    log.add(5).await;
    let relay = RunningRelay::caught_up(&log, &nats).await;
    let sequences: Vec<u64> =
        stream_events(nats.client().await).await.iter().map(|(sequence, ..)| *sequence).collect();
    assert_eq!(sequences, [21, 22, 23, 24, 25]);
    relay.stopped().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_stream_of_another_store_is_rejected() {
    let Some(nats) = Nats::start().await else { return };
    let (log, other) = (Log::new().await, Log::new().await);
    log.add(3).await;
    other.add(5).await;
    let relay = RunningRelay::caught_up(&log, &nats).await;
    assert_eq!(
        RunningRelay::failure(&other, &nats).await,
        format!(
            "the stream EVENTS on NATS belongs to the event store {}, and this is {}; use another NATS server or \
             account for it",
            log.store.store_id(),
            other.store.store_id()
        )
    );
    assert_stream_is_log(&log, nats.client().await).await;
    relay.stopped().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_foreign_stream_is_rejected() {
    let Some((nats, log)) = ready(0).await else { return };
    let jetstream = jetstream(&nats).await;
    let subjects = |subject: &str| vec![subject.to_owned()];
    let foreign =
        Config { name: "OTHER".into(), subjects: subjects("loggia.curation.x"), ..Config::default() };
    jetstream.create_stream(foreign).await.unwrap();
    assert_eq!(
        RunningRelay::failure(&log, &nats).await,
        "the stream EVENTS cannot be made on NATS, because another stream has some of its subjects \
         (loggia.curation.*, loggia.account.*); delete that stream, or use another NATS account"
    );

    jetstream.delete_stream("OTHER").await.unwrap();
    let foreign = Config { name: subject::EVENTS.into(), subjects: subjects("any"), ..Config::default() };
    jetstream.create_stream(foreign).await.unwrap();
    assert_eq!(
        RunningRelay::failure(&log, &nats).await,
        "the stream EVENTS on NATS was not made by Loggia; delete or rename it, or use another NATS account"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_store_that_is_older_than_the_stream_is_refused() {
    let Some(nats) = Nats::start().await else { return };
    let log = Log::new().await;
    log.add(2).await;
    let older = log.copied().await;
    log.add(1).await;
    RunningRelay::caught_up(&log, &nats).await.stopped().await;

    let failure = RunningRelay::failure(&older, &nats).await;
    assert!(
        failure.starts_with("the stream EVENTS has 3 events, the event store only 2: the store is older"),
        "{failure}"
    );

    older.add(2).await;
    let failure = RunningRelay::failure(&older, &nats).await;
    assert!(
        failure.starts_with(
            "message 3 of the stream EVENTS is not event 3 of the event store: they have grown apart"
        ),
        "{failure}"
    );
    assert_eq!(stream_events(nats.client().await).await.len(), 3, "nothing was published over it");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_foreign_message_in_the_stream_is_rejected() {
    let Some((nats, log)) = ready(5).await else { return };
    let relay = RunningRelay::caught_up(&log, &nats).await;
    let jetstream = jetstream(&nats).await;
    let stray = jetstream.publish("loggia.curation.stray", "{}".into()).await.unwrap();
    assert_eq!(stray.await.unwrap().sequence, 6);
    log.add(3).await;
    wait_until(TIMEOUT, "the stray message to be found", async || {
        let failure = relay.relayed.borrow().failure.clone().unwrap_or_default();
        failure.starts_with("message 6 of the stream EVENTS is not event 6")
    })
    .await;
    relay.stopped().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_damaged_event_is_not_published() {
    let Some((nats, log)) = ready(10).await else { return };
    let damaged = log.damaged().await;
    assert_eq!(
        RunningRelay::failure(&damaged, &nats).await,
        "the event store is damaged: the event at position 7 does not match its hash; verify it, and restore the \
         last backup"
    );
    assert!(stream_events(nats.client().await).await.len() <= 6);
}
