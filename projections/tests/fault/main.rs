//! Projections under faults: damaged read models, a log that was set back, events that cannot be applied.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::disallowed_methods,
    missing_docs,
    reason = "a test fails by panicking, and its tasks end with it"
)]

mod damaged_models;
mod restored_log;
mod running_projections;
mod strange_events;
mod test_stream;
