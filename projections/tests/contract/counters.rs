//! The counters on a real server: calls from the usage streams, and from the ledger of the write side.

mod usage;

use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

use kit::nats::Nats;
use kit::{TIMEOUT, copy_folder, wait_until};
use projections::error::WorkerError;
use projections::node::{Node, NodeSettings, WorkerTask};
use projections::projection::counters::{CountersWorker, verify};
use projections::source::EventSource;
use projections::status::Status;
use projections::worker::ReplayError;
use projections::worker::Worker;
use read::counters::{Counted, CountersReader, Ledger, digest};
use read::generation::Generations;
use read::models::CommitSignals;
use schemas::clock::Clock;
use schemas::control::Parked;
use schemas::ids::Position;
use schemas::month::Month;
use schemas::subject::{self, OVERRUN};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use usage::{FREE, Usage, call, free};

fn november() -> Month {
    "2026-11".parse().unwrap()
}

async fn open(folder: &Path, client: &async_nats::Client, status: &Status) -> CountersWorker {
    let source = EventSource::new(client.clone());
    let clock = Clock::manual("2026-11-20T00:00:00Z".parse().unwrap());
    CountersWorker::open(folder, source, status.clone(), clock).await.unwrap()
}

/// Starts a server with usage streams.
async fn started() -> Option<(Nats, async_nats::Client, Usage)> {
    let nats = Nats::start().await?;
    let client = nats.client().await;
    let usage = Usage::new(&client).await;
    Some((nats, client, usage))
}

/// A worker on a folder until it is stopped.
struct RunningCounters {
    folder: tempfile::TempDir,
    status: Status,
    stop: CancellationToken,
    worker: tokio::task::JoinHandle<()>,
    reader: CountersReader,
}

impl RunningCounters {
    async fn start(client: &async_nats::Client) -> RunningCounters {
        let (folder, status) = (tempfile::tempdir().unwrap(), Status::new("counters"));
        let mut worker = open(folder.path(), client, &status).await;
        let stop = CancellationToken::new();
        let stopped = stop.clone();
        let worker = tokio::spawn(async move { worker.follow(&stopped).await.unwrap() });
        let reader = CountersReader::open(folder.path(), november()).await.unwrap();
        RunningCounters { folder, status, stop, worker, reader }
    }

    async fn wait_for_calls(&self, calls: u64) {
        wait_until(TIMEOUT, &format!("{calls} counted calls"), async || {
            self.status.get().position == Position(calls)
        })
        .await;
        self.reader.refresh(november()).await.unwrap();
    }

    fn counted(&self, number: u64) -> Counted {
        self.reader.counted(call(number).key_id, &free(), november())
    }

    async fn end(self) -> tempfile::TempDir {
        self.stop.cancel();
        self.worker.await.unwrap();
        self.folder
    }
}

#[tokio::test]
async fn calls_of_every_stream_are_counted_as_they_come() {
    let Some((_nats, client, usage)) = started().await else { return };
    let _ledger = usage.keep_ledger(0).await;
    let counters = RunningCounters::start(&client).await;
    usage.publish(0..7).await;
    counters.wait_for_calls(7).await;
    assert_eq!(
        [counters.counted(0), counters.counted(1), counters.counted(2)],
        [Counted { used: 3, through: 7 }, Counted { used: 2, through: 5 }, Counted { used: 2, through: 6 }]
    );
    // Each call is counted as it comes: if each waited until the streams are listed again, every 4 s, these would take longer.
    let began = std::time::Instant::now();
    for number in 7..27 {
        usage.publish([number]).await;
        counters.wait_for_calls(number + 1).await;
    }
    assert!(began.elapsed() < Duration::from_secs(60), "{:?}", began.elapsed());
    // A stream created later is discovered, and overruns are counted separately.
    usage.make(OVERRUN, subject::OVERRUN_SUBJECTS.into()).await;
    usage.send(call(27).overrun_subject(), &call(27)).await;
    counters.wait_for_calls(28).await;
    assert_eq!(counters.counted(27), Counted { used: 9, through: 25 });
    let mut totals = Vec::new();
    counters
        .reader
        .each_total(&mut |key, _, _, used, overrun| totals.push((key.to_string(), used, overrun)))
        .await
        .unwrap();
    assert_eq!(totals, [("Key00000".into(), 9, 1), ("Key00001".into(), 9, 0), ("Key00002".into(), 9, 0)]);
    let status = counters.status.get();
    assert_eq!((status.parked, status.skipped), (vec![], 0));
    counters.end().await;
}

