//! The ledger on a real nats-server: every counted call is in both, after any fault of either.

mod restored_calls;

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use async_nats::HeaderMap;
use async_nats::jetstream::{self, ErrorCode};
use futures::StreamExt;
use kit::nats::Nats;
use kit::{TIMEOUT, wait_for, wait_until};
use ledger::usage_streams::prepare;
use ledger::{Copier, Ledger};
use schemas::clock::Clock;
use schemas::control::{LedgerEntry, ReadUsage, UsagePage};
use schemas::ids::Position;
use schemas::month::Month;
use schemas::subject::{OVERRUN, READ_USAGE};
use schemas::tier::Tiers;
use schemas::usage::{Call, CallId, Surface};
use tempfile::TempDir;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

pub(crate) const FREE: &str = "USAGE_FREE";

pub(crate) fn tiers(text: &str) -> Tiers {
    text.parse().unwrap()
}

/// Calls of the current month, as an API would publish them.
pub(crate) struct TestPublisher {
    clock: Clock,
    pub(crate) jetstream: jetstream::Context,
}

impl TestPublisher {
    pub(crate) async fn new(nats: &Nats) -> TestPublisher {
        TestPublisher { clock: Clock::system(), jetstream: jetstream::new(nats.client().await) }
    }

    pub(crate) fn call(&self, key: &str) -> Call {
        let time = self.clock.now();
        Call {
            id: CallId(self.clock.event_id().0),
            key_id: key.parse().unwrap(),
            tier: "free".parse().unwrap(),
            month: Month::of(time),
            time,
            surface: Surface::Mcp,
            operation: "search".into(),
        }
    }

    /// Publishes a call, and returns its sequence or the error.
    async fn publish(&self, subject: String, call: &Call) -> Result<u64, ErrorCode> {
        let mut headers = HeaderMap::new();
        for (name, value) in call.headers() {
            headers.insert(name, value);
        }
        let sent = self.jetstream.publish_with_headers(subject, headers, call.body().into()).await.unwrap();
        sent.await.map(|ack| ack.sequence).map_err(|error| {
            let source = std::error::Error::source(&error);
            let reason = source.and_then(|source| source.downcast_ref::<jetstream::Error>());
            reason.unwrap_or_else(|| panic!("{error}")).error_code()
        })
    }

    pub(crate) async fn count(&self, call: &Call) -> Result<u64, ErrorCode> {
        self.publish(call.subject(), call).await
    }

    pub(crate) async fn calls(&self, key: &str, count: usize) -> Vec<Call> {
        let calls: Vec<Call> = (0..count).map(|_| self.call(key)).collect();
        let counted = futures::stream::iter(&calls).map(|call| self.count(call)).buffer_unordered(64);
        counted.for_each(async |outcome| assert!(outcome.is_ok(), "{outcome:?}")).await;
        calls
    }

    /// Counts a call, repeating it under the same id until it is acknowledged.
    async fn publish_until_acknowledged(&self, call: &Call) {
        let mut headers = HeaderMap::new();
        for (name, value) in call.headers() {
            headers.insert(name, value);
        }
        // The acknowledgement of a killed server never comes. A call that is sent again is recognised by its id.
        let publish = async || {
            let body = call.body().into();
            let sent = self.jetstream.publish_with_headers(call.subject(), headers.clone(), body).await?;
            tokio::time::timeout(Duration::from_secs(1), sent.into_future()).await.ok().transpose()
        };
        wait_until(TIMEOUT, "an acknowledgement", async || matches!(publish().await, Ok(Some(_)))).await;
    }

    /// Counts a call once the stream accepts calls.
    async fn count_when_open(&self, call: &Call) -> Result<u64, ErrorCode> {
        let is_open = async || {
            let stream = self.jetstream.get_stream(FREE).await.unwrap();
            stream.cached_info().config.subjects == ["loggia.usage.free.*.*"]
        };
        wait_until(TIMEOUT, "a stream that takes calls", is_open).await;
        self.count(call).await
    }

    pub(crate) async fn message_count(&self, stream: &str) -> u64 {
        match self.jetstream.get_stream(stream).await {
            Ok(stream) => stream.cached_info().state.messages,
            Err(_) => 0,
        }
    }
}

/// A ledger in a folder and its copier, until they are stopped.
struct RunningLedger {
    ledger: Arc<Ledger>,
    stop: CancellationToken,
    task: JoinHandle<()>,
}

impl RunningLedger {
    async fn of(folder: &Path, nats: &Nats, tiers: &Tiers) -> RunningLedger {
        RunningLedger::with(folder, nats, tiers, |copier| copier).await
    }

    async fn with(
        folder: &Path,
        nats: &Nats,
        tiers: &Tiers,
        adjust: impl FnOnce(Copier) -> Copier,
    ) -> RunningLedger {
        let client = nats.client().await;
        prepare(&client, tiers, 1).await.unwrap();
        let (ledger, stop) = (Arc::new(Ledger::open(folder).await.unwrap()), CancellationToken::new());
        let copier = adjust(Copier::new(ledger.clone(), client, tiers.clone(), Clock::system()));
        let task = tokio::spawn(copier.run(stop.clone()));
        RunningLedger { ledger, stop, task }
    }

