//! The write side: executes the commands of editors, imports, key holders and payment providers, and publishes the events.
//!
//! Used by the root, which opens the event log, registers the services and starts the servers; by the workers; and by the
//! command line, which executes commands without NATS if no service is running. A command is executed once, whatever its number
//! of deliveries.
//!
//! - [`project`] and [`account`]: the aggregates; pure functions from events to state and from commands to events.
//! - [`service`]: one service per subject, which loads an aggregate, decides, appends, and retries on a conflict.
//! - [`command_server`] and [`command_client`]: commands over NATS; [`media_client`] uploads pictures.
//! - [`relay`]: publishes the event log to the stream `EVENTS`.
//!
//! The packages in this folder keep what it writes: `event_log`, `ledger` (metered calls), `vault` (addresses), `media`
//! (pictures) and `backup` are below this crate, as is `store_file`, which log and ledger are built on; `workers` is above it.

pub mod account;
pub mod command_client;
pub mod command_server;
pub mod derived_id;
pub mod media_client;
pub mod project;
pub mod relay;
#[cfg(test)]
mod scenario;
pub mod service;
