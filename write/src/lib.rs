//! The write side: decides what editors and imports ask for, appends the events, and sends them on to NATS.
//!
//! - [`project`] and [`account`]: the aggregates; pure functions from events to state and from commands to events.
//! - [`service`]: handles commands: loads an aggregate, decides, appends, and retries on a conflict.
//! - [`command_server`] and [`command_client`]: commands over NATS; [`media_client`] uploads pictures.
//! - [`relay`]: publishes the event log to the stream `EVENTS`.
//! - [`nats_role`]: the NATS user of each role with its permissions.
//!
//! The packages in this folder keep what it writes: `event_log`, `ledger` (metered calls), `vault` (addresses), `media`
//! (pictures) and `backup` stand below this crate, `workers` above it.

pub mod account;
pub mod command_client;
pub mod command_server;
pub mod computed;
pub mod derived_id;
pub mod media_client;
pub mod nats_role;
pub mod project;
pub mod relay;
pub mod service;
