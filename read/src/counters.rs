//! The counters: how many calls each key has made, by month, tier and day. All of them are in SQLite; the totals of the
//! running month by this node's clock, the one before it and the one after it are in memory besides.

#[cfg(feature = "apply")]
mod batch;
#[cfg(feature = "apply")]
mod digest;
mod reader;
mod remembered;
mod table;
#[cfg(feature = "apply")]
mod writer;

use std::collections::BTreeMap;
use std::path::Path;

use jiff::Timestamp;
use schemas::ids::Position;
use schemas::usage::CallId;
use serde::{Deserialize, Serialize};
use sqlx::sqlite::SqliteConnectOptions;

#[cfg(feature = "apply")]
pub use batch::Metered;
#[cfg(feature = "apply")]
pub use digest::{digest, progress};
pub use reader::{CountersReader, MonthSummary};
pub use remembered::Remembered;
pub use table::Counted;
#[cfg(feature = "apply")]
pub use writer::CountersWriter;

use crate::checkpoint::Checkpoint;
#[cfg(feature = "apply")]
use crate::copying;
use crate::database;
use crate::error::ModelError;
use crate::model::{Follows, Model, Surroundings};

/// The version of the tables; a model in another one is made again from the ledger and NATS.
pub const LAYOUT: u32 = 1;

const NAME: &str = "counters";

/// The name of its file.
const FILE: &str = "counters.db";

/// How far the counters have come. It becomes visible in the same commit as the rows that it speaks of.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Progress {
    /// Its position is the number of calls that are counted, those over the quota among them; messages that are no
    /// calls are set aside in it, each with its sequence and, as its kind, its stream.
    pub checkpoint: Checkpoint,
    /// How far the ledger of the write side was read, from which an empty model is filled.
    pub ledger: Ledger,
    /// The JetStream streams by their names.
    pub sources: BTreeMap<String, Source>,
    /// Whose ids are remembered; none before a call was counted, and in what an earlier version wrote.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remembered: Option<Remembered>,
    /// Whether no ledger has answered yet, and the streams are followed meanwhile. Nothing is forgotten until one has.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub awaits_ledger: bool,
}

/// How far the ledger was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ledger {
    /// What is behind this position is still to be read.
    Behind(Position),
    /// All of it was read.
    Done,
}

impl Default for Ledger {
    fn default() -> Ledger {
        Ledger::Behind(Position::START)
    }
}

/// How far one JetStream stream is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Source {
    /// When the stream was made: one of the same name that was made later is another.
    pub created: Timestamp,
    /// The last sequence that was taken in.
    pub sequence: u64,
    /// The id of the call that stands there, if it is known: where another stands, the stream has lost its end since and
    /// was filled with other calls.
    pub call: Option<CallId>,
    /// Whether a stream of this name was counted before and was lost. What this one repeats of months whose ids are
    /// forgotten was counted then.
    pub remade: bool,
}

impl Model for CountersReader {
    const NAME: &'static str = NAME;
    const LAYOUT: u32 = LAYOUT;
    const FILE: &'static str = FILE;
    const FOLLOWS: Follows = Follows::Calls;

    async fn open(folder: &Path, surroundings: &Surroundings) -> Result<Self, ModelError> {
        CountersReader::open(folder, surroundings.month).await
    }

    async fn refresh(&self, surroundings: &Surroundings) -> Result<(), ModelError> {
        CountersReader::refresh(self, surroundings.month).await
    }

    async fn checkpoint(&self) -> Result<Checkpoint, ModelError> {
        Ok(self.progress().await?.checkpoint)
    }

    #[cfg(feature = "apply")]
    async fn digest(folder: &Path) -> Result<(Checkpoint, [u8; 32]), ModelError> {
        let (progress, digest) = digest::digest(folder).await?;
        Ok((progress.checkpoint, digest))
    }

    #[cfg(feature = "apply")]
    async fn copy(from: &Path, to: &Path) -> Result<Checkpoint, ModelError> {
        let progress: Progress = copying::database(NAME, FILE, from, to).await?;
        Ok(progress.checkpoint)
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
