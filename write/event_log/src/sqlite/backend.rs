//! The backend of an event log: local, where the file is the log itself, or a log elsewhere that the file is a replica of. There a
//! batch is appended before the commit of the file counts.
#![cfg_attr(not(feature = "eventstore"), allow(dead_code, reason = "a file alone has nothing behind it"))]

use std::future::{Future, pending, ready};
use std::time::Duration;

use schemas::chain::Link;
use schemas::envelope::Recorded;
use schemas::hash::Hash;
use serde::{Deserialize, Serialize};
use traces::Traceparent;

use crate::{Head, StoreError};

/// An event as it is written, with its place and what its stream claims by it.
#[derive(Debug, Clone)]
pub(crate) struct Entry<'a> {
    pub(crate) link: Link<'a>,
    pub(crate) hash: Hash,
    pub(crate) traceparent: Option<Traceparent>,
    /// Pairs of a namespace and a name.
    pub(crate) claims: Vec<(&'a str, &'a str)>,
}

/// An event that was read from another log, with what its stream claimed by it.
#[derive(Debug, Clone)]
pub(crate) struct Replicated {
    pub(crate) event: Recorded,
    pub(crate) claims: Vec<ClaimedName>,
}

/// A name that a stream claimed, and its kind.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ClaimedName {
    pub(crate) namespace: String,
    pub(crate) name: String,
}

/// The next events of a log, in its order.
#[derive(Debug, Default)]
pub(crate) struct Page {
    pub(crate) events: Vec<Replicated>,
    /// Whether there are more.
    pub(crate) more: bool,
}

/// Why a log did not say that it took a batch.
pub(crate) enum NotTaken {
    /// It has events that the batch does not know; nothing was appended.
    Behind,
    /// It refused; nothing was appended.
    Refused(StoreError),
    /// It did not answer in time: it may have been appended, or be appended later.
    Unknown(StoreError),
}

/// Why the events behind a head could not be read.
#[derive(Debug, Clone)]
pub(crate) enum Unread {
    /// The log does not hold that head, or not any more: it was set back. Trying again does not help.
    SetBack(StoreError),
    /// Anything else.
    Store(StoreError),
}

impl From<StoreError> for Unread {
    fn from(error: StoreError) -> Unread {
        Unread::Store(error)
    }
}

impl From<Unread> for StoreError {
    fn from(unread: Unread) -> StoreError {
        match unread {
            Unread::SetBack(error) | Unread::Store(error) => error,
        }
    }
}

/// The log that a file is the replica of.
pub(crate) trait Backend: Send + 'static {
    /// Whether there is one.
    const REMOTE: bool;

    /// How long a batch waits for a log that does not answer.
    const PATIENCE: Duration;

    /// How many bytes one append may have, names and ids included.
    const LIMIT: Option<usize>;

    /// Appends all entries behind `head`, if that is the log's end, or none.
    fn append(
        &mut self,
        head: Head,
        entries: &[Entry<'_>],
    ) -> impl Future<Output = Result<(), NotTaken>> + Send;

    /// Returns the events behind `head`, once it is sure that the log holds `head` itself.
    fn read(&mut self, head: Head) -> impl Future<Output = Result<Page, Unread>> + Send;

    /// Reports whether the last look at the log succeeded.
    fn report(&self, failure: Option<&Unread>);

    /// Ends when it is time to look for what others appended. It may be dropped at any time.
    fn due(&mut self) -> impl Future<Output = ()> + Send;

    /// Waits before a failure is tried again, longer each time.
    fn back_off(&mut self) -> impl Future<Output = ()> + Send;
}

/// No log behind the file: it is the log.
pub(crate) struct Local;

impl Backend for Local {
    const REMOTE: bool = false;
    const PATIENCE: Duration = Duration::ZERO;
    const LIMIT: Option<usize> = None;

    fn append(&mut self, _: Head, _: &[Entry<'_>]) -> impl Future<Output = Result<(), NotTaken>> + Send {
        ready(Ok(()))
    }

    fn read(&mut self, _: Head) -> impl Future<Output = Result<Page, Unread>> + Send {
        ready(Ok(Page::default()))
    }

    fn report(&self, _: Option<&Unread>) {}

    fn due(&mut self) -> impl Future<Output = ()> + Send {
        pending()
    }

    fn back_off(&mut self) -> impl Future<Output = ()> + Send {
        ready(())
    }
}

impl<'a> From<&'a Replicated> for Entry<'a> {
    fn from(replicated: &'a Replicated) -> Entry<'a> {
        let claims = replicated.claims.iter();
        Entry {
            link: Link::from(&replicated.event),
            hash: replicated.event.hash,
            traceparent: replicated.event.traceparent,
            claims: claims.map(|claim| (claim.namespace.as_str(), claim.name.as_str())).collect(),
        }
    }
}
