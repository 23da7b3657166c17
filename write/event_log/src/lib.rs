//! The event log: the one place where history is kept. [`EventLog`] states the contract, whichever backend keeps the
//! events; `tests/contract` holds each backend to it.

pub mod bulk_load;
pub mod claims;
pub mod copy;
#[cfg(feature = "eventstore")]
pub mod kurrent;
pub mod log_cursor;
mod place;
pub mod sqlite;

use jiff::Timestamp;
use schemas::event::Event;
use schemas::hash::Hash;
use schemas::ids::{Actor, CommandId, EventId, Position, StreamId, StreamVersion};
use traces::Traceparent;

pub use self::sqlite::{Damage, EventLog, Verified};
pub use place::LogPlace;

/// The longest payload of one event, in bytes of JSON: with its headers it must fit into one NATS message of 1 MiB.
pub const MAX_EVENT_BYTES: usize = (1 << 20) - (16 << 10);

/// Returns the outcome of the only append of a batch.
pub fn only(mut outcomes: Vec<Result<Appended, AppendError>>) -> Result<Appended, AppendError> {
    let unanswered = || StoreError::unavailable("the append was not answered; try again").into();
    outcomes.pop().unwrap_or_else(|| Err(unanswered()))
}

/// What one command appends to one stream.
#[derive(Debug, Clone)]
pub struct Append {
    /// Which stream.
    pub stream: StreamId,
    /// How the stream must be for this to be right.
    pub expected: Expected,
    /// The command that causes it.
    pub command: CommandId,
    /// The undertaking it belongs to.
    pub correlation: CommandId,
    /// Who acts.
    pub actor: Actor,
    /// The trace that it is part of, where there is one; kept beside each event, outside of its hash.
    pub traceparent: Option<Traceparent>,
    /// When it was decided.
    pub time: Timestamp,
    /// What happened, at least one event, each at most [`MAX_EVENT_BYTES`].
    pub events: Vec<NewEvent>,
    /// The names that the stream claims by it.
    pub claims: Vec<Claim>,
}

/// An event on its way into the log.
#[derive(Debug, Clone)]
pub struct NewEvent {
    /// Its id, which no event of the log has yet.
    pub id: EventId,
    /// What happened.
    pub event: Event,
}

/// How a stream must be for an append to be right.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Expected {
    /// It has no event yet.
    NoStream,
    /// Its last event has exactly this version.
    Exactly(StreamVersion),
    /// It does not matter.
    Any,
}

/// A name that belongs to one stream for ever. Claiming what one's own stream holds already is fine.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Claim {
    /// What kind of name it is.
    pub namespace: Namespace,
    /// The name.
    pub name: String,
}

/// A kind of names; a name is unique within its kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Namespace(&'static str);

impl Namespace {
    /// The slugs of projects, old ones included.
    pub const SLUG: Namespace = Namespace("slug");

    /// The ids of keys, revoked ones included.
    pub const KEY: Namespace = Namespace("key");

    /// The ids of notices, subscriptions, customers and payments, with their provider before them.
    pub const PAYMENT: Namespace = Namespace("payment");

    /// The ids of accounts that something was ever paid for.
    pub const PAYER: Namespace = Namespace("payer");

    /// Another kind of names.
    pub const fn new(name: &'static str) -> Namespace {
        Namespace(name)
    }

    /// The word that is stored.
    pub fn as_str(self) -> &'static str {
        self.0
    }
}

/// Where an append went.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Appended {
    /// The position of its first event.
    pub first: Position,
    /// The position of its last event.
    pub last: Position,
    /// The stream's version after it.
    pub version: StreamVersion,
}

/// The end of the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Head {
    /// The last position; 0 for an empty log.
    pub position: Position,
    /// The last event's hash; [`Hash::GENESIS`] for an empty log.
    pub hash: Hash,
}

/// Why nothing was appended.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AppendError {
    /// The stream is not as expected: read it again and decide anew.
    #[error("the stream is at version {actual}, which is not what was expected")]
    Conflict {
        /// The version it has.
        actual: StreamVersion,
    },
    /// Another stream holds a name that was claimed.
    #[error("the name “{name}” belongs to {by}")]
    Claimed {
        /// The name.
        name: String,
        /// Who holds it.
        by: StreamId,
    },
    /// The command was carried out on this stream before.
    #[error("the command was carried out before, at positions {} to {}", .0.first, .0.last)]
    Repeated(
        /// What it did then.
        Appended,
    ),
    /// The append itself is wrong, and sending it again will not help.
    #[error("the append cannot be taken: {reason}")]
    Invalid {
        /// What is wrong with it.
        reason: String,
    },
    /// The store cannot do it.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Why a store cannot do what it is asked.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StoreError {
    /// Not at present: trying again later may help.
    #[error("the event store is not available: {reason}")]
    Unavailable {
        /// A sentence that says why and what to do.
        reason: String,
    },
    /// What is stored is not what was written: the store must be restored from a backup.
    #[error("the event store is damaged: {reason}; verify it, and restore the last backup")]
    Corrupt {
        /// What was found.
        reason: String,
    },
}

impl StoreError {
    /// Returns a temporary failure with its cause and what to do, as a sentence.
    pub fn unavailable(reason: impl Into<String>) -> StoreError {
        StoreError::Unavailable { reason: reason.into() }
    }

    /// Returns what happened, without the words for what it means.
    #[cfg(feature = "eventstore")]
    pub(crate) fn reason(&self) -> &str {
        match self {
            StoreError::Unavailable { reason } | StoreError::Corrupt { reason } => reason,
        }
    }

    /// Returns a failure for stored data that is not what was written.
    pub fn corrupt(reason: impl Into<String>) -> StoreError {
        StoreError::Corrupt { reason: reason.into() }
    }
}

impl From<::sqlite::Error> for StoreError {
    fn from(error: ::sqlite::Error) -> StoreError {
        match error {
            ::sqlite::Error::Unavailable(reason) => StoreError::Unavailable { reason },
            ::sqlite::Error::Corrupt(reason) => StoreError::Corrupt { reason },
        }
    }
}

impl From<sqlx::Error> for StoreError {
    fn from(error: sqlx::Error) -> StoreError {
        ::sqlite::Error::from(error).into()
    }
}
