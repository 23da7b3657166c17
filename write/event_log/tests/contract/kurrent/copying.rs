//! Copying a log from SQLite to EventStoreDB and back: the copy is identical byte by byte, with all claims.

use std::path::Path;

use event_log::copy::{CopiedLog, CopyError, copy, missing};
use event_log::kurrent::{Address, replica_path};
use event_log::*;
use kit::esdb::{EventStoreDb, Fault};
use schemas::clock::Clock;
use schemas::ids::Position;

use super::{log_there, opened};
use crate::event_store::{append, assert_refused, assert_whole, claiming};
use crate::sqlite::execute;

/// Appends events on seven streams to a SQLite store, every third with a claim.
async fn filled(folder: &Path, events: usize) -> EventLog {
    let (store, clock) = (EventLog::open(folder, &Clock::system()).await.unwrap(), Clock::system());
    let appends = (0..events).map(|n| {
        let one = append(&clock, &format!("s{}", n % 7), Expected::Any, &[&format!("“reason” {n}")]);
        if n % 3 == 0 { claiming(one, &[&format!("n{n:05}")]) } else { one }
    });
    let outcomes = futures::future::join_all(appends.map(|one| store.append(one))).await;
    assert!(outcomes.iter().all(Result::is_ok));
    store
}

async fn copied(from: &LogLocation, to: &LogLocation) -> Result<CopiedLog, CopyError> {
    copy(from, to, |_, _| {}).await
}

