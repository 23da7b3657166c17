use std::path::Path;

use jiff::Timestamp;
use schemas::control::{LedgerEntry, LedgerSource};
use schemas::hash::Hash;
use schemas::ids::Position;
use schemas::subject::OVERRUN;
use schemas::usage::{Call, CallId, Surface};
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{ConnectOptions, Connection};
use uuid::Uuid;

use super::*;

fn at(text: &str) -> Timestamp {
    text.parse().unwrap()
}

fn call(number: u128) -> Call {
    Call {
        id: CallId(Uuid::from_u128(number)),
        key_id: ["Ab3dEf9h", "Zz000000"][usize::from(number.is_multiple_of(3))].parse().unwrap(),
        tier: ["free", "studio"][usize::from(number.is_multiple_of(2))].parse().unwrap(),
        month: ["2026-10", "2026-11"][usize::from(number > 5)].parse().unwrap(),
        time: at("2026-11-20T08:30:00.123456789Z"),
        surface: [Surface::Rest, Surface::Mcp][usize::from(number.is_multiple_of(5))],
        operation: "search".into(),
    }
}

fn batch(stream: &str, calls: &[u128]) -> CopiedBatch {
    let calls: Vec<_> = (1..).zip(calls.iter().map(|number| call(*number))).collect();
    CopiedBatch {
        stream: stream.into(),
        created: at("2026-11-01T00:00:00.000000001Z"),
        sequence: calls.len() as u64,
        last: calls.last().map(|(_, call)| call.id),
        calls,
    }
}

async fn ledger(folder: &Path) -> Ledger {
    Ledger::open(folder).await.unwrap()
}

async fn execute(folder: &Path, statement: &'static str) {
    let mut raw = SqliteConnectOptions::new().filename(folder.join("usage.db")).connect().await.unwrap();
    sqlx::raw_sql(statement).execute(&mut raw).await.unwrap();
    raw.close().await.unwrap();
}

#[tokio::test]
async fn a_call_is_stored_once_with_all_its_values() {
    let folder = tempfile::tempdir().unwrap();
    let ledger = ledger(folder.path()).await;
    ledger.append(batch("USAGE_FREE", &[1, 2, 1])).await.unwrap();
    let head = ledger.append(batch(OVERRUN, &[2, 7])).await.unwrap();
    assert_eq!(head, ledger.head().await.unwrap());
    let page = ledger.page(Position::START, 10).await.unwrap();
    let entry = |position, number, source: &str, sequence| LedgerEntry {
        position: Position(position),
        call: call(number),
        overrun: source == OVERRUN,
        source: source.into(),
        sequence,
    };
    assert_eq!(
        page.entries,
        [entry(1, 1, "USAGE_FREE", 1), entry(2, 2, "USAGE_FREE", 2), entry(3, 7, OVERRUN, 2)]
    );
    assert_eq!(page.head, Position(3));
    let source = |stream: &str, sequence| LedgerSource {
        stream: stream.into(),
        created: at("2026-11-01T00:00:00.000000001Z"),
        sequence,
    };
    assert_eq!(page.sources, [source("USAGE_FREE", 3), source(OVERRUN, 2)]);
    assert_eq!(*ledger.watch().borrow(), page.sources);
    assert_eq!(ledger.page(Position(1), 1).await.unwrap().entries, [entry(2, 2, "USAGE_FREE", 2)]);
    ledger.close().await;
}

#[tokio::test]
async fn position_and_lag_are_reported() {
    let folder = tempfile::tempdir().unwrap();
    let first = ledger(folder.path()).await;
    assert_eq!((first.position(), first.lag()), (Position::START, 0));
    first.record_end("USAGE_FREE", 5);
    first.record_end(OVERRUN, 2);
    assert_eq!(first.lag(), 7);
    first.append(batch("USAGE_FREE", &[1, 2, 3])).await.unwrap();
    first.append(batch(OVERRUN, &[4, 5])).await.unwrap();
    assert_eq!((first.position(), first.lag()), (Position(5), 2));
    first.close().await;
    assert_eq!(ledger(folder.path()).await.position(), Position(5));
}

#[tokio::test]
async fn a_stream_that_was_created_again_is_another_source() {
    let folder = tempfile::tempdir().unwrap();
    let ledger = ledger(folder.path()).await;
    ledger.append(batch("USAGE_FREE", &[1, 2])).await.unwrap();
    let created_again = CopiedBatch { created: at("2026-11-02T00:00:00Z"), ..batch("USAGE_FREE", &[3]) };
    ledger.append(created_again.clone()).await.unwrap();
    let sources = ledger.watch().borrow().clone();
    assert_eq!(
        sources,
        [LedgerSource { stream: "USAGE_FREE".into(), created: created_again.created, sequence: 1 }]
    );
    assert_eq!(ledger.last_call(&sources[0]).await.unwrap(), Some(call(3).id));
    // A restored older stream is the current one again.
    ledger.append(batch("USAGE_FREE", &[4])).await.unwrap();
    let back = at("2026-11-01T00:00:00.000000001Z");
    let source = LedgerSource { stream: "USAGE_FREE".into(), created: back, sequence: 1 };
    assert_eq!(*ledger.watch().borrow(), [source]);
    ledger.verify(|_| {}).await.unwrap().unwrap();
}

