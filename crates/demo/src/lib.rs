//! The demo catalog: invented projects of architecture, interiors, design, photography and art, as import records.
//!
//! The binary imports the first [`DEMO_SIZE`] of them into a new installation and gives [`pictures::picture_of`] to the write side;
//! benchmarks and tests use catalogs of any size. Places exist; people, practices, works and texts are made up.
//!
//! Promises: a seed always gives the same records and pictures, byte for byte; a longer catalog begins with the shorter one; slugs
//! are unique; the records are valid in the import format.
//!
//! ```
//! let record = demo::catalog(demo::DEMO_SEED, 1).next().unwrap();
//! assert_eq!(record["category"], "architecture");
//! let source = record["pictures"][0]["source"].as_str().unwrap();
//! assert!(source.starts_with(demo::pictures::SOURCE));
//! ```
//!
//! Text generation, in reading order:
//!
//! - `catalog`: the iterator over records, with unique names and slugs (`slugs`); `work`: one record.
//! - `grammar`: the format of the text files and their expansion. Facts of a record are drawn when first needed and then kept, so
//!   that every sentence, detail and taste phrase agrees.
//! - `prose`: intro, description, details and taste; `repetition`: limits of repetition.
//! - `places`, `studios`, `editors`, `calendar`: cities and names, makers, editors, dates.
//! - `wording`: articles, capitals and numbers; `rng`: random numbers.
//!
//! [`pictures`] draws a picture for each record, with `tiny-skia`.

mod calendar;
mod catalog;
mod editors;
mod grammar;
pub mod pictures;
mod places;
mod prose;
mod repetition;
mod rng;
mod slugs;
mod studios;
#[cfg(test)]
mod tests;
mod wording;
mod work;

use serde_json::{Map, Value};

/// The number of projects in the demo catalog.
pub const DEMO_SIZE: usize = 2600;

/// The actor of the commands that import the demo catalog.
pub const ACTOR: &str = schemas::picture::DRAWN_FOR;

/// The seed of the demo catalog.
pub const DEMO_SEED: u64 = 0x6c6f_6767_6961_0001;

/// Returns the first `size` records of the catalog of `seed`, each a JSON object in the import format.
///
/// Records are generated lazily. The iterator keeps about thirty bytes per record, for the uniqueness of slugs and of names
/// together with their studios.
pub fn catalog(seed: u64, size: usize) -> impl Iterator<Item = Map<String, Value>> {
    catalog::Catalog::new(seed).take(size)
}
