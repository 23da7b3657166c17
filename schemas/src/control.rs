//! Requests to a running node from its own command line, and what it tells of itself.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::envelope::Recorded;
use crate::hash::Hash;
use crate::ids::{Position, StreamId};
use crate::picture::{Picture, PictureId};
use crate::usage::Call;

/// A page of the log, asked for on `loggia.read.events`.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ReadEvents {
    /// Events behind this position.
    pub after: Position,
    /// At most so many; the answer may hold fewer, to stay within a message's size.
    pub limit: usize,
    /// Only this stream's, if given.
    #[serde(default)]
    pub stream: Option<StreamId>,
}

/// The answer to [`ReadEvents`].
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct EventPage {
    /// In the log's order.
    pub events: Vec<Recorded>,
    /// The log's last position when the page was read.
    pub head: Position,
}

/// Where the log ends, announced by the write side about once a second and when it changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct LogHead {
    /// The last position of the log.
    pub position: Position,
    /// The hash that covers all up to it.
    pub hash: Hash,
    /// The last position that is on NATS.
    pub relayed: Position,
}

/// A page of the ledger, asked for on `loggia.read.usage`.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ReadUsage {
    /// Entries behind this position.
    pub after: Position,
    /// At most so many; the answer may hold fewer, to stay within a message's size.
    pub limit: usize,
}

/// The answer to [`ReadUsage`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UsagePage {
    /// In the ledger's order.
    pub entries: Vec<LedgerEntry>,
    /// The ledger's last position when the page was read.
    pub head: Position,
    /// How far the ledger had copied each JetStream stream when the page was read.
    pub sources: Vec<LedgerSource>,
}

/// One call as the ledger keeps it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LedgerEntry {
    /// Where it stands in the ledger, from 1 without holes.
    pub position: Position,
    /// What was counted.
    pub call: Call,
    /// Whether it turned out to be over the quota after it had been answered.
    pub overrun: bool,
    /// The JetStream stream it was copied from.
    pub source: String,
    /// Its sequence there.
    pub sequence: u64,
}

/// How far the ledger has copied one JetStream stream.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LedgerSource {
    /// The stream's name.
    pub stream: String,
    /// When the stream was made: one of the same name that was made later is another.
    pub created: Timestamp,
    /// The last sequence that was copied.
    pub sequence: u64,
}

/// A part of a picture on its way to the write side: stands in the header [`PICTURE_PART`] of a message whose payload is the
/// bytes themselves. A part without bytes asks how much is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct PutPicture {
    /// The picture that is brought.
    pub id: PictureId,
    /// Where the part begins.
    pub offset: u64,
    /// How many bytes the whole has.
    pub total: u64,
}

/// The header that holds a [`PutPicture`] as JSON.
pub const PICTURE_PART: &str = "Loggia-Picture-Part";

/// The answer to [`PutPicture`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PutAnswer {
    /// So many bytes are there: go on behind them.
    More {
        /// How many.
        received: u64,
    },
    /// The picture is kept.
    Kept(Picture),
    /// The bytes are no picture that can be kept.
    Refused {
        /// Why, in words for editors.
        reason: String,
    },
    /// Not at present; try again later.
    Unavailable {
        /// A sentence that says why and what to do.
        reason: String,
    },
}

/// A part of a file of a kept picture, asked for on `loggia.media.read`. The answer is the bytes, with the length of the whole
/// in the header [`PICTURE_LENGTH`]; without that header the write side has no such file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReadPicture {
    /// Which picture.
    pub id: PictureId,
    /// The file's name, for example `640.webp`.
    pub file: String,
    /// Where the part begins.
    pub offset: u64,
}

/// The header that holds the length of a file in bytes.
pub const PICTURE_LENGTH: &str = "Loggia-Picture-Length";

/// How one projection of a node is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ProjectionStatus {
    /// Its name, for example `search`.
    pub name: String,
    /// The generation that is current.
    pub generation: String,
    /// The last position it applied and committed.
    pub position: Position,
    /// How many events of the stream it has not applied yet.
    pub lag: u64,
    /// When its worker last showed that it lives.
    pub heartbeat: Option<Timestamp>,
    /// The first events that were set aside because they could not be applied.
    pub parked: Vec<Parked>,
    /// How many more were set aside.
    #[serde(default)]
    pub parked_beyond: u64,
    /// Why the model was taken away from readers, while it is made again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quarantined: Option<String>,
    /// Events of newer versions that were passed over.
    pub skipped: u64,
    /// Bytes on disk.
    pub bytes: u64,
}

/// An event that a projection could not apply.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Parked {
    /// Where it stands in the log.
    pub position: Position,
    /// Its type.
    pub kind: String,
    /// Why it could not be applied.
    pub reason: String,
}

/// How one process of a cluster is, in one line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NodeSummary {
    /// Its name in control subjects.
    pub node: String,
    /// Its role, for example `read`.
    pub role: String,
    /// Its version of Loggia.
    pub version: String,
    /// The beginning of a SHA-256 of the settings that all processes share.
    pub settings: String,
    /// Whether it is ready.
    pub ready: bool,
    /// Why it is not.
    #[serde(default)]
    pub reason: Option<String>,
    /// How many events the model lacks that lags most, where it has models.
    #[serde(default)]
    pub lag: Option<u64>,
    /// How many calls wait in its spool, where it counts calls.
    #[serde(default)]
    pub spool: Option<u64>,
}

/// How far a rebuild is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RebuildProgress {
    /// Events are being replayed.
    Replaying {
        /// Which model.
        model: String,
        /// How many events are applied.
        applied: u64,
        /// How many there are.
        of: u64,
    },
    /// The new generation is current.
    Swapped {
        /// Which model.
        model: String,
        /// The new generation's name.
        generation: String,
        /// The position at which it took over.
        position: Position,
        /// How many events were replayed.
        events: u64,
        /// How long the replay took.
        seconds: f64,
    },
    /// Nothing was changed.
    Failed {
        /// A sentence that says why and what to do.
        reason: String,
    },
    /// All that was asked for is done.
    Finished,
}
