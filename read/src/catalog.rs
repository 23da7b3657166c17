//! The catalog: every project, every revision of it, and every slug it ever had, in SQLite.

#[cfg(feature = "apply")]
mod digest;
mod history;
mod listed;
mod parts;
mod reader;
#[cfg(feature = "apply")]
mod rows;
#[cfg(feature = "apply")]
mod writer;

use std::path::Path;

use schemas::api::project::Project as Answer;
use schemas::api::site;
use sqlx::sqlite::SqliteConnectOptions;

pub use history::{History, RecordedRevision, Withdrawal};
pub use listed::{ListedProject, Selected};
pub use parts::ListedPart;
pub use reader::{CatalogReader, Found};
#[cfg(feature = "apply")]
pub use writer::CatalogWriter;

use crate::database;

/// The layout of its files: one more with every change that former generations do not have.
pub const LAYOUT: u32 = 3;

/// The name of its file.
const FILE: &str = "catalog.db";

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

#[cfg(feature = "apply")]
impl CatalogError {
    /// Whether the model is damaged and must be made again: trying again cannot help.
    pub fn is_corrupt(&self) -> bool {
        match self {
            CatalogError::Database(error) => database::is_corrupt(error),
            CatalogError::Corrupt(_) => true,
        }
    }
}

fn options(folder: &Path) -> SqliteConnectOptions {
    database::options(&folder.join(FILE))
}

fn corrupt(error: impl ToString) -> CatalogError {
    CatalogError::Corrupt(error.to_string())
}

/// The full record as it is answered, with the mark where the site's address belongs.
fn render(answer: &Answer<'_>) -> Result<String, CatalogError> {
    String::from_utf8(site::render(answer).map_err(corrupt)?).map_err(corrupt)
}

#[cfg(all(test, feature = "apply"))]
mod tests;
