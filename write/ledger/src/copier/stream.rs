//! Copies one stream: from the ledger's progress, or from its first message if it is not the same stream as before.

use std::convert::Infallible;
use std::time::Duration;

use async_nats::jetstream::Context;
use async_nats::jetstream::consumer::{DeliverPolicy, pull};
use async_nats::jetstream::message::Message;
use async_nats::jetstream::stream::{Info, RawMessageErrorKind, Stream};
use futures::StreamExt;
use schemas::cloudevents::NotAnEvent;
use schemas::control::LedgerSource;
use schemas::usage::{Call, CallId};
use tokio::time::{Instant, timeout, timeout_at};

use super::reconcile::{CompareBy, Comparison, call_id};
use super::{Copier, CopierError, Recovery};
use crate::usage_streams::{close, context, created, find, is_closed, open};
use crate::{CopiedBatch, Ledger, rows};

/// The maximum number of calls in one commit.
const BATCH: usize = 2_000;

/// How long calls are collected for one commit.
const BATCH_TIMEOUT: Duration = Duration::from_millis(50);

/// How often the stream is checked for being replaced or truncated.
const CHECK_INTERVAL: Duration = Duration::from_secs(3);

/// Copies until the stream is found replaced or truncated. Restores calls that NATS lost: at the start, while a stream that lost
/// calls is closed for new ones, and then at intervals.
pub(super) async fn follow(
    copier: &Copier,
    name: &str,
    recovery: &Recovery<'_>,
) -> Result<Infallible, CopierError> {
    let mut copying = Copying::begin(copier, name).await?;
    let mut is_closed = copying.is_closed || (copying.is_replaced && close(&copier.client, name).await?);
    let compared = if is_closed || copying.is_replaced { CompareBy::Id } else { CompareBy::Number };
    let mut comparison = Some(Comparison::begin(copier, name, compared).await?);
    let mut messages = copying.consume().await?;
    let (mut checked, mut last) = (Instant::now(), 0);
    let (mut compare_at, mut has_recovered) = (Instant::now(), false);
    loop {
        if let Some(comparison_due) = comparison.take_if(|begun| copying.source.sequence >= begun.end) {
            if comparison_due.restore(copier, is_closed).await? > 0 {
                // Compare again until nothing is missing. Nothing was read meanwhile, so the consumer may have expired.
                messages = copying.consume().await?;
                comparison = Some(Comparison::begin(copier, name, CompareBy::Number).await?);
                continue;
            }
            if std::mem::take(&mut is_closed) {
                open(&copier.client, name).await?;
                tracing::info!(
                    stream = name,
                    "the stream has all calls that the ledger has, and accepts new ones"
                );
            }
            if !std::mem::replace(&mut has_recovered, true) {
                recovery.stream_recovered();
            }
            compare_at = Instant::now() + copier.compare_every;
        } else if comparison.is_none() && Instant::now() >= compare_at {
            comparison = Some(Comparison::begin(copier, name, CompareBy::Number).await?);
        }
        let batch = next_batch(&mut messages).await?;
        let is_silent = batch.is_empty();
        if is_silent && last > copying.source.sequence {
            // The stream has messages that the consumer does not deliver.
            return Err(CopierError::StreamReplaced(name.to_owned()));
        }
        copying.store(batch).await?;
        if is_silent || checked.elapsed() >= CHECK_INTERVAL {
            last = copying.check_stream().await?;
            checked = Instant::now();
        }
    }
}

/// Copies to the present end of the stream.
pub(super) async fn copy_to_the_end(copier: &Copier, name: &str) -> Result<(), CopierError> {
    let mut copying = Copying::begin(copier, name).await?;
    let end = copying.end();
    if copying.source.sequence >= end {
        return Ok(());
    }
    let mut messages = copying.consume().await?;
    while copying.source.sequence < end {
        let batch = next_batch(&mut messages).await?;
        copying.store(batch).await?;
    }
    Ok(())
}

struct Copying<'a> {
    ledger: &'a Ledger,
    jetstream: Context,
    stream: Stream,
    /// The last copied sequence.
    source: LedgerSource,
    /// Whether the stream was replaced or lost messages since it was last copied.
    is_replaced: bool,
    /// Whether the stream accepts restored calls only.
    is_closed: bool,
}

