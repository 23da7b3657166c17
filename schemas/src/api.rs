//! The shapes of the API's answers, shared by REST and every other surface.

pub mod problem;
pub mod project;
pub mod search;
pub mod similar;
pub mod site;
pub mod summary;
pub mod usage;
