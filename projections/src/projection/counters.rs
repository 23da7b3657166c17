//! Counts metered calls: an empty model is filled from the ledger of the write side, then all usage streams are followed. A
//! call is counted by its id, so a repeated call changes nothing.

mod ledger;
mod truncation;
mod usage_streams;
mod verify;

use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, Instant};

use async_nats::jetstream;
use read::counters::{CountersReader, CountersWriter, Metered, Progress, Source};
use read::error::ModelError;
use schemas::clock::Clock;
use schemas::control::Parked;
use schemas::ids::Position;
use schemas::month::Month;
use schemas::subject;
use tokio_util::sync::CancellationToken;

use crate::error::WorkerError;
use crate::source::{EventSource, SourceError, consumer};
use crate::status::Status;
use crate::worker::{ProgressFn, ReplayError, Worker};
use usage_streams::{DeliveredCall, UndecodableCall, UsageStream, UsageStreams};

pub use verify::verify;

/// The most calls in one commit.
const MAX_BATCH: usize = 5_000;
/// The most calls in one commit of a replay, which has no readers.
const MAX_REPLAY_BATCH: usize = 20_000;
/// The shortest time between two commits, so that a commit counts many calls under load; after a pause the first call is
/// counted at once.
const COMMIT_INTERVAL: Duration = Duration::from_millis(50);
/// How often to list the streams: while there is none, and once there is one.
const STREAM_POLL_INTERVALS: [Duration; 2] = [Duration::from_millis(500), Duration::from_secs(4)];
/// How long an empty model waits for a ledger before it follows the streams without one.
const LEDGER_TIMEOUT: Duration = Duration::from_secs(3);
/// The same for a model that replaces a damaged one: its counts are recorded nowhere else, and the write side may just be
/// starting.
const LEDGER_TIMEOUT_RECOVERY: Duration = Duration::from_secs(30);
/// A replay fails after this long without a call.
const REPLAY_TIMEOUT: Duration = Duration::from_secs(10);

/// The worker that keeps the counters.
#[derive(Debug)]
pub struct CountersWorker {
    writer: CountersWriter,
    /// What the next commit will record as counted.
    progress: Progress,
    source: EventSource,
    jetstream: jetstream::Context,
    status: Status,
    clock: Clock,
}

impl Worker for CountersWorker {
    type Model = CountersReader;

    async fn open(
        folder: &Path,
        source: EventSource,
        status: Status,
        clock: Clock,
    ) -> Result<Self, ModelError> {
        let writer = CountersWriter::open(folder).await?;
        let jetstream = consumer::jetstream(source.client());
        Ok(CountersWorker { progress: writer.progress().clone(), writer, source, jetstream, status, clock })
    }

    fn position(&self) -> Position {
        self.writer.progress().checkpoint.position
    }

    fn report_to(&mut self, status: Status) {
        self.status = status;
    }

