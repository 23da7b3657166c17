//! The backend of an event log: none, if the file is the log itself, or a remote log of which the file is a replica. A batch is
//! appended to the remote log before the file is committed.
#![cfg_attr(not(feature = "eventstore"), allow(dead_code, reason = "a local log has no backend"))]

use std::future::{Future, pending, ready};
use std::time::Duration;

use schemas::chain::Link;
use schemas::envelope::Recorded;
use schemas::hash::Hash;
use serde::{Deserialize, Serialize};
use traceparent::Traceparent;

use crate::{Head, StoreError};

/// An event as it is written: its link in the hash chain, and what its stream claims with it.
#[derive(Debug, Clone)]
pub(crate) struct Entry<'a> {
    pub(crate) link: Link<'a>,
    pub(crate) hash: Hash,
    pub(crate) traceparent: Option<Traceparent>,
    /// Pairs of a namespace and a name.
    pub(crate) claims: Vec<(&'a str, &'a str)>,
}

/// An event that was read from another log, with what its stream claimed with it.
#[derive(Debug, Clone)]
pub(crate) struct ReplicatedEvent {
    pub(crate) event: Recorded,
    pub(crate) claims: Vec<ClaimedName>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ClaimedName {
    pub(crate) namespace: String,
    pub(crate) name: String,
}

/// The next events of a log, by position.
#[derive(Debug, Default)]
pub(crate) struct Page {
    pub(crate) events: Vec<ReplicatedEvent>,
    pub(crate) more: bool,
}

/// The reason why a backend did not confirm a batch.
pub(crate) enum BackendAppendError {
    /// The backend has events after the head that the batch follows; nothing was appended.
    ReplicaLags,
    /// The backend refused; nothing was appended.
    Refused(StoreError),
    /// The backend did not answer in time: the batch may have been appended, or may be appended later.
    Unknown(StoreError),
}

/// The reason why the events after a head could not be read.
#[derive(Debug, Clone)]
pub(crate) enum BackendReadError {
    /// The backend does not have that head, or no longer: it was reset to an earlier state. A retry does not help.
    Reset(StoreError),
    /// Any other failure.
    Store(StoreError),
}

impl From<StoreError> for BackendReadError {
    fn from(error: StoreError) -> BackendReadError {
        BackendReadError::Store(error)
    }
}

impl From<BackendReadError> for StoreError {
    fn from(error: BackendReadError) -> StoreError {
        match error {
            BackendReadError::Reset(error) | BackendReadError::Store(error) => error,
        }
    }
}

/// The log of which a file is the replica.
pub(crate) trait Backend: Send + 'static {
    /// Whether there is a remote log.
    const REMOTE: bool;

    /// How long a batch is retried while the backend does not answer.
    const RETRY_FOR: Duration;

    /// The maximum size of one append in bytes, names and ids included.
    const MAX_APPEND_BYTES: Option<usize>;

    /// Appends all entries after `head` if that is the log's end, or none.
    fn append(
        &mut self,
        head: Head,
        entries: &[Entry<'_>],
    ) -> impl Future<Output = Result<(), BackendAppendError>> + Send;

    /// Returns the events after `head`, after checking that the backend has `head` itself.
    fn read(&mut self, head: Head) -> impl Future<Output = Result<Page, BackendReadError>> + Send;

    /// Reports whether the backend could be read the last time.
    fn report(&self, failure: Option<&BackendReadError>);

    /// Waits until the backend is to be polled for events of other write sides. Cancel-safe.
    fn poll_due(&mut self) -> impl Future<Output = ()> + Send;

    /// Waits before a retry, longer after each failure.
    fn back_off(&mut self) -> impl Future<Output = ()> + Send;
}

/// No backend: the file is the log.
pub(crate) struct Local;

impl Backend for Local {
    const REMOTE: bool = false;
    const RETRY_FOR: Duration = Duration::ZERO;
    const MAX_APPEND_BYTES: Option<usize> = None;

    fn append(
        &mut self,
        _: Head,
        _: &[Entry<'_>],
    ) -> impl Future<Output = Result<(), BackendAppendError>> + Send {
        ready(Ok(()))
    }

    fn read(&mut self, _: Head) -> impl Future<Output = Result<Page, BackendReadError>> + Send {
        ready(Ok(Page::default()))
    }

    fn report(&self, _: Option<&BackendReadError>) {}

    fn poll_due(&mut self) -> impl Future<Output = ()> + Send {
        pending()
    }

    fn back_off(&mut self) -> impl Future<Output = ()> + Send {
        ready(())
    }
}

impl<'a> From<&'a ReplicatedEvent> for Entry<'a> {
    fn from(replicated: &'a ReplicatedEvent) -> Entry<'a> {
        let claims = replicated.claims.iter();
        Entry {
            link: Link::from(&replicated.event),
            hash: replicated.event.hash,
            traceparent: replicated.event.traceparent,
            claims: claims.map(|claim| (claim.namespace.as_str(), claim.name.as_str())).collect(),
        }
    }
}
