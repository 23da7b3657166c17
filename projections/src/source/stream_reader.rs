//! Reads the stream EVENTS for shared consumers.

use std::sync::Arc;
use std::time::Duration;

use async_nats::jetstream::stream::RawMessageErrorKind;
use async_nats::jetstream::{self, context::GetStreamErrorKind};
use nats::connection;
use schemas::control::{EventPage, ReadEvents};
use schemas::hash::Hash;
use schemas::ids::Position;
use schemas::subject;
use tokio::sync::Mutex;
use tokio::time::Instant;

use super::consumer::{self, Consumer, Next};
use super::delivery::Delivery;
use super::liveness::{Liveness, LivenessHandle};
use super::shared_consumers::EventSender;
use super::{SourceError, StreamState};

/// After this long without a message, the last sequence of the stream is read: the consumer may be stuck.
const SILENCE: Duration = Duration::from_secs(2);
/// The greatest age of a state of the stream that [`StreamReader::recent_stream`] returns.
const MAX_STREAM_AGE: Duration = Duration::from_millis(900);
/// The most events per request to the event store.
const PAGE_SIZE: usize = 500;
/// How long to wait for such a page of events.
const PAGE_TIMEOUT: Duration = Duration::from_secs(5);

/// The last event that was sent to a shared consumer.
#[derive(Debug, Clone, Copy)]
struct LastEvent {
    position: Position,
    /// Unknown before the first event, and after a message without one.
    hash: Option<Hash>,
}

/// When the state of the stream was requested, and the state; `None` if there was no stream.
type RecentState = (Instant, Option<StreamState>);

/// Reads the stream over one connection.
#[derive(Debug, Clone)]
pub(super) struct StreamReader {
    client: async_nats::Client,
    jetstream: jetstream::Context,
    liveness: Liveness,
    /// The last known state of the stream, and when it was requested.
    recent: Arc<Mutex<Option<RecentState>>>,
}

impl StreamReader {
    pub(super) fn new(client: async_nats::Client) -> StreamReader {
        let jetstream = consumer::jetstream(&client);
        StreamReader { client, jetstream, liveness: Liveness::default(), recent: Arc::default() }
    }

    pub(super) fn client(&self) -> &async_nats::Client {
        &self.client
    }

    pub(super) fn liveness(&self) -> &Liveness {
        &self.liveness
    }

    /// Returns the last position of the stream; [`Position::START`] while there is no stream.
    pub(super) async fn head(&self) -> Result<Position, SourceError> {
        Ok(self.stream().await?.map_or(Position::START, |stream| stream.head))
    }

    /// Returns the state of the stream; `None` while there is no stream.
    pub(super) async fn stream(&self) -> Result<Option<StreamState>, SourceError> {
        match self.jetstream.get_stream(subject::EVENTS).await {
            Ok(stream) => {
                let info = stream.cached_info();
                let created = info.created.unix_timestamp_nanos();
                Ok(Some(StreamState { created, head: Position(info.state.last_sequence) }))
            }
            Err(error) => match error.kind() {
                GetStreamErrorKind::JetStream(inner) if inner.code() == 404 => Ok(None),
                _ => Err(SourceError::Unavailable(error.to_string())),
            },
        }
    }

    /// Returns the state of the stream like [`StreamReader::stream`], at most 0.9 s old: each worker of a node checks it each second,
    /// and one request serves them all.
    pub(super) async fn recent_stream(&self) -> Result<Option<StreamState>, SourceError> {
        let mut recent = self.recent.lock().await;
        if let Some((requested, stream)) = *recent
            && requested.elapsed() < MAX_STREAM_AGE
        {
            return Ok(stream);
        }
        let requested = Instant::now();
        let stream = self.stream().await?;
        *recent = Some((requested, stream));
        Ok(stream)
    }

    /// Sends events to a shared consumer until a gap cannot be filled, or the history is broken. While NATS is unavailable it
    /// retries, and at once over a new connection.
    pub(super) async fn pump(self, sender: EventSender) -> SourceError {
        let mut last = LastEvent { position: sender.after(), hash: None };
        let liveness = self.liveness.add(last.position);
        loop {
            let connected = connection::count(&self.client);
            match self.read(&mut last, &sender, &liveness).await {
                Ok(never) => match never {},
                Err(SourceError::Unavailable(reason)) => {
                    tracing::debug!(reason, after = %last.position, "events cannot be read at present");
                    liveness.failed(&reason);
                    consumer::wait_for_reconnect(&self.client, connected, consumer::RETRY_DELAY).await;
                }
                Err(error @ (SourceError::Gap { .. } | SourceError::Broken(_))) => return error,
            }
        }
    }

    /// Reads with JetStream consumers until one fails.
    async fn read(
        &self,
        last: &mut LastEvent,
        sender: &EventSender,
        liveness: &LivenessHandle,
    ) -> Result<std::convert::Infallible, SourceError> {
        let mut consumer = match self.create_consumer(last.position).await {
            Ok(consumer) => consumer,
            Err(error) => {
                self.read_messages(last, sender, liveness).await?;
                return Err(error);
            }
        };
        loop {
            let messages = match consumer.next(SILENCE).await.map_err(SourceError::Unavailable)? {
                Next::Messages(messages) => messages,
                Next::Silence => {
                    if self.head().await? > last.position {
                        consumer = self.create_consumer(last.position).await?;
                    } else {
                        liveness.heard(last.position);
                    }
                    continue;
                }
            };
            self.deliver(messages, last, sender, liveness).await?;
            liveness.heard(last.position);
        }
    }

