//! The hash chain over a log: each event carries a SHA-256 that covers the hash of the event before it, so that a
//! change of any byte of history shows in every later hash.

use std::fmt;
use std::str::FromStr;

use data_encoding::{HEXLOWER, HEXLOWER_PERMISSIVE};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::envelope::Recorded;
use crate::ids::{Actor, CommandId, EventId, InvalidId, Position, StreamId, StreamVersion};

/// A link of the chain: 32 bytes, shown as 64 hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Hash(pub [u8; 32]);

impl Hash {
    /// What stands before the first event of a log.
    pub const GENESIS: Hash = Hash([0; 32]);
}

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

impl fmt::Display for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        HEXLOWER.encode_display(&self.0).fmt(f)
    }
}

impl fmt::Debug for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for Hash {
    type Err = InvalidId;

    fn from_str(text: &str) -> Result<Self, InvalidId> {
        let bytes = HEXLOWER_PERMISSIVE.decode(text.as_bytes()).ok().and_then(|bytes| bytes.try_into().ok());
        bytes
            .map(Hash)
            .ok_or_else(|| InvalidId { text: text.to_owned(), expected: "a hash: 64 hexadecimal digits" })
    }
}

impl TryFrom<String> for Hash {
    type Error = InvalidId;

    fn try_from(text: String) -> Result<Self, InvalidId> {
        text.parse()
    }
}

impl From<Hash> for String {
    fn from(hash: Hash) -> String {
        hash.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

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

    proptest! {
        #[test]
        fn a_hash_survives_its_text(bytes in any::<[u8; 32]>()) {
            prop_assert_eq!(Hash(bytes).to_string().parse::<Hash>(), Ok(Hash(bytes)));
        }
    }

    #[test]
    fn anything_else_is_no_hash() {
        for text in ["", "0", &"g".repeat(64), &"é".repeat(32)] {
            assert!(text.parse::<Hash>().is_err(), "{text:?}");
        }
    }
}
