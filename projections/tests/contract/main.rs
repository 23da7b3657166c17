//! Projections on real nats-servers.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::disallowed_methods,
    missing_docs,
    reason = "tests"
)]

mod counters;
mod optimizing;
mod shared_consumers;
