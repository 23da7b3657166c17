//! Carries the log to NATS JetStream, where the sequence of a message is the position of its event.
//!
//! The relay keeps no checkpoint: it asks the stream how far it is, checks that it ends with the store's own event
//! there, and publishes what follows, each event or atomic batch only if the event before it is the stream's last. So two
//! relays can neither reorder nor repeat anything, and a stream that lost its tail, or all, is filled again by itself.

mod announcing;
mod giving_way;
mod stream;
mod window;

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use async_nats::Client;
use async_nats::connection::State;
use async_nats::jetstream::context::ContextBuilder;
use health::{Component, Health};
use schemas::chain::Hash;
use schemas::cloudevents;
use schemas::envelope::Recorded;
use schemas::ids::Position;
use schemas::subject::EVENTS;
use tokio::sync::watch;
use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;

use crate::event_store::{EventStore, Head, StoreError};
use crate::nats::{InsufficientServer, sufficient};
pub use announcing::Announcer;
use giving_way::GivingWay;
use stream::EventStream;

/// How long an acknowledgement may take.
const ACKNOWLEDGED: Duration = Duration::from_secs(5);

/// How long JetStream may take to answer anything else: one that has lost its leader does not answer, and another one
/// does when it is asked again.
const ANSWERED: Duration = Duration::from_secs(2);

/// How often the stream is looked at while there is nothing to carry.
const LOOK: Duration = Duration::from_secs(1);

/// For how long the stream may be ahead of a log elsewhere before it counts as another log's.
const AHEAD: Duration = Duration::from_secs(5);

/// How often the connection is looked at.
const CONNECTION: Duration = Duration::from_millis(100);

/// The shortest and the longest pause after a failure.
const PAUSES: (Duration, Duration) = (Duration::from_millis(20), Duration::from_secs(1));

/// How far the log has come on NATS.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Relayed {
    /// The last position that JetStream has acknowledged.
    pub position: Position,
    /// Why it does not go on, if it does not, in a sentence that says what to do.
    pub trouble: Option<String>,
}

/// Why the relay starts over, or does not start at all.
#[derive(Debug, thiserror::Error)]
pub enum Interruption {
    /// The stream must not be written to by this store; only an operator can decide.
    #[error("{0}")]
    Refused(String),
    /// The stream is not as it was: another relay was faster, or it lost something.
    #[error("the stream {EVENTS} is not where it was left")]
    Moved,
    /// NATS cannot do it at present.
    #[error("events cannot be published to NATS at present: {0}")]
    Nats(String),
    /// The connection is away.
    #[error("the connection to NATS is away; it is tried again")]
    Disconnected,
    /// The server cannot be worked with.
    #[error(transparent)]
    Insufficient(#[from] InsufficientServer),
    /// The log cannot be read.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl Interruption {
    /// Whether waiting helps: nothing has to be done but to bring NATS or the event store back.
    pub fn may_pass(&self) -> bool {
        matches!(
            self,
            Interruption::Moved
                | Interruption::Nats(_)
                | Interruption::Disconnected
                | Interruption::Store(StoreError::Unavailable { .. })
        )
    }

    pub(crate) fn nats(error: impl std::fmt::Display) -> Interruption {
        Interruption::Nats(error.to_string())
    }
}

/// Carries events from one store to one NATS.
pub struct Relay {
    store: Arc<dyn EventStore>,
    client: Client,
    replicas: usize,
    settings: Option<String>,
    relayed: watch::Sender<Relayed>,
    health: Component,
    /// Where the log ended when the relay began. What was there before is not traced: its traces may be of last year.
    traced: OnceLock<Position>,
}

impl Relay {
    /// A relay that keeps its stream on one server.
    pub fn new(store: Arc<dyn EventStore>, client: Client) -> Relay {
        let health = Health::default().component("relay");
        let relayed = watch::Sender::default();
        Relay { store, client, replicas: 1, settings: None, relayed, health, traced: OnceLock::new() }
    }

    /// Reports its interruptions there.
    pub fn reporting(mut self, health: &Health) -> Relay {
        self.health = health.component("relay");
        self
    }

    /// Keeps the stream on this many servers of a cluster.
    pub fn replicas(mut self, replicas: usize) -> Relay {
        self.replicas = replicas;
        self
    }

    /// Publishes settings that the nodes of a cluster share, as JSON, with the stream.
    pub fn settings(mut self, settings: String) -> Relay {
        self.settings = Some(settings);
        self
    }

    /// How far it is, at any time.
    pub fn watch(&self) -> watch::Receiver<Relayed> {
        self.relayed.subscribe()
    }

    /// Makes the stream, or looks whether it is this store's and no newer than it is. What it says before the start is
    /// for whoever starts it; while it runs, the same is told and tried again.
    pub async fn check(&self) -> Result<(), Interruption> {
        self.agreed(&self.stream().await?).await.map(drop)
    }

