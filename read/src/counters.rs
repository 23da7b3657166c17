//! The counters: the calls of each key by month, tier and day. They are stored in SQLite; the totals of the present month by this
//! node's clock and of the months before and after it are in memory as well.

#[cfg(feature = "apply")]
mod batch;
mod dedup_window;
mod reader;
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
use sqlx::{ConnectOptions, Connection};

#[cfg(feature = "apply")]
pub use batch::Metered;
pub use dedup_window::DedupWindow;
pub use reader::{CountersReader, MonthSummary, MonthUsage};
pub use schemas::usage::Counted;
#[cfg(feature = "apply")]
pub use writer::CountersWriter;

use model::checkpoint::Checkpoint;
use model::database;
use model::error::ModelError;
use model::{Model, ModelContext, ModelInput};

/// The layout of its tables; a model in another layout is rebuilt from the ledger and NATS.
pub const LAYOUT: u32 = 1;

const NAME: &str = "counters";

/// The name of the database in a generation's folder.
const FILE: &str = "counters.db";

/// The statements that create its database.
const SCHEMA: &str = include_str!("counters/sql/schema.sql");

/// The progress of the counters, committed together with the rows that it describes.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Progress {
    /// Its position is the number of counted calls, including those over the quota. Messages that are no calls are parked in it, each
    /// with its sequence as the position and its stream as the kind.
    pub checkpoint: Checkpoint,
    /// The progress in the ledger of the write side, from which an empty model is filled.
    pub ledger: Ledger,
    /// The JetStream streams by name.
    pub sources: BTreeMap<String, Source>,
    /// The months whose call ids are kept; `None` before the first call, and in files of earlier versions.
    #[serde(default, rename = "remembered", skip_serializing_if = "Option::is_none")]
    pub dedup_window: Option<DedupWindow>,
    /// Whether no ledger has answered yet, so that the streams are counted meanwhile. Until one has, no call id is deleted.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub awaits_ledger: bool,
}

/// The progress in the ledger.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ledger {
    /// Entries after this position are still to be read.
    #[serde(rename = "behind")]
    After(Position),
    /// All entries were read.
    Done,
}

impl Default for Ledger {
    fn default() -> Ledger {
        Ledger::After(Position::START)
    }
}

/// The progress in one JetStream stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Source {
    /// The time at which the stream was created: a stream of the same name with another time is another stream.
    pub created: Timestamp,
    /// The last sequence that was counted.
    pub sequence: u64,
    /// The id of the call at this sequence, if known: if it differs later, the stream has lost its end and was filled with other calls.
    pub call: Option<CallId>,
    /// Whether an earlier stream of this name was counted and lost. Calls of months without kept ids were counted then.
    #[serde(rename = "remade")]
    pub recreated: bool,
}

impl Model for CountersReader {
    const NAME: &'static str = NAME;
    const LAYOUT: u32 = LAYOUT;
    const FILE: &'static str = FILE;
    const SCHEMA: Option<&'static str> = Some(SCHEMA);
    const INPUT: ModelInput = ModelInput::Calls;

    async fn open(folder: &Path, context: &ModelContext) -> Result<Self, ModelError> {
        CountersReader::open(folder, context.month).await
    }

    async fn refresh(&self, context: &ModelContext) -> Result<(), ModelError> {
        CountersReader::refresh(self, context.month).await
    }

    async fn checkpoint(&self) -> Result<Checkpoint, ModelError> {
        Ok(self.progress().await?.checkpoint)
    }

    #[cfg(feature = "apply")]
    async fn digest(folder: &Path) -> Result<(Checkpoint, [u8; 32]), ModelError> {
        let (progress, digest) = digest(folder).await?;
        Ok((progress.checkpoint, digest))
    }

    #[cfg(feature = "apply")]
    async fn copy(from: &Path, to: &Path) -> Result<Checkpoint, ModelError> {
        let progress: Progress = database::copy(NAME, FILE, from, to).await?;
        Ok(progress.checkpoint)
    }
}

/// Returns the progress of the counters in a folder, which may be written meanwhile.
///
/// # Errors
///
/// Returns an error if the database cannot be read.
#[cfg(feature = "apply")]
pub async fn progress(folder: &Path) -> Result<Progress, ModelError> {
    let mut connection = options(folder).read_only(true).connect().await?;
    let progress = database::checkpoint(&mut connection, NAME).await?;
    connection.close().await?;
    Ok(progress)
}

/// Returns the progress and a hash over all counts, consistent even while a worker writes. Equal counts give equal hashes, from
/// whatever messages they were counted.
///
/// # Errors
///
/// Returns an error if the database cannot be read.
#[cfg(feature = "apply")]
pub async fn digest(folder: &Path) -> Result<(Progress, [u8; 32]), ModelError> {
    let queries = [
        "SELECT month, key_id, tier, used, overrun FROM totals WHERE used + overrun > 0 ORDER BY month, key_id, tier",
        "SELECT key_id, date, rest, mcp FROM days ORDER BY key_id, date",
    ];
    database::digest(&folder.join(FILE), NAME, &queries).await
}

fn options(folder: &Path) -> SqliteConnectOptions {
    database::options(&folder.join(FILE))
}

fn corrupt(reason: impl ToString) -> ModelError {
    ModelError::corrupt(NAME, reason)
}

#[cfg(all(test, feature = "apply"))]
mod tests;
