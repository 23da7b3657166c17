//! The events, in order and without a hole, from the stream EVENTS.
//!
//! A JetStream consumer jumps silently over messages that are gone, so every sequence is checked against the one
//! before; what is missing is asked of the event store by `loggia.read.events`.

use std::time::Duration;

use async_nats::jetstream::consumer::{DeliverPolicy, pull};
use async_nats::jetstream::{self, context::GetStreamErrorKind};
use futures::StreamExt;
use schemas::cloudevents::{self, NotAnEvent};
use schemas::control::{EventPage, ReadEvents};
use schemas::envelope::Recorded;
use schemas::ids::{Position, StoreId};
use schemas::subject;
use schemas::versioned::{Decoded, Malformed};
use serde_json::value::RawValue;
use tokio::sync::mpsc;
use tokio_util::task::AbortOnDropHandle;

/// Events that wait between the connection and the worker.
const AHEAD: usize = 4_096;
/// A silence after which the stream's last sequence is asked for, should the consumer be stuck.
const SILENCE: Duration = Duration::from_secs(2);
/// Events asked for at once where the stream has a hole.
const PAGE: usize = 500;

/// Where the projections of a node get their events from.
#[derive(Debug, Clone)]
pub struct EventSource {
    client: async_nats::Client,
    jetstream: jetstream::Context,
}

/// A place of the log and what was found there.
#[derive(Debug)]
pub struct Arrived {
    /// The place.
    pub position: Position,
    /// What stands there, or why the message carries no event.
    pub found: Result<Found, NotAnEvent>,
}

/// An event as it came.
#[derive(Debug)]
pub struct Found {
    /// The event, without the text of its payload: thousands wait at a time.
    pub recorded: Recorded,
    /// Its payload, read already: this runs beside the worker.
    pub decoded: Result<Decoded, Malformed>,
    /// The store whose log the stream carries; unknown for what the event store itself filled in.
    pub store: Option<StoreId>,
}

impl Found {
    fn new(recorded: Recorded, store: Option<StoreId>) -> Found {
        let decoded = recorded.decode();
        Found { decoded, recorded: Recorded { data: RawValue::NULL.to_owned(), ..recorded }, store }
    }
}

/// Events cannot be had at present.
#[derive(Debug, thiserror::Error)]
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
}

/// Follows the stream behind a position; dropping it ends the consumer.
#[derive(Debug)]
pub struct Following {
    arrived: mpsc::Receiver<Result<Arrived, SourceError>>,
    _pump: AbortOnDropHandle<()>,
}

impl EventSource {
    /// Reads from the server behind this connection.
    pub fn new(client: async_nats::Client) -> EventSource {
        EventSource { jetstream: jetstream::new(client.clone()), client }
    }

    /// The connection that it reads from.
    pub fn client(&self) -> &async_nats::Client {
        &self.client
    }

    /// The last position that the stream holds; the start while there is no stream yet.
    pub async fn head(&self) -> Result<Position, SourceError> {
        match self.jetstream.get_stream(subject::EVENTS).await {
            Ok(stream) => Ok(Position(stream.cached_info().state.last_sequence)),
            Err(error) => match error.kind() {
                GetStreamErrorKind::JetStream(inner) if inner.code() == 404 => Ok(Position::START),
                _ => Err(SourceError::Unavailable(error.to_string())),
            },
        }
    }

    /// Everything behind this position, as it comes.
    pub fn follow(&self, after: Position) -> Following {
        let (sender, arrived) = mpsc::channel(AHEAD);
        let source = self.clone();
        let pump = async move {
            if let Err(error) = source.pump(after, &sender).await {
                // The worker learns why and follows anew; a closed channel means that it has gone.
                let _ = sender.send(Err(error)).await;
            }
        };
        #[expect(clippy::disallowed_methods, reason = "the handle aborts the task with its worker")]
        let pump = AbortOnDropHandle::new(tokio::spawn(pump));
        Following { arrived, _pump: pump }
    }