impl<'a> Copying<'a> {
    /// Resumes from the progress in the ledger's file.
    async fn begin(copier: &'a Copier, name: &str) -> Result<Copying<'a>, CopierError> {
        let (jetstream, ledger) = (context(&copier.client), &*copier.ledger);
        let replaced = || CopierError::StreamReplaced(name.to_owned());
        let stream = find(&jetstream, name).await?.ok_or_else(replaced)?;
        let info = stream.cached_info().clone();
        ledger.record_end(name, info.state.last_sequence);
        let created = created(&info)?;
        let known = ledger.refresh().await?.into_iter().find(|source| source.stream == name);
        let fresh = LedgerSource { stream: name.to_owned(), created, sequence: 0 };
        let is_closed = is_closed(&stream);
        let mut copying = Copying { ledger, jetstream, stream, source: fresh, is_replaced: false, is_closed };
        copying.is_replaced = match &known {
            Some(known) if known.created == created => {
                copying.source = known.clone();
                !copying.has_last_call(&info).await?
            }
            Some(_) => true,
            None => false,
        };
        if copying.is_replaced {
            tracing::warn!(stream = copying.source.stream, "the stream is read from its first message again");
            copying.source.sequence = 0;
        }
        // Messages older than the stream's age limit are expected to be gone.
        let expired = info.state.first_sequence.saturating_sub(1).min(info.state.last_sequence);
        if expired > copying.source.sequence {
            copying.source.sequence = expired;
        }
        if known.as_ref() != Some(&copying.source) {
            copying.append(Vec::new(), None).await?;
        }
        Ok(copying)
    }

    /// Returns the last sequence of the stream when copying began.
    fn end(&self) -> u64 {
        self.stream.cached_info().state.last_sequence
    }

    /// Returns whether the stream still has the last copied message at its sequence.
    async fn has_last_call(&self, info: &Info) -> Result<bool, CopierError> {
        if info.state.last_sequence < self.source.sequence {
            return Ok(false);
        }
        if self.source.sequence == 0 {
            // JetStream has no message 0; a request for it fails permanently.
            return Ok(true);
        }
        let Some(last) = self.ledger.last_call(&self.source).await? else { return Ok(true) };
        let message = match self.stream.get_raw_message(self.source.sequence).await {
            Ok(message) => message,
            // An expired message proves nothing.
            Err(error) if error.kind() == RawMessageErrorKind::NoMessageFound => return Ok(true),
            Err(error) => return Err(CopierError::nats(error)),
        };
        Ok(call_id(&message.headers) == Some(last))
    }

    /// Returns the last sequence of the stream, if it is still the same stream.
    async fn check_stream(&self) -> Result<u64, CopierError> {
        let replaced = || CopierError::StreamReplaced(self.source.stream.clone());
        let stream = find(&self.jetstream, &self.source.stream).await?.ok_or_else(replaced)?;
        let info = stream.cached_info();
        if created(info)? != self.source.created || !self.has_last_call(info).await? {
            return Err(replaced());
        }
        self.ledger.record_end(&self.source.stream, info.state.last_sequence);
        Ok(info.state.last_sequence)
    }

    async fn consume(&self) -> Result<pull::Ordered, CopierError> {
        let config = pull::OrderedConfig {
            deliver_policy: DeliverPolicy::ByStartSequence { start_sequence: self.source.sequence + 1 },
            ..pull::OrderedConfig::default()
        };
        let consumer = self.stream.create_consumer(config).await.map_err(CopierError::nats)?;
        consumer.messages().await.map_err(CopierError::nats)
    }

    /// Stores the calls of a batch and the progress; a message that is not a call is logged and skipped.
    async fn store(&mut self, batch: Vec<Message>) -> Result<(), CopierError> {
        if batch.is_empty() {
            return Ok(());
        }
        let (mut calls, mut last) = (Vec::with_capacity(batch.len()), None);
        for message in &batch {
            let sequence = message.info().map_err(CopierError::nats)?.stream_sequence;
            if sequence <= self.source.sequence {
                continue;
            }
            if sequence > self.source.sequence + 1 {
                let (stream, after) = (&self.source.stream, self.source.sequence);
                tracing::warn!(stream, after, sequence, "the stream has a gap: calls in it were not copied");
            }
            self.source.sequence = sequence;
            last = None;
            match read(message) {
                Ok(call) => {
                    last = Some(call.id);
                    calls.push((sequence, call));
                }
                Err(error) => {
                    self.ledger.count_malformed();
                    tracing::warn!(stream = self.source.stream, sequence, %error, "a message is not a call");
                }
            }
        }
        self.append(calls, last).await
    }

    async fn append(&self, calls: Vec<(u64, Call)>, last: Option<CallId>) -> Result<(), CopierError> {
        let LedgerSource { stream, created, sequence } = self.source.clone();
        self.ledger.append(CopiedBatch { stream, created, sequence, last, calls }).await?;
        Ok(())
    }
}

/// Waits for a batch of messages; empty if none arrives within [`CHECK_INTERVAL`].
async fn next_batch(messages: &mut pull::Ordered) -> Result<Vec<Message>, CopierError> {
    let mut batch = Vec::new();
    let mut next = timeout(CHECK_INTERVAL, messages.next()).await;
    let until = Instant::now() + BATCH_TIMEOUT;
    loop {
        match next {
            Ok(Some(message)) => batch.push(message.map_err(CopierError::nats)?),
            Ok(None) => return Err(CopierError::nats("the consumer ended")),
            Err(_) => return Ok(batch),
        }
        if batch.len() == BATCH {
            return Ok(batch);
        }
        next = timeout_at(until, messages.next()).await;
    }
}

fn read(message: &Message) -> Result<Call, NotAnEvent> {
    let header = |name| message.headers.as_ref()?.get(name).map(async_nats::HeaderValue::as_str);
    let call = Call::parse(&message.subject, header, &message.payload)?;
    if rows::nanoseconds(call.time).is_none() {
        let reason = format!("{} is out of the range that the ledger can store", call.time);
        return Err(NotAnEvent::Header { header: "ce-time", reason });
    }
    Ok(call)
}
