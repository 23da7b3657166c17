//! What stands around every event: the CloudEvents attributes and Loggia's own.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use traces::Traceparent;

use crate::hash::Hash;
use crate::ids::{Actor, CommandId, EventId, Position, StreamId, StreamVersion};
use crate::versioned::{self, Decoded, Malformed};

/// One event as the log holds it. The payload stays text, so that what is stored, hashed, relayed and shown is
/// byte for byte the same, and an event of a newer version passes through unharmed.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Recorded {
    /// Where it stands in the log.
    pub position: Position,
    /// CloudEvents `id`.
    pub id: EventId,
    /// Its stream, for example `project-01J…`.
    pub stream: StreamId,
    /// Where it stands in its stream.
    pub version: StreamVersion,
    /// CloudEvents `type`, for example `loggia.curation.project_selected.v1`.
    pub kind: String,
    /// CloudEvents `time`: when the command was decided.
    pub time: Timestamp,
    /// Who acted.
    pub actor: Actor,
    /// The command that caused it.
    pub causation: CommandId,
    /// What groups the commands of one undertaking, for example of one import.
    pub correlation: CommandId,
    /// The hash of this event, which covers the hash of the one before.
    pub hash: Hash,
    /// The trace of the work that caused it, where there is one. It serves operators and is no part of history: the hash
    /// does not cover it.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "traces::lenient")]
    pub traceparent: Option<Traceparent>,
    /// The payload as JSON text.
    pub data: Box<RawValue>,
}

impl Recorded {
    /// The event itself, in its newest shape.
    pub fn decode(&self) -> Result<Decoded, Malformed> {
        versioned::decode(&self.kind, &self.data)
    }
}

impl PartialEq for Recorded {
    fn eq(&self, other: &Self) -> bool {
        // The hash covers every member that says what happened; the position names the place it must hold.
        self.position == other.position && self.hash == other.hash
    }
}