#[tokio::test]
async fn totals_are_by_key_month_and_tier_and_a_recount_agrees() {
    let folder = tempfile::tempdir().unwrap();
    let numbers: Vec<u128> = (1..=20_003).collect();
    let ledger = ledger(folder.path()).await;
    let head = ledger.append(batch("USAGE_FREE", &numbers)).await.unwrap();
    ledger.append(batch(OVERRUN, &[30_000])).await.unwrap();
    let mut reported = 0;
    let recount = ledger.verify(|done| reported = done).await.unwrap().unwrap();
    assert_eq!((recount.entries, reported), (20_004, 20_004));
    assert_eq!(recount.hash, ledger.head().await.unwrap().hash);
    assert_ne!(recount.hash, head.hash);
    let mut expected = Totals::new();
    let mut after = Position::START;
    while let Some(last) = ledger
        .page(after, 1_000)
        .await
        .unwrap()
        .entries
        .into_iter()
        .inspect(|entry| count_entry(&mut expected, entry))
        .last()
    {
        after = last.position;
    }
    assert_eq!(recount.totals, expected);
    assert_eq!(expected.values().map(|used| used.overrun).sum::<u64>(), 1);
    let months = ledger.months().await.unwrap();
    assert_eq!(months.iter().map(ToString::to_string).collect::<Vec<_>>(), ["2026-10", "2026-11"]);
    let mut indexed = Totals::new();
    for month in months {
        indexed.extend(ledger.totals(month).await.unwrap());
    }
    assert_eq!(indexed, expected);
    let (key, month) = ("Zz000000".parse().unwrap(), "2026-10".parse().unwrap());
    let mut calls = Vec::new();
    ledger.each_call(key, month, |entry| calls.push(entry.position.0)).await.unwrap();
    assert_eq!(calls, [3]);
}

#[tokio::test]
async fn a_reopened_ledger_continues_and_a_second_writer_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let first = ledger(folder.path()).await;
    first.append(batch("USAGE_FREE", &[1])).await.unwrap();
    let refused = Ledger::open(folder.path()).await.err().unwrap().to_string();
    assert!(refused.contains("another process writes to the event store in"), "{refused}");
    first.close().await;
    let second = ledger(folder.path()).await;
    second.append(batch("USAGE_FREE", &[1, 2, 3])).await.unwrap();
    assert_eq!(second.head().await.unwrap().position, Position(3));
    second.verify(|_| {}).await.unwrap().unwrap();
    let reader = Ledger::open_read_only(folder.path()).await.unwrap().unwrap();
    assert_eq!(reader.head().await.unwrap(), second.head().await.unwrap());
    let refused = reader.append(batch("USAGE_FREE", &[4])).await.unwrap_err().to_string();
    assert_eq!(refused, "the event store is not available: its ledger is not open for writing");
}

#[tokio::test]
async fn files_of_other_programs_and_newer_versions_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    assert!(Ledger::open_read_only(folder.path()).await.unwrap().is_none());
    ledger(folder.path()).await.close().await;
    execute(folder.path(), "PRAGMA user_version = 2").await;
    let newer = Ledger::open(folder.path()).await.err().unwrap().to_string();
    assert!(newer.contains("was written by a newer Loggia (its tables have version 2"), "{newer}");
    execute(folder.path(), "PRAGMA application_id = 7").await;
    let foreign = Ledger::open_read_only(folder.path()).await.err().unwrap().to_string();
    assert!(foreign.ends_with("usage.db is not a ledger of Loggia"), "{foreign}");
}

