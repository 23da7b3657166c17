//! What a service needs around the NATS client: it runs a private nats-server, or logs in to a cluster as one of several
//! users, checks server, user and streams before it relies on them, and writes the configuration of a cluster.
//!
//! - [`server`]: a private nats-server, started, supervised, restarted and stopped; `loggia up` and tests use it.
//! - [`login`]: the connection of a process, with the checks of [`requirements`] (version, message size), [`user`]
//!   (permissions) and [`same_cluster`] (all addresses lead to one cluster).
//! - [`cluster_config`]: the files of a cluster with TLS and one user per role; `loggia nats config` writes them.
//! - [`request`] and [`responder`]: requests that are repeated until they are answered; replies, a bounded number at once.
//! - [`stream_settings`]: the JetStream settings that every stream must have.
//!
//! A connection that was refused tells why in a sentence that names the setting. A server below [`version::OLDEST`] is
//! refused, since older ones silently ignore settings that keep messages safe.

pub mod cluster_config;
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
