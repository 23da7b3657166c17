//! What the tests of every crate share: real servers, real processes, real sockets, seeds and waiting.
//!
//! Everything here panics with a sentence instead of returning errors, for a test can do nothing else with them.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::disallowed_methods,
    reason = "test support: a panic is the report, it passes on what tests say, and reads the environment and the clock for them"
)]

pub mod balancer;
mod cluster;
pub mod collector;
pub mod esdb;
pub mod haproxy;
pub mod http;
pub mod names;
pub mod nats;
pub mod network;
mod port;
pub mod process;
mod said;
pub mod samples;
mod seed;
mod shared;
mod shared_data;
mod skip;
pub mod smtp;
mod traces;
mod wait;

pub use port::free_port;
pub use said::Said;
pub use seed::seed;
pub use shared::Shared;
pub use shared_data::shared_data;
pub use skip::{absent, skipped};
pub use traces::any_file_holds;
pub use wait::{wait_for, wait_until};
