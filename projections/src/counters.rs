//! Counts metered calls: fills itself from the ledger of the write side where it is empty, then follows every stream
//! that meters. A call is counted by its id, so whatever comes twice is harmless.

mod ledger;
mod lost;
mod streams;
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

use crate::failure::Failure;
use crate::source::{EventSource, SourceError, consumer};
use crate::status::Status;
use crate::work::{Progress as Tell, Work};
use crate::worker::ReplayError;
use streams::{Arrived, Found, Streams, Unfit};

pub use verify::verify;

/// The most calls in one commit while others wait for it.
const BATCH: usize = 5_000;
/// The same where nobody does.
const REPLAY_BATCH: usize = 20_000;
/// Commits follow each other at this distance, so that a commit counts many calls when there are many; the first behind
/// a quiet time is made at once.
const APART: Duration = Duration::from_millis(50);
/// How often streams are looked for while there is none, and once there is one.
const LOOK: [Duration; 2] = [Duration::from_millis(500), Duration::from_secs(2)];
/// How long an empty model waits for a ledger before it follows the streams without one.
const LEDGER_WITHIN: Duration = Duration::from_secs(3);
/// The same for a model that replaces a damaged one: what that had counted is known to nobody, and the write side may
/// just be starting.
const LEDGER_WITHIN_RECOVERY: Duration = Duration::from_secs(30);
/// A replay that hears nothing for so long does not go on.
const SILENCE: Duration = Duration::from_secs(10);

/// The counters at work on one generation.
#[derive(Debug)]
pub struct CountersWorker {
    writer: CountersWriter,
    /// How far the next commit comes.
    progress: Progress,
    source: EventSource,
    jetstream: jetstream::Context,
    status: Status,
    clock: Clock,
}

impl Work for CountersWorker {
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

    async fn follow(&mut self, stop: &CancellationToken) -> Result<(), Failure> {
        self.beat();
        self.fill(Some(LEDGER_WITHIN), stop, &mut |_, _| {}).await?;
        let mut streams = Streams::new(self.jetstream.clone());
        let mut look = tokio::time::Instant::now();
        let mut ask = look;
        let mut committed: Option<Instant> = None;
        let (mut connects, mut looked) = (None, self.connects());
        while !stop.is_cancelled() {
            let mut batch = Vec::new();
            tokio::select! {
                biased;
                () = stop.cancelled() => return Ok(()),
                () = tokio::time::sleep_until(ask), if self.progress.awaits_ledger => {
                    ask = tokio::time::Instant::now() + self.fill_in(stop).await?;
                }
                () = self.until(look, looked) => {
                    looked = self.connects();
                    let wait = match self.look(&mut streams).await {
                        Ok(found) => LOOK[usize::from(!found.is_empty())],
                        Err(Failure::Source(error)) => self.missed(&error),
                        Err(failure) => return Err(failure),
                    };
                    look = tokio::time::Instant::now() + wait;
                }
                () = streams.next(&mut batch, BATCH) => {
                    // A server that went away may have come back without its last messages, and with others since.
                    let connected = self.connects();
                    if connects.replace(connected) != Some(connected) {
                        let wait = match self.lost_an_end().await {
                            Ok(false) => None,
                            Ok(true) => Some(Duration::ZERO),
                            Err(Failure::Source(error)) => {
                                connects = None;
                                Some(self.missed(&error))
                            }
                            Err(failure) => return Err(failure),
                        };
                        // What has arrived is read again from where the last commit ended.
                        if let Some(wait) = wait {
                            streams = Streams::new(self.jetstream.clone());
                            look = tokio::time::Instant::now() + wait;
                            continue;
                        }
                    }
                    let wait = committed.and_then(|at| APART.checked_sub(at.elapsed()));
                    if let Some(wait) = wait && batch.len() < BATCH / 2 {
                        tokio::time::sleep(wait).await;
                        streams.more(&mut batch, BATCH);
                    }
                    self.count(batch).await?;
                    committed = Some(Instant::now());
                }
            }
            self.beat();
        }
        Ok(())
    }

    async fn replay_all(
        &mut self,
        live: Option<Position>,
        stop: &CancellationToken,
        progress: Tell<'_>,
    ) -> Result<(), ReplayError> {
        // Without a ledger a replay would forget what NATS no longer has. Where nothing was ever counted, as with auth off,
        // there is nothing to forget.
        let patience = match live {
            Some(Position::START) => Some(Duration::ZERO),
            Some(_) => None,
            None => Some(LEDGER_WITHIN_RECOVERY),
        };
        let replay = async {
            self.fill(patience, stop, progress).await?;
            let heads = Streams::new(self.jetstream.clone()).look().await.map_err(Failure::from)?;
            let heads = heads.into_iter().map(|found| (found.name, found.last)).collect();
            self.catch_up(&heads, progress).await
        };
        match stop.run_until_cancelled(replay).await {
            Some(replayed) => Ok(replayed?),
            None => Err(ReplayError::Stopped),
        }
    }

    async fn overtake(&mut self, live: Position, stop: &CancellationToken) -> Result<(), Failure> {
        // Whatever the live one has counted, the streams held before it did.
        match self.replay_all(Some(live), stop, &mut |_, _| {}).await {
            Ok(()) | Err(ReplayError::Stopped) => Ok(()),
            Err(ReplayError::Failed(failure)) => Err(failure),
        }
    }
}

