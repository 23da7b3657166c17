//! Gives NATS back the calls that it lost: what the ledger has of a month that NATS must hold is published again under
//! the same id, so that the quota is as used up as it was.

use std::collections::HashSet;

use async_nats::HeaderMap;
use async_nats::jetstream::consumer::pull;
use async_nats::jetstream::context::PublishError;
use async_nats::jetstream::{self, Context, ErrorCode};
use futures::{StreamExt, TryStreamExt};
use schemas::subject::{self, OVERRUN, usage_stream};
use schemas::usage::{Call, CallId};

use super::copier::{Copier, Interruption};
use super::stream::call_id;
use crate::usage_streams::{Allowance, context, found, held};

/// How many messages may wait for their acknowledgement.
const WINDOW: usize = 256;

/// What JetStream says of a subject that takes nothing more.
const SUBJECT_FULL: &str = "maximum messages per subject";

/// Publishes what the ledger has and the stream lacks; acknowledgements are awaited.
pub(super) async fn reconcile(copier: &Copier, stream: &str) -> Result<(), Interruption> {
    let overrun = stream == OVERRUN;
    for month in copier.months() {
        let moved = || Interruption::Moved(stream.to_owned());
        let held = held(&copier.client, stream, month).await?.ok_or_else(moved)?;
        for (allowance, used) in copier.ledger.totals(month).await? {
            let kept = match overrun {
                true => used.overrun,
                false if usage_stream(&allowance.tier) == stream => used.used,
                false => continue,
            };
            let has = held.calls.get(&allowance).copied().unwrap_or_default();
            // A subject that is full takes nothing more, whichever calls it holds.
            let full = held.limit.is_some_and(|limit| has >= limit);
            if kept > has && !full {
                give_back(copier, stream, &allowance, has).await?;
            }
        }
    }
    Ok(())
}

/// Publishes the calls of one allowance that the stream lacks, where it holds this many of them.
async fn give_back(
    copier: &Copier,
    stream: &str,
    allowance: &Allowance,
    has: u64,
) -> Result<(), Interruption> {
    let Allowance { key, month, tier } = allowance;
    let overrun = stream == OVERRUN;
    let subject = subject::allowance(if overrun { "overrun" } else { "usage" }, tier, *key, *month);
    let jetstream = context(&copier.client);
    let there = if has == 0 { HashSet::new() } else { ids(&jetstream, stream, &subject).await? };
    let mut lost: Vec<Call> = Vec::new();
    let collect = |entry: schemas::control::LedgerEntry| {
        if entry.overrun == overrun && entry.call.tier == *tier && !there.contains(&entry.call.id) {
            lost.push(entry.call);
        }
    };
    copier.ledger.each_call(*key, *month, collect).await?;
    tracing::warn!(stream, %key, %month, calls = lost.len(), "NATS lost calls; they are published again");
    futures::stream::iter(lost)
        .map(|call| publish(&jetstream, &subject, call))
        .buffer_unordered(WINDOW)
        .try_for_each(|()| std::future::ready(Ok(())))
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
    let mut messages = consumer.messages().await.map_err(Interruption::nats)?;
    let mut ids = HashSet::new();
    while let Some(message) = messages.try_next().await.map_err(Interruption::nats)? {
        ids.extend(message.headers.as_ref().and_then(call_id));
        if message.info().map_err(Interruption::nats)?.pending == 0 {
            break;
        }
    }
    Ok(ids)
}

async fn publish(jetstream: &Context, subject: &str, call: Call) -> Result<(), Interruption> {
    let mut headers = HeaderMap::new();
    for (name, value) in call.headers() {
        headers.insert(name, value);
    }
    let published = async {
        let sent = jetstream.publish_with_headers(subject.to_owned(), headers, call.body().into());
        sent.await?.await.map(drop)
    };
    match published.await {
        // The quota is used up by other calls: the gate is closed as it should be.
        Err(error) if is_full(&error) => Ok(()),
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