#[tokio::test]
async fn a_recreated_stream_is_followed_without_double_counting() {
    let Some((_nats, client, usage)) = started().await else { return };
    let _ledger = usage.keep_ledger(0).await;
    let counters = RunningCounters::start(&client).await;
    usage.publish(0..20).await;
    counters.wait_for_calls(20).await;
    let before = digest(counters.folder.path()).await.unwrap().1;
    usage.jetstream.delete_stream(FREE).await.unwrap();
    usage.make(FREE, subject::usage_subjects(&free())).await;
    // The same calls in another order, as the write side would restore them.
    usage.publish((0..20).rev()).await;
    wait_until(TIMEOUT, "the new stream to be read", async || counters.status.get().lag == 0).await;
    wait_until(TIMEOUT, "the places in the new stream", async || {
        counters.reader.refresh(november()).await.unwrap();
        counters.counted(0) == Counted { used: 7, through: 20 }
    })
    .await;
    assert_eq!(counters.status.get().position, Position(20));
    assert_eq!(digest(counters.folder.path()).await.unwrap().1, before);
    usage.publish([20]).await;
    counters.wait_for_calls(21).await;
    assert_eq!(counters.counted(20), Counted { used: 7, through: 21 });
    counters.end().await;
}

#[tokio::test]
async fn a_rebuild_reads_calls_missing_from_nats_from_the_ledger() {
    let Some((_nats, client, usage)) = started().await else { return };
    let first = {
        let _ledger = usage.keep_ledger(0).await;
        let counters = RunningCounters::start(&client).await;
        usage.publish(0..45).await;
        counters.wait_for_calls(45).await;
        counters.end().await
    };
    let stream = usage.jetstream.get_stream(FREE).await.unwrap();
    stream.purge().sequence(31).await.unwrap();
    let stop = CancellationToken::new();
    let folder = tempfile::tempdir().unwrap();
    let mut worker = open(folder.path(), &client, &Status::new("counters")).await;
    let refused = worker.replay_all(Some(Position(45)), &stop, &mut |_, _| {}).await.unwrap_err();
    assert!(matches!(refused, ReplayError::Failed(WorkerError::NoLedger(_))), "{refused}");
    assert_eq!(
        refused.to_string(),
        "the ledger of calls cannot be read (no write side answers); start the write side with auth = keys, then do it again"
    );
    let _ledger = usage.keep_ledger(33).await;
    worker.replay_all(Some(Position(45)), &stop, &mut |_, _| {}).await.unwrap();
    assert_eq!(worker.position(), Position(45));
    let (progress, replayed) = digest(folder.path()).await.unwrap();
    let (live_progress, live) = digest(first.path()).await.unwrap();
    assert_eq!(replayed, live);
    assert_eq!(progress.sources, live_progress.sources);
}

#[tokio::test]
async fn invalid_messages_are_parked_and_calls_after_them_counted() {
    let Some((_nats, client, usage)) = started().await else { return };
    let _ledger = usage.keep_ledger(0).await;
    let counters = RunningCounters::start(&client).await;
    let subject = call(0).subject();
    usage.jetstream.publish(subject.clone(), "{}".into()).await.unwrap().await.unwrap();
    let mut headers = async_nats::HeaderMap::new();
    headers.insert("ce-type", "loggia.usage.call_metered.v9");
    let newer = usage.jetstream.publish_with_headers(subject, headers, "{}".into()).await;
    newer.unwrap().await.unwrap();
    usage.publish([0]).await;
    counters.wait_for_calls(1).await;
    let status = counters.status.get();
    let parked = Parked {
        position: Position(1),
        kind: FREE.into(),
        reason: "the message has no readable header ce-type: it is absent".into(),
    };
    assert_eq!((status.parked, status.skipped), (vec![parked], 1));
    counters.end().await;
}

#[tokio::test]
async fn without_a_ledger_an_empty_model_counts_the_calls_in_nats() {
    let Some((_nats, client, usage)) = started().await else { return };
    usage.publish(0..3).await;
    let counters = RunningCounters::start(&client).await;
    wait_until(TIMEOUT, "the calls", async || counters.status.get().position == Position(3)).await;
    counters.end().await;
}

