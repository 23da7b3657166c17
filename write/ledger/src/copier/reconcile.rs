//! Restores calls that NATS lost: calls of the ledger in months that NATS must contain are published again with the same id, so that
//! the quota counts them again.
//!
//! Every call of a stream is copied into the ledger. So once the ledger has copied to the sequence at which the stream's calls were
//! counted, equal numbers mean equal calls; if the ledger has more, ids tell whether calls are lost or only newer.

use std::collections::{BTreeMap, HashSet};
use std::time::Duration;

use async_nats::HeaderMap;
use async_nats::jetstream::consumer::pull;
use async_nats::jetstream::context::PublishError;
use async_nats::jetstream::{self, Context, ErrorCode};
use futures::{StreamExt, TryStreamExt};
use schemas::month::Month;
use schemas::subject::{self, OVERRUN, usage_stream};
use schemas::usage::{Call, CallId};
use tokio::time::timeout;
use uuid::Uuid;

use super::{Copier, CopierError};
use crate::usage_streams::{Allowance, CallsInStream, calls_in_stream, context, find, stream_end};

/// The maximum number of unacknowledged messages.
const WINDOW: usize = 256;

/// The number of subjects that are compared concurrently.
const CONCURRENT: usize = 4;

/// The timeout for the next id of a subject.
const ID_TIMEOUT: Duration = Duration::from_secs(5);

/// JetStream's error text for a full subject.
const SUBJECT_FULL: &str = "maximum messages per subject";

/// How the calls of a subject are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CompareBy {
    /// By number, and by id if the ledger has more.
    Number,
    /// By id: the stream may contain calls that the ledger recorded for another stream.
    Id,
}

/// The contents of a stream when the comparison began.
pub(super) struct Comparison {
    stream: String,
    by: CompareBy,
    contents: BTreeMap<Month, CallsInStream>,
    /// The last sequence at that time; the ledger must have copied up to it.
    pub(super) end: u64,
}

impl Comparison {
    /// Counts the calls by subject in the months that NATS must contain.
    pub(super) async fn begin(
        copier: &Copier,
        stream: &str,
        by: CompareBy,
    ) -> Result<Comparison, CopierError> {
        let replaced = || CopierError::StreamReplaced(stream.to_owned());
        let mut months = BTreeMap::new();
        for month in copier.months() {
            months.insert(month, calls_in_stream(&copier.client, stream, month).await?.ok_or_else(replaced)?);
        }
        // Read after the counts, so that it covers everything that was counted.
        let end = stream_end(&copier.client, stream).await?.ok_or_else(replaced)?.sequence;
        Ok(Comparison { stream: stream.to_owned(), by, contents: months, end })
    }

    /// Publishes the calls that the ledger has and the stream lacks, and waits for the acknowledgements. Returns the number of
    /// restored calls.
    pub(super) async fn restore(self, copier: &Copier, is_closed: bool) -> Result<u64, CopierError> {
        let mut incomplete: Vec<(Allowance, u64)> = Vec::new();
        for (month, contents) in &self.contents {
            for (allowance, used) in copier.ledger.totals(*month).await? {
                let recorded = match self.stream == OVERRUN {
                    true => used.overrun,
                    false if usage_stream(&allowance.tier) == self.stream => used.used,
                    false => continue,
                };
                let has = contents.calls.get(&allowance).copied().unwrap_or_default();
                // A full subject accepts nothing, whichever calls it contains.
                let is_full = contents.limit.is_some_and(|limit| has >= limit);
                if !is_full && (recorded > has || (self.by == CompareBy::Id && recorded > 0)) {
                    incomplete.push((allowance, has));
                }
            }
        }
        futures::stream::iter(incomplete)
            .map(|(allowance, has)| restore_subject(copier, &self.stream, allowance, has, is_closed))
            .buffer_unordered(CONCURRENT)
            .try_fold(0, |sum, restored| std::future::ready(Ok(sum + restored)))
            .await
    }
}