    /// Waits until it has this number of entries, and returns them.
    async fn wait_for_entries(&self, count: usize) -> Vec<LedgerEntry> {
        wait_until(TIMEOUT, &format!("{count} entries"), async || {
            self.ledger.head().await.unwrap().position.0 >= count as u64
        })
        .await;
        let entries = all_entries(&self.ledger).await;
        assert_eq!(entries.len(), count);
        entries
    }

    async fn stopped(self) {
        self.stop.cancel();
        self.task.await.unwrap();
        self.ledger.verify(|_| {}).await.unwrap().unwrap();
        self.ledger.close().await;
    }
}

/// Starts a server, and a ledger of these quotas for it in a new folder.
async fn started(quotas: &str) -> Option<(Nats, TempDir, Tiers, TestPublisher, RunningLedger)> {
    let (nats, folder, tiers) = (Nats::start().await?, folder(), tiers(quotas));
    let running = RunningLedger::of(folder.path(), &nats, &tiers).await;
    let publisher = TestPublisher::new(&nats).await;
    Some((nats, folder, tiers, publisher, running))
}

async fn all_entries(ledger: &Ledger) -> Vec<LedgerEntry> {
    let (mut entries, mut after) = (Vec::new(), Position::START);
    loop {
        let page = ledger.page(after, 1_000).await.unwrap();
        let Some(last) = page.entries.last() else { return entries };
        after = last.position;
        entries.extend(page.entries);
    }
}

fn folder() -> TempDir {
    tempfile::tempdir().unwrap()
}