#[tokio::test]
async fn a_ledger_that_is_available_later_adds_calls_missing_from_nats() {
    let Some((_nats, client, usage)) = started().await else { return };
    usage.publish(0..40).await;
    usage.jetstream.get_stream(FREE).await.unwrap().purge().sequence(31).await.unwrap();
    let counters = RunningCounters::start(&client).await;
    wait_until(TIMEOUT, "the calls that NATS has", async || counters.status.get().position == Position(10))
        .await;
    counters.reader.refresh(november()).await.unwrap();
    let through = counters.counted(39).through;
    let _ledger = usage.keep_ledger(35).await;
    counters.wait_for_calls(40).await;
    usage.publish([40]).await;
    counters.wait_for_calls(41).await;
    assert_eq!(
        counters.counted(39),
        Counted { used: 14, through },
        "the ledger moves no place in the stream"
    );
    // The last page, which has only calls that NATS has too, may not be applied yet.
    wait_until(TIMEOUT, "the end of the ledger", async || {
        let progress = counters.reader.progress().await.unwrap();
        (progress.ledger, progress.awaits_ledger) == (Ledger::Done, false)
    })
    .await;
    counters.end().await;
}

#[tokio::test]
async fn live_counters_can_be_verified_during_traffic() {
    let Some((_nats, client, usage)) = started().await else { return };
    let _ledger = usage.keep_ledger(40).await;
    usage.publish(0..100).await;
    let folder = tempfile::tempdir().unwrap();
    let clock = Clock::manual("2026-11-20T00:00:00Z".parse().unwrap());
    let settings = NodeSettings {
        models: folder.path().to_owned(),
        name: "node".into(),
        clock: clock.clone(),
        health: Default::default(),
        signals: CommitSignals::default(),
        waits_for_rebuild: false,
    };
    let (tracker, stop) = (TaskTracker::new(), CancellationToken::new());
    let spawn = |_, worker: WorkerTask| {
        tracker.spawn(worker);
    };
    let node = Node::start(&settings, &client, &spawn, &stop);
    let calls = async {
        for number in 100.. {
            usage.publish([number]).await;
            if stop.is_cancelled() {
                return number + 1;
            }
        }
        unreachable!()
    };
    let verifying = async {
        let counted = || node.last_status().iter().find(|model| model.name == "counters").unwrap().position;
        wait_until(TIMEOUT, "the first calls", async || counted() >= Position(100)).await;
        let source = EventSource::new(client.clone());
        let mut compared = BTreeSet::new();
        for _ in 0..3 {
            let verified =
                verify(folder.path(), source.clone(), clock.clone(), &mut |_, _| {}).await.unwrap();
            assert!(verified.equal, "{verified:?}");
            compared.insert(verified.position);
        }
        // Tampering is detected.
        let live = Generations::new(folder.path().join("counters")).current().unwrap().unwrap();
        let options = sqlx::sqlite::SqliteConnectOptions::new().filename(live.path.join("counters.db"));
        let mut connection = sqlx::ConnectOptions::connect(&options).await.unwrap();
        sqlx::query("UPDATE days SET rest = rest + 1 WHERE key_id = 'Key00001'")
            .execute(&mut connection)
            .await
            .unwrap();
        let verified = verify(folder.path(), source, clock, &mut |_, _| {}).await.unwrap();
        assert!(!verified.equal, "{verified:?}");
        stop.cancel();
        compared
    };
    let (made, compared) = tokio::join!(calls, verifying);
    assert!(compared.len() == 3 && compared.iter().all(|position| position.0 <= made), "{compared:?}");
    tracker.close();
    tracker.wait().await;
}

#[tokio::test]
async fn a_truncated_and_continued_stream_loses_no_call() {
    let folder = tempfile::tempdir().unwrap();
    let started = Nats::start_with(|options| options.folder = folder.path().join("nats")).await;
    let Some(mut nats) = started else { return };
    let (streams, saved) = (folder.path().join("nats/jetstream"), folder.path().join("kept"));
    let client = nats.client().await;
    let usage = Usage::new(&client).await;
    usage.publish(0..10).await;
    nats.kill9().await;
    copy_folder(&streams, &saved);
    nats.restart().await;
    let _ledger = usage.keep_ledger(0).await;
    let counters = RunningCounters::start(&client).await;
    usage.publish(10..20).await;
    counters.wait_for_calls(20).await;
    nats.kill9().await;
    std::fs::remove_dir_all(&streams).unwrap();
    copy_folder(&saved, &streams);
    nats.restart().await;
    // Ten calls are lost; fifteen others have the sequences from eleven on.
    usage.publish(30..45).await;
    counters.wait_for_calls(35).await;
    assert_eq!(counters.counted(0).used + counters.counted(1).used + counters.counted(2).used, 35);
    counters.end().await;
}
