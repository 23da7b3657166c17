//! The one loop of every projection: take a batch, decode, apply, commit rows and checkpoint together.

use std::collections::HashSet;
use std::path::Path;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use read::checkpoint::Checkpoint;
use read::error::ModelError;
use read::model::Model;
use schemas::clock::Clock;
use schemas::control::Parked;
use schemas::ids::Position;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use traces::{Kind, Runs};

use crate::continuity::Continuity;
use crate::failure::Failure;
use crate::pace::Pace;
use crate::projection::{Projection, Refused};
use crate::source::{Arrived, EventSource, Following, Found, SourceError};
use crate::status::Status;

/// The most events in one commit. Larger batches are faster to apply and later to see.
const BATCH: usize = 4_000;
/// The same for a replay, which nobody sees before its end.
const REPLAY_BATCH: usize = 5_000;
/// A replay that gets no event for so long does not go on: the log may have become shorter.
const SILENCE: Duration = Duration::from_secs(30);
/// An idle worker shows that it lives this often.
const HEARTBEAT: Duration = Duration::from_secs(1);

/// One projection at work on one generation.
#[derive(Debug)]
pub struct Worker<P> {
    projection: P,
    source: EventSource,
    status: Status,
    clock: Clock,
    warned: HashSet<String>,
}

impl<P: Projection> Worker<P> {
    /// Opens the model in a folder. Its clock serves heartbeats only.
    pub async fn open(
        folder: &Path,
        source: EventSource,
        status: Status,
        clock: Clock,
    ) -> Result<Self, ModelError> {
        let projection = P::open(folder).await?;
        Ok(Worker { projection, source, status, clock, warned: HashSet::new() })
    }

    /// The last position that is committed.
    pub fn position(&self) -> Position {
        self.projection.checkpoint().position
    }

    /// Where its events come from.
    pub(crate) fn source(&self) -> &EventSource {
        &self.source
    }

    /// Shows its progress there from now on.
    pub fn report_to(&mut self, status: Status) {
        self.status = status;
    }

    /// Follows the stream until it is told to stop, which it does between two commits. A message that is damaged is replaced by
    /// the event of the event store.
    pub async fn follow(&mut self, stop: &CancellationToken) -> Result<(), Failure> {
        while let Err(failure) = self.follow_stream(stop).await {
            self.mend(failure).await?;
        }
        Ok(())
    }

    async fn follow_stream(&mut self, stop: &CancellationToken) -> Result<(), Failure> {
        let backlog = tokio::select! {
            biased;
            () = stop.cancelled() => return Ok(()),
            // Where it is not known yet, there is none to hurry for.
            head = self.source.head() => head.unwrap_or_default(),
        };
        let mut continuity = Continuity::new(self.source.clone());
        self.compare(&mut continuity, stop).await?;
        let mut following = self.source.follow_as(self.position(), P::SHARING);
        let (mut pace, mut runs) = (Pace::default(), Runs::default());
        let mut settled = false;
        loop {
            let mut batch = tokio::select! {
                biased;
                () = stop.cancelled() => return Ok(()),
                batch = self.next(&mut following, &mut continuity, &mut settled) => batch?,
            };
            trace(&mut runs, &batch, backlog);
            let mut ended = Ok(());
            // What was there before it began is nobody's work any more, and readers wait for it.
            if self.position() >= backlog {
                tokio::select! {
                    biased;
                    () = stop.cancelled() => return Ok(()),
                    () = self.rest(&mut pace) => {}
                }
                let known = batch.len();
                ended = following.more(&mut batch, BATCH);
                trace(&mut runs, batch.get(known..).unwrap_or_default(), backlog);
            }
            let (began, events) = (Instant::now(), batch.len());
            self.take(batch.into_iter()).await?;
            // From here on readers find them.
            runs.end(self.position().0, Kind::Consumer, "project", P::Model::NAME);
            ended?;
            pace.committed(began, events);
            settled = false;
        }
    }

    /// Fails where the log has another history than the model, unless it is told to stop meanwhile.
    async fn compare(
        &mut self,
        continuity: &mut Continuity,
        stop: &CancellationToken,
    ) -> Result<(), Failure> {
        let checkpoint = self.projection.checkpoint().clone();
        let look = continuity.look(P::Model::NAME, &checkpoint);
        stop.run_until_cancelled(look).await.unwrap_or(Ok(()))
    }

