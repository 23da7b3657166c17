//! Publishes the event log to NATS JetStream in order: the sequence of a message is the position of its event.
//!
//! The relay keeps no checkpoint: it reads the stream's last sequence, checks that this message is the log's event at that
//! position, and publishes the events after it, each event or atomic batch with the expected last sequence. So two relays
//! neither reorder nor repeat events, and a stream that lost its tail, or everything, is refilled.

mod announcer;
mod stream;
mod throttle;
mod window;

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use async_nats::Client;
use async_nats::jetstream::context::ContextBuilder;
use event_log::{EventLog, Head, StoreError};
use health::{Component, Health};
use nats::connection;
use nats::requirements::{self, InsufficientServer};
use schemas::cloudevents;
use schemas::envelope::Recorded;
use schemas::hash::Hash;
use schemas::ids::Position;
use schemas::subject::EVENTS;
use tokio::sync::watch;
use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;

pub use announcer::Announcer;
use stream::EventStream;
use throttle::Throttle;

const ACK_TIMEOUT: Duration = Duration::from_secs(5);

/// The timeout of other JetStream requests: a stream without a leader does not answer, and a second request reaches the next
/// leader.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(2);

/// How often the stream is checked while there is nothing to publish.
const CHECK_INTERVAL: Duration = Duration::from_secs(1);

/// How long the stream may be ahead of a remote log before it counts as the stream of another log.
const AHEAD_TOLERANCE: Duration = Duration::from_secs(5);

/// The interval at which a replica that may lag behind is asked again.
const CATCH_UP_INTERVAL: Duration = Duration::from_millis(100);

/// The shortest and the longest delay after a failure.
const RETRY_PAUSES: (Duration, Duration) = (Duration::from_millis(20), Duration::from_secs(1));

/// How far the log is published.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RelayProgress {
    /// The last position that JetStream acknowledged.
    pub position: Position,
    /// Why publishing is interrupted, in a sentence that says what to do; `None` while it works.
    pub failure: Option<String>,
}

