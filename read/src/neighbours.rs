//! The neighbours: to every project those that look and read most like it. All lists are in SQLite, and in memory for
//! those who answer.
//!
//! Two projects are compared on the sides that both have a vector of, each made by one model. The score of a pair is the
//! mean of the cosines of those sides, from -1 to 1; it alone ranks, and of equal scores the one selected earlier is
//! nearer. What is shown of cosines and scores begins at 0. Without a common side two projects are never neighbours.

mod cursor;
mod list;
#[cfg(feature = "apply")]
mod memory;
mod reader;
#[cfg(feature = "apply")]
mod recall;
#[cfg(feature = "apply")]
mod repair;
#[cfg(feature = "apply")]
mod rows;
#[cfg(feature = "apply")]
mod staged;
#[cfg(feature = "apply")]
mod stored;
mod table;
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

use crate::checkpoint::Checkpoint;
use crate::database;
use crate::error::ModelError;
use crate::model::{Model, Surroundings};

/// The version of the tables; a model in another one is made again from the log.
pub const LAYOUT: u32 = 2;

const NAME: &str = "neighbours";

/// The name of its file.
const FILE: &str = "neighbours.db";

/// How many neighbours a project has for readers, where there are so many to compare it with.
pub const LISTED: usize = 50;

/// How many are kept: one that leaves the catalog seldom leaves a list too short, which costs a look at all projects.
#[cfg(feature = "apply")]
const KEPT: usize = 64;

impl Model for NeighboursReader {
    const NAME: &'static str = NAME;
    const LAYOUT: u32 = LAYOUT;
    const FILE: &'static str = FILE;

    async fn open(folder: &Path, _: &Surroundings) -> Result<Self, ModelError> {
        NeighboursReader::open(folder).await
    }

    async fn refresh(&self, _: &Surroundings) -> Result<(), ModelError> {
        NeighboursReader::refresh(self).await
    }

    async fn checkpoint(&self) -> Result<Checkpoint, ModelError> {
        database::checkpoint(&mut *self.pool().acquire().await?, NAME).await
    }

    /// Lists are left out: they follow from projects, vectors and models, but while many changes wait they show an older state
    /// of them, and where a graph proposes which projects are compared (see `knn`) they may miss a few.
    #[cfg(feature = "apply")]
    async fn digest(folder: &Path) -> Result<(Checkpoint, [u8; 32]), ModelError> {
        database::digest(
            &folder.join(FILE),
            NAME,
            &[
                "SELECT ordinal, project, listed, sides, visual_model, hex(visual), semantic_model, \
                        hex(semantic) FROM projects LEFT JOIN vectors USING (ordinal) ORDER BY ordinal",
                "SELECT model, visual, semantic FROM models ORDER BY model",
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
