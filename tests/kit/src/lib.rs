//! Shared by the tests of all crates: real servers, processes and sockets, seeds and waiting.
//!
//! Functions panic with a sentence instead of returning errors, which a test could not handle.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::disallowed_methods,
    reason = "test support: a panic is the report, it prints for tests, and reads the environment and the clock"
)]

pub mod balancer;
mod cluster;
pub mod collector;
pub mod dns;
pub mod esdb;
mod files;
pub mod haproxy;
pub mod http;
pub mod nats;
pub mod network;
mod port;
pub mod process;
mod program;
pub mod samples;
mod seed;
mod shared;
mod shared_data;
mod skip;
pub mod smtp;
mod wait;

pub use files::any_file_contains;
pub use port::free_port;
pub use program::ProgramOutput;
pub use seed::seed;
pub use shared::Shared;
pub use shared_data::shared_data;
pub use skip::{absent, skipped};
pub use wait::{wait_for, wait_until};