    /// Reads message by message, without a consumer. A consumer is created by the leader of the cluster, whose election takes
    /// longer than that of the stream's leader, which answers meanwhile.
    async fn read_messages(
        &self,
        last: &mut LastEvent,
        sender: &EventSender,
        liveness: &LivenessHandle,
    ) -> Result<(), SourceError> {
        let stream = self.jetstream.get_stream_no_info(subject::EVENTS).await.map_err(unavailable)?;
        for _ in 0..PAGE_SIZE {
            let position = last.position.next();
            let message = match stream.get_raw_message(position.0).await {
                Ok(message) => message,
                Err(error) if error.kind() == RawMessageErrorKind::NoMessageFound => {
                    // The end of the stream, or a gap: only a consumer tells them apart.
                    return Ok(());
                }
                Err(error) => return Err(unavailable(error)),
            };
            let next = Delivery::from_stream(position, Some(&message.headers), &message.payload, last.hash);
            if next.breaks_chain_after(last.hash) {
                return Err(SourceError::Broken(position));
            }
            *last = LastEvent { position, hash: next.hash() };
            send(sender, liveness, vec![next]).await;
            liveness.heard(position);
        }
        Ok(())
    }

    /// Sends messages to a shared consumer, and before them the events of gaps.
    async fn deliver(
        &self,
        messages: Vec<jetstream::Message>,
        last: &mut LastEvent,
        sender: &EventSender,
        liveness: &LivenessHandle,
    ) -> Result<(), SourceError> {
        // `last` is what was sent, `read` what was read.
        let (mut deliveries, mut read) = (Vec::with_capacity(messages.len()), *last);
        for message in messages {
            let position = Position(message.info().map_err(unavailable)?.stream_sequence);
            if position <= read.position {
                continue;
            }
            if position > read.position.next() {
                send(sender, liveness, std::mem::take(&mut deliveries)).await;
                *last = read;
                self.fill_gap(last, position, sender, liveness).await?;
                read = *last;
            }
            let next = Delivery::from_stream(position, message.headers.as_ref(), &message.payload, read.hash);
            if next.breaks_chain_after(read.hash) {
                send(sender, liveness, deliveries).await;
                *last = read;
                return Err(SourceError::Broken(position));
            }
            read = LastEvent { position, hash: next.hash() };
            deliveries.push(next);
        }
        send(sender, liveness, deliveries).await;
        *last = read;
        Ok(())
    }

    async fn create_consumer(&self, after: Position) -> Result<Consumer, SourceError> {
        let consumer = Consumer::create(&self.jetstream, subject::EVENTS, after.0).await;
        consumer.map_err(SourceError::Unavailable)
    }

    /// Fills the gap before the position `found` with events of the event store.
    async fn fill_gap(
        &self,
        last: &mut LastEvent,
        found: Position,
        sender: &EventSender,
        liveness: &LivenessHandle,
    ) -> Result<(), SourceError> {
        tracing::warn!(after = %last.position, %found, "the stream has a gap; requesting the events from the event store");
        while last.position.next() < found {
            let missing = usize::try_from(found.0 - last.position.0 - 1).unwrap_or(usize::MAX);
            let wanted = last.position.next();
            let gap = |reason: String| SourceError::Gap { wanted, found, reason };
            let request = self.request_events(last.position, missing.min(PAGE_SIZE));
            let page = tokio::time::timeout(PAGE_TIMEOUT, request).await;
            let page = page.unwrap_or_else(|elapsed| Err(elapsed.to_string())).map_err(gap)?;
            let mut events = Vec::with_capacity(page.events.len());
            let mut read = *last;
            for event in page.events.into_iter().take(missing) {
                if event.position != read.position.next() {
                    break;
                }
                let next = Delivery::from_store(event, read.hash);
                read = LastEvent { position: next.position, hash: next.hash() };
                events.push(next);
            }
            if events.is_empty() {
                return Err(gap("it does not hold it".into()));
            }
            send(sender, liveness, events).await;
            *last = read;
        }
        Ok(())
    }

    /// Requests a page of the log from the write side.
    pub(super) async fn request_events(&self, after: Position, limit: usize) -> Result<EventPage, String> {
        let request =
            serde_json::to_vec(&ReadEvents { after, limit, stream: None }).map_err(|e| e.to_string())?;
        let answer =
            self.client.request(subject::READ_EVENTS, request.into()).await.map_err(|e| e.to_string())?;
        serde_json::from_slice(&answer.payload).map_err(|e| e.to_string())
    }
}

/// Sends events to a shared consumer, which may wait for its subscribers.
async fn send(sender: &EventSender, liveness: &LivenessHandle, events: Vec<Delivery>) {
    liveness.set_waiting(true);
    sender.send(events).await;
    liveness.set_waiting(false);
}

fn unavailable(error: impl std::fmt::Display) -> SourceError {
    SourceError::Unavailable(error.to_string())
}