    /// Carries events until `stop`, whatever happens to NATS meanwhile.
    pub async fn run(self, stop: CancellationToken) {
        let mut pause = PAUSES.0;
        loop {
            let before = self.relayed.borrow().position;
            let interruption = tokio::select! {
                biased;
                () = stop.cancelled() => return,
                () = self.disconnected() => Interruption::Disconnected,
                interruption = self.carry() => interruption,
            };
            let progressed = self.relayed.borrow().position != before;
            pause = if progressed { PAUSES.0 } else { (pause * 2).min(PAUSES.1) };
            self.tell(&interruption);
            tokio::select! {
                () = stop.cancelled() => return,
                () = sleep(pause) => {}
            }
        }
    }

    /// Publishes what the stream lacks, then waits for more; comes back only when it cannot go on.
    async fn carry(&self) -> Interruption {
        match self.carry_on().await {
            Ok(never) => match never {},
            Err(interruption) => interruption,
        }
    }

    async fn carry_on(&self) -> Result<std::convert::Infallible, Interruption> {
        let stream = self.stream().await?;
        let mut head = self.agreed(&stream).await?;
        self.health.recovered();
        self.relayed.send_replace(Relayed { position: head.position, trouble: None });
        let mut giving_way = GivingWay::default();
        let end = self.store.head().await?.position;
        let traced = *self.traced.get_or_init(|| end);
        loop {
            giving_way.rest(&*self.store, head.position).await?;
            head = window::publish(&*self.store, &stream, head, &mut giving_way, traced, |position| {
                self.relayed.send_replace(Relayed { position, trouble: None });
            })
            .await?;
            tokio::select! {
                beyond = self.store.wait_beyond(head.position) => { beyond?; }
                () = sleep(LOOK) => if stream.last().await? != head.position {
                    return Err(Interruption::Moved);
                },
            }
        }
    }

    async fn stream(&self) -> Result<EventStream, Interruption> {
        sufficient(&self.client)?;
        let jetstream =
            ContextBuilder::new().timeout(ANSWERED).ack_timeout(ACKNOWLEDGED).build(self.client.clone());
        EventStream::ensured(jetstream, self.store.store_id(), self.replicas, self.settings.as_deref()).await
    }

    /// Where the stream ends, once it is sure that it holds the store's own events.
    async fn agreed(&self, stream: &EventStream) -> Result<Head, Interruption> {
        let last = stream.last().await?;
        let head = self.reached(last).await?;
        if last > head {
            return Err(Interruption::Refused(format!(
                "the stream {EVENTS} has {last} events, the event store only {head}: the store is older than what \
                 readers have seen. If it was restored on purpose, delete the stream and rebuild the projections; else \
                 bring back the newer store"
            )));
        }
        if last == Position::START {
            return Ok(Head { position: last, hash: Hash::GENESIS });
        }
        // Where the last attempt ended, a foreign message may have slipped in below those that were under way.
        let resumed = self.relayed.borrow().position.next();
        if resumed < last {
            self.compared(stream, resumed).await?;
        }
        Ok(Head { position: last, hash: self.compared(stream, last).await?.hash })
    }

    /// Returns where the store ends, with everything up to `last` if the log itself goes so far: a replica may lag
    /// behind what another write side has appended and relayed, and a server that has just begun to lead may too.
    async fn reached(&self, last: Position) -> Result<Position, StoreError> {
        let head = self.store.head().await?.position;
        if last <= head || !self.store.is_replica() {
            return Ok(head);
        }
        let until = Instant::now() + AHEAD;
        loop {
            let head = self.store.catch_up().await?;
            if last <= head || Instant::now() >= until {
                return Ok(head);
            }
            sleep(CONNECTION).await;
        }
    }

    /// The event at a position, once it is sure that the stream holds the same there.
    async fn compared(&self, stream: &EventStream, position: Position) -> Result<Recorded, Interruption> {
        let before = Position(position.0 - 1);
        let own = self.store.read_all(before, 1).await?.pop().filter(|event| event.position == position);
        let own =
            own.ok_or_else(|| StoreError::corrupt(format!("the event at position {position} is missing")))?;
        // A message that was trimmed says nothing any more; then the name of the store on the stream must do.
        let Some(message) = stream.message(position).await? else { return Ok(own) };
        let header = |name| message.headers.get(name).map(async_nats::HeaderValue::as_str);
        match cloudevents::parse(header, &message.payload) {
            Ok((event, store)) if store == self.store.store_id() && event.id == own.id && event == own => {
                Ok(own)
            }
            _ => Err(Interruption::Refused(format!(
                "message {position} of the stream {EVENTS} is not event {position} of the event store: they have grown \
                 apart. If the event store is right, delete the stream and rebuild the projections"
            ))),
        }
    }

    /// Comes back when the connection is away, and once there is one again.
    async fn disconnected(&self) {
        while self.client.connection_state() == State::Connected {
            sleep(CONNECTION).await;
        }
        self.tell(&Interruption::Disconnected);
        while self.client.connection_state() != State::Connected {
            sleep(CONNECTION).await;
        }
    }

    /// Tells an interruption where people look.
    fn tell(&self, interruption: &Interruption) {
        let sentence = interruption.to_string();
        if matches!(interruption, Interruption::Moved) {
            // Two relays meet now and then; it is no trouble.
            return tracing::debug!("{sentence}");
        }
        self.health.failed(&sentence);
        self.relayed.send_modify(|relayed| relayed.trouble = Some(sentence));
    }
}
