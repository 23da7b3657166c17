//! Publishes the event log to NATS JetStream in order: the sequence of a message is the position of its event.
//!
//! The relay keeps no checkpoint: it reads the stream's last sequence, checks that this message is the log's event at that
//! position, and publishes the events after it, each event or atomic batch with the expected last sequence. So two relays
//! neither reorder nor repeat events, and a stream that lost its tail, or everything, is refilled.

mod announcing;
mod stream;
mod throttle;
mod window;

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use async_nats::Client;
use async_nats::connection::State;
use async_nats::jetstream::context::ContextBuilder;
use event_log::{EventLog, Head, StoreError};
use health::{Component, Health};
use nats::requirements::{self, InsufficientServer};
use schemas::cloudevents;
use schemas::envelope::Recorded;
use schemas::hash::Hash;
use schemas::ids::Position;
use schemas::subject::EVENTS;
use tokio::sync::watch;
use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;

pub use announcing::Announcer;
use stream::EventStream;
use throttle::Throttle;

/// The timeout of an acknowledgement.
const ACKNOWLEDGED: Duration = Duration::from_secs(5);

/// The timeout of other JetStream requests: a stream without a leader does not answer, and a second request reaches the next
/// leader.
const ANSWERED: Duration = Duration::from_secs(2);

/// How often the stream is checked while there is nothing to publish.
const LOOK: Duration = Duration::from_secs(1);

/// How long the stream may be ahead of a remote log before it counts as the stream of another log.
const AHEAD: Duration = Duration::from_secs(5);

/// How often the connection is checked.
const CONNECTION: Duration = Duration::from_millis(100);

/// The shortest and the longest delay after a failure.
const PAUSES: (Duration, Duration) = (Duration::from_millis(20), Duration::from_secs(1));

/// How far the log is published.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Relayed {
    /// The last position that JetStream acknowledged.
    pub position: Position,
    /// Why publishing is interrupted, in a sentence that says what to do; `None` while it works.
    pub trouble: Option<String>,
}

/// Why the relay was interrupted or did not start.
#[derive(Debug, thiserror::Error)]
pub enum Interruption {
    /// The stream belongs to another store; an operator has to decide.
    #[error("{0}")]
    Refused(String),
    /// The stream changed: another relay was faster, or messages were lost.
    #[error("the stream {EVENTS} is not where it was left")]
    Moved,
    /// NATS refused or timed out.
    #[error("events cannot be published to NATS at present: {0}")]
    Nats(String),
    /// There is no connection.
    #[error("the connection to NATS is away; it is tried again")]
    Disconnected,
    /// The server has an unsupported version or configuration.
    #[error(transparent)]
    Insufficient(#[from] InsufficientServer),
    /// The event log cannot be read.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl Interruption {
    /// Returns whether a retry can succeed once NATS or the event store is back.
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

/// Publishes the events of one store to one NATS.
pub struct Relay {
    store: Arc<EventLog>,
    client: Client,
    replicas: usize,
    settings: Option<String>,
    relayed: watch::Sender<Relayed>,
    health: Component,
    /// The end of the log when the relay started. Earlier events are not traced: their traces may be a year old.
    traced: OnceLock<Position>,
}

impl Relay {
    /// Returns a relay with one replica of its stream.
    pub fn new(store: Arc<EventLog>, client: Client) -> Relay {
        let health = Health::default().component("relay");
        let relayed = watch::Sender::default();
        Relay { store, client, replicas: 1, settings: None, relayed, health, traced: OnceLock::new() }
    }

    /// Reports interruptions to this component.
    pub fn reporting(mut self, health: &Health) -> Relay {
        self.health = health.component("relay");
        self
    }

    /// Sets the number of replicas of the stream in a cluster.
    pub fn replicas(mut self, replicas: usize) -> Relay {
        self.replicas = replicas;
        self
    }

    /// Publishes the settings that all nodes share, as JSON, in the metadata of the stream.
    pub fn settings(mut self, settings: String) -> Relay {
        self.settings = Some(settings);
        self
    }

    /// Returns the current progress.
    pub fn watch(&self) -> watch::Receiver<Relayed> {
        self.relayed.subscribe()
    }

    /// Creates the stream, or checks that it belongs to this store and is not ahead of it. Before the start an error is returned to
    /// the caller; while running, the same check is logged and retried.
    pub async fn check(&self) -> Result<(), Interruption> {
        self.agreed(&self.stream().await?).await.map(drop)
    }

    /// Publishes events until `stop`, and retries whatever happens to NATS.
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

    /// Publishes what the stream lacks, then waits for more; returns only on an interruption.
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
        let mut throttle = Throttle::default();
        let end = self.store.head().await?.position;
        let traced = *self.traced.get_or_init(|| end);
        loop {
            throttle.wait(&self.store, head.position).await?;
            head = window::publish(&self.store, &stream, head, &mut throttle, traced, |position| {
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
        requirements::check(&self.client)?;
        let jetstream =
            ContextBuilder::new().timeout(ANSWERED).ack_timeout(ACKNOWLEDGED).build(self.client.clone());
        EventStream::ensured(jetstream, self.store.store_id(), self.replicas, self.settings.as_deref()).await
    }

    /// Returns the last position of the stream, after checking that it holds this store's events.
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
        // After an interrupted attempt, another publisher's message may precede those that were in flight.
        let resumed = self.relayed.borrow().position.next();
        if resumed < last {
            self.compared(stream, resumed).await?;
        }
        Ok(Head { position: last, hash: self.compared(stream, last).await?.hash })
    }

    /// Returns the last position of the store, waiting for `last` if the log goes that far: a replica may lag behind what another
    /// write side appended and relayed, and so may a new leader.
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

    /// Returns the event at a position, after checking that the stream has the same one there.
    async fn compared(&self, stream: &EventStream, position: Position) -> Result<Recorded, Interruption> {
        let before = Position(position.0 - 1);
        let own = self.store.read_all(before, 1).await?.pop().filter(|event| event.position == position);
        let own =
            own.ok_or_else(|| StoreError::corrupt(format!("the event at position {position} is missing")))?;
        // A trimmed message cannot be compared; then the store's name in the stream's metadata decides.
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

    /// Returns when the connection was lost and is back.
    async fn disconnected(&self) {
        while self.client.connection_state() == State::Connected {
            sleep(CONNECTION).await;
        }
        self.tell(&Interruption::Disconnected);
        while self.client.connection_state() != State::Connected {
            sleep(CONNECTION).await;
        }
    }

    /// Reports an interruption in the log, the metrics and the status.
    fn tell(&self, interruption: &Interruption) {
        let sentence = interruption.to_string();
        if matches!(interruption, Interruption::Moved) {
            // Two relays may meet; this is harmless.
            return tracing::debug!("{sentence}");
        }
        self.health.failed(&sentence);
        self.relayed.send_modify(|relayed| relayed.trouble = Some(sentence));
    }
}
