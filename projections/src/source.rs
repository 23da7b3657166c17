//! The events of the log, in order and without a gap, from the stream EVENTS.
//!
//! A JetStream consumer skips messages that were lost without an error, so each sequence is compared with the one before;
//! missing events are requested from the event store by `loggia.read.events`.
//!
//! All projections of a node that have caught up share one consumer, so that each event is decoded once.

pub(crate) mod consumer;
mod delivery;
mod liveness;
mod log_head;
mod shared_consumers;
mod stream_reader;

use std::sync::Arc;
use std::time::Duration;

use health::Health;
use nats::connection;
use schemas::envelope::Recorded;
use schemas::hash::Hash;
use schemas::ids::Position;

use log_head::LogHeadMonitor;
use shared_consumers::{Bounds, SharedConsumers};
use stream_reader::StreamReader;

pub use delivery::{DecodedEvent, Delivery};
pub use shared_consumers::{Sharing, Subscription};

/// The source of events of a node's projections. Clones share what they read.
#[derive(Debug, Clone)]
pub struct EventSource {
    reader: StreamReader,
    consumers: Arc<SharedConsumers>,
    log_head: Arc<LogHeadMonitor>,
}

/// How long to wait for the message at a position.
const MESSAGE_TIMEOUT: Duration = Duration::from_secs(5);

/// How long to wait for an event from the write side's log.
const WRITE_SIDE_TIMEOUT: Duration = Duration::from_secs(2);

/// The log that the stream carries.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StreamLog {
    /// The event store of the log; unknown while the stream is empty.
    pub store: Option<String>,
    /// The last position in the stream.
    pub head: Position,
}

/// The state of the stream on the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct StreamState {
    /// When it was created, in nanoseconds since 1970: tells it from a later stream of the same name.
    pub(crate) created: i128,
    pub(crate) head: Position,
}

/// Events cannot be read at present.
#[derive(Debug, Clone, thiserror::Error)]
pub enum SourceError {
    /// NATS cannot be reached, or there is no stream.
    #[error("events cannot be read from NATS at present: {0}")]
    Unavailable(String),
    /// The stream has a gap that the event store did not fill.
    #[error(
        "the stream EVENTS continues at {found} where {wanted} was expected, and the event store could not be asked for \
         what is missing ({reason}); start the write side"
    )]
    Gap {
        /// The position that is missing.
        wanted: Position,
        /// The next position in the stream.
        found: Position,
        /// Why the event store did not fill it.
        reason: String,
    },
    /// Two consecutive messages have different histories: the stream was filled again meanwhile, or is damaged.
    #[error(
        "the event at {0} in the stream EVENTS does not follow the one before it; if it stays so, the stream is \
         damaged: delete it and start the write side, which fills it again"
    )]
    Broken(Position),
}

impl EventSource {
    /// Creates a source that reads over this connection.
    pub fn new(client: async_nats::Client) -> EventSource {
        EventSource::with_health(client, &Health::default())
    }

    /// Creates a source that also reports to `health` when events cannot be read or do not arrive.
    pub fn with_health(client: async_nats::Client, health: &Health) -> EventSource {
        let reader = StreamReader::new(client);
        let pump = reader.clone();
        let consumers = SharedConsumers::new(Bounds::default(), move |sender| pump.clone().pump(sender));
        EventSource { reader, consumers, log_head: Arc::new(LogHeadMonitor::new(health.clone())) }
    }

    /// Returns the connection.
    pub fn client(&self) -> &async_nats::Client {
        self.reader.client()
    }

    /// Returns the last position of the stream; [`Position::START`] while there is no stream.
    ///
    /// # Errors
    ///
    /// Fails when NATS does not answer.
    pub async fn stream_head(&self) -> Result<Position, SourceError> {
        self.reader.head().await
    }

    /// Returns the last position of the log. It is asked of the write side, because the stream may lag, or have been lost and
    /// be filled again; without an answer, that of the stream is returned.
    ///
    /// # Errors
    ///
    /// Fails when NATS does not answer.
    pub async fn log_head(&self) -> Result<Position, SourceError> {
        self.log_head.current(&self.reader).await
    }

