//! The demo catalog: invented projects of architecture, interiors, design, photography and art, as import records.
//!
//! A new installation is filled with the first [`DEMO_SIZE`] of them; measurements use as many as they need. Places exist;
//! people, practices, works and texts are made up. [`pictures`] draws a picture of each project. Only the binary, which
//! imports the records and hands the pictures to the write side, and tests use this crate.
//!
//! The same seed always gives the same records and pictures, and a longer catalog begins with the shorter one. Slugs are
//! unique. The records keep to the import format.
//!
//! ```
//! let record = demo::catalog(demo::DEMO_SEED, 1).next().unwrap();
//! assert_eq!(record["category"], "architecture");
//! let source = record["pictures"][0]["source"].as_str().unwrap();
//! assert!(source.starts_with(demo::pictures::SOURCE));
//! ```
//!
//! The texts are written in the grammar of the module `grammar`: a record's facts are drawn first, or when a sentence first
//! needs them, and every sentence, detail and taste word speaks of the same facts.

mod calendar;
mod catalog;
mod dice;
mod editors;
mod grammar;
pub mod pictures;
mod places;
mod prose;
mod slugs;
mod studios;
mod taste;
#[cfg(test)]
mod tests;
mod weariness;
mod wording;
mod work;

use serde_json::{Map, Value};

/// How many projects the demo catalog has.
pub const DEMO_SIZE: usize = 2600;

/// Who selects the projects of a new installation's catalog.
pub const ACTOR: &str = "demo";

/// The seed of the catalog that a new installation is filled with.
pub const DEMO_SEED: u64 = 0x6c6f_6767_6961_0001;

/// The first `size` records of the catalog of `seed`, in a stable order, each a JSON object in the import format.
///
/// Records are made one at a time as the iterator is asked for them. It keeps some thirty bytes a record, to know which
/// names and slugs are taken: slugs are unique, and so are names together with their studios.
pub fn catalog(seed: u64, size: usize) -> impl Iterator<Item = Map<String, Value>> {
    catalog::Catalog::new(seed).take(size)
}

/// What a work is. The order is that of [`prose::book`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Category {
    Architecture,
    Interiors,
    Design,
    Photography,
    Art,
}

impl Category {
    const ALL: [Self; 5] = [Self::Architecture, Self::Interiors, Self::Design, Self::Photography, Self::Art];

    const fn name(self) -> &'static str {
        match self {
            Self::Architecture => "architecture",
            Self::Interiors => "interiors",
            Self::Design => "design",
            Self::Photography => "photography",
            Self::Art => "art",
        }
    }
}
