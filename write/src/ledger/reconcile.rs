//! Gives NATS back the calls that it lost: what the ledger has of a month that NATS must hold is published again under
//! the same id, so that the quota is as used up as it was.
//!
//! Every call of a stream is copied into the ledger. So once the ledger has copied up to where a stream ended when its
//! calls were counted, an allowance of which both have equally many is equal; where the ledger has more, ids tell
//! whether calls are lost or only newer.

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

use super::copier::{Copier, Interruption};
use super::stream::call_id;
use crate::usage_streams::{Allowance, Held, context, end, found, held};

/// How many messages may wait for their acknowledgement.
const WINDOW: usize = 256;

/// How many allowances are compared at once.
const AT_ONCE: usize = 4;

/// How long the next id of a subject may take.
const SILENCE: Duration = Duration::from_secs(5);

/// What JetStream says of a subject that takes nothing more.
const SUBJECT_FULL: &str = "maximum messages per subject";

/// How calls are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum By {
    /// By their number, and by their ids where the ledger has more.
    Number,
    /// By their ids: the stream may hold calls that the ledger keeps as those of another stream.
    Id,
}

/// What a stream held when the comparison began.
pub(super) struct Comparison {
    stream: String,
    by: By,
    held: BTreeMap<Month, Held>,
    /// Where the stream ended then: the ledger must have copied it so far.
    pub(super) end: u64,
}

impl Comparison {
    /// Counts what the stream holds of the months that NATS must hold.
    pub(super) async fn begin(copier: &Copier, stream: &str, by: By) -> Result<Comparison, Interruption> {
        let moved = || Interruption::Moved(stream.to_owned());
        let mut months = BTreeMap::new();
        for month in copier.months() {
            months.insert(month, held(&copier.client, stream, month).await?.ok_or_else(moved)?);
        }
        // After the counts, so that everything that was counted stands before it.
        let end = end(&copier.client, stream).await?.ok_or_else(moved)?.sequence;
        Ok(Comparison { stream: stream.to_owned(), by, held: months, end })
    }

    /// Publishes what the ledger has and the stream lacks, and waits for the acknowledgements. Returns how many calls the
    /// stream has taken.
    pub(super) async fn give_back(self, copier: &Copier, is_closed: bool) -> Result<u64, Interruption> {
        let mut short: Vec<(Allowance, u64)> = Vec::new();
        for (month, held) in &self.held {
            for (allowance, used) in copier.ledger.totals(*month).await? {
                let kept = match self.stream == OVERRUN {
                    true => used.overrun,
                    false if usage_stream(&allowance.tier) == self.stream => used.used,
                    false => continue,
                };
                let has = held.calls.get(&allowance).copied().unwrap_or_default();
                // A subject that is full takes nothing more, whichever calls it holds.
                let is_full = held.limit.is_some_and(|limit| has >= limit);
                if !is_full && (kept > has || (self.by == By::Id && kept > 0)) {
                    short.push((allowance, has));
                }
            }
        }
        futures::stream::iter(short)
            .map(|(allowance, has)| give_back(copier, &self.stream, allowance, has, is_closed))
            .buffer_unordered(AT_ONCE)
            .try_fold(0, |all, taken| std::future::ready(Ok(all + taken)))
            .await
    }
}

/// Publishes the calls of one allowance that the stream lacks, where it held this many of them.
async fn give_back(
    copier: &Copier,
    stream: &str,
    allowance: Allowance,
    has: u64,
    is_closed: bool,
) -> Result<u64, Interruption> {
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
    // Before the ids are read: what comes into the ledger after that is in the stream.
    copier.ledger.each_call(*key, *month, collect).await?;
    if has > 0 {
        let there = ids(&jetstream, stream, &subject).await?;
        lost.retain(|call| !there.contains(&call.id));
    }
    if lost.is_empty() {
        return Ok(0);
    }
    tracing::warn!(stream, %key, %month, calls = lost.len(), "NATS lost calls; they are published again");
    let to = if is_closed { subject::returning(&subject).unwrap_or(subject) } else { subject };
    futures::stream::iter(lost)
        .map(|call| publish(&jetstream, &to, call))
        .buffer_unordered(WINDOW)
        .try_fold(0, |all, taken| std::future::ready(Ok(all + u64::from(taken))))
        .await
}

/// The ids of the calls that stand under a subject.
async fn ids(jetstream: &Context, stream: &str, subject: &str) -> Result<HashSet<CallId>, Interruption> {
    let moved = || Interruption::Moved(stream.to_owned());
    let stream = found(jetstream, stream).await?.ok_or_else(moved)?;
    let config = pull::OrderedConfig {
        filter_subject: subject.to_owned(),
        headers_only: true,
        ..pull::OrderedConfig::default()
    };
    let consumer = stream.create_consumer(config).await.map_err(Interruption::nats)?;
    let mut left = consumer.cached_info().num_pending;
    let mut messages = consumer.messages().await.map_err(Interruption::nats)?;
    let mut ids = HashSet::new();
    while left > 0 {
        // A stream that was emptied meanwhile gives nothing.
        let next = timeout(SILENCE, messages.try_next()).await;
        let next = next.map_err(|_elapsed| Interruption::nats("the calls it has do not come in time"))?;
        let Some(message) = next.map_err(Interruption::nats)? else { break };
        ids.extend(message.headers.as_ref().and_then(call_id));
        left = message.info().map_err(Interruption::nats)?.pending;
    }
    Ok(ids)
}

/// Publishes a call; returns whether the stream has one call more.
async fn publish(jetstream: &Context, subject: &str, call: Call) -> Result<bool, Interruption> {
    let mut headers = HeaderMap::new();
    for (name, value) in call.headers() {
        headers.insert(name, value);
    }
    let published = async {
        let sent = jetstream.publish_with_headers(subject.to_owned(), headers, call.body().into());
        sent.await?.await.map(|ack| !ack.duplicate)
    };
    match published.await {
        // The quota is used up by other calls: nothing is left of it, as it should be.
        Err(error) if is_full(&error) => Ok(false),
        outcome => outcome.map_err(Interruption::nats),
    }
}

/// Whether the subject takes nothing more.
fn is_full(error: &PublishError) -> bool {
    let reason =
        std::error::Error::source(error).and_then(|source| source.downcast_ref::<jetstream::Error>());
    // NATS has no code of its own for it: a full disk has the same.
    reason.is_some_and(|reason| {
        reason.error_code() == ErrorCode::STREAM_STORE_FAILED && reason.to_string().contains(SUBJECT_FULL)
    })
}