/// Why the relay was interrupted or did not start.
#[derive(Debug, thiserror::Error)]
pub enum RelayError {
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
    #[error("there is no connection to NATS; the connection is tried again")]
    Disconnected,
    /// The server has an unsupported version or configuration.
    #[error(transparent)]
    Insufficient(#[from] InsufficientServer),
    /// The event log cannot be read.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl RelayError {
    /// Returns whether a retry can succeed once NATS or the event store is back.
    pub fn is_transient(&self) -> bool {
        matches!(
            self,
            RelayError::Moved
                | RelayError::Nats(_)
                | RelayError::Disconnected
                | RelayError::Store(StoreError::Unavailable(_))
        )
    }

    pub(crate) fn nats(error: impl std::fmt::Display) -> RelayError {
        RelayError::Nats(error.to_string())
    }
}

/// Publishes the events of one log to one NATS server or cluster.
pub struct Relay {
    log: Arc<EventLog>,
    client: Client,
    replicas: usize,
    settings: Option<String>,
    relayed: watch::Sender<RelayProgress>,
    health: Component,
    /// The end of the log when the relay started. Earlier events are not traced: their traces may be a year old.
    traced: OnceLock<Position>,
}

impl Relay {
    /// Returns a relay with one replica of its stream.
    pub fn new(log: Arc<EventLog>, client: Client) -> Relay {
        let health = Health::default().component("relay");
        let relayed = watch::Sender::default();
        Relay { log, client, replicas: 1, settings: None, relayed, health, traced: OnceLock::new() }
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
    pub fn watch(&self) -> watch::Receiver<RelayProgress> {
        self.relayed.subscribe()
    }

    /// Creates the stream, or checks that it belongs to this store and is not ahead of it. Before the start an error is returned to
    /// the caller; while running, the same check is logged and retried.
    ///
    /// # Errors
    ///
    /// Fails if the stream cannot be used, or NATS or the log cannot be reached.
    pub async fn check(&self) -> Result<(), RelayError> {
        self.checked_head(&self.stream().await?).await.map(drop)
    }

    /// Publishes events until `stop`, and retries whatever happens to NATS.
    pub async fn run(self, stop: CancellationToken) {
        let mut pause = RETRY_PAUSES.0;
        loop {
            let before = self.relayed.borrow().position;
            let error = tokio::select! {
                biased;
                () = stop.cancelled() => return,
                () = self.reconnected() => RelayError::Disconnected,
                error = self.publish_until_interrupted() => error,
            };
            let progressed = self.relayed.borrow().position != before;
            pause = if progressed { RETRY_PAUSES.0 } else { (pause * 2).min(RETRY_PAUSES.1) };
            self.report(&error);
            tokio::select! {
                () = stop.cancelled() => return,
                () = sleep(pause) => {}
            }
        }
    }

    /// Publishes what the stream lacks, then waits for more; returns only on an error.
    async fn publish_until_interrupted(&self) -> RelayError {
        match self.publish_all().await {
            Ok(never) => match never {},
            Err(error) => error,
        }
    }

    async fn publish_all(&self) -> Result<std::convert::Infallible, RelayError> {
        let stream = self.stream().await?;
        let mut head = self.checked_head(&stream).await?;
        self.health.recovered();
        self.relayed.send_replace(RelayProgress { position: head.position, failure: None });
        let mut throttle = Throttle::default();
        let end = self.log.head().await?.position;
        let traced = *self.traced.get_or_init(|| end);
        loop {
            throttle.wait(&self.log, head.position).await?;
            head = window::publish(&self.log, &stream, head, &mut throttle, traced, |position| {
                self.relayed.send_replace(RelayProgress { position, failure: None });
            })
            .await?;
            tokio::select! {
                beyond = self.log.wait_beyond(head.position) => { beyond?; }
                () = sleep(CHECK_INTERVAL) => if stream.last().await? != head.position {
                    return Err(RelayError::Moved);
                },
            }
        }
    }

    async fn stream(&self) -> Result<EventStream, RelayError> {
        requirements::check(&self.client)?;
        let jetstream = ContextBuilder::new()
            .timeout(REQUEST_TIMEOUT)
            .ack_timeout(ACK_TIMEOUT)
            .build(self.client.clone());
        EventStream::ensure(jetstream, self.log.store_id(), self.replicas, self.settings.as_deref()).await
    }

    /// Returns the last position of the stream, after checking that it holds this store's events.
    async fn checked_head(&self, stream: &EventStream) -> Result<Head, RelayError> {
        let last = stream.last().await?;
        let head = self.wait_for(last).await?;
        if last > head {
            return Err(RelayError::Refused(format!(
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
            self.compare(stream, resumed).await?;
        }
        Ok(Head { position: last, hash: self.compare(stream, last).await?.hash })
    }

    /// Returns the last position of the store, waiting for `last` if the log goes that far: a replica may lag behind what another
    /// write side appended and relayed, and so may a new leader.
    async fn wait_for(&self, last: Position) -> Result<Position, StoreError> {
        let head = self.log.head().await?.position;
        if last <= head || !self.log.is_replica() {
            return Ok(head);
        }
        let until = Instant::now() + AHEAD_TOLERANCE;
        loop {
            let head = self.log.catch_up().await?;
            if last <= head || Instant::now() >= until {
                return Ok(head);
            }
            sleep(CATCH_UP_INTERVAL).await;
        }
    }

    /// Returns the event at a position, after checking that the stream has the same one there.
    async fn compare(&self, stream: &EventStream, position: Position) -> Result<Recorded, RelayError> {
        let before = Position(position.0 - 1);
        let own = self.log.read_all(before, 1).await?.pop().filter(|event| event.position == position);
        let own =
            own.ok_or_else(|| StoreError::corrupt(format!("the event at position {position} is missing")))?;
        // A trimmed message cannot be compared; then the store's name in the stream's metadata decides.
        let Some(message) = stream.message(position).await? else { return Ok(own) };
        let header = |name| message.headers.get(name).map(async_nats::HeaderValue::as_str);
        match cloudevents::parse(header, &message.payload) {
            Ok((event, store)) if store == self.log.store_id() && event.id == own.id && event == own => {
                Ok(own)
            }
            _ => Err(RelayError::Refused(format!(
                "message {position} of the stream {EVENTS} is not event {position} of the event store: they have grown \
                 apart. If the event store is right, delete the stream and rebuild the projections"
            ))),
        }
    }

    /// Returns after the connection was lost and is back.
    async fn reconnected(&self) {
        connection::wait_until(&self.client, |client| !connection::is_connected(client)).await;
        self.report(&RelayError::Disconnected);
        connection::wait_until(&self.client, connection::is_connected).await;
    }

    /// Reports an error in the log, the metrics and the status.
    fn report(&self, error: &RelayError) {
        let sentence = error.to_string();
        if matches!(error, RelayError::Moved) {
            // Two relays may meet; this is harmless.
            return tracing::debug!("{sentence}");
        }
        self.health.failed(&sentence);
        self.relayed.send_modify(|relayed| relayed.failure = Some(sentence));
    }
}