fn folder() -> (tempfile::TempDir, LogLocation) {
    let folder = tempfile::tempdir().unwrap();
    let place = LogLocation::Sqlite(folder.path().into());
    (folder, place)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_log_is_copied_to_the_server_and_back() {
    let server = EventStoreDb::start().await;
    let address: Address = server.address(None).parse().unwrap();
    let there = LogLocation::EventStoreDb(address.clone());
    let (from, sqlite) = folder();
    let store = filled(from.path(), 5_000).await;
    let (id, head) = (store.store_id(), store.head().await.unwrap());
    let (log, names) = (assert_whole(&store).await, store.claims(Namespace::SLUG, "", 5_000).await.unwrap());
    assert_refused(copied(&sqlite, &there).await, "another process writes");
    store.close().await;

    // Requests and responses are lost.
    server.inject(&[Fault::DropResponse, Fault::DropRequest, Fault::DropResponse]);
    assert_eq!(copied(&sqlite, &there).await.unwrap(), CopiedLog { events: 5_000, head });
    assert_eq!(log_there(&address).await, log);
    assert_eq!(copied(&sqlite, &there).await.unwrap(), CopiedLog { events: 0, head }, "nothing is missing");

    // The copy is a store like any other: the same id, the same claims, and appends continue.
    let replica = tempfile::tempdir().unwrap();
    let store = opened(replica.path(), &address).await;
    assert_eq!(store.store_id(), id);
    assert_eq!(store.claims(Namespace::SLUG, "", 5_000).await.unwrap(), names);
    let next = claiming(append(&Clock::system(), "s1", Expected::Any, &["there"]), &["zz"]);
    assert_eq!(store.append(next).await.unwrap().first, Position(5_001));
    let head = store.head().await.unwrap();
    store.close().await;

    let (to, back) = folder();
    assert_eq!(copied(&there, &back).await.unwrap(), CopiedLog { events: 5_001, head });
    let store = EventLog::open(to.path(), &Clock::system()).await.unwrap();
    assert_eq!(store.store_id(), id);
    assert_eq!(assert_whole(&store).await[..5_000], log);
    assert_eq!(store.claims(Namespace::SLUG, "", 5_000).await.unwrap().len(), names.len() + 1);
    assert!(store.verify(|_| {}).await.unwrap().is_ok());
    store.close().await;

    // The server already has its beginning, and receives the rest.
    assert_eq!(copied(&there, &sqlite).await.unwrap(), CopiedLog { events: 1, head });
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_different_log_is_left_unchanged() {
    let (first, second) = (folder(), folder());
    filled(first.0.path(), 10).await.close().await;
    filled(second.0.path(), 20).await.close().await;
    let different = copied(&first.1, &second.1).await.unwrap_err();
    assert!(matches!(&different, CopyError::Different(_)), "{different}");
    assert!(different.to_string().contains("already contains the event store"), "{different}");

    // Two logs with a common beginning that differ later.
    let third = folder();
    assert_eq!(copied(&first.1, &third.1).await.unwrap().events, 10);
    for place in [&first, &third] {
        let store = EventLog::open(place.0.path(), &Clock::system()).await.unwrap();
        store.append(append(&Clock::system(), "apart", Expected::Any, &["x"])).await.unwrap();
        store.close().await;
    }
    assert_refused(copied(&first.1, &third.1).await, "there is another event at 11");
    let store = EventLog::open(first.0.path(), &Clock::system()).await.unwrap();
    store.append(append(&Clock::system(), "apart", Expected::Any, &["y"])).await.unwrap();
    store.close().await;
    let longer = copied(&first.1, &third.1).await.unwrap_err();
    assert!(matches!(longer, CopyError::Different(_)), "{longer}");
    assert_refused(copied(&third.1, &first.1).await, "there are events up to 12 already");

    assert_refused(copied(&folder().1, &third.1).await, "there is no event store at");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_damaged_log_is_not_copied() {
    let (from, to) = (folder(), folder());
    filled(from.0.path(), 3_000).await.close().await;
    execute(from.0.path(), "UPDATE events SET actor = 'nobody' WHERE position = 1500").await;
    let damaged = copied(&from.1, &to.1).await.unwrap_err();
    assert!(matches!(&damaged, CopyError::Store(StoreError::Corrupt(_))), "{damaged}");
    assert!(damaged.to_string().contains("(position 1500)"), "{damaged}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn lost_events_are_restored_from_the_replica() {
    let server = EventStoreDb::start().await;
    let address: Address = server.address(None).parse().unwrap();
    let there = LogLocation::EventStoreDb(address.clone());
    let (folder, clock) = (tempfile::tempdir().unwrap(), Clock::system());
    let store = opened(folder.path(), &address).await;
    for number in 0..10 {
        let one = append(&clock, &format!("s{}", number % 3), Expected::Any, &[&format!("reason {number}")]);
        store.append(claiming(one, &[&format!("n{number}")])).await.unwrap();
    }
    let (log, head) = (log_there(&address).await, store.head().await.unwrap());
    let names = store.claims(Namespace::SLUG, "", 100).await.unwrap();
    let replica = LogLocation::Sqlite(folder.path().into());
    assert_refused(copied(&replica, &there).await, "another process writes");
    store.close().await;
    server.truncate("loggia-events", 6).await;

    let mut lost = Vec::new();
    let shown = missing(&replica, &there, |event| lost.push(event.clone())).await.unwrap();
    assert_eq!((shown, &lost[..]), (CopiedLog { events: 4, head }, &log[6..]));
    let file = LogLocation::Sqlite(replica_path(folder.path()));
    assert_eq!(copied(&file, &there).await.unwrap(), CopiedLog { events: 4, head });
    assert_eq!(log_there(&address).await, log);
    // Appends continue, and another write side finds every claim.
    let store = opened(folder.path(), &address).await;
    assert_eq!(store.append(append(&clock, "s0", Expected::Any, &["on"])).await.unwrap().first, Position(11));
    let elsewhere = tempfile::tempdir().unwrap();
    let other = opened(elsewhere.path(), &address).await;
    assert_eq!(other.claims(Namespace::SLUG, "", 100).await.unwrap(), names);
    store.close().await;

    // A log that continued differently after it was truncated is not changed.
    server.truncate("loggia-events", 6).await;
    other.close().await;
    let fresh = tempfile::tempdir().unwrap();
    let rival = opened(fresh.path(), &address).await;
    rival.append(append(&clock, "rival", Expected::Any, &["x"])).await.unwrap();
    assert_refused(copied(&replica, &there).await, "there is another event at 7");
    // Nor is a replica filled as if it were a store.
    assert_refused(copied(&there, &file).await, "name the folder of a store");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn listing_lost_events_writes_nothing() {
    let server = EventStoreDb::start().await;
    let there = LogLocation::EventStoreDb(server.address(None).parse().unwrap());
    let ((from, sqlite), (to, elsewhere)) = (folder(), folder());
    filled(from.path(), 30).await.close().await;
    for place in [&there, &elsewhere] {
        let mut shown = 0;
        assert_eq!(missing(&sqlite, place, |_| shown += 1).await.unwrap().events, 30);
        assert_eq!(shown, 30);
    }
    assert!(std::fs::read_dir(to.path()).unwrap().next().is_none());
    assert_refused(copied(&there, &elsewhere).await, "there is no event store");
}
