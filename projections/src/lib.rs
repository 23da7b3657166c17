//! The projection workers: they follow the events on NATS and keep the read models. Every projection is one loop
//! that commits its rows and its checkpoint together, so that it can be killed at any moment and applied twice.

pub mod archive;
pub mod catalog;
mod continuity;
pub mod counters;
pub mod failure;
pub mod host;
pub mod keys;
pub mod mirror;
pub mod neighbours;
pub mod node;
mod node_settings;
mod pace;
pub mod projection;
pub mod rebuilds;
#[cfg(test)]
mod recorded;
pub mod search;
pub mod snapshot;
pub mod source;
pub mod status;
pub mod verify;
pub mod work;
pub mod worker;
