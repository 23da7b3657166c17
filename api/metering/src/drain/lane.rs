//! Publishes the spooled calls of one tier.

use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures::{StreamExt, TryStreamExt, stream};
use schemas::subject;
use schemas::tier::TierName;
use schemas::usage::{Call, CallId};

use super::super::publisher::{LookupError, Published};
use super::super::spool::{Page, SpoolFile, Spooled};
use super::super::{Budget, Inner};
use super::known::{CallKind, KnownIds};

/// The timeout of one call; no caller waits for it.
const TIMEOUT: Duration = Duration::from_secs(2);
/// The maximum number of calls in flight.
const MAX_IN_FLIGHT: usize = 128;
/// JetStream detects duplicates for ten minutes. A call whose first attempt is older than this is looked up first.
const LOOK_UP_AFTER: Duration = Duration::from_secs(5 * 60);
/// The number of pages after which the other lanes get their turn.
const PAGES_PER_TURN: usize = 16;

#[derive(Debug)]
pub(super) struct Lane {
    counted: KnownIds,
    overruns: KnownIds,
    /// Tiers that are not configured and have no stream.
    absent: HashSet<TierName>,
    /// The file and offset of a partly published page, and the time of its first attempt.
    unfinished: Option<(PathBuf, u64, Instant)>,
}

/// The outcome of a call.
#[derive(Debug)]
enum CallOutcome {
    /// It counts, with this sequence if known.
    Counted(Option<u64>),
    /// It is over the quota although it was answered; the audit reports it.
    Overrun,
    /// There is no stream for it, and there will be none.
    NoStream,
}

/// Lines that cannot be published, each with its line break, and the reason as a part of a sentence.
#[derive(Debug, Default)]
struct Unpublishable {
    lines: Vec<u8>,
    count: usize,
    reason: String,
}

impl Default for Lane {
    fn default() -> Lane {
        let (counted, overruns) = (KnownIds::new(CallKind::Counted), KnownIds::new(CallKind::Overruns));
        Lane { counted, overruns, absent: HashSet::new(), unfinished: None }
    }
}

impl Lane {
    /// Publishes some pages of these files; returns the number of calls and the failure, if any.
    pub(super) async fn publish_some(
        &mut self,
        inner: &Inner,
        files: &[Arc<SpoolFile>],
    ) -> (usize, Result<(), String>) {
        let (mut calls, mut pages) = (0, 0);
        for file in files {
            loop {
                match self.publish_page(inner, file).await {
                    Ok(None) => break,
                    Ok(Some(published)) => calls += published,
                    Err(reason) => return (calls, Err(reason)),
                }
                pages += 1;
                if pages == PAGES_PER_TURN {
                    return (calls, Ok(()));
                }
            }
        }
        (calls, Ok(()))
    }

    /// Publishes the next page of a file; `None` at its end. A partly published page is published again as a whole: no call
    /// counts twice.
    async fn publish_page(&mut self, inner: &Inner, file: &Arc<SpoolFile>) -> Result<Option<usize>, String> {
        if !inner.publisher.is_connected() {
            return Err("there is no connection to NATS".into());
        }
        let from = file.unpublished();
        let reading = file.clone();
        let page = off_thread(move || reading.read(from)).await?;
        if page.end == from {
            let (spool, ended) = (inner.spool.clone(), file.clone());
            let is_finished = off_thread(move || spool.finished(&ended, from)).await?;
            return Ok(if is_finished { None } else { Some(0) });
        }
        let Page { lines, end } = page;
        let count = lines.len();
        let mut unpublishable = Unpublishable::default();
        let mut calls = Vec::with_capacity(count);
        for line in lines {
            match line {
                Ok(spooled) => calls.push(spooled),
                Err(line) => unpublishable.add(&line, "cannot be read"),
            }
        }
        let settled = self.publish_all(inner, file, from, &calls).await;
        match &settled {
            Ok(_) => self.unfinished = None,
            Err(_) if self.is_unfinished(file, from).is_none() => {
                self.unfinished = Some((file.path.clone(), from, Instant::now()));
            }
            Err(_) => {}
        }
        let settled = settled?;
        for (call, settled) in &settled {
            if let CallOutcome::NoStream = settled {
                // A call can always be serialised.
                unpublishable
                    .add(&serde_json::to_vec(call).unwrap_or_default(), "have a tier without a stream");
            }
        }
        unpublishable.set_aside(inner).await?;
        // Nothing may fail from here on: a page that is published again would be released from the budgets twice.
        for (call, settled) in settled {
            let sequence = if let CallOutcome::Counted(sequence) = settled { sequence } else { None };
            inner.unconfirmed.unspooled(&Budget::of(&call), sequence);
        }
        inner.spool.published(file, end, count);
        Ok(Some(count))
    }

