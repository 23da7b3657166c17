//! The archive: every listed project, newest first, with the words of its taste dimensions. It is stored in SQLite and
//! answered from memory.
//!
//! Newest first means the day of publication, else the day on which a curator selected it, else the day of its first event; of
//! several projects of one day the last selected comes first (see `newest`). Projects that match equally many taste dimensions
//! are in the order of publication, those without a date last, and then of their slugs. A dimension matches if its text
//! contains every word of the query: words are folded as in the search index and reduced to English stems, so that
//! `concretes` finds `Concrete` and `beton` finds `Béton`; in scripts without spaces pairs of characters are compared.
//!
//! In memory the order is cut into blocks of some thousand projects, each with a posting list (a bitmap or a list of numbers) for
//! every word in every dimension (see `blocks`). A query adds up one bitmap per dimension and block; a change rebuilds one block
//! and shares the others.
//!
//! What projects are filtered, counted and sorted by is kept in `columns`, by ordinal: `filters` selects a set of ordinals, to which a
//! search, a list (`sorting`), a taste query or the count of a facet (`facets`) is restricted. `recorded` has a bit for each member of a
//! project, from which `catalog_counts` counts what the catalog records.

mod blocks;
mod browse;
mod catalog_counts;
mod columns;
mod cursor;
mod dictionary;
mod facets;
#[cfg(feature = "apply")]
mod facts;
mod filter_parts;
mod filters;
mod layers;
mod listing;
mod near_ranges;
mod near_values;
mod newest;
mod order;
mod reader;
mod recent;
mod recorded;
mod shown_forms;
mod snapshot;
mod sorting;
mod stemming;
mod suggestions;
mod taste_query;
mod vocabulary;
#[cfg(feature = "apply")]
mod writer;

use std::path::Path;

use sqlx::sqlite::SqliteConnectOptions;

pub use browse::NewestPage;
pub use catalog_counts::CatalogCounts;
pub use cursor::{Cursor, InvalidCursor};
pub use dictionary::TermKind;
pub use facets::{Facet, FacetCounts, FacetValue, MAX_FACET_VALUES};
pub use filter_parts::{Dated, FilterPart};
pub use filters::Filters;
pub use listing::{CountedSearch, Listing};
pub use near_values::{ValueKind, is_world_region};
pub use reader::ArchiveReader;
pub use recorded::Member;
pub use sorting::{Order, Selection};
pub use stemming::phrases;
pub use suggestions::{Suggestion, SuggestionKind};
pub use taste_query::{DimensionMatches, Hit, MAX_QUERY_WORDS, MatchMode, TastePage, TasteRequest};
pub use vocabulary::{DimensionTerms, Term, TermsPage, TermsRequest};
#[cfg(feature = "apply")]
pub use writer::ArchiveWriter;

use model::checkpoint::Checkpoint;
use model::database;
use model::error::ModelError;
use model::{Model, ModelContext};

/// The layout of its files, incremented with every change that former generations do not have.
pub const LAYOUT: u32 = 9;

const NAME: &str = "archive";

/// The name of the database in a generation's folder.
const FILE: &str = "archive.db";

/// The statements that create its database.
const SCHEMA: &str = include_str!("sql/schema.sql");

/// The maximum number of projects on a page.
pub const MAX_PAGE_SIZE: usize = 50;

impl Model for ArchiveReader {
    const NAME: &'static str = NAME;
    const LAYOUT: u32 = LAYOUT;
    const FILE: &'static str = FILE;
    const SCHEMA: Option<&'static str> = Some(SCHEMA);

    /// The archive lists only what the search index contains, so the index is opened first.
    fn can_open(context: &ModelContext) -> bool {
        context.search.is_some()
    }

    async fn open(folder: &Path, context: &ModelContext) -> Result<Self, ModelError> {
        ArchiveReader::open_with_view(folder, context.search.clone()).await
    }

    async fn refresh(&self, context: &ModelContext) -> Result<(), ModelError> {
        self.refresh_with_view(context.search.clone()).await
    }

    async fn checkpoint(&self) -> Result<Checkpoint, ModelError> {
        database::checkpoint(&mut *self.pool.acquire().await?, NAME).await
    }

    #[cfg(feature = "apply")]
    async fn digest(folder: &Path) -> Result<(Checkpoint, [u8; 32]), ModelError> {
        database::digest(&folder.join(FILE), NAME, &[
            "SELECT ordinal, project, slug, category, published, added, newest, listed, words, name, city, studio, curator, year, \
             selected, has_picture, hex(palette), pictures, recorded FROM projects ORDER BY ordinal",
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