    async fn follow(&mut self, stop: &CancellationToken) -> Result<(), WorkerError> {
        self.heartbeat();
        self.fill_from_ledger(Some(LEDGER_TIMEOUT), stop, &mut |_, _| {}).await?;
        let mut streams = UsageStreams::new(self.jetstream.clone());
        let mut list_at = tokio::time::Instant::now();
        let mut backfill_at = list_at;
        let mut committed: Option<Instant> = None;
        // The connection of the last check for truncated streams, and that of the last listing.
        let (mut checked, mut listed) = (None, self.connections());
        while !stop.is_cancelled() {
            let mut batch = Vec::new();
            tokio::select! {
                biased;
                () = stop.cancelled() => return Ok(()),
                () = tokio::time::sleep_until(backfill_at), if self.progress.awaits_ledger => {
                    backfill_at = tokio::time::Instant::now() + self.backfill_from_ledger(stop).await?;
                }
                () = self.wait_until(list_at, listed) => {
                    listed = self.connections();
                    let wait = match self.read_all(&mut streams).await {
                        Ok(found) => STREAM_POLL_INTERVALS[usize::from(!found.is_empty())],
                        Err(WorkerError::Source(error)) => self.retry_delay(&error),
                        Err(failure) => return Err(failure),
                    };
                    list_at = tokio::time::Instant::now() + wait;
                }
                () = streams.next(&mut batch, MAX_BATCH) => {
                    // A server that was away may have lost its last messages and numbered other calls in their place.
                    let connected = self.connections();
                    if checked.replace(connected) != Some(connected) {
                        let wait = match self.rewind_truncated_streams().await {
                            Ok(false) => None,
                            Ok(true) => Some(Duration::ZERO),
                            Err(WorkerError::Source(error)) => {
                                checked = None;
                                Some(self.retry_delay(&error))
                            }
                            Err(failure) => return Err(failure),
                        };
                        // Calls that were received are read again from after the last commit.
                        if let Some(wait) = wait {
                            streams = UsageStreams::new(self.jetstream.clone());
                            list_at = tokio::time::Instant::now() + wait;
                            continue;
                        }
                    }
                    let wait = committed.and_then(|at| COMMIT_INTERVAL.checked_sub(at.elapsed()));
                    if let Some(wait) = wait && batch.len() < MAX_BATCH / 2 {
                        tokio::time::sleep(wait).await;
                        streams.take_ready(&mut batch, MAX_BATCH);
                    }
                    self.count_batch(batch).await?;
                    committed = Some(Instant::now());
                }
            }
            self.heartbeat();
        }
        Ok(())
    }

    async fn replay_all(
        &mut self,
        live: Option<Position>,
        stop: &CancellationToken,
        progress: ProgressFn<'_>,
    ) -> Result<(), ReplayError> {
        // Without a ledger a replay would lose the calls that NATS no longer has. If none was ever counted, as with auth = off,
        // there are none to lose.
        let time_limit = match live {
            Some(Position::START) => Some(Duration::ZERO),
            Some(_) => None,
            None => Some(LEDGER_TIMEOUT_RECOVERY),
        };
        let replay = async {
            self.fill_from_ledger(time_limit, stop, progress).await?;
            let heads = UsageStreams::new(self.jetstream.clone()).list().await.map_err(WorkerError::from)?;
            let heads = heads.into_iter().map(|found| (found.name, found.last)).collect();
            self.catch_up(&heads, progress).await
        };
        match stop.run_until_cancelled(replay).await {
            Some(replayed) => Ok(replayed?),
            None => Err(ReplayError::Stopped),
        }
    }

    async fn overtake(&mut self, live: Position, stop: &CancellationToken) -> Result<(), WorkerError> {
        // The streams held whatever the live model has counted before it counted it.
        match self.replay_all(Some(live), stop, &mut |_, _| {}).await {
            Ok(()) | Err(ReplayError::Stopped) => Ok(()),
            Err(ReplayError::Failed(failure)) => Err(failure),
        }
    }
}

impl CountersWorker {
    /// Returns the current month of this node's clock.
    fn month(&self) -> Month {
        Month::of(self.clock.now())
    }

    fn heartbeat(&self) {
        self.status.heartbeat(&self.writer.progress().checkpoint, self.clock.now());
    }

    /// Waits until `due`, or until the client has connected again since `connected`.
    async fn wait_until(&self, due: tokio::time::Instant, connected: u64) {
        let wait = due.saturating_duration_since(tokio::time::Instant::now());
        consumer::wait_for_reconnect(self.source.client(), connected, wait).await;
    }

    /// Logs that NATS does not answer, and returns how long to wait before the next attempt.
    fn retry_delay(&self, error: &SourceError) -> Duration {
        tracing::debug!(%error, "counted calls cannot be read at present");
        consumer::RETRY_DELAY
    }

    /// Lists the streams and reads each of them from after the last call counted; sets the lag.
    async fn read_all(&mut self, streams: &mut UsageStreams) -> Result<Vec<UsageStream>, WorkerError> {
        let found = streams.list().await?;
        let mut lag = 0;
        for stream in &found {
            let source = self.source_or_start(stream);
            lag += stream.last.saturating_sub(source.sequence.max(stream.gone));
            streams.read(stream, source.sequence);
        }
        self.status.set_lag(lag);
        Ok(found)
    }

