//! Identifiers and counters, each as a type of its own so that they cannot be confused.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ulid::Ulid;
use uuid::Uuid;

use crate::text_form::{string_conversions, string_wrapper};

/// Why a text is not a valid identifier.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("\u{201c}{text}\u{201d} is not {expected}")]
pub struct InvalidId {
    /// The text as it was given.
    pub text: String,
    /// A description of a valid identifier, with its article.
    pub expected: &'static str,
}

/// The id of an event: a UUIDv7, also used as the NATS message id.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct EventId(pub Uuid);

/// The id of a command: a UUID. A command that is sent twice under one id is executed once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct CommandId(pub Uuid);

/// The id of a project, which renames do not change: a ULID.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ProjectId(pub Ulid);

/// The id of an account: a random ULID, which reveals nothing about its holder.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct AccountId(pub Ulid);

/// The id of an event store: a ULID. Events of another store are rejected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StoreId(pub Ulid);

/// The position of an event in the log, from 1 without gaps; 0 is the position before the first event.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(transparent)]
pub struct Position(pub u64);

/// The number of events in a stream; 0 is a stream that does not exist yet.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(transparent)]
pub struct StreamVersion(pub u64);

/// The revision of a project's record, from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Revision(pub u32);

/// The name of an editor or a program that sends a command: 1 to 200 characters on one line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Actor(String);

/// The name of a stream as `<category>-<id>`, for example `project-01J…`; at most 200 bytes.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct StreamId(String);

impl Position {
    /// The position before the first event.
    pub const START: Position = Position(0);

    /// Returns the next position.
    pub fn next(self) -> Position {
        Position(self.0 + 1)
    }
}

impl StreamVersion {
    /// Returns the next version.
    pub fn next(self) -> StreamVersion {
        StreamVersion(self.0 + 1)
    }
}

impl Revision {
    /// The revision of a new project.
    pub const FIRST: Revision = Revision(1);

    /// Returns the next revision.
    pub fn next(self) -> Revision {
        Revision(self.0 + 1)
    }
}

impl StreamId {
    /// Returns the stream of a project.
    pub fn project(id: ProjectId) -> StreamId {
        StreamId(format!("project-{id}"))
    }

    /// Returns the stream of an account.
    pub fn account(id: AccountId) -> StreamId {
        StreamId(format!("account-{id}"))
    }

    /// Returns the part before the first hyphen, for example `project`.
    pub fn category(&self) -> &str {
        self.0.split_once('-').map_or(self.0.as_str(), |(category, _)| category)
    }

    /// Returns the part after the first hyphen.
    pub fn key(&self) -> &str {
        self.0.split_once('-').map_or("", |(_, key)| key)
    }

    /// Returns the project, if this is the stream of one.
    pub fn as_project(&self) -> Option<ProjectId> {
        if self.category() == "project" { self.key().parse().ok() } else { None }
    }

    /// Returns the account, if this is the stream of one.
    pub fn as_account(&self) -> Option<AccountId> {
        if self.category() == "account" { self.key().parse().ok() } else { None }
    }
}

impl TryFrom<String> for StreamId {
    type Error = InvalidId;

    fn try_from(text: String) -> Result<Self, InvalidId> {
        let well_formed = |part: &str| {
            !part.is_empty() && part.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_')
        };
        match text.split_once('-') {
            Some((category, key)) if text.len() <= 200 && well_formed(category) && well_formed(key) => {
                Ok(StreamId(text))
            }
            _ => Err(InvalidId { text, expected: "a stream name such as project-01J9Z3…" }),
        }
    }
}

impl TryFrom<String> for Actor {
    type Error = InvalidId;

    fn try_from(text: String) -> Result<Self, InvalidId> {
        let length = text.chars().count();
        if length == 0 || length > 200 || text.trim() != text || text.chars().any(char::is_control) {
            return Err(InvalidId { text, expected: "an actor: a name of 1 to 200 characters on one line" });
        }
        Ok(Actor(text))
    }
}

string_wrapper!(StreamId, Actor);
string_conversions!(AccountId);

/// Implements `FromStr` by a function that parses the wrapped value, with what it expects.
macro_rules! parse_inner {
    ($parse:ident: $($name:ident = $expected:literal),+) => {$(
        impl FromStr for $name {
            type Err = InvalidId;

            fn from_str(text: &str) -> Result<Self, InvalidId> {
                $parse(text, $expected).map($name)
            }
        }
    )+};
}
parse_inner!(parse_ulid: ProjectId = "a project id: a ULID of 26 characters",
    AccountId = "an account id: a ULID of 26 characters", StoreId = "a store id: a ULID of 26 characters");
parse_inner!(parse_uuid: EventId = "an event id: a UUID", CommandId = "a command id: a UUID");

/// Implements `Display` by the wrapped value.
macro_rules! display_inner {
    ($($name:ident),+) => {$(
        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }
    )+};
}
display_inner!(ProjectId, AccountId, StoreId, EventId, CommandId, Position, StreamVersion, Revision);

fn parse_ulid(text: &str, expected: &'static str) -> Result<Ulid, InvalidId> {
    let invalid = || InvalidId { text: text.to_owned(), expected };
    let ulid = Ulid::from_string(text).map_err(|_| invalid())?;
    // An id has one spelling, but the decoder also accepts lowercase letters and look-alikes.
    if ulid.array_to_str(&mut [0; ulid::ULID_LEN]) == text { Ok(ulid) } else { Err(invalid()) }
}

fn parse_uuid(text: &str, expected: &'static str) -> Result<Uuid, InvalidId> {
    Uuid::parse_str(text).map_err(|_| InvalidId { text: text.to_owned(), expected })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_name_splits_into_category_and_key() {
        let id: ProjectId = "01ARZ3NDEKTSV4RRFFQ69G5FAV".parse().unwrap();
        let stream = StreamId::project(id);
        assert_eq!(stream.as_str(), "project-01ARZ3NDEKTSV4RRFFQ69G5FAV");
        assert_eq!((stream.category(), stream.key()), ("project", "01ARZ3NDEKTSV4RRFFQ69G5FAV"));
        assert_eq!(stream.as_project(), Some(id));
        let account: AccountId = "01ARZ3NDEKTSV4RRFFQ69G5FAV".parse().unwrap();
        assert_eq!(StreamId::account(account).as_account(), Some(account));
        assert_eq!((StreamId::account(account).as_project(), stream.as_account()), (None, None));
        assert_eq!("usage-k1-2026-11".parse::<StreamId>().unwrap().key(), "k1-2026-11");
    }

    #[test]
    fn a_malformed_stream_name_is_rejected() {
        for text in ["", "project", "project-", "-x", "project-a.b", "project-a b", "project-a*"] {
            assert!(text.parse::<StreamId>().is_err(), "{text:?}");
        }
    }

    #[test]
    fn an_actor_is_one_trimmed_line() {
        assert_eq!("Ada Pelt".parse::<Actor>().unwrap().as_str(), "Ada Pelt");
        for text in ["", " Ada", "Ada\n", "a\u{0}b"] {
            assert!(text.parse::<Actor>().is_err(), "{text:?}");
        }
    }

    #[test]
    fn a_project_id_has_one_spelling() {
        assert!("01arz3ndektsv4rrffq69g5fav".parse::<ProjectId>().is_err());
    }
}
