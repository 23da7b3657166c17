//! The replica: a file that may be deleted at any time, and that is never used with another log.

use event_log::kurrent::{Address, replica_path};
use event_log::*;
use kit::esdb::EventStoreDb;
use schemas::clock::Clock;
use schemas::ids::Position;
use sqlx::{ConnectOptions, Connection, SqliteConnection};

use super::{Kurrent, log_there, opened, try_open};
use crate::event_store::{Subject, append, assert_refused, assert_whole, claiming, everything};

/// Returns a log of ten events with a claim each, whose store is closed.
async fn ten_events() -> Kurrent {
    let subject = Kurrent::fresh().await;
    let clock = Clock::system();
    for number in 0..10 {
        let one = append(&clock, &format!("s{}", number % 3), Expected::Any, &[&format!("reason {number}")]);
        subject.store.append(claiming(one, &[&format!("n{number}")])).await.unwrap();
    }
    subject.store.close().await;
    subject
}

pub(super) async fn raw(file: &std::path::Path) -> SqliteConnection {
    sqlx::sqlite::SqliteConnectOptions::new().filename(file).connect().await.unwrap()
}

async fn refusal(subject: &Kurrent, address: &Address) -> String {
    try_open(subject.folder.path(), address).await.err().unwrap().to_string()
}

#[tokio::test]
async fn a_missing_replica_is_refilled() {
    let subject = ten_events().await;
    let log = log_there(&subject.address).await;
    for ending in ["", "-wal", "-shm"] {
        let path = replica_path(subject.folder.path());
        let _ = std::fs::remove_file(path.with_file_name(format!("replica.db{ending}")));
    }
    let store = opened(subject.folder.path(), &subject.address).await;
    assert_eq!(assert_whole(&store).await, log);
    assert_eq!(store.claims(Namespace::SLUG, "", 100).await.unwrap().len(), 10, "names come with it");
    assert!(store.verify(|_| {}).await.unwrap().is_ok());
    let next = append(&Clock::system(), "s0", Expected::Any, &["on"]);
    assert_eq!(store.append(next).await.unwrap().first, Position(11));
}

#[tokio::test]
async fn a_damaged_replica_is_refilled() {
    let subject = ten_events().await;
    let mut file = raw(&replica_path(subject.folder.path())).await;
    sqlx::query("UPDATE events SET data = '{\"reason\":\"forged\"}' WHERE position = 7")
        .execute(&mut file)
        .await
        .unwrap();
    file.close().await.unwrap();
    let store = opened(subject.folder.path(), &subject.address).await;
    assert_eq!(assert_whole(&store).await, log_there(&subject.address).await);
    assert!(everything(&store).await.iter().all(|event| !event.data.get().contains("forged")));
}

#[tokio::test]
async fn a_replica_of_another_log_is_rejected() {
    let (subject, other) = (ten_events().await, ten_events().await);
    let refused = refusal(&subject, &other.address).await;
    assert!(refused.contains("is the replica of the event store"), "{refused}");
    assert!(refused.contains("LOGGIA_STORE"), "{refused}");
    // Nothing was changed: it still fits its own log.
    opened(subject.folder.path(), &subject.address).await;
}

#[tokio::test]
async fn a_truncated_log_is_rejected() {
    let server = EventStoreDb::start().await;
    let address: Address = server.address(None).parse().unwrap();
    let (folder, clock) = (tempfile::tempdir().unwrap(), Clock::system());
    let store = opened(folder.path(), &address).await;
    for _ in 0..5 {
        store.append(append(&clock, "a", Expected::Any, &["x"])).await.unwrap();
    }
    let mut there = raw(&server.file()).await;
    let truncate = "DELETE FROM events WHERE stream = 'loggia-events' AND revision > 2";
    sqlx::query(truncate).execute(&mut there).await.unwrap();

    assert_refused(
        store.append(append(&clock, "a", Expected::Any, &["y"])).await,
        "was reset to an earlier state",
    );
    store.close().await;
    assert_refused(
        try_open(folder.path(), &address).await,
        "ends before 5, so that log was reset to an earlier state",
    );

    // With new events it is a different log from there on.
    let elsewhere = tempfile::tempdir().unwrap();
    let rival = opened(elsewhere.path(), &address).await;
    for _ in 0..5 {
        rival.append(append(&clock, "b", Expected::Any, &["x"])).await.unwrap();
    }
    assert_refused(
        try_open(folder.path(), &address).await,
        "has another event at 5, so that log was reset to an earlier state",
    );
}

#[tokio::test]
async fn changes_on_the_server_are_detected() {
    let server = EventStoreDb::start().await;
    let address: Address = server.address(None).parse().unwrap();
    let (folder, clock) = (tempfile::tempdir().unwrap(), Clock::system());
    let store = opened(folder.path(), &address).await;
    for number in 0..5 {
        store.append(append(&clock, "a", Expected::Any, &[&format!("reason {number}")])).await.unwrap();
    }
    store.close().await;
    let mut there = raw(&server.file()).await;
    sqlx::query(
        "UPDATE events SET data = replace(data, 'reason 3', 'reason 9') WHERE stream = 'loggia-events'",
    )
    .execute(&mut there)
    .await
    .unwrap();
    let damage = event_log::kurrent::verify(&address, |_| {}).await.unwrap().unwrap_err();
    assert_eq!(damage.position, Position(4));
    assert!(damage.reason.contains("does not match its hash"), "{damage}");
    let fresh = tempfile::tempdir().unwrap();
    let refused = try_open(fresh.path(), &address).await.err().unwrap();
    assert!(matches!(&refused, StoreError::Corrupt(_)), "{refused}");
}

#[tokio::test]
async fn a_reader_sees_the_current_log() {
    let subject = ten_events().await;
    let folder = tempfile::tempdir().unwrap();
    let writer = opened(subject.folder.path(), &subject.address).await;
    let reads = async || {
        let reader = event_log::kurrent::open_read_only(folder.path(), &subject.address).await.unwrap();
        let head = reader.head().await.unwrap().position;
        reader.close().await;
        head
    };
    assert_eq!(reads().await, Position(10));
    writer.append(append(&Clock::system(), "a", Expected::Any, &["x"])).await.unwrap();
    assert_eq!(reads().await, Position(11), "the replica follows before it is read");

    // Concurrently with the write side of the same folder, which follows the log itself.
    let beside = event_log::kurrent::open_read_only(subject.folder.path(), &subject.address).await.unwrap();
    assert_eq!(beside.head().await.unwrap().position, Position(11));
}
