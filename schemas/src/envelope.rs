//! The envelope of an event: CloudEvents attributes and Loggia's own metadata.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use traceparent::Traceparent;

use crate::hash::Hash;
use crate::ids::{Actor, CommandId, EventId, Position, StreamId, StreamVersion};
use crate::versioned::{self, Decoded, Malformed};

/// An event as stored in the log. The payload stays text, so that it is stored, hashed, published and shown byte for
/// byte the same, and an event of a newer version is preserved.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Recorded {
    /// The position in the log.
    pub position: Position,
    /// CloudEvents `id`.
    pub id: EventId,
    /// The stream, for example `project-01J…`.
    pub stream: StreamId,
    /// The version of the stream after this event.
    pub version: StreamVersion,
    /// CloudEvents `type`, for example `loggia.curation.project_selected.v1`.
    pub kind: String,
    /// CloudEvents `time`: when the command was decided.
    pub time: Timestamp,
    /// The actor of the command.
    pub actor: Actor,
    /// The command that caused it.
    pub causation: CommandId,
    /// Groups related commands, for example of one import.
    pub correlation: CommandId,
    /// SHA-256 over this event and the hash of the event before it.
    pub hash: Hash,
    /// The W3C trace context of the command. It serves operators and is not part of history: the hash does not cover
    /// it.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "traceparent::deserialize_lenient"
    )]
    pub traceparent: Option<Traceparent>,
    /// The payload as JSON text.
    pub data: Box<RawValue>,
}

impl Recorded {
    /// Decodes the payload into the newest shape of its event.
    ///
    /// # Errors
    ///
    /// Returns an error if the type is known and the payload does not have its shape.
    pub fn decode(&self) -> Result<Decoded, Malformed> {
        versioned::decode(&self.kind, &self.data)
    }
}

impl PartialEq for Recorded {
    fn eq(&self, other: &Self) -> bool {
        // Equal hashes cover all fields of history; the position is compared too, because a damaged log may repeat an
        // event.
        self.position == other.position && self.hash == other.hash
    }
}
