//! The event store: the one place where history is kept. The trait's words are the contract that every store keeps;
//! `tests/contract` holds each of them to it.

pub mod copy;
#[cfg(feature = "eventstore")]
pub mod kurrent;
mod place;
pub(crate) mod sqlite;

use std::collections::HashMap;

use async_trait::async_trait;
use jiff::Timestamp;
use schemas::envelope::Recorded;
use schemas::event::Event;
use schemas::hash::Hash;
use schemas::ids::{Actor, CommandId, EventId, Position, StoreId, StreamId, StreamVersion};
use traces::Traceparent;

pub use place::LogPlace;
pub(crate) use sqlite::failure as sqlite_failure;
pub use sqlite::{
    BackupError, Copied, Cut, Damage, Erased, ErasedPicturesCopy, ErasuresCopy, LeftOut, Manifest, MediaCopy,
    Parent, Restored, SqliteStore, Until, Verified,
};

/// The longest payload of one event, in bytes of JSON: with its headers it must fit into one NATS message of 1 MiB.
pub const MAX_EVENT_BYTES: usize = (1 << 20) - (16 << 10);

/// A log of events in streams, append-only.
///
/// Positions count the events of the log from 1 without holes, versions those of each stream. What was acknowledged
/// is durable: it is there after a crash or a power cut. Each event's hash covers the hash of the event before.
#[async_trait]
pub trait EventStore: Send + Sync + 'static {
    /// The store's own name, given to it once.
    fn store_id(&self) -> StoreId;

    /// Returns whether what is read here may lag behind the log, as it does where another process appends to the log
    /// that this is a replica of.
    fn is_replica(&self) -> bool {
        false
    }

    /// Waits until everything that the log held when this was called can be read here; returns the last position then.
    ///
    /// # Errors
    ///
    /// Where the log cannot be asked.
    async fn catch_up(&self) -> Result<Position, StoreError> {
        self.head().await.map(|head| head.position)
    }

    /// Appends all events of one command to one stream and makes its claims, or does nothing at all.
    ///
    /// The same command on the same stream is carried out once: sent again, whatever it says then, it is answered by
    /// [`AppendError::Repeated`] with what it did. Where the outcome is unknown (`Unavailable`), sending it again
    /// settles it. The events of one append stand side by side in the log.
    async fn append(&self, append: Append) -> Result<Appended, AppendError> {
        only(self.append_all(vec![append]).await)
    }

    /// Appends each of these as [`EventStore::append`] does, in their order, and gives what became of each: one that
    /// cannot be taken does not hinder the others. Many at once cost far less than one by one.
    async fn append_all(&self, appends: Vec<Append>) -> Vec<Result<Appended, AppendError>>;

    /// The events of one stream behind a version, in their order; none where there is no such stream.
    async fn read_stream(&self, stream: &StreamId, after: StreamVersion)
    -> Result<Vec<Recorded>, StoreError>;

    /// The events of several streams, each in its order; a stream that does not exist is left out.
    async fn read_streams(
        &self,
        streams: &[StreamId],
    ) -> Result<HashMap<StreamId, Vec<Recorded>>, StoreError>;

    /// The streams on which a command was carried out.
    async fn streams_of(&self, command: CommandId) -> Result<Vec<StreamId>, StoreError>;

    /// At most `limit` events behind a position, in the log's order. It may give fewer, to stay within some megabytes,
    /// but none only at the end of the log.
    async fn read_all(&self, after: Position, limit: usize) -> Result<Vec<Recorded>, StoreError>;

    /// The last position, and the hash that covers all up to it.
    async fn head(&self) -> Result<Head, StoreError>;

    /// Waits until the log goes beyond a position, whoever appends, and gives its last position then.
    async fn wait_beyond(&self, position: Position) -> Result<Position, StoreError>;

    /// The streams that hold these names; a name that nobody holds is left out.
    async fn holders(
        &self,
        namespace: Namespace,
        names: &[String],
    ) -> Result<HashMap<String, StreamId>, StoreError>;

    /// At most `limit` held names behind a name, in byte order, with the streams that hold them. The empty name
    /// stands before all.
    async fn claims(
        &self,
        namespace: Namespace,
        after: &str,
        limit: usize,
    ) -> Result<Vec<(String, StreamId)>, StoreError>;

    /// The stream that holds a name.
    async fn holder(&self, namespace: Namespace, name: &str) -> Result<Option<StreamId>, StoreError> {
        Ok(self.holders(namespace, &[name.to_owned()]).await?.remove(name))
    }
}

/// What became of the only append of several.
pub(crate) fn only(mut outcomes: Vec<Result<Appended, AppendError>>) -> Result<Appended, AppendError> {
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
    pub(crate) fn unavailable(reason: impl Into<String>) -> StoreError {
        StoreError::Unavailable { reason: reason.into() }
    }

    /// Returns what happened, without the words for what it means.
    #[cfg(feature = "eventstore")]
    pub(crate) fn reason(&self) -> &str {
        match self {
            StoreError::Unavailable { reason } | StoreError::Corrupt { reason } => reason,
        }
    }

    pub(crate) fn corrupt(reason: impl Into<String>) -> StoreError {
        StoreError::Corrupt { reason: reason.into() }
    }
}
