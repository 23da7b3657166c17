//! The write side: decides what editors and imports ask for, keeps the events, and sends them on to NATS.

pub mod account;
pub mod backup;
mod bulk_load;
mod claims;
pub mod clock;
pub mod command_client;
pub mod command_server;
mod computed;
pub mod derived_id;
pub mod event_log;
pub mod ledger;
mod log_cursor;
pub mod mail;
pub mod media;
pub mod media_client;
pub mod media_server;
pub mod nats_role;
pub mod project;
pub mod relay;
pub mod service;
pub mod tls;
pub mod usage_streams;
pub mod vault;
pub mod vectors;
