//! Reads the stream EVENTS into a feed.

use std::time::Duration;

use async_nats::jetstream::stream::RawMessageErrorKind;
use async_nats::jetstream::{self, context::GetStreamErrorKind};
use schemas::control::{EventPage, ReadEvents};
use schemas::hash::Hash;
use schemas::ids::Position;
use schemas::subject;

use super::arrived::Arrived;
use super::consumer::{self, Consumer, Next};
use super::feeds::Feeder;
use super::hearing::{Ear, Hearing};
use super::{SourceError, StreamState};

/// A silence after which the stream's last sequence is asked for, should the consumer be stuck.
const SILENCE: Duration = Duration::from_secs(2);
/// Events asked for at once where the stream has a hole.
const PAGE: usize = 500;
/// How long a page of the log may take to come.
const PAGE_WITHIN: Duration = Duration::from_secs(5);

/// How far a feed was filled.
#[derive(Debug, Clone, Copy)]
struct Place {
    /// The last event that it has.
    after: Position,
    /// Its hash, once it was read.
    hash: Option<Hash>,
}

/// A connection over which the stream is read.
#[derive(Debug, Clone)]
pub(super) struct StreamReader {
    client: async_nats::Client,
    jetstream: jetstream::Context,
    hearing: Hearing,
}

impl StreamReader {
    pub(super) fn new(client: async_nats::Client) -> StreamReader {
        StreamReader { jetstream: consumer::jetstream(&client), client, hearing: Hearing::default() }
    }

    pub(super) fn client(&self) -> &async_nats::Client {
        &self.client
    }

    pub(super) fn hearing(&self) -> &Hearing {
        &self.hearing
    }

    /// The last position that the stream holds; the start while there is no stream yet.
    pub(super) async fn head(&self) -> Result<Position, SourceError> {
        Ok(self.stream().await?.map_or(Position::START, |stream| stream.head))
    }

    /// The stream as it is now; `None` while there is none yet.
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

    /// Fills a feed until a hole in the stream cannot be filled, or its history is broken. What NATS cannot give at present is asked for again,
    /// and at once over a new connection.
    pub(super) async fn pump(self, feeder: Feeder) -> SourceError {
        let mut at = Place { after: feeder.after(), hash: None };
        let ear = self.hearing.begin(at.after);
        loop {
            let connected = consumer::connects(&self.client);
            match self.read(&mut at, &feeder, &ear).await {
                Ok(never) => match never {},
                Err(SourceError::Unavailable(reason)) => {
                    tracing::debug!(reason, after = %at.after, "events cannot be read at present");
                    ear.failed(&reason);
                    consumer::pause(&self.client, connected, consumer::PAUSE).await;
                }
                Err(error @ (SourceError::Gap { .. } | SourceError::Broken { .. })) => return error,
            }
        }
    }

    /// Reads by one consumer, until that fails; `at` is the last event that the feed has.
    async fn read(
        &self,
        at: &mut Place,
        feeder: &Feeder,
        ear: &Ear,
    ) -> Result<std::convert::Infallible, SourceError> {
        let mut consumer = match self.consume(at.after).await {
            Ok(consumer) => consumer,
            Err(error) => {
                self.read_singly(at, feeder, ear).await?;
                return Err(error);
            }
        };
        loop {
            let messages = match consumer.next(SILENCE).await.map_err(SourceError::Unavailable)? {
                Next::Messages(messages) => messages,
                Next::Silence => {
                    if self.head().await? > at.after {
                        consumer = self.consume(at.after).await?;
                    } else {
                        ear.heard(at.after);
                    }
                    continue;
                }
            };
            self.take(messages, at, feeder, ear).await?;
            ear.heard(at.after);
        }
    }

