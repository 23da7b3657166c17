//! Concurrent write sides, lost responses, killed servers: every acknowledged append is stored exactly once.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use event_log::*;
use kit::esdb::{EventStoreDb, Fault};
use kit::wait_until;
use schemas::clock::Clock;
use schemas::ids::{EventId, Position, StreamVersion};

use super::{Kurrent, log_there, opened};
use crate::event_store::{Subject, append, claiming, everything, stream};

/// Appends events one by one to its own and to shared streams, and returns the acknowledged ones. Unacknowledged
/// appends are repeated, as by the callers of the command service.
async fn appending(store: Arc<EventLog>, writer: usize, rounds: usize) -> Vec<(Position, EventId)> {
    let (clock, mut acknowledged) = (Clock::system(), Vec::new());
    for round in 0..rounds {
        let to = if round % 2 == 0 { format!("own{writer}") } else { format!("shared{}", round % 5) };
        let one = append(&clock, &to, Expected::Any, &[&format!("{writer} {round}")]);
        let id = one.events[0].id;
        loop {
            match store.append(one.clone()).await {
                Ok(done) | Err(AppendError::Repeated(done)) => break acknowledged.push((done.first, id)),
                Err(AppendError::Store(StoreError::Unavailable(_))) => {
                    tokio::time::sleep(Duration::from_millis(20)).await;
                }
                Err(error) => panic!("{error}"),
            }
        }
    }
    acknowledged
}

