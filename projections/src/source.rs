//! The events, in order and without a hole, from the stream EVENTS.
//!
//! A JetStream consumer jumps silently over messages that are gone, so every sequence is checked against the one
//! before; what is missing is asked of the event store by `loggia.read.events`.
//!
//! Whoever is at the same place reads together: one consumer and one decoding serve all projections of a node.

mod arrived;
pub(crate) mod consumer;
mod feed;
mod feeds;
mod following;
mod hearing;
mod log_head;
mod reading;
mod window;

use std::sync::Arc;
use std::time::Duration;

use health::Health;
use schemas::envelope::Recorded;
use schemas::hash::Hash;
use schemas::ids::Position;

pub use arrived::{Arrived, Found};
pub use feed::Sharing;
pub use following::Following;

use feeds::Feeds;
use log_head::LogHeads;
use reading::StreamReader;
use window::Bounds;

/// Where the projections of a node get their events from. Its clones share what they read.
#[derive(Debug, Clone)]
pub struct EventSource {
    reader: StreamReader,
    feeds: Arc<Feeds>,
    heads: Arc<LogHeads>,
}

/// How long the last event may take to come.
const LAST_WITHIN: Duration = Duration::from_secs(5);

/// How long the write side may take to tell what stands in its log.
const TOLD_WITHIN: Duration = Duration::from_secs(2);

/// What the stream carries.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Carried {
    /// The event store whose log it is; unknown while it holds no event.
    pub store: Option<String>,
    /// Its last position.
    pub head: Position,
}

/// The stream as the server describes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct StreamState {
    /// When it was made, in nanoseconds since 1970: one of the same name that was made later is another.
    pub(crate) created: i128,
    /// Its last position.
    pub(crate) head: Position,
}

/// Events cannot be had at present.
#[derive(Debug, Clone, thiserror::Error)]
pub enum SourceError {
    /// NATS or the stream is away.
    #[error("events cannot be read from NATS at present: {0}")]
    Unavailable(String),
    /// The stream has a hole that the event store did not fill.
    #[error(
        "the stream EVENTS goes on at {found} where {wanted} was wanted, and the event store could not be asked for \
         what is missing ({reason}); start the write side"
    )]
    Gap {
        /// The position that is missing.
        wanted: Position,
        /// The position that came.
        found: Position,
        /// Why the store did not answer.
        reason: String,
    },
    /// Two messages in a row are not of one history: the stream was filled again meanwhile, or is damaged.
    #[error(
        "the event at {position} in the stream EVENTS does not follow the one before it; if it stays so, the stream is \
         damaged: delete it and start the write side, which fills it again"
    )]
    Broken {
        /// Where the later one stands.
        position: Position,
    },
}

impl EventSource {
    /// Reads from the server behind this connection.
    pub fn new(client: async_nats::Client) -> EventSource {
        EventSource::reporting(client, &Health::default())
    }

    /// As [`EventSource::new`], and reports there when events cannot be read or are missed.
    pub fn reporting(client: async_nats::Client, health: &Health) -> EventSource {
        let reader = StreamReader::new(client);
        let pump = reader.clone();
        let feeds = Feeds::new(Bounds::default(), move |feeder| pump.clone().pump(feeder));
        EventSource { reader, feeds, heads: Arc::new(LogHeads::new(health.clone())) }
    }

    /// The connection that it reads from.
    pub fn client(&self) -> &async_nats::Client {
        self.reader.client()
    }

    /// The last position that the stream holds; the start while there is no stream yet.
    pub async fn head(&self) -> Result<Position, SourceError> {
        self.reader.head().await
    }

    /// The last position of the log as the write side tells it, for the stream may be behind it, or have been lost and be
    /// filled anew; where it tells nothing, that of the stream.
    pub async fn head_of_log(&self) -> Result<Position, SourceError> {
        self.heads.current(&self.reader).await
    }

    /// As [`EventSource::head_of_log`], as it was last heard, without waiting; none before the first answer.
    pub fn head_heard(&self) -> Option<Position> {
        self.heads.heard(&self.reader)
    }

    /// Waits before what failed is tried again; a new connection ends that at once.
    pub async fn pause(&self, wait: Duration) {
        let connected = consumer::connects(self.client());
        consumer::pause(self.client(), connected, wait).await;
    }

    /// How long nothing was heard of the stream by the reading that has heard nothing for longest, though it listens.
    pub fn unheard(&self) -> Duration {
        self.reader.hearing().unheard()
    }

    /// Whose log the stream carries, and how far.
    pub async fn carried(&self) -> Result<Carried, SourceError> {
        let head = self.head().await?;
        let last = self.event_at(head).await?;
        let found = last.as_ref().and_then(|arrived| arrived.found.as_ref().ok());
        let store = found.and_then(|found| found.store).map(|store| store.to_string());
        Ok(Carried { store, head })
    }

    /// What the stream holds at a position; `None` where it does not come within some seconds, as from a stream that was
    /// emptied.
    pub(crate) async fn event_at(&self, position: Position) -> Result<Option<Arc<Arrived>>, SourceError> {
        let Some(before) = position.0.checked_sub(1) else { return Ok(None) };
        let mut following = self.follow_apart(Position(before));
        let batch = tokio::time::timeout(LAST_WITHIN, following.next(1)).await.unwrap_or(Ok(Vec::new()))?;
        Ok(batch.into_iter().next())
    }

    /// The stream as it is now; `None` while there is none yet.
    pub(crate) async fn stream(&self) -> Result<Option<StreamState>, SourceError> {
        self.reader.stream().await
    }

    /// The event at a position as the write side's log has it, and the last position of that log; `None` where no write
    /// side answers.
    pub(crate) async fn logged_at(&self, position: Position) -> Option<(Option<Recorded>, Position)> {
        let before = Position(position.0.checked_sub(1)?);
        let page = tokio::time::timeout(TOLD_WITHIN, self.reader.read_events(before, 1)).await.ok()?.ok()?;
        let event = page.events.into_iter().next().filter(|event| event.position == position);
        Some((event, page.head))
    }

    /// The event after a position as the write side's log has it, if it follows the event with this hash there: what to take
    /// in the place of a message that is damaged. `None` where no write side answers, or its log has another history.
    pub(crate) async fn logged_after(&self, after: Position, hash: Hash) -> Option<Arrived> {
        let (event, _) = self.logged_at(after.next()).await?;
        let arrived = Arrived::from_store(event?, Some(hash));
        if !arrived.follows(Some(hash)) {
            return None;
        }
        tracing::warn!(
            position = %arrived.position,
            "the message in the stream EVENTS is damaged; its event was taken from the event store"
        );
        Some(arrived)
    }

    /// Everything behind this position, as it comes, together with whoever else is there.
    pub fn follow(&self, after: Position) -> Following {
        self.follow_as(after, Sharing::Shared)
    }

    /// As [`EventSource::follow`], together with others or not.
    pub fn follow_as(&self, after: Position, sharing: Sharing) -> Following {
        Following::new(&self.feeds, after, sharing)
    }

    /// As [`EventSource::follow`], but read alone: a replay gets what the server holds, never what this node remembers.
    pub fn follow_apart(&self, after: Position) -> Following {
        self.follow_as(after, Sharing::Apart)
    }
}