    /// Returns how far a stream was counted; its start if it is new, or was created again under its name.
    fn source_or_start(&mut self, stream: &UsageStream) -> Source {
        let from_start = |recreated| Source { created: stream.created, sequence: 0, call: None, recreated };
        let source = match self.progress.sources.get(&stream.name) {
            None => from_start(false),
            Some(known) if known.created == stream.created && known.sequence <= stream.last => *known,
            Some(_) => {
                tracing::warn!(
                    stream = stream.name,
                    "the stream was created again; reading it from its start"
                );
                from_start(true)
            }
        };
        self.progress.sources.insert(stream.name.clone(), source);
        source
    }

    /// Counts each stream up to its sequence in `to`, and no further.
    async fn catch_up(
        &mut self,
        to: &BTreeMap<String, u64>,
        report: ProgressFn<'_>,
    ) -> Result<(), WorkerError> {
        let mut streams = UsageStreams::new(self.jetstream.clone());
        let found = self.read_all(&mut streams).await?;
        let left = |worker: &CountersWorker| -> u64 {
            let left = |stream: &UsageStream| {
                let counted = worker.progress.sources.get(&stream.name).map_or(0, |source| source.sequence);
                to.get(&stream.name).map_or(0, |to| to.saturating_sub(counted.max(stream.gone)))
            };
            found.iter().map(left).sum()
        };
        while left(self) > 0 {
            let mut batch = Vec::new();
            if tokio::time::timeout(REPLAY_TIMEOUT, streams.next(&mut batch, MAX_REPLAY_BATCH)).await.is_err()
            {
                let reason = format!("{} calls did not come within {REPLAY_TIMEOUT:?}", left(self));
                return Err(SourceError::Unavailable(reason).into());
            }
            batch.retain(|call| to.get(&*call.stream).is_some_and(|to| call.sequence <= *to));
            self.count_batch(batch).await?;
            let counted = self.position();
            report(counted, Position(counted.0 + left(self)));
        }
        Ok(())
    }

    async fn count_batch(&mut self, batch: Vec<DeliveredCall>) -> Result<(), WorkerError> {
        let mut calls = Vec::with_capacity(batch.len());
        for delivered in batch {
            self.add_call(delivered, &mut calls);
        }
        self.commit(&calls).await
    }

    fn add_call(&mut self, delivered: DeliveredCall, calls: &mut Vec<Metered>) {
        let DeliveredCall { stream, created, sequence, received, call } = delivered;
        // A replaced consumer may have sent some calls before the one that replaced it.
        let Some(source) = self.progress.sources.get_mut(&*stream) else { return };
        if source.created != created || sequence <= source.sequence {
            return;
        }
        if sequence > source.sequence + 1 && !source.recreated {
            tracing::warn!(
                %stream,
                after = source.sequence,
                before = sequence,
                "calls are gone from NATS and were not counted here; `loggia rebuild counters` takes them from the ledger"
            );
        }
        source.sequence = sequence;
        source.call = call.as_ref().ok().map(|call| call.id);
        let (recreated, overrun) = (source.recreated, *stream == *subject::OVERRUN);
        match call {
            Ok(call) => calls.push(Metered { call, overrun, sequence: Some(sequence), recreated, received }),
            Err(undecodable) => self.park_or_skip(&stream, sequence, undecodable),
        }
    }

    fn park_or_skip(&mut self, stream: &str, sequence: u64, undecodable: UndecodableCall) {
        let checkpoint = &mut self.progress.checkpoint;
        match undecodable {
            UndecodableCall::NewerVersion(kind) => {
                tracing::warn!(stream, sequence, kind, "a call of a newer version is passed over");
                checkpoint.skipped += 1;
            }
            UndecodableCall::Malformed(reason) => {
                tracing::error!(stream, sequence, reason, "a message is not a call and is set aside");
                let kind = stream.to_owned();
                checkpoint.park(vec![Parked { position: Position(sequence), kind, reason }]);
            }
        }
    }

    async fn commit(&mut self, calls: &[Metered]) -> Result<(), WorkerError> {
        let now = self.month();
        self.writer.commit(calls, self.progress.clone(), now).await?;
        self.progress.checkpoint.position = self.position();
        Ok(())
    }
}
