//! Control requests to running nodes, requests to the write side, and their replies.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::envelope::Recorded;
use crate::hash::Hash;
use crate::ids::{Position, StreamId};
use crate::picture::{Picture, PictureId};
use crate::usage::Call;

/// A request for a page of the event log, sent to `loggia.read.events`.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ReadEvents {
    /// Return events after this position.
    pub after: Position,
    /// The maximum number of events. A page may have fewer to stay within the maximum size of a message.
    pub limit: usize,
    /// Return only events of this stream.
    #[serde(default)]
    pub stream: Option<StreamId>,
}

/// The reply to [`ReadEvents`].
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct EventPage {
    /// The events in log order.
    pub events: Vec<Recorded>,
    /// The last position of the log when the page was read.
    pub head: Position,
}

/// The head of the log, published by the write side about once a second and after every change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct LogHead {
    /// The last position of the log.
    pub position: Position,
    /// The hash of the event at that position, which covers the whole log.
    pub hash: Hash,
    /// The last position that was published to NATS.
    pub relayed: Position,
}

/// A request for a page of the usage ledger, sent to `loggia.read.usage`.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ReadUsage {
    /// Return entries after this position.
    pub after: Position,
    /// The maximum number of entries. A page may have fewer to stay within the maximum size of a message.
    pub limit: usize,
}

/// The reply to [`ReadUsage`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UsagePage {
    /// The entries in ledger order.
    pub entries: Vec<LedgerEntry>,
    /// The last position of the ledger when the page was read.
    pub head: Position,
    /// How far the ledger had copied each JetStream stream when the page was read.
    pub sources: Vec<LedgerSource>,
}

/// A call in the usage ledger.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LedgerEntry {
    /// The position in the ledger, from 1 without gaps.
    pub position: Position,
    /// The counted call.
    pub call: Call,
    /// Whether the call exceeded the quota, which was found after it had been answered.
    pub overrun: bool,
    /// The JetStream stream from which it was copied.
    pub source: String,
    /// Its sequence number in that stream.
    pub sequence: u64,
}

/// How far the ledger has copied one JetStream stream.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LedgerSource {
    /// The stream's name.
    pub stream: String,
    /// When the stream was created. It distinguishes a stream from a later one of the same name.
    pub created: Timestamp,
    /// The last copied sequence number.
    pub sequence: u64,
}

/// A part of a picture that is uploaded to the write side: the header [`PICTURE_PART`] of a message whose payload is
/// the bytes. A part with an empty payload asks how much has arrived.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct PutPicture {
    /// The picture's id.
    pub id: PictureId,
    /// The offset of the part in bytes.
    pub offset: u64,
    /// The length of the whole picture in bytes.
    pub total: u64,
}

/// The header with a [`PutPicture`] as JSON.
pub const PICTURE_PART: &str = "Loggia-Picture-Part";

/// The reply to [`PutPicture`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PutAnswer {
    /// More bytes are needed: continue at this offset.
    More {
        /// The number of bytes that have arrived.
        received: u64,
    },
    /// The picture is stored.
    Kept(Picture),
    /// The bytes are not an acceptable picture.
    Refused {
        /// The reason that editors see.
        reason: String,
    },
    /// The write side cannot store it now; try again later.
    Unavailable {
        /// A sentence that says why and what to do.
        reason: String,
    },
}

/// A request for a part of a file of a stored picture, sent to `loggia.media.read`. The reply is the bytes, with the
/// length of the whole file in the header [`PICTURE_LENGTH`]; without that header the file does not exist.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReadPicture {
    /// The picture's id.
    pub id: PictureId,
    /// The file's name, for example `640.webp`.
    pub file: String,
    /// The offset of the part in bytes.
    pub offset: u64,
}

/// The header with the length of a file in bytes.
pub const PICTURE_LENGTH: &str = "Loggia-Picture-Length";

/// The state of one projection of a node.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ProjectionStatus {
    /// Its name, for example `search`.
    pub name: String,
    /// The name of the current generation.
    pub generation: String,
    /// The last position that it applied and committed.
    pub position: Position,
    /// The lag: the number of events not applied yet.
    pub lag: u64,
    /// When its worker last reported progress.
    pub heartbeat: Option<Timestamp>,
    /// The first parked events: events that could not be applied and were set aside.
    pub parked: Vec<Parked>,
    /// The number of parked events beyond those in `parked`.
    #[serde(default)]
    pub parked_beyond: u64,
    /// Why the model is not served while it is rebuilt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quarantined: Option<String>,
    /// The number of skipped events, which are of newer versions.
    pub skipped: u64,
    /// The size on disk in bytes.
    pub bytes: u64,
}

impl ProjectionStatus {
    /// Returns the status of a projection that has not started.
    pub fn new(name: &str) -> ProjectionStatus {
        ProjectionStatus {
            name: name.to_owned(),
            generation: String::new(),
            position: Position::START,
            lag: 0,
            heartbeat: None,
            parked: Vec::new(),
            parked_beyond: 0,
            quarantined: None,
            skipped: 0,
            bytes: 0,
        }
    }
}

/// An event that a projection could not apply.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Parked {
    /// The position in the log.
    pub position: Position,
    /// The CloudEvents type.
    pub kind: String,
    /// Why the event could not be applied.
    pub reason: String,
}

/// A summary of one process of a cluster.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NodeSummary {
    /// The node's name in control subjects.
    pub node: String,
    /// The role, for example `read`.
    pub role: String,
    /// The version of Loggia.
    pub version: String,
    /// The first digits of a SHA-256 of the settings that all processes share.
    pub settings: String,
    /// Whether the process is ready.
    pub ready: bool,
    /// Why the process is not ready.
    #[serde(default)]
    pub reason: Option<String>,
    /// The lag of the projection that lags most, in events; absent for a node without read models.
    #[serde(default)]
    pub lag: Option<u64>,
    /// The number of calls in the usage spool; absent for a node that meters no calls.
    #[serde(default)]
    pub spool: Option<u64>,
    /// The number of calls that wait, unanswered, until NATS counts again; absent for a node that meters no calls.
    #[serde(default)]
    pub waiting: Option<u64>,
}

/// The progress of a rebuild.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RebuildProgress {
    /// Events are being replayed.
    Replaying {
        /// The read model.
        model: String,
        /// The number of events applied.
        applied: u64,
        /// The number of events to apply.
        of: u64,
    },
    /// The new generation is current.
    Swapped {
        /// The read model.
        model: String,
        /// The new generation's name.
        generation: String,
        /// The position at which it became current.
        position: Position,
        /// The number of events replayed.
        events: u64,
        /// The duration of the replay.
        seconds: f64,
    },
    /// The rebuild failed; the current generation was not changed.
    Failed {
        /// A sentence that says why and what to do.
        reason: String,
    },
    /// All requested rebuilds are complete.
    Finished,
}
