//! The catalog: every project with its revisions and all slugs it ever had, in SQLite.

mod change_kind;
mod changed;
mod changed_lists;
mod changes;
mod history;
mod last_changes;
mod listed;
mod reader;
#[cfg(feature = "apply")]
mod rows;
#[cfg(feature = "apply")]
mod writer;

use std::path::Path;

use schemas::api::project::Project as Answer;
use schemas::api::site;
use sqlx::sqlite::SqliteConnectOptions;

pub use change_kind::ChangeKind;
pub use changed::{Changed, ChangedCursor, ChangedPage, ChangedQuery};
pub use changed_lists::ChangedList;
pub use changes::{Change, ChangeCursor, Changes, InvalidCursor};
pub use last_changes::ChangedProject;
pub use listed::{ListedPicture, ListedProject, ListedRecord};
pub use reader::{CatalogReader, ListedPart, ResolvedSlug, SlugResolution};
pub use schemas::history::{History, RecordedRevision, Withdrawal};
#[cfg(feature = "apply")]
pub use writer::CatalogWriter;

use model::checkpoint::Checkpoint;
use model::database;
use model::error::ModelError;
use model::{Model, ModelContext};

/// The layout of its files, incremented with every change that former generations do not have.
pub const LAYOUT: u32 = 6;

const NAME: &str = "catalog";

/// The name of the database in a generation's folder.
const FILE: &str = "catalog.db";

/// The statements that create its database.
const SCHEMA: &str = include_str!("catalog/sql/schema.sql");

impl Model for CatalogReader {
    const NAME: &'static str = NAME;
    const LAYOUT: u32 = LAYOUT;
    const FILE: &'static str = FILE;
    const SCHEMA: Option<&'static str> = Some(SCHEMA);

    async fn open(folder: &Path, _: &ModelContext) -> Result<Self, ModelError> {
        CatalogReader::open(folder).await
    }

    async fn refresh(&self, _: &ModelContext) -> Result<(), ModelError> {
        // Every query reads the last commit.
        self.notify_of_commits();
        Ok(())
    }

    async fn checkpoint(&self) -> Result<Checkpoint, ModelError> {
        database::checkpoint(&mut *self.pool.acquire().await?, NAME).await
    }

    #[cfg(feature = "apply")]
    async fn digest(folder: &Path) -> Result<(Checkpoint, [u8; 32]), ModelError> {
        database::digest(&folder.join(FILE), NAME, &[
            "SELECT project, ordinal, slug, revision, updated_at, withdrawn, pictures, awaited, awaits, picture, page, source, citation, answer FROM projects ORDER BY project",
            "SELECT project, revision, position, slug, time, actor, command, record FROM revisions ORDER BY project, revision",
            "SELECT project, source, until, command, picture FROM replaced ORDER BY project, source, until",
            "SELECT slug, project FROM slugs ORDER BY slug",
            "SELECT position, project, ordinal, mark, kind, slug, former, time, at, revision, pictured FROM changes ORDER BY position",
        ]).await
    }
}

fn options(folder: &Path) -> SqliteConnectOptions {
    database::options(&folder.join(FILE))
}

fn corrupt(reason: impl ToString) -> ModelError {
    ModelError::corrupt(NAME, reason)
}

/// Renders the full record as JSON; URLs of this site begin with [`site::SITE`].
fn render(answer: &Answer<'_>) -> Result<String, ModelError> {
    String::from_utf8(site::render(answer).map_err(corrupt)?).map_err(corrupt)
}

#[cfg(all(test, feature = "apply"))]
mod tests;
