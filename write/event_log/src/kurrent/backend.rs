//! The remote log, over the vendor's client. A client that lost its server is replaced: it would stay with the node that is gone.

use std::path::PathBuf;
use std::time::Duration;

use eventstore::{
    AppendToStreamOptions, Client, EventData, ReadStreamOptions, RecordedEvent, StreamPosition, StreamState,
};
use health::Component;
use schemas::hash::Hash;
use schemas::ids::{Position, StoreId};
use tokio::time::{Instant, sleep, timeout};

use super::address::Address;
use super::append_stream::{AppendStream, CALL_TIMEOUT};
use super::encoding;
use super::error::{CallError, check_authorities, reset, unreachable};
use crate::sqlite::backend::{Backend, BackendAppendError, BackendReadError, Entry, Page, ReplicatedEvent};
use crate::{Head, StoreError};

/// The timeout of an append over the open stream. If the server ends that stream in good order the client reports nothing, and
/// whether the append was executed is looked up.
const APPEND_TIMEOUT: Duration = Duration::from_secs(5);

/// A page has at most this many events …
const PAGE_EVENTS: usize = 2_000;

/// … and at most this many bytes of payloads; a single event may be larger.
const PAGE_BYTES: usize = 8 << 20;

/// How often the log is polled for events of other write sides. The client's subscriptions are not used: one that the server ends
/// in good order makes it spin forever.
const POLL: Duration = Duration::from_millis(250);

/// The first and the longest delay before a retry; it doubles after each failure.
const RETRY_DELAY: Duration = Duration::from_millis(50);
const LONGEST_RETRY_DELAY: Duration = Duration::from_secs(2);

/// A client of the remote log.
pub(crate) struct Kurrent {
    address: Address,
    client: Option<Client>,
    append_stream: AppendStream,
    retry_delay: Duration,
    /// The replica that follows the log through this client, if any.
    follower: Option<Follower>,
}

pub(crate) struct Follower {
    pub(crate) replica: PathBuf,
    /// Reports whether the log can be read.
    pub(crate) component: Component,
}

impl Kurrent {
    /// Connects, and makes a first call; an error names the setting that is wrong.
    pub(crate) async fn connect(address: &Address) -> Result<Kurrent, StoreError> {
        // The client would choose another TLS library for the whole process.
        let _ = rustls::crypto::ring::default_provider().install_default();
        check_authorities(address)?;
        let mut remote = Kurrent {
            address: address.clone(),
            client: None,
            append_stream: AppendStream::default(),
            retry_delay: RETRY_DELAY,
            follower: None,
        };
        let store = address.store();
        match remote.event_at(&store, StreamPosition::Start).await {
            Ok(_) => Ok(remote),
            Err(CallError::NoAnswer(failure)) => Err(unreachable(address, &failure).await),
            Err(error) => Err(error.into()),
        }
    }

    /// Sets the replica that follows the log through this client.
    pub(crate) fn followed_by(self, follower: Follower) -> Kurrent {
        Kurrent { follower: Some(follower), ..self }
    }

    /// Returns the store id; `None` if there is no store yet.
    pub(crate) async fn store(&mut self) -> Result<Option<StoreId>, StoreError> {
        let stream = self.address.store();
        let event = self.event_at(&stream, StreamPosition::Start).await?;
        event.as_ref().map(encoding::decode_store).transpose()
    }

    /// Creates the store with this id, and returns the id that it has: another write side may have created it first.
    pub(crate) async fn create_store(&mut self, new: StoreId) -> Result<StoreId, StoreError> {
        let log = self.address.log();
        if self.event_at(&log, StreamPosition::Start).await?.is_some() {
            return Err(StoreError::unavailable(format!(
                "the stream {log} is there and is not one of Loggia; set another store=NAME in store (LOGGIA_STORE)"
            )));
        }
        let stream = self.address.store();
        if self.append_first(&stream, || encoding::encode_store(new)).await? {
            tracing::info!(store = %new, "created the event store {}", self.address);
        }
        self.store().await?.ok_or_else(|| StoreError::corrupt(format!("the stream {stream} is empty")))
    }

