//! The background work of the write side: what follows from events that are recorded already.
//!
//! - [`collector`]: fetches the pictures that projects name.
//! - [`vectors`]: records the vectors of projects that have none, or whose record changed.
//! - [`mail`]: sends the queued mail of the vault.

pub mod collector;
pub mod mail;
pub mod vectors;
