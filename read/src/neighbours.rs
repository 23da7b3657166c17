//! The neighbours: for every project a list of those that look and read most like it. It is stored in SQLite and answered from
//! memory.
//!
//! Two projects are compared on the sides (visual, semantic) on which both have a vector of the same model. The score of a pair is
//! the mean of the cosines of these sides, from -1 to 1; lists are ordered by score, and of equal scores the project selected
//! earlier comes first. Cosines and scores below 0 are shown as 0. Without a common side two projects are never neighbours.
//!
//! Vectors are stored and compared as their events hold them: 32-bit floats, or one byte a number; all of a model on a side in the form of
//! its first one. Scores are exact, and so are lists but for two cases, in which one may lack a project: if all lists of at least 8,192
//! projects of at least 768 numbers are computed at once, sketches select the pairs (measured: none of 160,000 ranks was missed),
//! and from 3,000,000 projects on a graph does (see `knn` and ADR 12).
//!
//! On a node with a text model the [`meaning`] of the projects' texts is in memory too, for searches by meaning.

mod cursor;
mod list;
pub mod meaning;
#[cfg(feature = "apply")]
mod memory;
#[cfg(feature = "apply")]
mod pending;
mod reader;
#[cfg(feature = "apply")]
mod recall;
#[cfg(feature = "apply")]
mod repair;
#[cfg(feature = "apply")]
mod rows;
#[cfg(feature = "apply")]
mod stored;
mod table;
#[cfg(feature = "apply")]
mod writer;

use std::path::Path;

use sqlx::sqlite::SqliteConnectOptions;

pub use cursor::{Cursor, InvalidCursor};
pub use list::{Neighbour, Neighbours};
#[cfg(feature = "apply")]
pub use pending::ApplyError;
pub use reader::NeighboursReader;
#[cfg(feature = "apply")]
pub use recall::{Recall, recall};
pub use table::ListStatus;
#[cfg(feature = "apply")]
pub use writer::NeighboursWriter;

use model::checkpoint::Checkpoint;
use model::database;
use model::error::ModelError;
use model::{Model, ModelContext};

/// The layout of its tables; a model in another layout is rebuilt from the log.
pub const LAYOUT: u32 = 3;

const NAME: &str = "neighbours";

/// The name of the database in a generation's folder.
const FILE: &str = "neighbours.db";

/// The statements that create its database.
const SCHEMA: &str = include_str!("neighbours/sql/schema.sql");

/// The maximum number of neighbours that readers see.
pub const LISTED: usize = 50;

/// The maximum number of neighbours that are stored. Some more than readers see, since a list that becomes too short when projects
/// are withdrawn is computed again from all projects.
#[cfg(feature = "apply")]
const KEPT: usize = 64;

impl Model for NeighboursReader {
    const NAME: &'static str = NAME;
    const LAYOUT: u32 = LAYOUT;
    const FILE: &'static str = FILE;
    const SCHEMA: Option<&'static str> = Some(SCHEMA);

    async fn open(folder: &Path, context: &ModelContext) -> Result<Self, ModelError> {
        NeighboursReader::open_with_meanings(folder, context.text_model.clone()).await
    }

    async fn refresh(&self, _: &ModelContext) -> Result<(), ModelError> {
        NeighboursReader::refresh(self).await
    }

    async fn checkpoint(&self) -> Result<Checkpoint, ModelError> {
        database::checkpoint(&mut *self.pool.acquire().await?, NAME).await
    }

    /// Lists are left out: they are derived from projects, vectors and models, but they lag while many changes are pending, and where
    /// sketches or a graph select the projects to compare (see `knn`) they may miss a few.
    #[cfg(feature = "apply")]
    async fn digest(folder: &Path) -> Result<(Checkpoint, [u8; 32]), ModelError> {
        database::digest(
            &folder.join(FILE),
            NAME,
            &[
                "SELECT ordinal, project, listed, sides, visual_model, hex(visual), semantic_model, \
                        hex(semantic) FROM projects LEFT JOIN vectors USING (ordinal) ORDER BY ordinal",
                "SELECT model, visual, visual_is_quantized, semantic, semantic_is_quantized \
                   FROM models ORDER BY model",
            ],
        )
        .await
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
