//! The catalog: every project, every revision of it, and every slug it ever had, in SQLite.

#[cfg(feature = "apply")]
mod digest;
mod reader;
#[cfg(feature = "apply")]
mod writer;

use std::path::Path;

use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqliteSynchronous};

pub use reader::{CatalogReader, Found};
#[cfg(feature = "apply")]
pub use writer::CatalogWriter;

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
    SqliteConnectOptions::new()
        .filename(folder.join("catalog.db"))
        .journal_mode(SqliteJournalMode::Wal)
        // A power cut may take the last commits with it; the checkpoint goes with them, and they are replayed.
        .synchronous(SqliteSynchronous::Normal)
        .busy_timeout(std::time::Duration::from_secs(5))
}

#[cfg(all(test, feature = "apply"))]
mod tests;