    /// Returns the time of the first attempt of the page that begins there.
    fn is_unfinished(&self, file: &SpoolFile, from: u64) -> Option<Instant> {
        let (path, at, since) = self.unfinished.as_ref()?;
        (*path == file.path && *at == from).then_some(*since)
    }

    /// Determines the outcome of each of these calls.
    async fn publish_all(
        &mut self,
        inner: &Inner,
        file: &SpoolFile,
        from: u64,
        calls: &[Spooled],
    ) -> Result<Vec<(Call, CallOutcome)>, String> {
        let tried_long_ago =
            self.is_unfinished(file, from).is_some_and(|since| since.elapsed() > LOOK_UP_AFTER);
        let now = inner.clock.now();
        let may_be_unrecognised = |spooled: &Spooled| {
            let age = now.duration_since(spooled.call.time).unsigned_abs();
            let was_tried = file.is_adopted || !spooled.is_unsent;
            tried_long_ago || (was_tried && age > LOOK_UP_AFTER)
        };
        let unrecognised: HashSet<_> = calls
            .iter()
            .filter(|spooled| may_be_unrecognised(spooled))
            .map(|spooled| spooled.call.id)
            .collect();
        self.note_absent(inner, calls).await?;
        let needs_look_up =
            |call: &&Call| unrecognised.contains(&call.id) && !self.absent.contains(&call.tier);
        let to_look_up: Vec<Call> =
            calls.iter().map(|spooled| &spooled.call).filter(needs_look_up).cloned().collect();
        self.counted.look_up(&inner.publisher, to_look_up).await.map_err(|error| error.to_string())?;
        let lane = &*self;
        let published: Vec<(Call, Option<CallOutcome>)> =
            stream::iter(calls.iter().map(|spooled| spooled.call.clone()).collect::<Vec<_>>())
                .map(|call| lane.publish(inner, call))
                .buffer_unordered(MAX_IN_FLIGHT)
                .try_collect()
                .await?;
        self.publish_overruns(inner, published, &unrecognised).await
    }

    /// Finds tiers that are not configured and have no stream.
    async fn note_absent(&mut self, inner: &Inner, calls: &[Spooled]) -> Result<(), String> {
        let mut checked = HashSet::new();
        for Spooled { call, .. } in calls {
            let is_new = inner.tiers.get(&call.tier).is_none() && !self.absent.contains(&call.tier);
            if is_new && checked.insert(call.tier.clone()) {
                match inner
                    .publisher
                    .ids(&subject::usage_stream(&call.tier), &call.subject(), call.id.0)
                    .await
                {
                    Ok(_) => {}
                    Err(LookupError::NoStream(_)) => {
                        self.absent.insert(call.tier.clone());
                    }
                    Err(error) => return Err(error.to_string()),
                }
            }
        }
        Ok(())
    }

