//! The read models: how each is stored and how it is asked, side by side. What writes them stands behind the
//! feature `apply`, so that the API, which is built without it, cannot.

pub mod archive;
pub mod catalog;
pub mod checkpoint;
#[cfg(feature = "apply")]
pub mod copying;
pub mod counters;
mod database;
pub mod day;
pub mod generation;
pub mod keys;
pub mod media;
pub mod models;
pub mod neighbours;
pub mod project;
pub mod search;