    /// Waits for the next events. When none come for a while, the model settles; that ends when one comes.
    async fn next(
        &mut self,
        following: &mut Following,
        continuity: &mut Continuity,
        settled: &mut bool,
    ) -> Result<Vec<Arc<Arrived>>, Failure> {
        let Worker { projection, source, status, clock, .. } = self;
        let checkpoint = projection.checkpoint().clone();
        let beat = || {
            status.beat(&checkpoint, clock.now());
            source.head_heard().into_iter().for_each(|head| status.head(head));
        };
        beat();
        let mut quiet = *settled || projection.is_settling();
        let mut next = pin!(following.next(BATCH));
        while !quiet {
            tokio::select! {
                biased;
                batch = &mut next => return Ok(batch?),
                outcome = compared(continuity, P::Model::NAME, &checkpoint) => {
                    outcome?;
                    quiet = true;
                }
            }
            beat();
        }
        let mut settling = pin!(projection.settle());
        loop {
            tokio::select! {
                biased;
                batch = &mut next => return Ok(batch?),
                done = &mut settling, if !*settled => {
                    done?;
                    *settled = true;
                }
                outcome = compared(continuity, P::Model::NAME, &checkpoint) => outcome?,
            }
            beat();
        }
    }

    /// Rests before the next commit, and shows meanwhile that it lives.
    async fn rest(&mut self, pace: &mut Pace) {
        let position = self.position();
        let Worker { projection, source, status, clock, .. } = self;
        let mut resting = pin!(pace.rest(source, position));
        while tokio::time::timeout(HEARTBEAT, &mut resting).await.is_err() {
            status.beat(projection.checkpoint(), clock.now());
        }
    }

    /// Prepares a model that nobody reads yet for a replay.
    pub async fn prepare_replay(&mut self) -> Result<(), ModelError> {
        self.projection.prepare_replay().await
    }

    /// Applies the next event as the event store has it, where what the stream has in its place does not follow the last one
    /// that was applied.
    ///
    /// # Errors
    ///
    /// Returns the failure where it is another one, where no write side answers, or where its log has another history than
    /// the model.
    async fn mend(&mut self, failure: Failure) -> Result<(), Failure> {
        let next = self.position().next();
        let (Failure::Discontinuous { position, .. } | Failure::Source(SourceError::Broken { position })) =
            &failure
        else {
            return Err(failure);
        };
        if *position != next {
            return Err(failure);
        }
        let Checkpoint { position: after, hash, .. } = self.projection.checkpoint();
        let Some(hash) = *hash else { return Err(failure) };
        let Some(event) = self.source.logged_after(*after, hash).await else { return Err(failure) };
        self.take(std::iter::once(Arc::new(event))).await
    }

    /// Replays up to this position and no further, telling each position it has committed.
    pub async fn replay(
        &mut self,
        to: Position,
        stop: &CancellationToken,
        progress: &mut (dyn FnMut(Position) + Send),
    ) -> Result<(), Failure> {
        while let Err(failure) = self.replay_stream(to, stop, progress).await {
            self.mend(failure).await?;
        }
        Ok(())
    }

    async fn replay_stream(
        &mut self,
        to: Position,
        stop: &CancellationToken,
        progress: &mut (dyn FnMut(Position) + Send),
    ) -> Result<(), Failure> {
        let mut following = self.source.follow_apart(self.position());
        while self.position() < to {
            let mut batch = Vec::new();
            while batch.len() < REPLAY_BATCH
                && batch.last().is_none_or(|last: &Arc<Arrived>| last.position < to)
            {
                tokio::select! {
                    biased;
                    () = stop.cancelled() => return Ok(()),
                    more = following.next(BATCH) => match more {
                        Ok(more) => batch.extend(more),
                        Err(error) if batch.is_empty() => return Err(error.into()),
                        // What came before is applied first.
                        Err(_) => break,
                    },
                    () = tokio::time::sleep(SILENCE) => {
                        let (at, silence) = (self.position(), SILENCE.as_secs());
                        let reason = format!("no event came for {silence} s after {at}, and the replay goes to {to}");
                        return Err(SourceError::Unavailable(reason).into());
                    }
                }
            }
            self.take(batch.into_iter().filter(|arrived| arrived.position <= to)).await?;
            self.status.beat(self.projection.checkpoint(), self.clock.now());
            progress(self.position());
        }
        self.projection.settle().await?;
        Ok(())
    }

