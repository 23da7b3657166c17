//! Backups of real data folders, whole and in increments, and what is restored from them.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::disallowed_methods,
    missing_docs,
    reason = "tests"
)]

mod backup;
mod foreign_backups;
mod full_disk;
mod incremental_backups;
mod log_and_ledger;
mod restore_until;

use std::path::Path;

use event_log::{Append, Expected, NewEvent};
use schemas::clock::Clock;
use schemas::event::{Event, ProjectWithdrawn};

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

/// Checks that the outcome is an error whose sentence contains this part.
#[track_caller]
fn assert_refused<T, E: std::fmt::Display>(outcome: Result<T, E>, part: &str) {
    let error = outcome.err().expect("an error").to_string();
    assert!(error.contains(part), "{error}");
}

/// Returns the names in a folder, in order.
fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap();
    let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// Changes one bit in the middle of a file.
fn flip(path: &Path) {
    let mut bytes = std::fs::read(path).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    std::fs::write(path, bytes).unwrap();
}
