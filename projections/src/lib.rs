//! The projection workers of a read node: they apply the events of the stream EVENTS to the read models of the crate `read`,
//! and keep these correct over restarts, damage and restored logs.
//!
//! The binary starts a [`node::Node`] for each process that has read models, and calls [`snapshot`], [`verify`] and
//! [`picture_copier`] beside it. Promises: rows and checkpoint of a model are one commit, so a process may be killed at any
//! moment; each event is applied once and in order; an event that cannot be applied is parked with its reason; a model that
//! is damaged, or shows another history than the log, is taken from readers and rebuilt; a rebuild replaces complete models.
//!
//! In reading order:
//!
//! - [`projection`]: the trait that each read model implements, and below it the projections, one a file.
//! - [`worker`]: the loop that applies deliveries to a projection; its throttle during an import.
//! - [`source`]: ordered, gapless events from JetStream, decoded once for all projections of a node.
//! - [`host`]: keeps one model working, with rebuilds ([`rebuilds`]) and quarantine; [`error`] says what to do when.
//! - [`node`]: all hosts of a process, their status ([`status`]) and control requests.
//! - [`readiness`]: what must have caught up before a node answers.
//! - `history`: compares a checkpoint with the log, which may have been restored from an older backup.
//! - [`verify`]: replays a model and compares digests. [`snapshot`]: copies of all models, for new nodes.
//! - [`picture_copier`]: copies the pictures that the log names to a node with a media folder of its own.

pub mod error;
mod history;
pub mod host;
pub mod node;
pub mod picture_copier;
pub mod projection;
pub mod readiness;
pub mod rebuilds;
pub mod snapshot;
pub mod source;
pub mod status;
pub mod verify;
pub mod worker;
