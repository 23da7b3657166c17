//! Publishes what the spool holds, once NATS is there.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use futures::{StreamExt, TryStreamExt, stream};
use schemas::subject;
use schemas::usage::Call;
use tokio_util::sync::CancellationToken;

use super::gate::Published;
use super::spool::Held;
use super::{Budget, Inner};

/// How often it looks whether there is something to publish.
const LOOK: Duration = Duration::from_millis(200);
/// How long NATS may take for one call; nobody waits for it.
const PATIENCE: Duration = Duration::from_secs(2);
/// Calls on their way at once.
const AT_ONCE: usize = 64;
/// JetStream remembers message ids for ten minutes. A call that was tried so long before is looked for first.
const REMEMBERED: jiff::SignedDuration = jiff::SignedDuration::from_mins(5);

/// What counts already, by subject.
type Counted = HashMap<String, HashSet<String>>;

pub(super) async fn run(inner: &Inner, stop: &CancellationToken) {
    while stop.run_until_cancelled(tokio::time::sleep(LOOK)).await.is_some() {
        if inner.spool.waiting() == 0 {
            continue;
        }
        match stop.run_until_cancelled(drain(inner)).await {
            None => return,
            Some(Ok(0)) => {}
            Some(Ok(calls)) => tracing::info!(calls, "calls that waited for NATS are counted"),
            Some(Err(reason)) => tracing::debug!(reason, "calls still wait for NATS"),
        }
    }
}

/// Publishes all there is; gives how many calls that were.
async fn drain(inner: &Inner) -> Result<usize, String> {
    let mut calls = 0;
    for held in inner.spool.files() {
        calls += drain_file(inner, &held).await?;
    }
    Ok(calls)
}

async fn drain_file(inner: &Inner, held: &Arc<Held>) -> Result<usize, String> {
    let mut calls = 0;
    loop {
        let from = held.unpublished();
        let page = held.read(from).map_err(|error| error.to_string())?;
        if page.end == from {
            // Behind the end is at most what a crash cut off, which was never acknowledged.
            if inner.spool.finished(held, from).map_err(|error| error.to_string())? {
                return Ok(calls);
            }
            continue;
        }
        publish_all(inner, &page.calls).await?;
        inner.spool.published(held, page.end, page.calls.len());
        calls += page.calls.len();
    }
}

/// Publishes these calls, or tells why not all of them could be. Then they are all published again: none counts twice.
async fn publish_all(inner: &Inner, calls: &[Call]) -> Result<(), String> {
    let counted = look_for(inner, calls).await?;
    let sequences: Vec<(Call, Option<u64>)> = stream::iter(calls.to_vec())
        .map(|call| publish(inner, call, &counted))
        .buffer_unordered(AT_ONCE)
        .try_collect()
        .await?;
    inner.back();
    for (call, sequence) in sequences {
        inner.own.unspooled(&Budget::of(&call), sequence);
    }
    Ok(())
}

/// The ids of what counts already, for calls that are so old that JetStream may not remember having seen them.
async fn look_for(inner: &Inner, calls: &[Call]) -> Result<Counted, String> {
    let mut counted = Counted::new();
    let now = (inner.now)();
    for call in calls.iter().filter(|call| now.duration_since(call.time) > REMEMBERED) {
        if let Entry::Vacant(vacant) = counted.entry(subject::usage(call)) {
            vacant.insert(inner.gate.ids(call).await?);
        }
    }
    Ok(counted)
}

/// The sequence under which a call counts; none where it is over the quota, or counted before and of unknown sequence.
async fn publish(inner: &Inner, call: Call, counted: &Counted) -> Result<(Call, Option<u64>), String> {
    let known = counted.get(&subject::usage(&call));
    if known.is_some_and(|ids| ids.contains(&call.id.to_string())) {
        return Ok((call, None));
    }
    match inner.gate.publish(&call, PATIENCE).await {
        Published::Counted { sequence } => Ok((call, Some(sequence))),
        Published::Unknown(reason) => Err(reason),
        // It was answered; the audit shows it.
        Published::Full => match inner.gate.publish_overrun(&call, PATIENCE).await {
            Published::Counted { .. } => Ok((call, None)),
            Published::Full => Err("the stream of overruns refuses a call".into()),
            Published::Unknown(reason) => Err(reason),
        },
    }
}
