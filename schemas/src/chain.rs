//! The hash chain over the log. The SHA-256 of each event covers the hash of the event before it, so a change to any
//! byte of history changes every later hash.

use jiff::Timestamp;
use sha2::{Digest, Sha256};

use crate::envelope::Recorded;
use crate::hash::Hash;
use crate::ids::{Actor, CommandId, EventId, Position, StreamId, StreamVersion};

/// The fields of an event that its hash covers, besides the previous hash.
#[derive(Debug, Clone, Copy)]
pub struct Link<'a> {
    /// The position in the log.
    pub position: Position,
    /// The event's id.
    pub id: EventId,
    /// The stream of the event.
    pub stream: &'a StreamId,
    /// The version of the stream after the event.
    pub version: StreamVersion,
    /// Its CloudEvents type.
    pub kind: &'a str,
    /// When the command was decided.
    pub time: Timestamp,
    /// The actor of the command.
    pub actor: &'a Actor,
    /// The command that caused it.
    pub causation: CommandId,
    /// The group of commands that the causing command belongs to.
    pub correlation: CommandId,
    /// The payload as JSON text, byte for byte as stored.
    pub data: &'a str,
}

impl Link<'_> {
    /// Returns the hash of this event after `previous`. Each text is preceded by its length, so two different events
    /// never give the same input.
    pub fn hash_after(&self, previous: Hash) -> Hash {
        let mut sha = Sha256::new();
        sha.update(previous.0);
        sha.update(self.position.0.to_be_bytes());
        sha.update(self.version.0.to_be_bytes());
        sha.update(self.id.0.as_bytes());
        sha.update(self.causation.0.as_bytes());
        sha.update(self.correlation.0.as_bytes());
        sha.update(self.time.as_nanosecond().to_be_bytes());
        for part in [self.stream.as_str(), self.kind, self.actor.as_str(), self.data] {
            sha.update((part.len() as u64).to_be_bytes());
            sha.update(part);
        }
        Hash(sha.finalize().into())
    }
}

impl<'a> From<&'a Recorded> for Link<'a> {
    fn from(event: &'a Recorded) -> Link<'a> {
        Link {
            position: event.position,
            id: event.id,
            stream: &event.stream,
            version: event.version,
            kind: &event.kind,
            time: event.time,
            actor: &event.actor,
            causation: event.causation,
            correlation: event.correlation,
            data: event.data.get(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> (StreamId, Actor) {
        ("project-01ARZ3NDEKTSV4RRFFQ69G5FAV".parse().unwrap(), "Ada".parse().unwrap())
    }

    fn link<'a>(stream: &'a StreamId, actor: &'a Actor, data: &'a str) -> Link<'a> {
        let id = uuid::Uuid::from_u128(7);
        Link {
            position: Position(1),
            id: EventId(id),
            stream,
            version: StreamVersion(1),
            kind: "loggia.curation.project_withdrawn.v1",
            time: Timestamp::UNIX_EPOCH,
            actor,
            causation: CommandId(id),
            correlation: CommandId(id),
            data,
        }
    }

    #[test]
    fn the_hash_of_an_event_is_stable() {
        let (stream, actor) = sample();
        assert_eq!(
            link(&stream, &actor, r#"{"reason":"sold"}"#).hash_after(Hash::GENESIS).to_string(),
            "afeb930c114dcbd21cf8a2feaf023fb11ed184176ea324b5a1546c613fb15973"
        );
    }

    #[test]
    fn the_hash_covers_every_field() {
        let (stream, actor) = sample();
        let base = link(&stream, &actor, "{}");
        let hash = base.hash_after(Hash::GENESIS);
        let other = "project-01ARZ3NDEKTSV4RRFFQ69G5FAW".parse().unwrap();
        let bea: Actor = "Bea".parse().unwrap();
        let id = uuid::Uuid::from_u128(8);
        for changed in [
            Link { position: Position(2), ..base },
            Link { id: EventId(id), ..base },
            Link { stream: &other, ..base },
            Link { version: StreamVersion(2), ..base },
            Link { kind: "loggia.curation.project_withdrawn.v2", ..base },
            Link { time: Timestamp::from_nanosecond(1).unwrap(), ..base },
            Link { actor: &bea, ..base },
            Link { causation: CommandId(id), ..base },
            Link { correlation: CommandId(id), ..base },
            Link { data: "{ }", ..base },
        ] {
            assert_ne!(changed.hash_after(Hash::GENESIS), hash, "{changed:?}");
        }
        assert_ne!(base.hash_after(hash), hash);
    }
}
