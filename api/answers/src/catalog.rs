//! The parts of answers about projects: searches, pages of the archive, similar projects, slug resolution, earlier revisions, and the JSON they are
//! written in. Each surface adds its own parameters and its own form.

pub mod about;
pub mod archive_parameters;
pub mod browse;
pub mod changed;
pub mod cited;
pub mod compare;
pub mod detail;
pub mod document;
pub mod empty;
pub mod examples;
pub mod facets;
pub mod highlights;
pub mod json_writer;
pub mod list_notes;
pub mod list_options;
pub mod meaning;
pub mod mode;
pub mod near_terms;
pub mod quotation;
pub mod relaxation;
pub mod revision;
pub mod search;
pub mod search_plan;
pub mod several;
pub mod similar;
pub mod slug;
pub mod taste;
pub mod taste_records;
pub mod terms;
pub mod undated;
