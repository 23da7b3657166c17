//! The archive: every listed project, newest first, with the words of its six taste dimensions. All of it is in SQLite, and
//! in memory for those who ask.
//!
//! Newest first means the day of publication, else the day on which a curator selected it, else the day on which it came in; of
//! several of one day the one that was selected last comes first (see `newest`). Projects of some taste that match alike are in
//! the order of their publication, those without it last, and of their slugs. A dimension matches when
//! every asked word stands in its text: words are folded as in the search index and lose their English endings, so that
//! `concretes` finds `Concrete` and `beton` finds `Béton`; scripts without spaces are found by runs of characters.
//!
//! In memory the order is cut into blocks of some thousand projects, each with a bitmap or a list for every word in every
//! dimension (see `block`). A question adds up six bitmaps a block; a change makes one block anew and shares the others.

mod bitmap;
mod block;
mod browse;
mod counts;
mod cursor;
mod dictionary;
#[cfg(feature = "apply")]
mod digest;
mod dimension;
mod listing;
mod nearest;
mod newest;
mod order;
mod question;
mod reader;
mod rebuild;
mod shelf;
mod snapshot;
mod tally;
mod terms;
mod vocabulary;
mod words;
#[cfg(feature = "apply")]
mod writer;

use std::path::Path;

use sqlx::sqlite::SqliteConnectOptions;

pub use browse::NewestPage;
pub use cursor::{Cursor, InvalidCursor};
pub use dimension::{Dimension, Dimensions};
pub use listing::Listing;
pub use question::{MOST_WORDS, TasteRequest};
pub use reader::ArchiveReader;
pub use tally::{AskedDimension, Hit, TastePage};
pub use terms::{DimensionTerms, Term};
#[cfg(feature = "apply")]
pub use writer::ArchiveWriter;

use crate::database;

/// The layout of its files: one more with every change that former generations do not have.
pub const LAYOUT: u32 = 2;

/// The most projects that one page can hold.
pub const LARGEST_PAGE: usize = 50;

/// The archive could not be read or written.
#[derive(Debug, thiserror::Error)]
pub enum ArchiveError {
    /// SQLite refused; a full disk and a missing file look like this.
    #[error("the archive's database cannot be used: {0}")]
    Database(#[from] sqlx::Error),
    /// The stored data is not what this version writes.
    #[error("the archive's database holds something unreadable ({0}); run `loggia rebuild archive`")]
    Corrupt(String),
}

#[cfg(feature = "apply")]
impl ArchiveError {
    /// Whether the model is damaged and must be made again: trying again cannot help.
    pub fn is_corrupt(&self) -> bool {
        match self {
            ArchiveError::Database(error) => database::is_corrupt(error),
            ArchiveError::Corrupt(_) => true,
        }
    }
}

fn options(folder: &Path) -> SqliteConnectOptions {
    database::options(&folder.join("archive.db"))
}

fn corrupt(error: impl ToString) -> ArchiveError {
    ArchiveError::Corrupt(error.to_string())
}

#[cfg(all(test, feature = "apply"))]
mod tests;
