//! Shared by the tests of all crates: real servers, processes and sockets, seeds and waiting. Functions panic with a sentence
//! instead of returning errors, which a test could not handle.
//!
//! - [`process`]: the binary; [`http`]: a client of its API.
//! - [`nats`]: one nats-server, or a cluster of them, on a [`network`] whose links a test cuts.
//! - [`balancer`], [`haproxy`], [`dns`]: load balancers in front of read nodes.
//! - [`esdb`], [`smtp`], [`collector`]: small servers in place of EventStoreDB, a mail server and a trace collector.
//! - [`samples`]: events and pictures. [`copy_folder`] and [`SmallDisk`]: files. [`wait_until`] and [`wait_for`]: conditions instead of sleeps, within [`TIMEOUT`].
//!   [`absent`]: a skipped test.

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
mod environment;
pub mod esdb;
mod files;
pub mod haproxy;
pub mod http;
pub mod nats;
pub mod network;
pub mod process;
mod program;
pub mod samples;
mod shared;
pub mod smtp;
mod tls;
mod wait;

pub use environment::{absent, free_port, seed, shared_data, skipped, weights};
pub use files::{SmallDisk, copy_folder};
pub use process::any_file_contains;
pub use program::ProgramOutput;
pub use shared::Shared;
pub use wait::{TIMEOUT, wait_for, wait_until};