    /// Sends what arrives until the receiver is gone.
    async fn pump(
        &self,
        mut after: Position,
        sender: &mpsc::Sender<Result<Arrived, SourceError>>,
    ) -> Result<(), SourceError> {
        let mut messages = self.consume(after).await?;
        loop {
            let message = match tokio::time::timeout(SILENCE, messages.next()).await {
                Ok(Some(Ok(message))) => message,
                Ok(Some(Err(error))) => return Err(SourceError::Unavailable(error.to_string())),
                Ok(None) => return Err(SourceError::Unavailable("the consumer ended".into())),
                Err(_) if self.head().await? > after => {
                    messages = self.consume(after).await?;
                    continue;
                }
                Err(_) => continue,
            };
            let sequence =
                message.info().map_err(|e| SourceError::Unavailable(e.to_string()))?.stream_sequence;
            let position = Position(sequence);
            if position <= after {
                continue;
            }
            if position > after.next() {
                self.fill(after, position, sender).await?;
            }
            if sender.send(Ok(Arrived { position, found: read(position, &message) })).await.is_err() {
                return Ok(());
            }
            after = position;
        }
    }

    async fn consume(&self, after: Position) -> Result<pull::Ordered, SourceError> {
        let unavailable = |error: &dyn std::fmt::Display| SourceError::Unavailable(error.to_string());
        let stream = self.jetstream.get_stream(subject::EVENTS).await.map_err(|e| unavailable(&e))?;
        let config = pull::OrderedConfig {
            deliver_policy: DeliverPolicy::ByStartSequence { start_sequence: after.next().0 },
            ..pull::OrderedConfig::default()
        };
        let consumer = stream.create_consumer(config).await.map_err(|e| unavailable(&e))?;
        consumer.messages().await.map_err(|e| unavailable(&e))
    }

    /// Sends the events between two positions, as the event store tells them.
    async fn fill(
        &self,
        mut after: Position,
        found: Position,
        sender: &mpsc::Sender<Result<Arrived, SourceError>>,
    ) -> Result<(), SourceError> {
        tracing::warn!(%after, %found, "the stream has a hole; asking the event store");
        while after.next() < found {
            let missing = usize::try_from(found.0 - after.0 - 1).unwrap_or(usize::MAX);
            let gap = |reason: String| SourceError::Gap { wanted: after.next(), found, reason };
            let page = self.read_events(after, missing.min(PAGE)).await.map_err(&gap)?;
            match page.events.first() {
                Some(first) if first.position == after.next() => {}
                _ => return Err(gap("it does not hold it".into())),
            }
            for event in page.events.into_iter().take(missing) {
                after = event.position;
                if sender
                    .send(Ok(Arrived { position: after, found: Ok(Found::new(event, None)) }))
                    .await
                    .is_err()
                {
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    async fn read_events(&self, after: Position, limit: usize) -> Result<EventPage, String> {
        let request =
            serde_json::to_vec(&ReadEvents { after, limit, stream: None }).map_err(|e| e.to_string())?;
        let answer =
            self.client.request(subject::READ_EVENTS, request.into()).await.map_err(|e| e.to_string())?;
        serde_json::from_slice(&answer.payload).map_err(|e| e.to_string())
    }
}

impl Following {
    /// Waits for at least one event and takes up to `most` of those that are there.
    pub async fn next(&mut self, most: usize) -> Result<Vec<Arrived>, SourceError> {
        let mut batch = Vec::new();
        self.arrived.recv_many(&mut batch, most).await;
        if batch.is_empty() {
            return Err(SourceError::Unavailable("the reader of the stream ended".into()));
        }
        batch.into_iter().collect()
    }

    /// Takes what else is there by now, up to `most` in all.
    pub fn more(&mut self, batch: &mut Vec<Arrived>, most: usize) -> Result<(), SourceError> {
        while batch.len() < most
            && let Ok(arrived) = self.arrived.try_recv()
        {
            batch.push(arrived?);
        }
        Ok(())
    }
}

fn read(position: Position, message: &jetstream::Message) -> Result<Found, NotAnEvent> {
    let header = |name| message.headers.as_ref()?.get(name).map(async_nats::HeaderValue::as_str);
    let (event, store) = cloudevents::parse(header, &message.payload)?;
    if event.position != position {
        let reason = format!("it says {} but stands at {position}", event.position);
        return Err(NotAnEvent::Header { header: "ce-position", reason });
    }
    Ok(Found::new(event, Some(store)))
}
