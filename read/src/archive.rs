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
pub use listing::Listing;
pub use question::{MOST_WORDS, TasteRequest};
pub use reader::ArchiveReader;
pub use tally::{AskedDimension, Hit, TastePage};
pub use terms::{DimensionTerms, Term};
#[cfg(feature = "apply")]
pub use writer::ArchiveWriter;

use crate::checkpoint::Checkpoint;
use crate::database;
use crate::error::ModelError;
use crate::model::{Model, Surroundings};

/// The layout of its files: one more with every change that former generations do not have.
pub const LAYOUT: u32 = 2;

const NAME: &str = "archive";

/// The name of its file.
const FILE: &str = "archive.db";

/// The most projects that one page can hold.
pub const LARGEST_PAGE: usize = 50;

impl Model for ArchiveReader {
    const NAME: &'static str = NAME;
    const LAYOUT: u32 = LAYOUT;
    const FILE: &'static str = FILE;

    /// It lists what the search index knows, so that index is opened first.
    fn can_open(surroundings: &Surroundings) -> bool {
        surroundings.search.is_some()
    }

    async fn open(folder: &Path, surroundings: &Surroundings) -> Result<Self, ModelError> {
        ArchiveReader::open_beside(folder, surroundings.search.clone()).await
    }

    async fn refresh(&self, surroundings: &Surroundings) -> Result<(), ModelError> {
        self.refresh_beside(surroundings.search.clone()).await
    }

    async fn checkpoint(&self) -> Result<Checkpoint, ModelError> {
        database::checkpoint(&mut *self.pool().acquire().await?, NAME).await
    }

    #[cfg(feature = "apply")]
    async fn digest(folder: &Path) -> Result<(Checkpoint, [u8; 32]), ModelError> {
        database::digest(&folder.join(FILE), NAME, &[
            "SELECT ordinal, project, slug, category, published, added, newest, listed, words FROM projects ORDER BY ordinal",
        ]).await
    }
}

fn options(folder: &Path) -> SqliteConnectOptions {
    database::options(&folder.join(FILE))
}

fn corrupt(reason: impl ToString) -> ModelError {
    ModelError::corrupt(NAME, reason)
}

#[cfg(all(test, feature = "apply"))]
mod tests;
