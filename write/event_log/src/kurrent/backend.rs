//! The log itself, over the vendor's client. A client that lost its server is given up and made anew: it would stay
//! with the node that is gone.

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
use super::appends::{ANSWERS_WITHIN, Appends};
use super::fault::{Fault, check_authorities, set_back, unheard};
use super::stored;
use crate::sqlite::backend::{Backend, Entry, NotTaken, Page, Replicated, Unread};
use crate::{Head, StoreError};

/// How long an append over the open stream may take. Where the server ends that stream in good order the client says
/// nothing, and what was under way is looked up.
const APPENDED_WITHIN: Duration = Duration::from_secs(5);

/// How many events are read at once …
const PAGE_EVENTS: usize = 2_000;

/// … and at most how many bytes of payloads, one event excepted.
const PAGE_BYTES: usize = 8 << 20;

/// How often the log is looked at for what others appended. The client's subscriptions are not used: one that the
/// server ends in good order makes it spin for ever.
const POLL: Duration = Duration::from_millis(250);

/// The pause before the first failure is tried again; it doubles up to the longest.
const PAUSE: Duration = Duration::from_millis(50);
const LONGEST_PAUSE: Duration = Duration::from_secs(2);

pub(crate) struct Kurrent {
    address: Address,
    client: Option<Client>,
    appends: Appends,
    pause: Duration,
    /// What follows the log here, if anything does.
    follower: Option<Follower>,
}

/// A replica that follows the log.
pub(crate) struct Follower {
    /// Its file.
    pub(crate) replica: PathBuf,
    /// Where it reports whether the log can be read.
    pub(crate) component: Component,
}

impl Kurrent {
    /// Makes the first contact, or says which setting is wrong.
    pub(crate) async fn reach(address: &Address) -> Result<Kurrent, StoreError> {
        // The client would choose another library for the whole process.
        let _ = rustls::crypto::ring::default_provider().install_default();
        check_authorities(address)?;
        let mut remote = Kurrent {
            address: address.clone(),
            client: None,
            appends: Appends::default(),
            pause: PAUSE,
            follower: None,
        };
        let mark = address.mark();
        match remote.first_of(&mark, StreamPosition::Start).await {
            Ok(_) => Ok(remote),
            Err(Fault::Lost(heard)) => Err(unheard(address, &heard).await),
            Err(fault) => Err(fault.into()),
        }
    }

    /// Names the replica that follows the log by this.
    pub(crate) fn followed_by(self, follower: Follower) -> Kurrent {
        Kurrent { follower: Some(follower), ..self }
    }

    /// Which store it is; nothing where none was founded.
    pub(crate) async fn store(&mut self) -> Result<Option<StoreId>, StoreError> {
        let mark = self.address.mark();
        let event = self.first_of(&mark, StreamPosition::Start).await?;
        event.as_ref().map(stored::founded).transpose()
    }

    /// Founds a store, or finds that another did.
    pub(crate) async fn found(&mut self, new: StoreId) -> Result<StoreId, StoreError> {
        let log = self.address.log();
        if self.first_of(&log, StreamPosition::Start).await?.is_some() {
            return Err(StoreError::unavailable(format!(
                "the stream {log} is there and is not one of Loggia; set another store=NAME in store (LOGGIA_STORE)"
            )));
        }
        let mark = self.address.mark();
        if self.first_in(&mark, || stored::founding(new)).await? {
            tracing::info!(store = %new, "founded the event store {}", self.address);
        }
        self.store().await?.ok_or_else(|| StoreError::corrupt(format!("the stream {mark} is empty")))
    }

    /// Where the log is.
    pub(super) fn address(&self) -> &Address {
        &self.address
    }

    /// Appends the first event of a stream, and says whether it did; a stream that is there is left as it is.
    pub(super) async fn first_in(
        &mut self,
        stream: &str,
        event: impl Fn() -> Result<EventData, StoreError>,
    ) -> Result<bool, StoreError> {
        let until = Instant::now() + Kurrent::PATIENCE;
        loop {
            match self.append_to(stream, StreamState::NoStream, vec![event()?]).await {
                Ok(()) => return Ok(true),
                Err(Fault::Revision(_) | Fault::Moved) => return Ok(false),
                // The same event again is taken once.
                Err(Fault::Lost(_)) if Instant::now() < until => self.back_off().await,
                Err(fault) => return Err(fault.into()),
            }
        }
    }

    /// The hash of the event at a position; nothing behind the log's end.
    pub(crate) async fn hash_at(&mut self, position: Position) -> Result<Option<Hash>, StoreError> {
        let (log, revision) = (self.address.log(), position.0.saturating_sub(1));
        let event = self.first_of(&log, StreamPosition::Position(revision)).await?;
        let event = event.as_ref().map(stored::decode).transpose()?;
        Ok(event.filter(|one| one.event.position == position).map(|one| one.event.hash))
    }

