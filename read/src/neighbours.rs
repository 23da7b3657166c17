//! The neighbours: to every project those that look and read most like it. All lists are in SQLite, and in memory for
//! those who answer.
//!
//! Two projects are compared on the sides that both have a vector of, each made by one model. The score of a pair is the
//! mean of the cosines of those sides, from -1 to 1; it alone ranks, and of equal scores the one selected earlier is
//! nearer. What is shown of cosines and scores begins at 0. Without a common side two projects are never neighbours.

#[cfg(feature = "apply")]
mod base;
mod cursor;
#[cfg(feature = "apply")]
mod digest;
#[cfg(feature = "apply")]
mod graph;
mod list;
#[cfg(feature = "apply")]
mod memory;
#[cfg(feature = "apply")]
mod product;
#[cfg(feature = "apply")]
mod propose;
#[cfg(feature = "apply")]
mod rank;
mod reader;
#[cfg(feature = "apply")]
mod recall;
#[cfg(feature = "apply")]
mod repair;
#[cfg(feature = "apply")]
mod rows;
#[cfg(feature = "apply")]
mod side;
#[cfg(feature = "apply")]
mod space;
#[cfg(feature = "apply")]
mod staged;
#[cfg(feature = "apply")]
mod stored;
mod table;
#[cfg(feature = "apply")]
mod unit;
#[cfg(feature = "apply")]
mod writer;

use std::path::Path;

use sqlx::sqlite::SqliteConnectOptions;

pub use cursor::{Cursor, InvalidCursor};
pub use list::{Neighbour, Neighbours};
pub use reader::NeighboursReader;
#[cfg(feature = "apply")]
pub use recall::{Recall, recall};
#[cfg(feature = "apply")]
pub use staged::Refusal;
pub use table::Standing;
#[cfg(feature = "apply")]
pub use writer::NeighboursWriter;

use crate::database;

/// The version of the tables; a model in another one is made again from the log.
pub const LAYOUT: u32 = 2;

/// How many neighbours a project has for readers, where there are so many to compare it with.
pub const LISTED: usize = 50;

/// How many are kept: one that leaves the catalog seldom leaves a list too short, which costs a look at all projects.
#[cfg(feature = "apply")]
const KEPT: usize = 64;

/// The neighbours could not be read or written.
#[derive(Debug, thiserror::Error)]
pub enum NeighboursError {
    /// SQLite refused; a full disk and a missing file look like this.
    #[error("the neighbours' database cannot be used: {0}")]
    Database(#[from] sqlx::Error),
    /// The stored data is not what this version writes.
    #[error("the neighbours' database holds something unreadable ({0}); run `loggia rebuild neighbours`")]
    Corrupt(String),
    /// The threads that compare could not be had.
    #[error("the neighbours cannot be computed: {0}; check the limits on threads and memory")]
    Threads(String),
}

#[cfg(feature = "apply")]
impl NeighboursError {
    /// Whether the model is damaged and must be made again: trying again cannot help.
    pub fn is_corrupt(&self) -> bool {
        match self {
            NeighboursError::Database(error) => database::is_corrupt(error),
            NeighboursError::Corrupt(_) => true,
            NeighboursError::Threads(_) => false,
        }
    }
}

fn options(folder: &Path) -> SqliteConnectOptions {
    database::options(&folder.join("neighbours.db"))
}

fn corrupt(error: impl ToString) -> NeighboursError {
    NeighboursError::Corrupt(error.to_string())
}

#[cfg(all(test, feature = "apply"))]
mod tests;