fn together(
    parts: Vec<Result<Vec<(Position, EventId)>, tokio::task::JoinError>>,
) -> Vec<(Position, EventId)> {
    let mut all: Vec<_> = parts.into_iter().flat_map(Result::unwrap).collect();
    all.sort_unstable();
    all
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_write_sides_share_one_log() {
    let first = Kurrent::fresh().await;
    let folder = tempfile::tempdir().unwrap();
    let second = opened(folder.path(), &first.address).await;
    assert_eq!(
        first.store.store_id(),
        second.store_id(),
        "the second finds the store that the first founded"
    );

    let writers = (0..16).map(|writer| {
        let store = if writer % 2 == 0 { &first.store } else { &second };
        tokio::spawn(appending(store.clone(), writer, 20))
    });
    let acknowledged = together(futures::future::join_all(writers).await);
    assert_eq!(acknowledged.len(), 320);

    let log = log_there(&first.address).await;
    let there: Vec<_> = log.iter().map(|event| (event.position, event.id)).collect();
    assert_eq!(there, acknowledged, "all that was acknowledged, once, and nothing else");
    for store in [&first.store, &second] {
        assert_eq!(store.wait_beyond(Position(319)).await, Ok(Position(320)));
        assert_eq!(everything(store).await, log, "both replicas are the log");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn expected_versions_and_claims_hold_across_two_write_sides() {
    let first = Kurrent::fresh().await;
    let (folder, clock) = (tempfile::tempdir().unwrap(), Clock::system());
    let second = opened(folder.path(), &first.address).await;
    let made = claiming(append(&clock, "a", Expected::NoStream, &["1"]), &["name"]);
    first.store.append(made).await.unwrap();

    // The second has not read the log yet, and must not decide on its old state.
    let rival = claiming(append(&clock, "b", Expected::NoStream, &["x"]), &["name"]);
    let claimed = AppendError::Claimed { name: "name".into(), by: stream("a") };
    assert_eq!(second.append(rival).await, Err(claimed));

    let next = append(&clock, "a", Expected::Exactly(StreamVersion(1)), &["2"]);
    assert_eq!(second.append(next.clone()).await.unwrap().last, Position(2));
    let third = append(&clock, "a", Expected::Exactly(StreamVersion(2)), &["3"]);
    assert_eq!(first.store.append(third).await.unwrap().last, Position(3));
    assert_eq!(
        second.append(append(&clock, "a", Expected::Exactly(StreamVersion(3)), &["4"])).await.unwrap().last,
        Position(4)
    );
    let repeated = first.store.append(next).await;
    assert!(matches!(repeated, Err(AppendError::Repeated(done)) if done.last == Position(2)), "{repeated:?}");
    assert_eq!(log_there(&first.address).await.len(), 4);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_lost_response_is_resolved_by_reading_the_log() {
    let server = EventStoreDb::start().await;
    let (folder, clock) = (tempfile::tempdir().unwrap(), Clock::system());
    let address = server.address(None).parse().unwrap();
    let store = opened(folder.path(), &address).await;
    for (number, fault) in
        [Fault::DropResponse, Fault::DropRequest, Fault::DropResponse].into_iter().enumerate()
    {
        server.inject(&[fault]);
        let one = append(&clock, "a", Expected::Exactly(StreamVersion(number as u64)), &["x"]);
        let position = Position(number as u64 + 1);
        let version = StreamVersion(number as u64 + 1);
        let done = Appended { first: position, last: position, version };
        assert_eq!(store.append(one.clone()).await, Ok(done), "{fault:?}: it was done just now");
        assert_eq!(store.append(one).await, Err(AppendError::Repeated(done)));
    }
    // Many appends in one batch whose response is lost, with others waiting.
    server.inject(&[Fault::DropResponse, Fault::DropRequest]);
    let crowd: Vec<_> = (0..300)
        .map(|n| claiming(append(&clock, &format!("s{n}"), Expected::NoStream, &["x"]), &[&format!("n{n}")]))
        .collect();
    let outcomes = futures::future::join_all(crowd.into_iter().map(|one| store.append(one))).await;
    assert!(outcomes.iter().all(Result::is_ok), "{outcomes:?}");
    assert_eq!(log_there(&address).await.len(), 303);
    assert_eq!(store.claims(Namespace::SLUG, "", 500).await.unwrap().len(), 300);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_killed_server_neither_loses_nor_repeats_appends() {
    let mut server = EventStoreDb::start().await;
    let folders = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
    let address = server.address(None).parse().unwrap();
    let stores = [opened(folders[0].path(), &address).await, opened(folders[1].path(), &address).await];
    let writers: Vec<_> =
        (0..8).map(|writer| tokio::spawn(appending(stores[writer % 2].clone(), writer, 60))).collect();
    for pause in [150, 40, 300, 10] {
        tokio::time::sleep(Duration::from_millis(pause)).await;
        server.kill();
        tokio::time::sleep(Duration::from_millis(pause)).await;
        server.restart().await;
    }
    let acknowledged = together(futures::future::join_all(writers).await);
    assert_eq!(acknowledged.len(), 480);
    let log = log_there(&address).await;
    let there: Vec<_> = log.iter().map(|event| (event.position, event.id)).collect();
    assert_eq!(there, acknowledged);
    let mut each = HashMap::new();
    log.iter().for_each(|event| *each.entry(event.data.get().to_owned()).or_insert(0) += 1);
    assert!(each.values().all(|times| *times == 1), "{each:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_the_server_reads_continue_and_appends_fail_with_a_reason() {
    let mut server = EventStoreDb::start().await;
    let (folder, clock) = (tempfile::tempdir().unwrap(), Clock::system());
    let address = server.address(None).parse().unwrap();
    let store = opened(folder.path(), &address).await;
    store.append(append(&clock, "a", Expected::Any, &["1"])).await.unwrap();
    server.kill();
    let one = append(&clock, "a", Expected::Any, &["2"]);
    let refused = store.append(one.clone()).await.unwrap_err();
    assert!(matches!(&refused, AppendError::Store(StoreError::Unavailable(_))), "{refused}");
    assert!(refused.to_string().contains("cannot be reached"), "{refused}");
    assert_eq!(store.read_stream(&stream("a"), StreamVersion(0)).await.unwrap().len(), 1);

    server.restart().await;
    wait_until(kit::TIMEOUT, "the store to take appends again", async || {
        matches!(store.append(one.clone()).await, Ok(_) | Err(AppendError::Repeated(_)))
    })
    .await;
    assert_eq!(log_there(&address).await.len(), 2);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn appends_share_one_open_stream() {
    let (server, clock) = (EventStoreDb::start().await, Clock::system());
    let folders = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
    let address = server.address(None).parse().unwrap();
    let store = opened(folders[0].path(), &address).await;
    let founded = server.streams();
    for number in 0..50 {
        let one = append(&clock, "a", Expected::Exactly(StreamVersion(number)), &["x"]);
        store.append(one).await.unwrap();
    }
    assert!(server.streams() <= founded + 1, "{} streams", server.streams());
    // An append that is too late ends its stream, and the next one opens another.
    let other = opened(folders[1].path(), &address).await;
    for number in 50..60 {
        let side = if number % 2 == 0 { &other } else { &store };
        side.append(append(&clock, "a", Expected::Exactly(StreamVersion(number)), &["x"])).await.unwrap();
    }
    assert_eq!(log_there(&address).await.len(), 60);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_batch_append_each_append_is_a_call() {
    let (server, clock) = (EventStoreDb::start().await, Clock::system());
    server.disable_batch_append();
    let folder = tempfile::tempdir().unwrap();
    let address = server.address(None).parse().unwrap();
    let store = opened(folder.path(), &address).await;
    server.inject(&[Fault::DropResponse, Fault::DropRequest]);
    for number in 0..5 {
        let one = append(&clock, "a", Expected::Exactly(StreamVersion(number)), &["x"]);
        store.append(one.clone()).await.unwrap();
        assert!(matches!(store.append(one).await, Err(AppendError::Repeated(_))));
    }
    assert_eq!((server.streams(), log_there(&address).await.len()), (0, 5));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_batch_append_stream_that_ends_normally_loses_nothing() {
    let (server, clock) = (EventStoreDb::start().await, Clock::system());
    let folder = tempfile::tempdir().unwrap();
    let address = server.address(None).parse().unwrap();
    let store = opened(folder.path(), &address).await;
    store.append(append(&clock, "a", Expected::NoStream, &["1"])).await.unwrap();
    server.inject(&[Fault::EndStream]);
    let done = store.append(append(&clock, "a", Expected::Exactly(StreamVersion(1)), &["2"])).await.unwrap();
    assert_eq!(done.last, Position(2), "it was found in the log");
    store.append(append(&clock, "a", Expected::Exactly(StreamVersion(2)), &["3"])).await.unwrap();
    assert_eq!(log_there(&address).await.len(), 3);
}
