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
use crate::database;

/// The version of the tables; a model in another one is made again from the ledger and NATS.
pub const LAYOUT: u32 = 1;

/// The counters could not be read or written.
#[derive(Debug, thiserror::Error)]
pub enum CountersError {
    /// SQLite refused; a full disk and a missing file look like this.
    #[error("the counters' database cannot be used: {0}")]
    Database(#[from] sqlx::Error),
    /// The stored data is not what this version writes.
    #[error("the counters' database holds something unreadable ({0}); run `loggia rebuild counters`")]
    Corrupt(String),
}

#[cfg(feature = "apply")]
impl CountersError {
    /// Whether the model is damaged and must be made again: trying again cannot help.
    pub fn is_corrupt(&self) -> bool {
        match self {
            CountersError::Database(error) => database::is_corrupt(error),
            CountersError::Corrupt(_) => true,
        }
    }
}

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

fn options(folder: &Path) -> SqliteConnectOptions {
    database::options(&folder.join("counters.db"))
}

fn corrupt(error: impl ToString) -> CountersError {
    CountersError::Corrupt(error.to_string())
}

#[cfg(all(test, feature = "apply"))]
mod tests;
