//! The hash chain over a log: each event carries a SHA-256 that covers the hash of the event before it, so that a
//! change of any byte of history shows in every later hash.

use jiff::Timestamp;
use sha2::{Digest, Sha256};

use crate::envelope::Recorded;
use crate::hash::Hash;
use crate::ids::{Actor, CommandId, EventId, Position, StreamId, StreamVersion};

/// Everything that a link covers besides the hash before it.
#[derive(Debug, Clone, Copy)]
pub struct Link<'a> {
    /// Where the event stands in the log.
    pub position: Position,
    /// The event's id.
    pub id: EventId,
    /// Its stream.
    pub stream: &'a StreamId,
    /// Its place in the stream.
    pub version: StreamVersion,
    /// Its CloudEvents type.
    pub kind: &'a str,
    /// When it was decided.
    pub time: Timestamp,
    /// Who acted.
    pub actor: &'a Actor,
    /// The command that caused it.
    pub causation: CommandId,
    /// The undertaking it belongs to.
    pub correlation: CommandId,
    /// The payload's bytes.
    pub data: &'a str,
}

impl Link<'_> {
    /// The hash of this event behind the one whose hash is given. Every part goes in with its length, so that no
    /// two different events have the same bytes.
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
    fn the_chain_is_fixed_for_ever() {
        let (stream, actor) = sample();
        assert_eq!(
            link(&stream, &actor, r#"{"reason":"sold"}"#).hash_after(Hash::GENESIS).to_string(),
            "afeb930c114dcbd21cf8a2feaf023fb11ed184176ea324b5a1546c613fb15973"
        );
    }

    #[test]
    fn every_part_is_covered() {
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