/// Returns the calls of the entries and the calls themselves, in a comparable order.
fn sorted<'a>(calls: impl IntoIterator<Item = &'a Call>) -> Vec<&'a Call> {
    let mut calls: Vec<&Call> = calls.into_iter().collect();
    calls.sort_by_key(|call| call.id);
    calls
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_call_is_copied_once_with_its_source() {
    let Some((_nats, _folder, _tiers, publisher, running)) = started("free=5000, studio=5000").await else {
        return;
    };
    let calls = publisher.calls("Ab3dEf9h", 3_000).await;
    // Streams are copied independently, so what the other one adds must be published second.
    running.wait_for_entries(3_000).await;
    // A retry with the same id is the same call, also if it is published on another subject.
    assert!(publisher.count(&calls[7]).await.is_ok());
    publisher.publish(calls[7].overrun_subject(), &calls[7]).await.unwrap();
    let over = publisher.call("Ab3dEf9h");
    publisher.publish(over.overrun_subject(), &over).await.unwrap();
    let entries = running.wait_for_entries(3_001).await;
    assert_eq!(
        sorted(entries.iter().map(|entry| &entry.call)),
        sorted(calls.iter().chain([&over])),
        "all that is known of every call is kept"
    );
    for entry in &entries {
        let source = if entry.call == over { (OVERRUN, true) } else { (FREE, false) };
        assert_eq!((entry.source.as_str(), entry.overrun), source);
    }
    assert_eq!(entries.iter().filter(|entry| !entry.overrun).map(|entry| entry.sequence).max(), Some(3_000));
    running.stopped().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn invalid_messages_are_counted_and_skipped() {
    let Some((_nats, _folder, _tiers, publisher, running)) = started("free=10").await else { return };
    publisher.calls("Ab3dEf9h", 1).await;
    let bare = publisher.jetstream.publish("loggia.usage.free.x.y", "?".into()).await.unwrap();
    bare.await.unwrap();
    publisher.calls("Ab3dEf9h", 1).await;
    running.wait_for_entries(2).await;
    assert_eq!(running.ledger.malformed(), 1);
    tokio::time::timeout(TIMEOUT, running.ledger.copied_to(FREE, 3)).await.expect("all three are copied");
    running.stopped().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn failing_copies_are_a_failing_component_until_they_recover() {
    let Some(mut nats) = Nats::start().await else { return };
    let (folder, tiers, health) = (folder(), tiers("free=10"), health::Health::default());
    let ledger = Arc::new(Ledger::open(folder.path()).await.unwrap());
    let copier = Copier::new(ledger.clone(), nats.client().await, tiers, Clock::system());
    let (copier, stop) = (copier.reporting_to(health.component("ledger")), CancellationToken::new());
    let task = tokio::spawn(copier.run(stop.clone()));
    let works = async || wait_until(TIMEOUT, "no failure", async || health.failing().is_empty()).await;
    works().await;
    nats.kill9().await;
    let failing = wait_for(TIMEOUT, "a failure", async || health.failing().pop()).await;
    assert_eq!((failing.component.as_str(), failing.is_not_ready), ("ledger", false), "{failing:?}");
    nats.restart().await;
    works().await;
    TestPublisher::new(&nats).await.calls("Ab3dEf9h", 3).await;
    wait_until(TIMEOUT, "three entries", async || ledger.head().await.unwrap().position == Position(3)).await;
    stop.cancel();
    task.await.unwrap();
    ledger.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn calls_counted_before_shutdown_are_copied_before_the_copier_ends() {
    let Some((_nats, _folder, _tiers, publisher, running)) = started("free=100000").await else { return };
    for calls in [1, 20, 3_000] {
        publisher.calls("Ab3dEf9h", calls).await;
    }
    let ledger = running.ledger.clone();
    running.stop.cancel();
    running.task.await.unwrap();
    assert_eq!(ledger.head().await.unwrap().position, Position(3_021));
    ledger.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_truncated_stream_is_detected_even_if_new_calls_reuse_its_sequences() {
    let Some((nats, folder, tiers, publisher, running)) = started("free=100").await else { return };
    publisher.calls("Ab3dEf9h", 30).await;
    running.wait_for_entries(30).await;
    running.stopped().await;
    // As a server that was restored from an older copy: the same stream, other calls at the same sequences.
    let other = folder_copy(folder.path());
    let running = RunningLedger::of(other.path(), &nats, &tiers).await;
    let source =
        running.ledger.watch().borrow().iter().find(|source| source.stream == FREE).cloned().unwrap();
    running.stopped().await;
    let ledger = Ledger::open(other.path()).await.unwrap();
    let imagined = ledger::CopiedBatch {
        stream: source.stream,
        created: source.created,
        sequence: 30,
        last: Some(publisher.call("Ab3dEf9h").id),
        calls: vec![(30, publisher.call("Ab3dEf9h"))],
    };
    ledger.append(imagined).await.unwrap();
    ledger.close().await;
    let running = RunningLedger::of(other.path(), &nats, &tiers).await;
    wait_until(TIMEOUT, "the lost call to be given back", async || publisher.message_count(FREE).await == 31)
        .await;
    running.wait_for_entries(31).await;
    running.stopped().await;
}

fn folder_copy(from: &Path) -> TempDir {
    let to = folder();
    std::fs::copy(from.join("usage.db"), to.path().join("usage.db")).unwrap();
    to
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_deleted_ledger_is_rebuilt_from_the_streams() {
    let Some(nats) = Nats::start().await else { return };
    let tiers = tiers("free=100");
    let (first, second) = (folder(), folder());
    let publisher = TestPublisher::new(&nats).await;
    let running = RunningLedger::of(first.path(), &nats, &tiers).await;
    publisher.calls("Ab3dEf9h", 60).await;
    let entries = running.wait_for_entries(60).await;
    running.stopped().await;
    let running = RunningLedger::of(second.path(), &nats, &tiers).await;
    assert_eq!(running.wait_for_entries(60).await, entries);
    running.stopped().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_killed_server_neither_loses_nor_duplicates_a_call() {
    let Some((mut nats, _folder, _tiers, publisher, running)) = started("free=1000000").await else { return };
    let calls: Vec<Call> = (0..3_000).map(|_| publisher.call("Ab3dEf9h")).collect();
    let counting = async {
        let counted = futures::stream::iter(&calls)
            .map(|call| publisher.publish_until_acknowledged(call))
            .buffer_unordered(16);
        counted.collect::<()>().await;
    };
    let killing = async {
        for _ in 0..3 {
            tokio::time::sleep(Duration::from_millis(150)).await;
            nats.kill9().await;
            nats.restart().await;
        }
    };
    tokio::join!(counting, killing);
    let entries = running.wait_for_entries(3_000).await;
    assert_eq!(sorted(entries.iter().map(|entry| &entry.call)), sorted(&calls));
    assert_eq!(publisher.message_count(FREE).await, 3_000);
    running.stopped().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn pages_of_the_ledger_are_read_over_nats() {
    let Some(nats) = Nats::start().await else { return };
    let folder = folder();
    let running = RunningLedger::of(folder.path(), &nats, &tiers("free=5000")).await;
    let (client, stop) = (nats.client().await, running.stop.clone());
    let ledger = running.ledger.clone();
    let serving = tokio::spawn(async move { ledger::serve(&client, ledger, &stop).await });
    let publisher = TestPublisher::new(&nats).await;
    publisher.calls("Ab3dEf9h", 2_500).await;
    let entries = running.wait_for_entries(2_500).await;
    let asker = nats.client().await;
    let (mut read, mut after) = (Vec::new(), Position::START);
    while read.len() < entries.len() {
        let request = serde_json::to_vec(&ReadUsage { after, limit: usize::MAX }).unwrap();
        let page: UsagePage = wait_for(TIMEOUT, "a page", async || {
            let answer = asker.request(READ_USAGE, request.clone().into()).await.ok()?;
            serde_json::from_slice(&answer.payload).ok()
        })
        .await;
        assert_eq!(page.head, Position(2_500));
        assert_eq!(page.sources.iter().find(|source| source.stream == FREE).unwrap().sequence, 2_500);
        after = page.entries.last().unwrap().position;
        read.extend(page.entries);
    }
    assert_eq!(read, entries);
    running.stop.cancel();
    serving.await.unwrap().unwrap();
    running.stopped().await;
}