    /// Returns the last known position of the log without waiting; `None` before the first answer.
    pub fn last_known_log_head(&self) -> Option<Position> {
        self.log_head.last_known(&self.reader)
    }

    /// Waits before a retry; returns at once when the connection was established again.
    pub async fn wait_for_reconnect(&self, wait: Duration) {
        let connected = connection::count(self.client());
        consumer::wait_for_reconnect(self.client(), connected, wait).await;
    }

    /// Returns the time since the last message or answer, of the consumer for which it is longest; one that waits for its
    /// subscribers does not count.
    pub fn longest_silence(&self) -> Duration {
        self.reader.liveness().longest_silence()
    }

    /// Returns the event store and the last position of the stream.
    ///
    /// # Errors
    ///
    /// Fails when NATS does not answer.
    pub async fn stream_log(&self) -> Result<StreamLog, SourceError> {
        let head = self.stream_head().await?;
        let last = self.event_at(head).await?;
        let decoded = last.as_ref().and_then(|delivery| delivery.decoded.as_ref().ok());
        let store = decoded.and_then(|decoded| decoded.store).map(|store| store.to_string());
        Ok(StreamLog { store, head })
    }

    /// Returns the message at a position; `None` if it does not come within [`MESSAGE_TIMEOUT`] because the stream was emptied.
    pub(crate) async fn event_at(&self, position: Position) -> Result<Option<Arc<Delivery>>, SourceError> {
        let Some(before) = position.0.checked_sub(1) else { return Ok(None) };
        let mut subscription = self.subscribe_dedicated(Position(before));
        let batch =
            tokio::time::timeout(MESSAGE_TIMEOUT, subscription.next(1)).await.unwrap_or(Ok(Vec::new()))?;
        Ok(batch.into_iter().next())
    }

    /// Returns the state of the stream, at most a second old; `None` while there is no stream.
    pub(crate) async fn stream(&self) -> Result<Option<StreamState>, SourceError> {
        self.reader.recent_stream().await
    }

    /// Returns the event at a position of the write side's log, if there is one, and the last position of that log; `None` if
    /// no write side answers.
    pub(crate) async fn logged_at(&self, position: Position) -> Option<(Option<Recorded>, Position)> {
        let before = Position(position.0.checked_sub(1)?);
        let page = tokio::time::timeout(WRITE_SIDE_TIMEOUT, self.reader.request_events(before, 1))
            .await
            .ok()?
            .ok()?;
        let event = page.events.into_iter().next().filter(|event| event.position == position);
        Some((event, page.head))
    }

    /// Returns the event after a position in the write side's log, if it follows the event with this hash: it replaces a damaged
    /// message. `None` if no write side answers, or its log has another history.
    pub(crate) async fn logged_after(&self, after: Position, hash: Hash) -> Option<Delivery> {
        let (event, _) = self.logged_at(after.next()).await?;
        let delivery = Delivery::from_store(event?, Some(hash));
        if !delivery.follows(Some(hash)) {
            return None;
        }
        tracing::warn!(
            position = %delivery.position,
            "the message in the stream EVENTS is damaged; its event was taken from the event store"
        );
        Some(delivery)
    }

    /// Subscribes to all events after a position, sharing a consumer if one can serve them.
    pub fn subscribe(&self, after: Position) -> Subscription {
        self.subscribe_with(after, Sharing::Shared)
    }

    /// Subscribes to all events after a position, with the given sharing.
    pub fn subscribe_with(&self, after: Position, sharing: Sharing) -> Subscription {
        Subscription::new(&self.consumers, after, sharing)
    }

    /// Subscribes with a consumer of its own: a replay reads what the server holds, and not events cached by this node.
    pub fn subscribe_dedicated(&self, after: Position) -> Subscription {
        self.subscribe_with(after, Sharing::Dedicated)
    }
}
