//! The contract of the event store, as functions over any store.

pub(crate) mod appending;
pub(crate) mod log;
pub(crate) mod names;

use std::collections::HashMap;
use std::sync::Arc;

use event_log::*;
use schemas::chain::Link;
use schemas::clock::Clock;
use schemas::envelope::Recorded;
use schemas::event::{Event, ProjectWithdrawn};
use schemas::hash::Hash;
use schemas::ids::{Position, StreamId, StreamVersion};

/// A store under test.
pub(crate) trait Subject: Sized {
    /// Returns an empty store.
    async fn fresh() -> Self;
    fn store(&self) -> Arc<EventLog>;
    /// Returns the same store after a restart of its process.
    async fn reopened(self) -> Self;
}

/// Defines a test of each clause for one kind of store.
macro_rules! keeps_the_contract {
    ($subject:ty) => {
        crate::event_store::keeps_the_contract!($subject, log:
            an_empty_store_has_no_history, appended_events_are_read_back, a_stream_is_read_after_a_version,
            waiting_ends_with_the_next_append, everything_survives_a_restart, the_chain_covers_the_log);
        crate::event_store::keeps_the_contract!($subject, appending:
            an_append_requires_the_expected_version, the_streams_of_a_command_are_found, only_one_of_many_concurrent_writers_wins, positions_have_no_gaps_under_concurrent_writers,
            a_batch_of_appends_is_accepted_completely, concurrent_appends_are_answered_individually, a_command_is_executed_once, a_concurrently_repeated_command_is_executed_once,
            a_rejected_append_writes_nothing, an_event_id_is_unique, an_impossible_append_is_invalid);
        crate::event_store::keeps_the_contract!($subject, names:
            a_name_belongs_to_one_stream, one_of_many_claims_wins, names_are_listed_in_order);
    };
    ($subject:ty, $part:ident: $($clause:ident),+) => {$(
        #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
        async fn $clause() {
            crate::event_store::$part::$clause::<$subject>().await;
        }
    )+};
}
pub(crate) use keeps_the_contract;

pub(crate) fn stream(name: &str) -> StreamId {
    format!("project-{name}").parse().unwrap()
}

pub(crate) fn withdrawn(reason: &str) -> Event {
    Event::ProjectWithdrawn(ProjectWithdrawn { reason: reason.into() })
}

/// Returns an append of one event per reason.
pub(crate) fn append(clock: &Clock, to: &str, expected: Expected, reasons: &[&str]) -> Append {
    let command = clock.command_id();
    Append {
        stream: stream(to),
        expected,
        command,
        correlation: command,
        actor: "Łucja Ó'Neill".parse().unwrap(),
        traceparent: None,
        time: clock.now(),
        events: reasons
            .iter()
            .map(|reason| NewEvent { id: clock.event_id(), event: withdrawn(reason) })
            .collect(),
        claims: Vec::new(),
    }
}

pub(crate) fn claiming(mut append: Append, names: &[&str]) -> Append {
    append.claims =
        names.iter().map(|name| Claim { namespace: Namespace::SLUG, name: (*name).into() }).collect();
    append
}

pub(crate) async fn everything(store: &EventLog) -> Vec<Recorded> {
    let mut log = Vec::new();
    loop {
        let after = log.last().map_or(Position::START, |event: &Recorded| event.position);
        let page = store.read_all(after, 100).await.unwrap();
        if page.is_empty() {
            return log;
        }
        log.extend(page);
    }
}

/// Checks that the outcome is an error whose sentence contains this part.
#[track_caller]
pub(crate) fn assert_refused<T, E: std::fmt::Display>(outcome: Result<T, E>, part: &str) {
    let error = outcome.err().expect("an error").to_string();
    assert!(error.contains(part), "{error}");
}

/// Checks that positions and versions have no gaps and that the chain is intact up to the head.
pub(crate) async fn assert_whole(store: &EventLog) -> Vec<Recorded> {
    let log = everything(store).await;
    let (mut head, mut versions) = (Hash::GENESIS, HashMap::<StreamId, u64>::new());
    for (index, event) in log.iter().enumerate() {
        assert_eq!(event.position, Position(index as u64 + 1));
        let version = versions.entry(event.stream.clone()).or_default();
        *version += 1;
        assert_eq!(event.version, StreamVersion(*version), "{}", event.stream);
        head = Link::from(event).hash_after(head);
        assert_eq!(event.hash, head, "position {}", event.position);
    }
    assert_eq!(store.head().await.unwrap(), Head { position: Position(log.len() as u64), hash: head });
    log
}
