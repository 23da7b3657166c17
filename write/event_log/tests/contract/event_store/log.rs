//! The log: appended events are read back in order, permanently.

use std::time::Duration;

use event_log::*;
use schemas::clock::Clock;
use schemas::envelope::Recorded;
use schemas::event::{Event, ProjectSelected};
use schemas::hash::Hash;
use schemas::ids::{Position, StreamVersion};

use super::{Subject, append, assert_whole, claiming, stream};

pub(crate) async fn an_empty_store_has_no_history<S: Subject>() {
    let subject = S::fresh().await;
    let store = subject.store();
    assert_eq!(store.head().await, Ok(Head { position: Position::START, hash: Hash::GENESIS }));
    assert!(store.read_all(Position::START, 10).await.unwrap().is_empty());
    assert!(store.read_stream(&stream("a"), StreamVersion(0)).await.unwrap().is_empty());
    assert!(store.read_streams(&[stream("a")]).await.unwrap().is_empty());
    assert_eq!(store.holder(Namespace::SLUG, "a").await, Ok(None));
    assert_eq!(store.claims(Namespace::SLUG, "", 10).await, Ok(Vec::new()));
}

pub(crate) async fn appended_events_are_read_back<S: Subject>() {
    let subject = S::fresh().await;
    let store = subject.store();
    let clock = Clock::manual("2026-11-20T08:30:00.123456Z".parse().unwrap());
    let text = "Zürich\n\t“東京” \u{1f3db}\u{fe0f} \\ \" </script> \u{2028}";
    let mut expected = append(&clock, "a", Expected::NoStream, &[text, "", "x"]);
    let record = schemas::import::parse_line(r#"{"name":"A","category":"art","year":1999}"#, false).unwrap();
    expected.events.push(NewEvent {
        id: clock.event_id(),
        event: Event::ProjectSelected(ProjectSelected { slug: record.slug, record: record.record, id: None }),
    });
    expected.correlation = clock.command_id();
    expected.traceparent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01".parse().ok();
    let appended = store.append(expected.clone()).await.unwrap();
    assert_eq!(appended, Appended { first: Position(1), last: Position(4), version: StreamVersion(4) });
    let log = assert_whole(&store).await;
    assert_eq!(log, store.read_stream(&stream("a"), StreamVersion(0)).await.unwrap());
    for (index, (event, new)) in log.iter().zip(&expected.events).enumerate() {
        assert_eq!(event.id, new.id);
        assert_eq!(event.stream, expected.stream);
        assert_eq!(event.version, StreamVersion(index as u64 + 1));
        assert_eq!(event.time, expected.time);
        assert_eq!(event.actor, expected.actor);
        assert_eq!((event.causation, event.correlation), (expected.command, expected.correlation));
        assert!(event.traceparent.is_some() && event.traceparent == expected.traceparent);
        assert_eq!(event.kind, schemas::versioned::kind(&new.event));
        assert_eq!(event.data.get(), schemas::versioned::encode(&new.event).unwrap().get());
    }
}

pub(crate) async fn a_stream_is_read_after_a_version<S: Subject>() {
    let subject = S::fresh().await;
    let (store, clock) = (subject.store(), Clock::system());
    store.append(append(&clock, "a", Expected::Any, &["1", "2"])).await.unwrap();
    store.append(append(&clock, "b", Expected::Any, &["3"])).await.unwrap();
    store.append(append(&clock, "a", Expected::Any, &["4"])).await.unwrap();
    let positions = |events: &[Recorded]| events.iter().map(|event| event.position.0).collect::<Vec<_>>();
    let behind =
        async |version| positions(&store.read_stream(&stream("a"), StreamVersion(version)).await.unwrap());
    assert_eq!(behind(0).await, [1, 2, 4]);
    assert_eq!(behind(1).await, [2, 4]);
    assert_eq!(behind(3).await, [] as [u64; 0]);
    let several = store.read_streams(&[stream("b"), stream("none"), stream("a")]).await.unwrap();
    assert_eq!(several.len(), 2);
    assert_eq!(positions(&several[&stream("a")]), [1, 2, 4]);
    assert_eq!(positions(&several[&stream("b")]), [3]);
    assert_eq!(positions(&store.read_all(Position(1), 2).await.unwrap()), [2, 3]);
    assert_eq!(positions(&store.read_all(Position(4), 2).await.unwrap()), [] as [u64; 0]);
}

pub(crate) async fn waiting_ends_with_the_next_append<S: Subject>() {
    let subject = S::fresh().await;
    let (store, clock) = (subject.store(), Clock::system());
    store.append(append(&clock, "a", Expected::Any, &["1"])).await.unwrap();
    assert_eq!(store.wait_beyond(Position(0)).await, Ok(Position(1)));
    let waiting = {
        let store = subject.store();
        tokio::spawn(async move { store.wait_beyond(Position(1)).await })
    };
    // Without an append it goes on waiting.
    tokio::time::sleep(Duration::from_millis(20)).await;
    assert!(!waiting.is_finished());
    store.append(append(&clock, "a", Expected::Any, &["2", "3"])).await.unwrap();
    let woken = tokio::time::timeout(kit::TIMEOUT, waiting).await;
    assert_eq!(woken.unwrap().unwrap(), Ok(Position(3)));
}

pub(crate) async fn everything_survives_a_restart<S: Subject>() {
    let subject = S::fresh().await;
    let (store, clock) = (subject.store(), Clock::system());
    let command = claiming(append(&clock, "a", Expected::NoStream, &["1", "2"]), &["name"]);
    let first = store.append(command.clone()).await.unwrap();
    let (id, log) = (store.store_id(), assert_whole(&store).await);
    drop(store);
    let subject = subject.reopened().await;
    let store = subject.store();
    assert_eq!(store.store_id(), id);
    assert_eq!(assert_whole(&store).await, log);
    assert_eq!(store.append(command).await, Err(AppendError::Repeated(first)));
    let rival = claiming(append(&clock, "b", Expected::NoStream, &["x"]), &["name"]);
    let claimed = AppendError::Claimed { name: "name".into(), by: stream("a") };
    assert_eq!(store.append(rival).await, Err(claimed));
    let next = append(&clock, "a", Expected::Exactly(StreamVersion(2)), &["3"]);
    assert_eq!(store.append(next).await.unwrap().first, Position(3));
    assert_whole(&store).await;
}

pub(crate) async fn the_chain_covers_the_log<S: Subject>() {
    let (one, other) = (S::fresh().await, S::fresh().await);
    let clock = Clock::manual("2026-11-20T08:30:00Z".parse().unwrap());
    let same = append(&clock, "a", Expected::Any, &["1"]);
    let mut different = append(&clock, "a", Expected::Any, &["2"]);
    one.store().append(same.clone()).await.unwrap();
    other.store().append(same).await.unwrap();
    assert_eq!(one.store().head().await, other.store().head().await);
    one.store().append(different.clone()).await.unwrap();
    different.actor = "Bea".parse().unwrap();
    other.store().append(different).await.unwrap();
    assert_ne!(one.store().head().await, other.store().head().await);
}
