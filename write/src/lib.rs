//! The write side: decides what editors and imports ask for, keeps the events, and sends them on to NATS.

pub mod account;
mod cause;
mod claims;
pub mod clock;
pub mod command_client;
pub mod command_server;
mod computed;
pub mod derived_id;
pub mod event_store;
mod flood;
mod follow;
pub mod ledger;
pub mod mail;
pub mod media;
pub mod media_client;
pub mod media_server;
pub mod nats;
pub mod nats_config;
pub mod nats_server;
pub mod project;
pub mod relay;
pub mod service;
mod stream_settings;
pub mod tls;
pub mod usage_streams;
pub mod vault;
pub mod vectors;
