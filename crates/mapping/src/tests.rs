//! Tests of whole mappings.

mod any_text;
mod parsing;
mod records;
pub(crate) mod shapes;
