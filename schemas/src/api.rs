//! The answers of the API, shared by REST, MCP and pages.

pub mod archive;
pub mod changed;
pub mod changes;
pub mod comparison;
pub mod problem;
pub mod project;
pub mod search;
pub mod similar;
pub mod site;
pub mod suggest;
pub mod summary;
pub mod usage;
