//! The parts of answers about projects: searches, similar projects, slug resolution, earlier revisions, and the JSON they are
//! written in. Each surface adds its own parameters and its own form.

pub mod json_writer;
pub mod list;
pub mod relaxation;
pub mod revision;
pub mod search;
pub mod similar;
pub mod slug;
