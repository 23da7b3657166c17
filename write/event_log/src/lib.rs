//! The event log: the one place where history is kept, append-only, at positions without gaps, each event under a hash that
//! covers all before it. [`EventLog`] states the contract, and `tests/contract` holds each backend to it: what was acknowledged
//! is durable, and a command is executed once on a stream however often it is sent.
//!
//! The services and workers of `write` append and read, the relay publishes from it, and `backup` copies it.
//!
//! In reading order: this file has what is appended and why it may fail; `sqlite` is the log in one file with its one writer;
//! `kurrent` the log in EventStoreDB, of which that file is then a replica; `claims` has the names that events claim;
//! `log_cursor` serves workers that follow the log; `copy` copies a log between backends, each at a `location`.

pub mod claims;
pub mod copy;
#[cfg(feature = "eventstore")]
pub mod kurrent;
mod location;
pub mod log_cursor;
pub mod sqlite;
pub mod witness;

use jiff::Timestamp;
use schemas::event::Event;
use schemas::ids::{Actor, CommandId, EventId, Position, StreamId, StreamVersion};
use traceparent::Traceparent;

pub use self::sqlite::{Damage, EventLog, Verified};
pub use location::LogLocation;
pub use store_file::{Head, StoreError};

/// The longest payload of one event, in bytes of JSON: with its headers it must fit into one NATS message of 1 MiB.
pub const MAX_EVENT_BYTES: usize = (1 << 20) - (16 << 10);

/// Returns the outcome of the only append of a batch.
pub fn only(mut outcomes: Vec<Result<Appended, AppendError>>) -> Result<Appended, AppendError> {
    let unanswered = || StoreError::unavailable("the append was not answered; try again").into();
    outcomes.pop().unwrap_or_else(|| Err(unanswered()))
}

/// An append of one command to one stream.
#[derive(Debug, Clone)]
pub struct Append {
    /// The stream.
    pub stream: StreamId,
    /// The version that the stream must have.
    pub expected: Expected,
    /// The command that causes the events.
    pub command: CommandId,
    /// The command that began the request it belongs to.
    pub correlation: CommandId,
    /// Who sent the command.
    pub actor: Actor,
    /// The trace of the command, if there is one; stored beside each event and not covered by its hash.
    pub traceparent: Option<Traceparent>,
    /// When the command was decided.
    pub time: Timestamp,
    /// At least one event, each at most [`MAX_EVENT_BYTES`].
    pub events: Vec<NewEvent>,
    /// The names that the stream claims with the first event.
    pub claims: Vec<Claim>,
}

/// An event to be appended.
#[derive(Debug, Clone)]
pub struct NewEvent {
    /// Its id, which no event of the log has yet.
    pub id: EventId,
    /// Its content.
    pub event: Event,
}

/// The version that a stream must have for an append to succeed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Expected {
    /// The stream has no event yet.
    NoStream,
    /// The last event of the stream has exactly this version.
    Exactly(StreamVersion),
    /// Any version.
    Any,
}

/// A name that belongs to one stream permanently. A stream may claim again what it holds already.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Claim {
    /// The kind of name.
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

    /// The external ids of projects, former ones included: those with a source, and others of which the slug was not made.
    pub const ID: Namespace = Namespace("id");

    /// The ids of keys, revoked ones included.
    pub const KEY: Namespace = Namespace("key");

    /// The ids of notices, subscriptions, customers and payments, with their provider before them.
    pub const PAYMENT: Namespace = Namespace("payment");

    /// The ids of accounts for which anything was ever paid.
    pub const PAYER: Namespace = Namespace("payer");

    /// Another kind of names.
    pub const fn new(name: &'static str) -> Namespace {
        Namespace(name)
    }

    /// Returns the namespace as stored.
    pub fn as_str(self) -> &'static str {
        self.0
    }
}

/// The events of a successful append.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Appended {
    /// The position of the first event.
    pub first: Position,
    /// The position of the last event.
    pub last: Position,
    /// The version of the stream after the append.
    pub version: StreamVersion,
}

/// The reason why nothing was appended.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AppendError {
    /// The stream has another version than expected: read it again and decide again.
    #[error("the stream is at version {0}, which is not what was expected")]
    Conflict(StreamVersion),
    /// Another stream holds a name that was claimed.
    #[error("the name “{name}” belongs to {by}")]
    Claimed {
        /// The name.
        name: String,
        /// The stream that holds it.
        by: StreamId,
    },
    /// The command was executed on this stream before.
    #[error("the command was executed before, at positions {} to {}", .0.first, .0.last)]
    Repeated(Appended),
    /// The append itself is invalid; a retry does not help.
    #[error("the append cannot be taken: {0}")]
    Invalid(String),
    /// The store is unavailable or damaged.
    #[error(transparent)]
    Store(#[from] StoreError),
}