    pub(super) fn address(&self) -> &Address {
        &self.address
    }

    /// Appends the first event of a stream; returns `false` if the stream exists already.
    pub(super) async fn append_first(
        &mut self,
        stream: &str,
        event: impl Fn() -> Result<EventData, StoreError>,
    ) -> Result<bool, StoreError> {
        let until = Instant::now() + Kurrent::RETRY_FOR;
        loop {
            match self.append_to(stream, StreamState::NoStream, vec![event()?]).await {
                Ok(()) => return Ok(true),
                Err(CallError::WrongRevision(_) | CallError::WrongUnknownRevision) => return Ok(false),
                // The same event sent again is appended once.
                Err(CallError::NoAnswer(_)) if Instant::now() < until => self.back_off().await,
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// Returns the hash of the event at a position; `None` after the log's end.
    pub(crate) async fn hash_at(&mut self, position: Position) -> Result<Option<Hash>, StoreError> {
        let (log, revision) = (self.address.log(), position.0.saturating_sub(1));
        let event = self.event_at(&log, StreamPosition::Position(revision)).await?;
        let event = event.as_ref().map(encoding::decode).transpose()?;
        Ok(event.filter(|one| one.event.position == position).map(|one| one.event.hash))
    }

    pub(crate) async fn page(&mut self, after: Position) -> Result<Page, StoreError> {
        match self.events_from(after.0).await {
            Err(CallError::NoStream) if after == Position::START => Ok(Page::default()),
            outcome => decoded(outcome?),
        }
    }

    /// Returns the events of the log from a revision on, and whether there may be more.
    async fn events_from(&mut self, revision: u64) -> Result<(Vec<RecordedEvent>, bool), CallError> {
        let (log, mut events) = (self.address.log(), Vec::new());
        let more = self.read_from(&log, StreamPosition::Position(revision), PAGE_EVENTS, &mut events).await?;
        Ok((events, more))
    }

    /// Opens the stream of appends before the first append, which would wait for it. A failure shows at the next call.
    async fn open_append_stream(&mut self) {
        if self.follower.is_some()
            && let Ok(client) = self.client()
            && let Ok(Ok(Some(open))) = self.append_stream.take(&client, &self.address).await
        {
            self.append_stream.put_back(open);
        }
    }

    /// Returns the failure of a log that does not have the replica's last event; `has_other` if it has another one there.
    fn reset(&self, head: Head, has_other: bool) -> StoreError {
        let replica = self.follower.as_ref().map(|follower| follower.replica.as_path());
        reset(&self.address, head, has_other, replica)
    }

    pub(crate) async fn head(&mut self) -> Result<Head, StoreError> {
        let log = self.address.log();
        let event = self.event_at(&log, StreamPosition::End).await?;
        let event = event.as_ref().map(encoding::decode).transpose()?;
        let none = Head { position: Position::START, hash: Hash::GENESIS };
        Ok(event.map_or(none, |ReplicatedEvent { event, .. }| Head {
            position: event.position,
            hash: event.hash,
        }))
    }

    /// Appends events of another log after `head`, in as many appends as they need, and returns the new head.
    pub(crate) async fn copy_events(
        &mut self,
        mut head: Head,
        mut events: &[ReplicatedEvent],
    ) -> Result<Head, StoreError> {
        while !events.is_empty() {
            let entries: Vec<Entry<'_>> = events[..fitting(events)].iter().map(Entry::from).collect();
            self.append_until_answered(head, &entries).await?;
            head = entries.last().map_or(head, |last| Head { position: last.link.position, hash: last.hash });
            events = &events[entries.len()..];
        }
        Ok(head)
    }

    /// Retries an append until it is answered: after the same revision the same events are appended once.
    async fn append_until_answered(&mut self, head: Head, entries: &[Entry<'_>]) -> Result<(), StoreError> {
        let until = Instant::now() + Kurrent::RETRY_FOR;
        loop {
            match self.append(head, entries).await {
                Ok(()) => return Ok(()),
                Err(BackendAppendError::Unknown(_)) if Instant::now() < until => self.back_off().await,
                Err(BackendAppendError::Unknown(error) | BackendAppendError::Refused(error)) => {
                    return Err(error);
                }
                Err(BackendAppendError::ReplicaLags) => {
                    let reason = format!("another process appends to {}; stop that first", self.address);
                    return Err(StoreError::unavailable(reason));
                }
            }
        }
    }

    /// Returns the event of a stream at a revision, or the next one; `None` if there is none.
    pub(super) async fn event_at(
        &mut self,
        stream: &str,
        from: StreamPosition<u64>,
    ) -> Result<Option<RecordedEvent>, CallError> {
        let mut events = Vec::new();
        match self.read_from(stream, from, 1, &mut events).await {
            Ok(_) => Ok(events.pop()),
            Err(CallError::NoStream) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Reads at most `count` events, and returns whether there may be more.
    async fn read_from(
        &mut self,
        stream: &str,
        from: StreamPosition<u64>,
        count: usize,
        events: &mut Vec<RecordedEvent>,
    ) -> Result<bool, CallError> {
        let client = self.client()?;
        let mut options = ReadStreamOptions::default().position(from).max_count(count).requires_leader(true);
        if let Some(credentials) = &self.address.credentials {
            options = options.authenticated(credentials.clone());
        }
        let opened = timeout(CALL_TIMEOUT, client.read_stream(stream, &options)).await;
        let mut reading = self.check(opened)?;
        let mut bytes = 0;
        loop {
            let next = timeout(CALL_TIMEOUT, reading.next()).await;
            let Some(event) = self.check(next)? else { return Ok(events.len() >= count) };
            let event =
                event.event.ok_or_else(|| CallError::NoAnswer("an event without its parts came".into()))?;
            bytes += event.data.len();
            events.push(event);
            if bytes >= PAGE_BYTES {
                return Ok(true);
            }
        }
    }

    /// Appends to a stream: over the stream of appends, or by a call of its own if the server has none.
    pub(super) async fn append_to(
        &mut self,
        stream: &str,
        expected: StreamState,
        events: Vec<EventData>,
    ) -> Result<(), CallError> {
        let client = self.client()?;
        let opened = self.append_stream.take(&client, &self.address).await;
        let Some(open) = self.check(opened)? else {
            return self.append_by_call(stream, expected, events).await;
        };
        let appended = timeout(APPEND_TIMEOUT, open.append_to_stream(stream, expected, events)).await;
        if let Ok(Ok(_)) = &appended {
            self.append_stream.put_back(open);
        }
        self.check(appended).map(|_| ())
    }

    async fn append_by_call(
        &mut self,
        stream: &str,
        expected: StreamState,
        events: Vec<EventData>,
    ) -> Result<(), CallError> {
        let client = self.client()?;
        let mut options = AppendToStreamOptions::default()
            .stream_state(expected)
            .requires_leader(true)
            .deadline(CALL_TIMEOUT);
        if let Some(credentials) = &self.address.credentials {
            options = options.authenticated(credentials.clone());
        }
        let appended = timeout(CALL_TIMEOUT, client.append_to_stream(stream, &options, events)).await;
        self.check(appended).map(|_| ())
    }

    fn client(&mut self) -> Result<Client, CallError> {
        if let Some(client) = &self.client {
            return Ok(client.clone());
        }
        let client = Client::new((*self.address.settings).clone()).map_err(|error| {
            CallError::Refused(StoreError::unavailable(format!("{}: {error}", self.address)))
        })?;
        Ok(self.client.insert(client).clone())
    }

    fn check<T>(
        &mut self,
        outcome: Result<eventstore::Result<T>, tokio::time::error::Elapsed>,
    ) -> Result<T, CallError> {
        // A follower of the cluster names its leader, and the client then connects to the leader.
        let redirected = matches!(outcome, Ok(Err(eventstore::Error::NotLeaderException(_))));
        let outcome = CallError::check(outcome, &self.address);
        match &outcome {
            Err(CallError::NoAnswer(_)) if !redirected => {
                self.client = None;
                self.append_stream = AppendStream::default();
            }
            Err(_) => {}
            Ok(_) => self.retry_delay = RETRY_DELAY,
        }
        outcome
    }
}

impl Backend for Kurrent {
    const REMOTE: bool = true;
    const RETRY_FOR: Duration = Duration::from_secs(15);
    // The default limit of the server.
    const MAX_APPEND_BYTES: Option<usize> = Some(1 << 20);

    async fn append(&mut self, head: Head, entries: &[Entry<'_>]) -> Result<(), BackendAppendError> {
        let events: Result<Vec<EventData>, StoreError> = entries.iter().map(encoding::encode).collect();
        let events = events.map_err(BackendAppendError::Refused)?;
        let expected = match head.position.0.checked_sub(1) {
            Some(revision) => StreamState::StreamRevision(revision),
            None => StreamState::NoStream,
        };
        let log = self.address.log();
        match self.append_to(&log, expected, events).await {
            Ok(()) => Ok(()),
            Err(CallError::WrongRevision(there))
                if there.map_or(0, |revision| revision + 1) < head.position.0 =>
            {
                Err(BackendAppendError::Refused(self.reset(head, false)))
            }
            Err(CallError::WrongRevision(_) | CallError::WrongUnknownRevision) => {
                Err(BackendAppendError::ReplicaLags)
            }
            Err(CallError::NoAnswer(reason)) => {
                Err(BackendAppendError::Unknown(StoreError::unavailable(reason)))
            }
            Err(error) => Err(BackendAppendError::Refused(error.into())),
        }
    }

    async fn read(&mut self, head: Head) -> Result<Page, BackendReadError> {
        let Some(last) = head.position.0.checked_sub(1) else {
            return Ok(self.page(Position::START).await?);
        };
        self.open_append_stream().await;
        // The head is read again with what follows it: a log that was reset no longer has it.
        let mut page = match self.events_from(last).await {
            Err(CallError::NoStream) => Page::default(),
            outcome => decoded(outcome.map_err(StoreError::from)?)?,
        };
        let found = page.events.first().map(|first| first.event.hash);
        if found != Some(head.hash) {
            return Err(BackendReadError::Reset(self.reset(head, found.is_some())));
        }
        page.events.remove(0);
        Ok(page)
    }

    fn report(&self, failure: Option<&BackendReadError>) {
        let Some(Follower { component, .. }) = &self.follower else { return };
        match failure {
            None => component.recovered(),
            Some(BackendReadError::Reset(error)) => component.failed(error.reason()),
            Some(BackendReadError::Store(error)) => {
                component.failed(format_args!("{}; edits are refused until this is over", error.reason()));
            }
        }
    }

    async fn poll_due(&mut self) {
        sleep(POLL).await;
    }

    async fn back_off(&mut self) {
        sleep(self.retry_delay).await;
        self.retry_delay = LONGEST_RETRY_DELAY.min(self.retry_delay * 2);
    }
}

fn decoded((events, more): (Vec<RecordedEvent>, bool)) -> Result<Page, StoreError> {
    Ok(Page { events: events.iter().map(encoding::decode).collect::<Result<_, _>>()?, more })
}

/// Returns how many of the events fit into one append, at least one.
fn fitting(events: &[ReplicatedEvent]) -> usize {
    let mut bytes = 0;
    let fits = |one: &&ReplicatedEvent| {
        bytes += encoding::bytes(one);
        Kurrent::MAX_APPEND_BYTES.is_none_or(|limit| bytes <= limit)
    };
    events.iter().take_while(fits).count().max(1)
}
