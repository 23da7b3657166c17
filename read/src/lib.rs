//! The read models of Loggia: how each is stored, written and queried. The API, the projections and the commands use them.
//!
//! A model is built from events by a writer, which commits rows and checkpoint together, and answers queries by a reader, which never
//! blocks the writer. Writers are behind the feature `apply`; the API is built without it, so that it cannot write.
//!
//! In reading order: [`model`] is the interface of all models, [`models`] their registry, which keeps the readers of a node current,
//! [`generation`] the folders of their complete copies, and [`checkpoint`] how far one has been built. The models: [`catalog`] (projects,
//! revisions, slugs), [`search`] (full text), [`archive`] (newest first, by taste), [`neighbours`] (similar projects), [`keys`] (API
//! keys) and [`counters`] (metered calls). [`project`] is the state of a project that several of them fold from its events, [`media`] the
//! stored pictures, which are no model.

pub mod archive;
pub mod catalog;
pub mod checkpoint;
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
