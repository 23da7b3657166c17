//! The ledger and the usage streams on real nats-servers.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::disallowed_methods,
    missing_docs,
    reason = "tests"
)]

mod ledger;
mod replicas;
mod usage_streams;
