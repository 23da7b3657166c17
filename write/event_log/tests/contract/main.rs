//! The contract of every implementation of a port, run against each of them.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::disallowed_methods,
    missing_docs,
    reason = "tests"
)]

mod accounts;
mod backup;
mod commands;
mod counters;
mod event_store;
mod full_disk;
mod incremental_backups;
#[cfg(feature = "eventstore")]
mod kurrent;
mod ledger;
mod log_head;
mod model;
mod optimizing;
mod relay;
mod replicas;
mod restore_until;
mod shared_consumers;
mod sqlite;
mod usage_streams;
mod write_side;