#[tokio::test]
async fn every_tampering_is_detected() {
    let changes: [(&'static str, u64, &str); 10] = [
        ("UPDATE entries SET time = time + 1 WHERE position = 50", 50, "the entry does not match its hash"),
        (
            "UPDATE entries SET key = x'3030303030303030' WHERE position = 1",
            1,
            "the entry does not match its hash",
        ),
        ("UPDATE entries SET month = month + 1 WHERE position = 99", 99, "the entry does not match its hash"),
        ("UPDATE entries SET surface = 3 WHERE position = 34", 34, "the entry does not match its hash"),
        ("UPDATE words SET word = 'searched' WHERE word = 'search'", 1, "the entry does not match its hash"),
        ("UPDATE sources SET created = created + 1", 1, "the entry does not match its hash"),
        ("DELETE FROM words WHERE word = 'search'", 1, "the entry has a word that is gone"),
        ("DELETE FROM entries WHERE position = 70", 70, "the entry is missing"),
        ("DELETE FROM entries WHERE position = 100", 100, "the entry is missing"),
        ("UPDATE ledger SET position = 101", 101, "the entry is missing"),
    ];
    let folder = tempfile::tempdir().unwrap();
    let numbers: Vec<u128> = (1..=100).collect();
    let ledger = ledger(folder.path()).await;
    ledger.append(batch("USAGE_FREE", &numbers)).await.unwrap();
    ledger.close().await;
    for (change, position, reason) in changes {
        let other = tempfile::tempdir().unwrap();
        std::fs::copy(folder.path().join("usage.db"), other.path().join("usage.db")).unwrap();
        execute(other.path(), change).await;
        let reader = Ledger::open_read_only(other.path()).await.unwrap().unwrap();
        let damage = reader.verify(|_| {}).await.unwrap().unwrap_err();
        assert_eq!(damage.position, Position(position), "{change}: {damage}");
        assert!(damage.reason.starts_with(reason), "{change}: {damage}");
        reader.close().await;
        let refused = Ledger::open(other.path()).await.err().unwrap().to_string();
        assert!(refused.starts_with("the event store is damaged: "), "{change}: {refused}");
    }
}

#[tokio::test]
async fn a_wrong_hash_of_the_end_is_detected() {
    let folder = tempfile::tempdir().unwrap();
    let ledger = ledger(folder.path()).await;
    ledger.append(batch("USAGE_FREE", &[1, 2, 3])).await.unwrap();
    ledger.close().await;
    execute(folder.path(), "UPDATE ledger SET hash = zeroblob(32)").await;
    let reader = Ledger::open_read_only(folder.path()).await.unwrap().unwrap();
    let damage = reader.verify(|_| {}).await.unwrap().unwrap_err();
    let reason = "the ledger's end has another hash than its last entry".to_owned();
    assert_eq!(damage, Damage { position: Position(3), reason });
    assert_ne!(reader.head().await.unwrap().hash, Hash([1; 32]));
}

/// Polls a future at most this many times, lets its tasks run in between, then drops it; returns whether it completed.
async fn dropped_after<F: Future>(polls: usize, future: F) -> bool {
    let mut future = std::pin::pin!(future);
    for _ in 0..polls {
        let polled = std::future::poll_fn(|context| std::task::Poll::Ready(future.as_mut().poll(context)));
        if polled.await.is_ready() {
            return true;
        }
        tokio::time::sleep(std::time::Duration::from_micros(50)).await;
    }
    false
}

#[tokio::test(flavor = "multi_thread")]
async fn memory_agrees_with_the_file_wherever_an_append_is_dropped() {
    let folder = tempfile::tempdir().unwrap();
    let ledger = ledger(folder.path()).await;
    let mut stored = 0;
    // From a future that is never polled to one that completes.
    for polls in 0.. {
        let numbers: Vec<u128> = (1..=(polls as u128 + 1) * 10).collect();
        let done = dropped_after(polls, ledger.append(batch("USAGE_FREE", &numbers))).await;
        while !ledger.changes.is_empty() {
            tokio::task::yield_now().await;
        }
        let file = rows::sources(&ledger.readers).await.unwrap();
        let page = ledger.page(Position::START, 1).await.unwrap();
        assert_eq!((&*ledger.watch().borrow(), &page.sources), (&file, &file), "dropped after {polls} polls");
        stored = stored.max(page.head.0);
        if let [source] = &file[..] {
            assert_eq!(source.sequence, stored, "dropped after {polls} polls");
            assert_eq!(ledger.last_call(source).await.unwrap(), Some(call(u128::from(stored)).id));
        }
        if done {
            break;
        }
    }
    assert!(stored > 0);
    // The change continues, and closing waits for it.
    let numbers: Vec<u128> = (1..=5_000).collect();
    dropped_after(1, ledger.append(batch("USAGE_FREE", &numbers))).await;
    ledger.close().await;
    let again = Ledger::open(folder.path()).await.unwrap();
    assert_eq!(again.head().await.unwrap().position, Position(5_000));
    assert_eq!(again.watch().borrow()[0].sequence, 5_000);
    again.verify(|_| {}).await.unwrap().unwrap();
}

#[tokio::test]
async fn a_stream_has_no_last_call_at_another_sequence_than_the_recorded_one() {
    let folder = tempfile::tempdir().unwrap();
    let ledger = ledger(folder.path()).await;
    ledger.append(batch("USAGE_FREE", &[1, 2])).await.unwrap();
    let source = ledger.watch().borrow()[0].clone();
    assert_eq!(ledger.last_call(&source).await.unwrap(), Some(call(2).id));
    let stale = LedgerSource { sequence: 0, ..source.clone() };
    assert_eq!(ledger.last_call(&stale).await.unwrap(), None);
    // In-memory state that differs from the file is refreshed.
    ledger.state.sources.send_replace(vec![stale]);
    let file = [source];
    assert_eq!(ledger.refresh().await.unwrap(), file);
    assert_eq!(*ledger.watch().borrow(), file);
}