    /// Publishes a call against its quota; `None` if it is used up.
    async fn publish(&self, inner: &Inner, call: Call) -> Result<(Call, Option<CallOutcome>), String> {
        if self.absent.contains(&call.tier) {
            return Ok((call, Some(CallOutcome::NoStream)));
        }
        if self.counted.has(&call) {
            return Ok((call, Some(CallOutcome::Counted(None))));
        }
        let published = inner.publisher.publish(&call, TIMEOUT).await;
        let settled = match published {
            Published::Counted { sequence } => Some(CallOutcome::Counted(Some(sequence))),
            Published::Full => None,
            Published::NotStored(reason) | Published::Unknown(reason) => {
                return Err(format!("{}: {reason}", subject::usage_stream(&call.tier)));
            }
        };
        inner.breakers.of(&call.tier).succeeded();
        Ok((call, settled))
    }

    /// Publishes the calls that are over their quota as overruns, each once.
    async fn publish_overruns(
        &mut self,
        inner: &Inner,
        published: Vec<(Call, Option<CallOutcome>)>,
        unrecognised: &HashSet<CallId>,
    ) -> Result<Vec<(Call, CallOutcome)>, String> {
        let needs_look_up = |(call, settled): &&(Call, Option<CallOutcome>)| {
            settled.is_none() && unrecognised.contains(&call.id)
        };
        let to_look_up = published.iter().filter(needs_look_up).map(|(call, _)| call.clone()).collect();
        if let Err(error) = self.overruns.look_up(&inner.publisher, to_look_up).await {
            // A NATS user of version 0.1 may not read them.
            tracing::warn!(%error, "it is not known which overruns were published before, so they are published again");
        }
        let lane = &*self;
        let settled: Vec<(Call, CallOutcome)> = stream::iter(published)
            .map(|(call, settled)| async move {
                match settled {
                    Some(settled) => Ok((call, settled)),
                    None => lane.publish_overrun(inner, call).await,
                }
            })
            .buffer_unordered(MAX_IN_FLIGHT)
            .try_collect()
            .await?;
        for (call, settled) in &settled {
            match settled {
                CallOutcome::Counted(_) => self.counted.note(call),
                CallOutcome::Overrun => self.overruns.note(call),
                CallOutcome::NoStream => {}
            }
        }
        Ok(settled)
    }

    async fn publish_overrun(&self, inner: &Inner, call: Call) -> Result<(Call, CallOutcome), String> {
        if self.overruns.has(&call) {
            return Ok((call, CallOutcome::Overrun));
        }
        match inner.publisher.publish_overrun(&call, TIMEOUT).await {
            Published::Counted { .. } => Ok((call, CallOutcome::Overrun)),
            Published::Full => Err("the stream of overruns refuses a call".into()),
            Published::NotStored(reason) | Published::Unknown(reason) => {
                Err(format!("{}: {reason}", subject::OVERRUN))
            }
        }
    }
}

impl Unpublishable {
    fn add(&mut self, line: &[u8], reason: &str) {
        self.lines.extend_from_slice(line);
        self.lines.push(b'\n');
        self.count += 1;
        if !self.reason.contains(reason) {
            let and = if self.reason.is_empty() { "" } else { " or " };
            self.reason += &format!("{and}{reason}");
        }
    }

    async fn set_aside(self, inner: &Inner) -> Result<(), String> {
        let Unpublishable { lines, count, reason } = self;
        if count == 0 {
            return Ok(());
        }
        let spool = inner.spool.clone();
        let path = off_thread(move || spool.set_aside(&lines)).await?;
        tracing::warn!(
            calls = count,
            file = %path.display(),
            "calls of the spool {reason}, so they are set aside uncounted; to count them later, add their tier to \
             the setting tiers, rename the file so that it ends with .spool, and restart"
        );
        Ok(())
    }
}

/// Runs blocking work outside the threads that answer requests.
async fn off_thread<T: Send + 'static>(
    work: impl FnOnce() -> std::io::Result<T> + Send + 'static,
) -> Result<T, String> {
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => done.map_err(|error| format!("the spool cannot be used: {error}")),
        Err(error) => Err(error.to_string()),
    }
}