impl CountersWorker {
    /// The month of this node's clock.
    fn month(&self) -> Month {
        Month::of(self.clock.now())
    }

    fn beat(&self) {
        self.status.beat(&self.writer.progress().checkpoint, self.clock.now());
    }

    /// Waits until it is time to look for streams, or there is another connection than that one.
    async fn until(&self, look: tokio::time::Instant, connected: u64) {
        let wait = look.saturating_duration_since(tokio::time::Instant::now());
        consumer::pause(self.source.client(), connected, wait).await;
    }

    /// NATS cannot tell of the streams at present: gives how long to wait before it is asked again.
    fn missed(&self, error: &SourceError) -> Duration {
        tracing::debug!(%error, "counted calls cannot be read at present");
        consumer::PAUSE
    }

    /// Looks which streams there are and has them followed, each from where it was left.
    async fn look(&mut self, streams: &mut Streams) -> Result<Vec<Found>, Failure> {
        let found = streams.look().await?;
        let mut lag = 0;
        for stream in &found {
            let source = self.source_of(stream);
            lag += stream.last.saturating_sub(source.sequence.max(stream.gone));
            streams.follow(stream, source.sequence);
        }
        self.status.lag(lag);
        Ok(found)
    }

    /// How far a stream was taken in; from its start where it is new, or not the one that was.
    fn source_of(&mut self, stream: &Found) -> Source {
        let from_start = |remade| Source { created: stream.created, sequence: 0, call: None, remade };
        let source = match self.progress.sources.get(&stream.name) {
            None => from_start(false),
            Some(known) if known.created == stream.created && known.sequence <= stream.last => *known,
            Some(_) => {
                tracing::warn!(stream = stream.name, "the stream was made anew; reading it from its start");
                from_start(true)
            }
        };
        self.progress.sources.insert(stream.name.clone(), source);
        source
    }

    /// Goes on until each stream is taken in up to its sequence here, and no further.
    async fn catch_up(&mut self, to: &BTreeMap<String, u64>, tell: Tell<'_>) -> Result<(), Failure> {
        let mut streams = Streams::new(self.jetstream.clone());
        let found = self.look(&mut streams).await?;
        let left = |worker: &CountersWorker| -> u64 {
            let left = |stream: &Found| {
                let taken = worker.progress.sources.get(&stream.name).map_or(0, |source| source.sequence);
                to.get(&stream.name).map_or(0, |to| to.saturating_sub(taken.max(stream.gone)))
            };
            found.iter().map(left).sum()
        };
        while left(self) > 0 {
            let mut batch = Vec::new();
            if tokio::time::timeout(SILENCE, streams.next(&mut batch, REPLAY_BATCH)).await.is_err() {
                let reason = format!("{} calls did not come within {SILENCE:?}", left(self));
                return Err(SourceError::Unavailable(reason).into());
            }
            batch.retain(|call| to.get(&*call.stream).is_some_and(|to| call.sequence <= *to));
            self.count(batch).await?;
            let counted = self.position();
            tell(counted, Position(counted.0 + left(self)));
        }
        Ok(())
    }

    /// Counts and commits one batch.
    async fn count(&mut self, batch: Vec<Arrived>) -> Result<(), Failure> {
        let mut calls = Vec::with_capacity(batch.len());
        for arrived in batch {
            self.take(arrived, &mut calls);
        }
        self.commit(&calls).await
    }

    fn take(&mut self, arrived: Arrived, calls: &mut Vec<Metered>) {
        let Arrived { stream, created, sequence, heard, call } = arrived;
        // A consumer that was given up may have sent some calls before the one that follows it.
        let Some(source) = self.progress.sources.get_mut(&*stream) else { return };
        if source.created != created || sequence <= source.sequence {
            return;
        }
        if sequence > source.sequence + 1 && !source.remade {
            tracing::warn!(
                %stream,
                after = source.sequence,
                before = sequence,
                "calls are gone from NATS and were not counted here; `loggia rebuild counters` takes them from the ledger"
            );
        }
        source.sequence = sequence;
        source.call = call.as_ref().ok().map(|call| call.id);
        let (remade, overrun) = (source.remade, *stream == *subject::OVERRUN);
        match call {
            Ok(call) => calls.push(Metered { call, overrun, sequence: Some(sequence), remade, heard }),
            Err(unfit) => self.set_aside(&stream, sequence, unfit),
        }
    }

    fn set_aside(&mut self, stream: &str, sequence: u64, unfit: Unfit) {
        let checkpoint = &mut self.progress.checkpoint;
        match unfit {
            Unfit::Newer(kind) => {
                tracing::warn!(stream, sequence, kind, "a call of a newer version is passed over");
                checkpoint.skipped += 1;
            }
            Unfit::Broken(reason) => {
                tracing::error!(stream, sequence, reason, "a message is no call and is set aside");
                let kind = stream.to_owned();
                checkpoint.park(vec![Parked { position: Position(sequence), kind, reason }]);
            }
        }
    }

    async fn commit(&mut self, calls: &[Metered]) -> Result<(), Failure> {
        let now = self.month();
        self.writer.commit(calls, self.progress.clone(), now).await?;
        self.progress.checkpoint.position = self.position();
        Ok(())
    }
}
