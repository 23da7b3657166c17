//! Everything a service needs around the NATS client: a private nats-server, logins with checked permissions, requests and replies,
//! and the configuration of a cluster.
//!
//! The write side, the read nodes and the tests connect with it; `loggia up` runs a private server with it, and
//! `loggia nats config` writes the files of a cluster.
//!
//! # Promises
//!
//! - A refused connection is explained by a sentence that names the setting to change.
//! - A server older than [`version::MIN_VERSION`] is refused, since older ones silently ignore settings that keep messages safe.
//! - No password and no seed is logged or displayed.
//!
//! # Modules, in reading order
//!
//! - [`login`]: the connection of a process, with the checks of [`requirements`] (version, message size), [`user`]
//!   (permissions) and [`same_cluster`] (all addresses belong to one cluster). [`url`]: user and password in a URL.
//! - [`request`] and [`responder`]: requests that are repeated until they are answered; replies, with bounded concurrency.
//! - [`stream_settings`]: JetStream settings that every stream must have. [`copies`]: which servers keep a stream, and are missing.
//! - [`server`]: a private nats-server, started, supervised, restarted and stopped.
//! - [`cluster_config`]: the files of a cluster with TLS and one user per role.
//! - [`certificates`]: when the certificates of a file expire.

pub mod certificates;
pub mod cluster_config;
pub mod connection;
pub mod copies;
pub mod login;
pub mod request;
pub mod requirements;
pub mod responder;
pub mod same_cluster;
pub mod server;
pub mod stream_settings;
pub mod url;
pub mod user;
pub mod version;

#[cfg(test)]
mod tests;