/// Publishes the calls of one subject that the stream lacks; it contained `has` of them.
async fn restore_subject(
    copier: &Copier,
    stream: &str,
    allowance: Allowance,
    has: u64,
    is_closed: bool,
) -> Result<u64, CopierError> {
    let Allowance { key, month, tier } = &allowance;
    let overrun = stream == OVERRUN;
    let subject = subject::allowance(if overrun { "overrun" } else { "usage" }, tier, *key, *month);
    let jetstream = context(&copier.client);
    let mut lost: Vec<Call> = Vec::new();
    let collect = |entry: schemas::control::LedgerEntry| {
        if entry.overrun == overrun && entry.call.tier == *tier {
            lost.push(entry.call);
        }
    };
    // Before the ids are read: calls that are copied into the ledger later are in the stream.
    copier.ledger.each_call(*key, *month, collect).await?;
    if has > 0 {
        let in_stream = ids(&jetstream, stream, &subject).await?;
        lost.retain(|call| !in_stream.contains(&call.id));
    }
    if lost.is_empty() {
        return Ok(0);
    }
    tracing::warn!(stream, %key, %month, calls = lost.len(), "NATS lost calls; they are published again");
    let to = if is_closed { subject::returning(&subject).unwrap_or(subject) } else { subject };
    futures::stream::iter(lost)
        .map(|call| publish(&jetstream, &to, call))
        .buffer_unordered(WINDOW)
        .try_fold(0, |sum, accepted| std::future::ready(Ok(sum + u64::from(accepted))))
        .await
}

async fn ids(jetstream: &Context, stream: &str, subject: &str) -> Result<HashSet<CallId>, CopierError> {
    let replaced = || CopierError::StreamReplaced(stream.to_owned());
    let stream = find(jetstream, stream).await?.ok_or_else(replaced)?;
    let config = pull::OrderedConfig {
        filter_subject: subject.to_owned(),
        headers_only: true,
        ..pull::OrderedConfig::default()
    };
    let consumer = stream.create_consumer(config).await.map_err(CopierError::nats)?;
    let mut left = consumer.cached_info().num_pending;
    let mut messages = consumer.messages().await.map_err(CopierError::nats)?;
    let mut ids = HashSet::new();
    while left > 0 {
        // A stream that was purged meanwhile delivers nothing.
        let next = timeout(ID_TIMEOUT, messages.try_next()).await;
        let next = next.map_err(|_elapsed| CopierError::nats("the calls it has do not come in time"))?;
        let Some(message) = next.map_err(CopierError::nats)? else { break };
        ids.extend(message.headers.as_ref().and_then(call_id));
        left = message.info().map_err(CopierError::nats)?.pending;
    }
    Ok(ids)
}

/// Publishes a call; returns whether the stream accepted it.
async fn publish(jetstream: &Context, subject: &str, call: Call) -> Result<bool, CopierError> {
    let mut headers = HeaderMap::new();
    for (name, value) in call.headers() {
        headers.insert(name, value);
    }
    let published = async {
        let sent = jetstream.publish_with_headers(subject.to_owned(), headers, call.body().into());
        sent.await?.await.map(|ack| !ack.duplicate)
    };
    match published.await {
        // Other calls have used up the quota, so that this one is not needed to enforce it.
        Err(error) if is_full(&error) => Ok(false),
        outcome => outcome.map_err(CopierError::nats),
    }
}

/// Returns whether the error says that the subject is full.
fn is_full(error: &PublishError) -> bool {
    let reason =
        std::error::Error::source(error).and_then(|source| source.downcast_ref::<jetstream::Error>());
    // NATS has no distinct code: a full disk has the same one.
    reason.is_some_and(|reason| {
        reason.error_code() == ErrorCode::STREAM_STORE_FAILED && reason.to_string().contains(SUBJECT_FULL)
    })
}

pub(super) fn call_id(headers: &HeaderMap) -> Option<CallId> {
    Uuid::parse_str(headers.get("ce-id")?.as_str()).ok().map(CallId)
}
