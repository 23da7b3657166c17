//! The write side on real servers: commands, and the relay to NATS.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::disallowed_methods,
    missing_docs,
    reason = "tests"
)]

mod accounts;
mod commands;
#[cfg(feature = "eventstore")]
mod kurrent;
mod relay;
mod write_side;

use event_log::{Append, EventLog, Expected, NewEvent};
use schemas::clock::Clock;
use schemas::envelope::Recorded;
use schemas::event::{Event, ProjectWithdrawn};
use schemas::ids::Position;

/// Returns an append of a withdrawal with this reason.
fn append(clock: &Clock, to: &str, reason: &str) -> Append {
    let command = clock.command_id();
    let event = Event::ProjectWithdrawn(ProjectWithdrawn { reason: reason.into() });
    Append {
        stream: format!("project-{to}").parse().unwrap(),
        expected: Expected::Any,
        command,
        correlation: command,
        actor: "Łucja Ó'Neill".parse().unwrap(),
        traceparent: None,
        time: clock.now(),
        events: vec![NewEvent { id: clock.event_id(), event }],
        claims: Vec::new(),
    }
}

/// Returns every event of the log.
async fn everything(store: &EventLog) -> Vec<Recorded> {
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