    /// The events behind a position.
    pub(crate) async fn page(&mut self, after: Position) -> Result<Page, StoreError> {
        match self.events_from(after.0).await {
            Err(Fault::NoStream) if after == Position::START => Ok(Page::default()),
            outcome => decoded(outcome?),
        }
    }

    /// The events of the log from a revision on, and whether there may be more.
    async fn events_from(&mut self, revision: u64) -> Result<(Vec<RecordedEvent>, bool), Fault> {
        let (log, mut events) = (self.address.log(), Vec::new());
        let more = self.read_from(&log, StreamPosition::Position(revision), PAGE_EVENTS, &mut events).await?;
        Ok((events, more))
    }

    /// Opens the stream of appends before it is needed: the first append would wait for it. What goes wrong shows in
    /// what is done next.
    async fn prepare_appends(&mut self) {
        if self.follower.is_some()
            && let Ok(client) = self.client()
            && let Ok(Ok(Some(open))) = self.appends.open(&client, &self.address).await
        {
            self.appends.keep(open);
        }
    }

    /// The sentence for a log that does not hold the head of its replica; `other` if it holds another event there.
    fn set_back(&self, head: Head, other: bool) -> StoreError {
        let replica = self.follower.as_ref().map(|follower| follower.replica.as_path());
        set_back(&self.address, head, other, replica)
    }

    /// Where the log ends, as its last event says.
    pub(crate) async fn end(&mut self) -> Result<Head, StoreError> {
        let log = self.address.log();
        let event = self.first_of(&log, StreamPosition::End).await?;
        let event = event.as_ref().map(stored::decode).transpose()?;
        let none = Head { position: Position::START, hash: Hash::GENESIS };
        Ok(event.map_or(none, |Replicated { event, .. }| Head { position: event.position, hash: event.hash }))
    }

    /// Appends events of another log behind `head`, in as many appends as they need, and says where the log ends then.
    pub(crate) async fn carry(
        &mut self,
        mut head: Head,
        mut events: &[Replicated],
    ) -> Result<Head, StoreError> {
        while !events.is_empty() {
            let entries: Vec<Entry<'_>> = events[..fitting(events)].iter().map(Entry::from).collect();
            self.carry_once(head, &entries).await?;
            head = entries.last().map_or(head, |last| Head { position: last.link.position, hash: last.hash });
            events = &events[entries.len()..];
        }
        Ok(head)
    }

    /// Sends an append again until it is answered: behind the same revision the same events are taken once.
    async fn carry_once(&mut self, head: Head, entries: &[Entry<'_>]) -> Result<(), StoreError> {
        let until = Instant::now() + Kurrent::PATIENCE;
        loop {
            match self.append(head, entries).await {
                Ok(()) => return Ok(()),
                Err(NotTaken::Unknown(_)) if Instant::now() < until => self.back_off().await,
                Err(NotTaken::Unknown(error) | NotTaken::Refused(error)) => return Err(error),
                Err(NotTaken::Behind) => {
                    let reason = format!("somebody else appends to {}; stop that first", self.address);
                    return Err(StoreError::unavailable(reason));
                }
            }
        }
    }

    /// The first event of a stream from a revision on; nothing where there is none.
    pub(super) async fn first_of(
        &mut self,
        stream: &str,
        from: StreamPosition<u64>,
    ) -> Result<Option<RecordedEvent>, Fault> {
        let mut events = Vec::new();
        match self.read_from(stream, from, 1, &mut events).await {
            Ok(_) => Ok(events.pop()),
            Err(Fault::NoStream) => Ok(None),
            Err(fault) => Err(fault),
        }
    }

    /// Reads at most so many events, and says whether there may be more.
    async fn read_from(
        &mut self,
        stream: &str,
        from: StreamPosition<u64>,
        count: usize,
        events: &mut Vec<RecordedEvent>,
    ) -> Result<bool, Fault> {
        let client = self.client()?;
        let mut options = ReadStreamOptions::default().position(from).max_count(count).requires_leader(true);
        if let Some(credentials) = &self.address.credentials {
            options = options.authenticated(credentials.clone());
        }
        let opened = timeout(ANSWERS_WITHIN, client.read_stream(stream, &options)).await;
        let mut reading = self.heard(opened)?;
        let mut bytes = 0;
        loop {
            let next = timeout(ANSWERS_WITHIN, reading.next()).await;
            let Some(event) = self.heard(next)? else { return Ok(events.len() >= count) };
            let event = event.event.ok_or_else(|| Fault::Lost("an event without its parts came".into()))?;
            bytes += event.data.len();
            events.push(event);
            if bytes >= PAGE_BYTES {
                return Ok(true);
            }
        }
    }

    /// Appends to a stream: over the stream of appends that is kept open, or by a call where a server has none.
    pub(super) async fn append_to(
        &mut self,
        stream: &str,
        expected: StreamState,
        events: Vec<EventData>,
    ) -> Result<(), Fault> {
        let client = self.client()?;
        let opened = self.appends.open(&client, &self.address).await;
        let Some(open) = self.heard(opened)? else {
            return self.append_by_call(stream, expected, events).await;
        };
        let appended = timeout(APPENDED_WITHIN, open.append_to_stream(stream, expected, events)).await;
        if let Ok(Ok(_)) = &appended {
            self.appends.keep(open);
        }
        self.heard(appended).map(|_| ())
    }

    async fn append_by_call(
        &mut self,
        stream: &str,
        expected: StreamState,
        events: Vec<EventData>,
    ) -> Result<(), Fault> {
        let client = self.client()?;
        let mut options = AppendToStreamOptions::default()
            .stream_state(expected)
            .requires_leader(true)
            .deadline(ANSWERS_WITHIN);
        if let Some(credentials) = &self.address.credentials {
            options = options.authenticated(credentials.clone());
        }
        let appended = timeout(ANSWERS_WITHIN, client.append_to_stream(stream, &options, events)).await;
        self.heard(appended).map(|_| ())
    }

    fn client(&mut self) -> Result<Client, Fault> {
        if let Some(client) = &self.client {
            return Ok(client.clone());
        }
        let client = Client::new((*self.address.settings).clone())
            .map_err(|error| Fault::Refused(StoreError::unavailable(format!("{}: {error}", self.address))))?;
        Ok(self.client.insert(client).clone())
    }

    fn heard<T>(
        &mut self,
        outcome: Result<eventstore::Result<T>, tokio::time::error::Elapsed>,
    ) -> Result<T, Fault> {
        // A follower names its leader, and the client turns to it by itself.
        let redirected = matches!(outcome, Ok(Err(eventstore::Error::NotLeaderException(_))));
        let outcome = Fault::of(outcome, &self.address);
        match &outcome {
            Err(Fault::Lost(_)) if !redirected => {
                self.client = None;
                self.appends = Appends::default();
            }
            Err(_) => {}
            Ok(_) => self.pause = PAUSE,
        }
        outcome
    }
}

impl Backend for Kurrent {
    const REMOTE: bool = true;
    const PATIENCE: Duration = Duration::from_secs(15);
    // What the server takes at once by default.
    const LIMIT: Option<usize> = Some(1 << 20);

