//! Reads the stream EVENTS into a feed.

use std::time::Duration;

use async_nats::jetstream::consumer::{DeliverPolicy, pull};
use async_nats::jetstream::{self, context::GetStreamErrorKind};
use futures::StreamExt;
use futures::stream::ReadyChunks;
use schemas::chain::Hash;
use schemas::control::{EventPage, ReadEvents};
use schemas::ids::Position;
use schemas::subject;
use tokio::runtime::Handle;

use super::arrived::Arrived;
use super::feeds::Feeder;
use super::{SourceError, StreamState};

/// A silence after which the stream's last sequence is asked for, should the consumer be stuck.
const SILENCE: Duration = Duration::from_secs(2);
/// Messages that came are decoded together up to so many, for waking the followers costs as much as an event.
const AT_ONCE: usize = 64;
/// Events asked for at once where the stream has a hole.
const PAGE: usize = 500;

/// A connection over which the stream is read.
#[derive(Debug, Clone)]
pub(super) struct StreamReader {
    client: async_nats::Client,
    jetstream: jetstream::Context,
}

impl StreamReader {
    pub(super) fn new(client: async_nats::Client) -> StreamReader {
        StreamReader { jetstream: jetstream::new(client.clone()), client }
    }

    pub(super) fn client(&self) -> &async_nats::Client {
        &self.client
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

    /// Fills a feed until that fails.
    pub(super) async fn pump(self, feeder: Feeder) -> SourceError {
        match self.read(&feeder).await {
            Ok(never) => match never {},
            Err(error) => error,
        }
    }

    async fn read(&self, feeder: &Feeder) -> Result<std::convert::Infallible, SourceError> {
        let mut after = feeder.after();
        // The hash of the event at `after`, once one was read.
        let mut last = None;
        let mut consumer = self.consume(after).await?;
        loop {
            let messages = match tokio::time::timeout(SILENCE, consumer.messages.next()).await {
                Ok(Some(messages)) => messages,
                Ok(None) => return Err(SourceError::Unavailable("the consumer ended".into())),
                Err(_) if self.head().await? > after => {
                    consumer = self.consume(after).await?;
                    continue;
                }
                Err(_) => continue,
            };
            let mut arrived = Vec::with_capacity(messages.len());
            for message in messages {
                let message = message.map_err(unavailable)?;
                let info = message.info().map_err(unavailable)?;
                let position = Position(info.stream_sequence);
                consumer.is_called(info.consumer);
                if position <= after {
                    continue;
                }
                if position > after.next() {
                    feeder.push(std::mem::take(&mut arrived)).await;
                    last = self.fill(after, position, last, feeder).await?;
                }
                let next = Arrived::from_stream(position, &message, last);
                if next.breaks_chain_after(last) {
                    feeder.push(arrived).await;
                    return Err(SourceError::Broken { position });
                }
                (after, last) = (position, next.hash());
                arrived.push(next);
            }
            feeder.push(arrived).await;
        }
    }

    async fn consume(&self, after: Position) -> Result<Consumer, SourceError> {
        let stream = self.jetstream.get_stream(subject::EVENTS).await.map_err(unavailable)?;
        let config = pull::OrderedConfig {
            deliver_policy: DeliverPolicy::ByStartSequence { start_sequence: after.next().0 },
            ..pull::OrderedConfig::default()
        };
        let consumer = stream.create_consumer(config).await.map_err(unavailable)?;
        let name = consumer.cached_info().name.clone();
        let messages = consumer.messages().await.map_err(unavailable)?.ready_chunks(AT_ONCE);
        Ok(Consumer { messages, name, jetstream: self.jetstream.clone() })
    }

    /// Adds the events between two positions, as the event store tells them; `last` is the hash of the event before
    /// them, and the hash of the last of them is returned.
    async fn fill(
        &self,
        mut after: Position,
        found: Position,
        mut last: Option<Hash>,
        feeder: &Feeder,
    ) -> Result<Option<Hash>, SourceError> {
        tracing::warn!(%after, %found, "the stream has a hole; asking the event store");
        while after.next() < found {
            let missing = usize::try_from(found.0 - after.0 - 1).unwrap_or(usize::MAX);
            let gap =
                |after: Position, reason: String| SourceError::Gap { wanted: after.next(), found, reason };
            let page = self.read_events(after, missing.min(PAGE)).await.map_err(|why| gap(after, why))?;
            if page.events.is_empty() {
                return Err(gap(after, "it does not hold it".into()));
            }
            for event in page.events.into_iter().take(missing) {
                if event.position != after.next() {
                    return Err(gap(after, "it does not hold it".into()));
                }
                let next = Arrived::from_store(event, last);
                (after, last) = (next.position, next.hash());
                feeder.push([next]).await;
            }
        }
        Ok(last)
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

fn unavailable(error: impl std::fmt::Display) -> SourceError {
    SourceError::Unavailable(error.to_string())
}

/// A consumer on the server. Dropping it deletes it there; left alone, the server would keep it for half a minute.
struct Consumer {
    messages: ReadyChunks<pull::Ordered>,
    /// Its name at present: the client makes it anew under another one when it hears nothing of the server.
    name: String,
    jetstream: jetstream::Context,
}

impl Consumer {
    fn is_called(&mut self, name: &str) {
        if self.name != name {
            name.clone_into(&mut self.name);
        }
    }
}

impl Drop for Consumer {
    fn drop(&mut self) {
        let (name, jetstream) = (std::mem::take(&mut self.name), self.jetstream.clone());
        let delete = async move {
            if let Err(error) = jetstream.delete_consumer_from_stream(&name, subject::EVENTS).await {
                tracing::debug!(%error, name, "a consumer could not be deleted; the server will");
            }
        };
        // Without a runtime the process is about to end, and the server does it.
        if let Ok(runtime) = Handle::try_current() {
            runtime.spawn(delete);
        }
    }
}