    /// Applies and commits one batch: where an event in it does not follow the one before, as far as that.
    async fn take(&mut self, batch: impl Iterator<Item = Arc<Arrived>> + Send) -> Result<(), Failure> {
        // Whoever brings the next events was woken when these were taken, and may wait behind this task for its
        // thread, which is about to be blocked.
        tokio::task::yield_now().await;
        let mut checkpoint = self.projection.checkpoint().clone();
        let (mut events, mut parked) = (Vec::new(), Vec::new());
        let mut broken = Ok(());
        for arrived in batch {
            debug_assert_eq!(arrived.position, checkpoint.position.next(), "the source leaves no hole");
            let (after, hash) = (checkpoint.position, checkpoint.hash);
            let arrived = match (&arrived.found, hash) {
                // A message that carries no event may be a damaged one.
                (Err(_), Some(hash)) => self.source.logged_after(after, hash).await.map_or(arrived, Arc::new),
                _ => arrived,
            };
            broken = self.sort(&arrived, &mut checkpoint, &mut events, &mut parked);
            if broken.is_err() {
                checkpoint.hash = hash;
                break;
            }
            checkpoint.position = arrived.position;
        }
        if checkpoint.position == self.position() {
            return broken;
        }
        for Refused { position, kind, reason } in self.projection.apply(events).await? {
            parked.push(park(P::Model::NAME, position, kind, reason));
        }
        checkpoint.park(parked);
        self.projection.commit(checkpoint).await?;
        broken
    }

    /// Sorts what arrived into events for the projection, events to pass over, and poison to park.
    fn sort(
        &mut self,
        arrived: &Arrived,
        checkpoint: &mut Checkpoint,
        events: &mut Vec<P::Event>,
        parked: &mut Vec<Parked>,
    ) -> Result<(), Failure> {
        let previous = std::mem::replace(&mut checkpoint.hash, arrived.hash());
        let found = match &arrived.found {
            Ok(found) => found,
            Err(error) => {
                parked.push(park(P::Model::NAME, arrived.position, String::new(), error.to_string()));
                return Ok(());
            }
        };
        let Found { recorded, event, store, .. } = found;
        if let Some(store) = *store {
            if !checkpoint.belongs_to(store) {
                let own = checkpoint.store.clone().unwrap_or_default();
                return Err(Failure::ForeignStore { model: P::Model::NAME, own, stream: store.to_string() });
            }
            checkpoint.store.get_or_insert_with(|| store.to_string());
        }
        // Unknown at the start, after a message that is no event, and in a checkpoint of version 0.1.
        if previous.is_some_and(|previous| !found.follows(previous)) {
            return Err(Failure::Discontinuous { model: P::Model::NAME, position: arrived.position });
        }
        match event {
            Ok(Some(event)) => events.extend(P::select(recorded, event)),
            Ok(None) => {
                checkpoint.skipped += 1;
                if self.warned.insert(recorded.kind.clone()) {
                    tracing::warn!(
                        projection = P::Model::NAME,
                        kind = recorded.kind,
                        "events of a newer version are passed over"
                    );
                }
            }
            Err(error) => {
                parked.push(park(
                    P::Model::NAME,
                    recorded.position,
                    recorded.kind.clone(),
                    error.to_string(),
                ));
            }
        }
        Ok(())
    }
}

/// Notes the traces of events that arrived. What was in the log before the worker began is not traced: its traces may be of
/// last year.
fn trace(runs: &mut Runs, arrived: &[Arc<Arrived>], backlog: Position) {
    let new = arrived.iter().filter(|arrived| arrived.position > backlog);
    runs.begin(new.map(|arrived| {
        let found = arrived.found.as_ref().ok();
        (arrived.position.0, found.and_then(|found| found.recorded.traceparent))
    }));
}

/// Waits for a heartbeat, then looks whether the log still has the event of the checkpoint.
async fn compared(
    continuity: &mut Continuity,
    model: &'static str,
    checkpoint: &Checkpoint,
) -> Result<(), Failure> {
    tokio::time::sleep(HEARTBEAT).await;
    continuity.look(model, checkpoint).await
}

fn park(projection: &str, position: Position, kind: String, reason: String) -> Parked {
    tracing::error!(projection, %position, kind, reason, "an event cannot be applied and is set aside");
    Parked { position, kind, reason }
}

impl From<SourceError> for ReplayError {
    fn from(error: SourceError) -> Self {
        ReplayError::Failed(error.into())
    }
}

/// A replay did not come to its end.
#[derive(Debug, thiserror::Error)]
pub enum ReplayError {
    /// It was told to stop.
    #[error("the replay was stopped; nothing was changed")]
    Stopped,
    /// Something failed.
    #[error(transparent)]
    Failed(#[from] Failure),
}

impl From<ModelError> for ReplayError {
    fn from(error: ModelError) -> Self {
        ReplayError::Failed(error.into())
    }
}