    async fn append(&mut self, head: Head, entries: &[Entry<'_>]) -> Result<(), NotTaken> {
        let events: Result<Vec<EventData>, StoreError> = entries.iter().map(stored::encode).collect();
        let events = events.map_err(NotTaken::Refused)?;
        let expected = match head.position.0.checked_sub(1) {
            Some(revision) => StreamState::StreamRevision(revision),
            None => StreamState::NoStream,
        };
        let log = self.address.log();
        match self.append_to(&log, expected, events).await {
            Ok(()) => Ok(()),
            Err(Fault::Revision(there)) if there.map_or(0, |revision| revision + 1) < head.position.0 => {
                Err(NotTaken::Refused(self.set_back(head, false)))
            }
            Err(Fault::Revision(_) | Fault::Moved) => Err(NotTaken::Behind),
            Err(Fault::Lost(reason)) => Err(NotTaken::Unknown(StoreError::unavailable(reason))),
            Err(fault) => Err(NotTaken::Refused(fault.into())),
        }
    }

    async fn read(&mut self, head: Head) -> Result<Page, Unread> {
        let Some(last) = head.position.0.checked_sub(1) else {
            return Ok(self.page(Position::START).await?);
        };
        self.prepare_appends().await;
        // The head is read again with what follows it: a log that was set back does not have it any more.
        let mut page = match self.events_from(last).await {
            Err(Fault::NoStream) => Page::default(),
            outcome => decoded(outcome.map_err(StoreError::from)?)?,
        };
        let found = page.events.first().map(|first| first.event.hash);
        if found != Some(head.hash) {
            return Err(Unread::SetBack(self.set_back(head, found.is_some())));
        }
        page.events.remove(0);
        Ok(page)
    }

    fn report(&self, failure: Option<&Unread>) {
        let Some(Follower { component, .. }) = &self.follower else { return };
        match failure {
            None => component.recovered(),
            Some(Unread::SetBack(error)) => component.failed(error.reason()),
            Some(Unread::Store(error)) => {
                component.failed(format_args!("{}; edits are refused until this is over", error.reason()));
            }
        }
    }

    async fn due(&mut self) {
        sleep(POLL).await;
    }

    async fn back_off(&mut self) {
        sleep(self.pause).await;
        self.pause = LONGEST_PAUSE.min(self.pause * 2);
    }
}

fn decoded((events, more): (Vec<RecordedEvent>, bool)) -> Result<Page, StoreError> {
    Ok(Page { events: events.iter().map(stored::decode).collect::<Result<_, _>>()?, more })
}

/// How many of the events, at least one, one append takes.
fn fitting(events: &[Replicated]) -> usize {
    let mut bytes = 0;
    let fits = |one: &&Replicated| {
        bytes += stored::bytes(one);
        Kurrent::LIMIT.is_none_or(|limit| bytes <= limit)
    };
    events.iter().take_while(fits).count().max(1)
}
