//! The contract of the event log, against each of its backends.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::disallowed_methods,
    missing_docs,
    reason = "tests"
)]

mod event_store;
mod full_disk;
#[cfg(feature = "eventstore")]
mod kurrent;
mod model;
mod sqlite;
