//! The calls, from every JetStream stream that meters. Which streams there are is found out by looking: tiers come with
//! the configuration of the write side, and a stream may be deleted and made anew.

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

/// Begins the name of every stream that meters calls.
const PREFIX: &str = "USAGE_";
/// Begins the type of a metered call of any version.
const KIND: &str = "loggia.usage.call_metered.";
/// A silence after which nothing has to be done: the next look finds out whether there is more.
const SILENCE: Duration = Duration::from_secs(60);
/// Calls that wait between the connection and the worker.
const AHEAD: usize = 8_192;

/// A stream that meters calls, as it is now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Found {
    pub(super) name: String,
    /// When it was made.
    pub(super) created: Timestamp,
    /// The sequence before its first message that is still there.
    pub(super) gone: u64,
    /// The last sequence it ever gave.
    pub(super) last: u64,
}

/// A message of one of the streams.
#[derive(Debug)]
pub(super) struct Arrived {
    pub(super) stream: Arc<str>,
    /// When its stream was made.
    pub(super) created: Timestamp,
    pub(super) sequence: u64,
    /// The month in which NATS took it.
    pub(super) heard: Month,
    pub(super) call: Result<Call, Unfit>,
}

/// A message that tells of no call that this version knows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Unfit {
    /// A call of a newer version, with its type.
    Newer(String),
    /// No call at all, and why.
    Broken(String),
}

/// Follows streams; dropping it ends their consumers.
#[derive(Debug)]
pub(super) struct Streams {
    jetstream: jetstream::Context,
    following: HashMap<String, Following>,
    sender: mpsc::Sender<Arrived>,
    arrived: mpsc::Receiver<Arrived>,
}

#[derive(Debug)]
struct Following {
    created: Timestamp,
    /// How far its calls were taken in when it was last looked at.
    taken: u64,
    pump: AbortOnDropHandle<()>,
}

impl Streams {
    pub(super) fn new(jetstream: jetstream::Context) -> Streams {
        let (sender, arrived) = mpsc::channel(AHEAD);
        Streams { jetstream, following: HashMap::new(), sender, arrived }
    }

    /// Which streams there are, and where they end.
    pub(super) async fn look(&self) -> Result<Vec<Found>, SourceError> {
        let unavailable = |error: &dyn std::fmt::Display| SourceError::Unavailable(error.to_string());
        // Names first: a list with the state of each makes nats-server gather that of the largest streams as well, which
        // are none of these.
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
                // It was deleted meanwhile.
                Err(error) if is_absent(&error) => {}
                Err(error) => return Err(unavailable(&error)),
            }
        }
        Ok(found)
    }

    /// Has a stream followed behind a sequence. One that is followed already goes on, unless it was made anew, its
    /// consumer has ended, or nothing came since the last look though there is more.
    pub(super) fn follow(&mut self, found: &Found, taken: u64) {
        let waiting = !self.arrived.is_empty();
        if let Some(known) = self.following.get_mut(&found.name) {
            let stuck = known.taken == taken && found.last > taken.max(found.gone) && !waiting;
            known.taken = taken;
            if known.created == found.created && !known.pump.is_finished() && !stuck {
                return;
            }
        }
        let (jetstream, sender) = (self.jetstream.clone(), self.sender.clone());
        let (name, created) = (found.name.clone(), found.created);
        let pump = async move {
            // The next look begins anew what ended here.
            if let Err(error) = pump(&jetstream, &name, created, taken, &sender).await {
                tracing::debug!(stream = name, %error, "the calls of a stream do not come at present");
            }
        };
        #[expect(clippy::disallowed_methods, reason = "the handle aborts the task with its worker")]
        let pump = AbortOnDropHandle::new(tokio::spawn(pump));
        self.following.insert(found.name.clone(), Following { created, taken, pump });
    }

    /// Waits for calls and takes up to `most` of those that are there.
    pub(super) async fn next(&mut self, batch: &mut Vec<Arrived>, most: usize) {
        // A sender is held here, so the channel is never closed.
        self.arrived.recv_many(batch, most).await;
    }

    /// Takes what else is there by now, up to `most` in all.
    pub(super) fn more(&mut self, batch: &mut Vec<Arrived>, most: usize) {
        while batch.len() < most
            && let Ok(arrived) = self.arrived.try_recv()
        {
            batch.push(arrived);
        }
    }
}

fn is_absent(error: &GetStreamError) -> bool {
    matches!(error.kind(), GetStreamErrorKind::JetStream(inner) if inner.code() == 404)
}

fn read_info(info: &stream::Info) -> Result<Found, jiff::Error> {
    let (first, last) = (info.state.first_sequence, info.state.last_sequence);
    Ok(Found {
        name: info.config.name.clone(),
        created: Timestamp::from_nanosecond(info.created.unix_timestamp_nanos())?,
        gone: if info.state.messages == 0 { last } else { first.saturating_sub(1) },
        last,
    })
}

/// Sends what a stream holds behind a sequence, and what comes, until it fails or the receiver is gone.
async fn pump(
    jetstream: &jetstream::Context,
    name: &str,
    created: Timestamp,
    after: u64,
    sender: &mpsc::Sender<Arrived>,
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
            let heard = Month::of(published.map_err(|error| error.to_string())?);
            let arrived = Arrived { stream: stream.clone(), created, sequence, heard, call: read(&message) };
            if sender.send(arrived).await.is_err() {
                return Ok(());
            }
        }
    }
}

fn read(message: &jetstream::Message) -> Result<Call, Unfit> {
    let header = |name| message.headers.as_ref()?.get(name).map(async_nats::HeaderValue::as_str);
    match header("ce-type") {
        Some(kind) if kind != CALL_METERED && kind.starts_with(KIND) => Err(Unfit::Newer(kind.to_owned())),
        _ => Call::parse(&message.subject, header, &message.payload)
            .map_err(|error| Unfit::Broken(error.to_string())),
    }
}
