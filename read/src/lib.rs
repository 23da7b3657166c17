//! The read models: how each is stored and how it is asked. Writers are behind the feature `apply`, so that the API, which is
//! built without it, cannot write.
//!
//! `model` says what every model has in common, `models` lists them and keeps their readers current; each has a folder.

pub mod archive;
pub mod catalog;
pub mod checkpoint;
#[cfg(feature = "apply")]
pub mod copying;
pub mod counters;
mod database;
pub mod day;
pub mod error;
pub mod generation;
pub mod keys;
pub mod media;
pub mod model;
pub mod models;
pub mod neighbours;
pub mod project;
pub mod search;
