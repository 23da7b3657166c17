//! The read models of Loggia: how each is stored, written and queried. The API, the projections and the commands use them.
//!
//! A model is built from events by a writer, which commits rows and checkpoint together, and answers queries by a reader, which never
//! blocks the writer. Writers are behind the feature `apply`; the API is built without it, so that it cannot write.
//!
//! [`model`] is what they have in common: the interface of all models, the folders of their complete copies ([`generation`]), how far
//! one has been built ([`checkpoint`]), the state of a project that several fold from its events ([`project`]), and the full text
//! ([`search`]), which other models join. [`models`] is their registry, which keeps the readers of a node current. The other models:
//! [`catalog`] (projects, revisions, slugs), [`archive`] (newest first, filters, by taste), [`neighbours`] (similar projects), [`keys`]
//! (API keys) and [`counters`] (metered calls). [`media`] are the stored pictures, which are no model.

pub mod catalog;
pub mod counters;
pub mod keys;
pub mod media;
pub mod models;
pub mod neighbours;

pub use model::{checkpoint, day, error, generation, project, search};
pub use {archive, model};
