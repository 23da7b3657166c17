//! Reads calls from every usage stream. The streams are found by listing them: tiers are configured at the write side, and a
//! stream may be deleted and created again.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use async_nats::jetstream::context::{GetStreamError, GetStreamErrorKind};
use async_nats::jetstream::{self, stream};
use futures::TryStreamExt;
use jiff::Timestamp;
use schemas::month::Month;
use schemas::usage::{CALL_METERED, Call};
use tokio::sync::mpsc;
use tokio_util::task::AbortOnDropHandle;

use crate::source::SourceError;
use crate::source::consumer::{Consumer, Next};

const PREFIX: &str = "USAGE_";
/// Prefix of the event type of a metered call, of any version.
const KIND: &str = "loggia.usage.call_metered.";
/// How long to wait for messages at a time; a stuck consumer is found by listing the streams.
const SILENCE: Duration = Duration::from_secs(60);
/// The most calls buffered between the connection and the worker.
const MAX_BUFFERED: usize = 8_192;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct UsageStream {
    pub(super) name: String,
    pub(super) created: Timestamp,
    /// The sequence before its first message.
    pub(super) gone: u64,
    pub(super) last: u64,
}

/// A message of a usage stream.
#[derive(Debug)]
pub(super) struct DeliveredCall {
    pub(super) stream: Arc<str>,
    pub(super) created: Timestamp,
    pub(super) sequence: u64,
    /// The month in which NATS received it.
    pub(super) received: Month,
    pub(super) call: Result<Call, UndecodableCall>,
}

/// A message without a call that this version can decode.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum UndecodableCall {
    /// A call of a newer version, with its event type.
    NewerVersion(String),
    /// No call, with the reason.
    Malformed(String),
}

/// Reads all usage streams. Dropping it ends the consumers.
#[derive(Debug)]
pub(super) struct UsageStreams {
    jetstream: jetstream::Context,
    readers: HashMap<String, Reader>,
    sender: mpsc::Sender<DeliveredCall>,
    received: mpsc::Receiver<DeliveredCall>,
}

#[derive(Debug)]
struct Reader {
    created: Timestamp,
    /// The last sequence that was counted when the streams were listed last.
    counted: u64,
    pump: AbortOnDropHandle<()>,
}

impl UsageStreams {
    pub(super) fn new(jetstream: jetstream::Context) -> UsageStreams {
        let (sender, received) = mpsc::channel(MAX_BUFFERED);
        UsageStreams { jetstream, readers: HashMap::new(), sender, received }
    }

    pub(super) async fn list(&self) -> Result<Vec<UsageStream>, SourceError> {
        let unavailable = |error: &dyn std::fmt::Display| SourceError::Unavailable(error.to_string());
        // Names first: listing states makes nats-server compute those of the largest streams as well, which are not usage
        // streams.
        let mut names = self.jetstream.stream_names();
        let mut found = Vec::new();
        while let Some(name) = names.try_next().await.map_err(|error| unavailable(&error))? {
            if !name.starts_with(PREFIX) {
                continue;
            }
            match self.jetstream.get_stream(&name).await {
                Ok(stream) => {
                    found.push(read_info(stream.cached_info()).map_err(|error| unavailable(&error))?);
                }
                // It was deleted after the names were listed.
                Err(error) if is_absent(&error) => {}
                Err(error) => return Err(unavailable(&error)),
            }
        }
        Ok(found)
    }

    /// Reads a stream from after a sequence. A reader that exists continues, unless the stream was created again, the reader
    /// has ended, or it has read nothing since the last listing though there is more.
    pub(super) fn read(&mut self, stream: &UsageStream, counted: u64) {
        let has_unread = !self.received.is_empty();
        if let Some(known) = self.readers.get_mut(&stream.name) {
            let is_stuck = known.counted == counted && stream.last > counted.max(stream.gone) && !has_unread;
            known.counted = counted;
            if known.created == stream.created && !known.pump.is_finished() && !is_stuck {
                return;
            }
        }
        let (jetstream, sender) = (self.jetstream.clone(), self.sender.clone());
        let (name, created) = (stream.name.clone(), stream.created);
        let pump = async move {
            // The next listing starts it again.
            if let Err(error) = pump(&jetstream, &name, created, counted, &sender).await {
                tracing::debug!(stream = name, %error, "the calls of a stream cannot be read at present");
            }
        };
        #[expect(clippy::disallowed_methods, reason = "the handle aborts the task with its worker")]
        let pump = AbortOnDropHandle::new(tokio::spawn(pump));
        self.readers.insert(stream.name.clone(), Reader { created, counted, pump });
    }

    /// Waits for at least one call and appends up to `limit` of those that are there.
    pub(super) async fn next(&mut self, batch: &mut Vec<DeliveredCall>, limit: usize) {
        // This struct holds a sender, so the channel is never closed.
        self.received.recv_many(batch, limit).await;
    }

    /// Appends the calls that are there, up to `limit` in the whole batch.
    pub(super) fn take_ready(&mut self, batch: &mut Vec<DeliveredCall>, limit: usize) {
        while batch.len() < limit
            && let Ok(call) = self.received.try_recv()
        {
            batch.push(call);
        }
    }
}

fn is_absent(error: &GetStreamError) -> bool {
    matches!(error.kind(), GetStreamErrorKind::JetStream(inner) if inner.code() == 404)
}

fn read_info(info: &stream::Info) -> Result<UsageStream, jiff::Error> {
    let (first, last) = (info.state.first_sequence, info.state.last_sequence);
    Ok(UsageStream {
        name: info.config.name.clone(),
        created: Timestamp::from_nanosecond(info.created.unix_timestamp_nanos())?,
        gone: if info.state.messages == 0 { last } else { first.saturating_sub(1) },
        last,
    })
}

/// Sends the messages of a stream after a sequence until reading fails or the receiver is dropped.
async fn pump(
    jetstream: &jetstream::Context,
    name: &str,
    created: Timestamp,
    after: u64,
    sender: &mpsc::Sender<DeliveredCall>,
) -> Result<(), String> {
    let mut consumer = Consumer::create(jetstream, name, after).await?;
    let stream: Arc<str> = name.into();
    loop {
        let messages = match consumer.next(SILENCE).await? {
            Next::Messages(messages) => messages,
            Next::Silence => continue,
        };
        for message in messages {
            let info = message.info().map_err(|error| error.to_string())?;
            let sequence = info.stream_sequence;
            let published = Timestamp::from_nanosecond(info.published.unix_timestamp_nanos());
            let received = Month::of(published.map_err(|error| error.to_string())?);
            let call =
                DeliveredCall { stream: stream.clone(), created, sequence, received, call: read(&message) };
            if sender.send(call).await.is_err() {
                return Ok(());
            }
        }
    }
}

fn read(message: &jetstream::Message) -> Result<Call, UndecodableCall> {
    let header = |name| message.headers.as_ref()?.get(name).map(async_nats::HeaderValue::as_str);
    match header("ce-type") {
        Some(kind) if kind != CALL_METERED && kind.starts_with(KIND) => {
            Err(UndecodableCall::NewerVersion(kind.to_owned()))
        }
        _ => Call::parse(&message.subject, header, &message.payload)
            .map_err(|error| UndecodableCall::Malformed(error.to_string())),
    }
}