    /// Reads message by message. A consumer is made by the leader of the whole cluster, and its election takes longer than
    /// that of the stream's own leader, which answers meanwhile.
    async fn read_singly(&self, at: &mut Place, feeder: &Feeder, ear: &Ear) -> Result<(), SourceError> {
        let stream = self.jetstream.get_stream_no_info(subject::EVENTS).await.map_err(unavailable)?;
        for _ in 0..PAGE {
            let position = at.after.next();
            let message = match stream.get_raw_message(position.0).await {
                Ok(message) => message,
                Err(error) if error.kind() == RawMessageErrorKind::NoMessageFound => {
                    // Also where the stream has a hole, which only a consumer shows.
                    return Ok(());
                }
                Err(error) => return Err(unavailable(error)),
            };
            let next = Arrived::from_stream(position, Some(&message.headers), &message.payload, at.hash);
            if next.breaks_chain_after(at.hash) {
                return Err(SourceError::Broken { position });
            }
            *at = Place { after: position, hash: next.hash() };
            push(feeder, ear, vec![next]).await;
            ear.heard(position);
        }
        Ok(())
    }

    /// Adds messages to the feed, and before them what the stream lacks.
    async fn take(
        &self,
        messages: Vec<jetstream::Message>,
        at: &mut Place,
        feeder: &Feeder,
        ear: &Ear,
    ) -> Result<(), SourceError> {
        let (mut arrived, mut last) = (Vec::with_capacity(messages.len()), *at);
        for message in messages {
            let position = Position(message.info().map_err(unavailable)?.stream_sequence);
            if position <= last.after {
                continue;
            }
            if position > last.after.next() {
                push(feeder, ear, std::mem::take(&mut arrived)).await;
                *at = last;
                self.fill(at, position, feeder, ear).await?;
                last = *at;
            }
            let next = Arrived::from_stream(position, message.headers.as_ref(), &message.payload, last.hash);
            if next.breaks_chain_after(last.hash) {
                push(feeder, ear, arrived).await;
                *at = last;
                return Err(SourceError::Broken { position });
            }
            last = Place { after: position, hash: next.hash() };
            arrived.push(next);
        }
        push(feeder, ear, arrived).await;
        *at = last;
        Ok(())
    }

    async fn consume(&self, after: Position) -> Result<Consumer, SourceError> {
        let consumer = Consumer::create(&self.jetstream, subject::EVENTS, after.0).await;
        consumer.map_err(SourceError::Unavailable)
    }

    /// Adds the events between two positions, as the event store tells them.
    async fn fill(
        &self,
        at: &mut Place,
        found: Position,
        feeder: &Feeder,
        ear: &Ear,
    ) -> Result<(), SourceError> {
        tracing::warn!(after = %at.after, %found, "the stream has a hole; asking the event store");
        while at.after.next() < found {
            let missing = usize::try_from(found.0 - at.after.0 - 1).unwrap_or(usize::MAX);
            let wanted = at.after.next();
            let gap = |reason: String| SourceError::Gap { wanted, found, reason };
            let asked = self.read_events(at.after, missing.min(PAGE));
            let page = tokio::time::timeout(PAGE_WITHIN, asked).await;
            let page = page.unwrap_or_else(|elapsed| Err(elapsed.to_string())).map_err(gap)?;
            let mut events = Vec::with_capacity(page.events.len());
            let mut last = *at;
            for event in page.events.into_iter().take(missing) {
                if event.position != last.after.next() {
                    break;
                }
                let next = Arrived::from_store(event, last.hash);
                last = Place { after: next.position, hash: next.hash() };
                events.push(next);
            }
            if events.is_empty() {
                return Err(gap("it does not hold it".into()));
            }
            push(feeder, ear, events).await;
            *at = last;
        }
        Ok(())
    }

    /// A page of the log, as the write side tells it.
    pub(super) async fn read_events(&self, after: Position, limit: usize) -> Result<EventPage, String> {
        let request =
            serde_json::to_vec(&ReadEvents { after, limit, stream: None }).map_err(|e| e.to_string())?;
        let answer =
            self.client.request(subject::READ_EVENTS, request.into()).await.map_err(|e| e.to_string())?;
        serde_json::from_slice(&answer.payload).map_err(|e| e.to_string())
    }
}

/// Adds events to a feed, which may wait for its followers.
async fn push(feeder: &Feeder, ear: &Ear, events: Vec<Arrived>) {
    ear.waits(true);
    feeder.push(events).await;
    ear.waits(false);
}

fn unavailable(error: impl std::fmt::Display) -> SourceError {
    SourceError::Unavailable(error.to_string())
}
