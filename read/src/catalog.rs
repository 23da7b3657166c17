//! The catalog: every project, every revision of it, and every slug it ever had, in SQLite.

#[cfg(feature = "apply")]
mod digest;
mod reader;
#[cfg(feature = "apply")]
mod writer;

use std::path::Path;

use sqlx::sqlite::SqliteConnectOptions;

pub use reader::{CatalogReader, Found};
#[cfg(feature = "apply")]
pub use writer::CatalogWriter;

use crate::database;

/// The catalog could not be read or written.
#[derive(Debug, thiserror::Error)]
pub enum CatalogError {
    /// SQLite refused; a full disk and a missing file look like this.
    #[error("the catalog's database cannot be used: {0}")]
    Database(#[from] sqlx::Error),
    /// The stored data is not what this version writes.
    #[error("the catalog's database holds something unreadable ({0}); run `loggia rebuild catalog`")]
    Corrupt(String),
}

fn options(folder: &Path) -> SqliteConnectOptions {
    database::options(&folder.join("catalog.db"))
}

#[cfg(all(test, feature = "apply"))]
mod tests;
