//! The loop of every projection of the log: receive a batch, decode, apply, commit rows and checkpoint together.

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
use traces::{BatchSpans, Kind};

use super::throttle::Throttle;
use super::{ProgressFn, ReplayError, Worker};
use crate::error::WorkerError;
use crate::history::HistoryCheck;
use crate::projection::{PoisonEvent, Projection};
use crate::source::{DecodedEvent, Delivery, EventSource, SourceError, Subscription};
use crate::status::Status;

/// The most events in one commit. A larger batch costs less per event and is visible later.
const MAX_BATCH: usize = 4_000;
/// The most events in one commit of a replay, which has no readers before its end.
const MAX_REPLAY_BATCH: usize = 5_000;
/// A replay fails after this long without an event: the log may have become shorter.
const REPLAY_TIMEOUT: Duration = Duration::from_secs(30);
/// An idle worker updates its heartbeat this often.
const HEARTBEAT: Duration = Duration::from_secs(1);

/// The worker of one projection on one generation.
#[derive(Debug)]
pub struct ProjectionWorker<P> {
    projection: P,
    source: EventSource,
    status: Status,
    clock: Clock,
    /// Unknown event types that were logged already.
    warned: HashSet<String>,
}

impl<P: Projection> Worker for ProjectionWorker<P> {
    type Model = P::Model;

    async fn open(
        folder: &Path,
        source: EventSource,
        status: Status,
        clock: Clock,
    ) -> Result<Self, ModelError> {
        let projection = P::open(folder).await?;
        Ok(ProjectionWorker { projection, source, status, clock, warned: HashSet::new() })
    }

    fn position(&self) -> Position {
        self.projection.checkpoint().position
    }

    fn report_to(&mut self, status: Status) {
        self.status = status;
    }

    async fn follow(&mut self, stop: &CancellationToken) -> Result<(), WorkerError> {
        while let Err(error) = self.follow_stream(stop).await {
            self.repair(error).await?;
        }
        Ok(())
    }

    async fn replay_all(
        &mut self,
        _live: Option<Position>,
        stop: &CancellationToken,
        progress: ProgressFn<'_>,
    ) -> Result<(), ReplayError> {
        self.projection.prepare_replay().await?;
        loop {
            let head = self.source.stream_head().await?;
            if self.position() >= head {
                return Ok(());
            }
            self.replay(head, stop, &mut |applied| progress(applied, head)).await?;
            if stop.is_cancelled() {
                return Err(ReplayError::Stopped);
            }
        }
    }

    async fn overtake(&mut self, live: Position, stop: &CancellationToken) -> Result<(), WorkerError> {
        self.replay(live, stop, &mut |_| {}).await
    }
}

impl<P: Projection> ProjectionWorker<P> {
    /// Replays up to the position `to`, calling `progress` with each position that is committed. Returns early after `stop`.
    ///
    /// # Errors
    ///
    /// Fails when the events cannot be read, when none comes for 30 seconds, or when the model cannot be written.
    pub async fn replay(
        &mut self,
        to: Position,
        stop: &CancellationToken,
        progress: &mut (dyn FnMut(Position) + Send),
    ) -> Result<(), WorkerError> {
        while let Err(error) = self.replay_stream(to, stop, progress).await {
            self.repair(error).await?;
        }
        Ok(())
    }

    async fn follow_stream(&mut self, stop: &CancellationToken) -> Result<(), WorkerError> {
        let backlog = tokio::select! {
            biased;
            () = stop.cancelled() => return Ok(()),
            // Without an answer there is no backlog that would have to be applied at full speed.
            head = self.source.stream_head() => head.unwrap_or_default(),
        };
        let mut history = HistoryCheck::new(self.source.clone());
        self.check_history(&mut history, stop).await?;
        let mut subscription = self.source.subscribe_with(self.position(), P::SHARING);
        let (mut throttle, mut batch_spans) = (Throttle::default(), BatchSpans::default());
        let mut optimized = false;
        loop {
            let mut batch = tokio::select! {
                biased;
                () = stop.cancelled() => return Ok(()),
                batch = self.next(&mut subscription, &mut history, &mut optimized) => batch?,
            };
            trace_deliveries(&mut batch_spans, &batch, backlog);
            let mut ended = Ok(());
            // The backlog is applied without throttling: no import waits for the processor, and readers wait for it.
            if self.position() >= backlog {
                tokio::select! {
                    biased;
                    () = stop.cancelled() => return Ok(()),
                    () = self.throttle(&mut throttle) => {}
                }
                let known = batch.len();
                ended = subscription.take_ready(&mut batch, MAX_BATCH);
                trace_deliveries(&mut batch_spans, batch.get(known..).unwrap_or_default(), backlog);
            }
            let (began, events) = (Instant::now(), batch.len());
            self.apply(batch.into_iter()).await?;
            // The trace ends here, where the events become visible to readers.
            batch_spans.end(self.position().0, Kind::Consumer, "project", P::Model::NAME);
            ended?;
            throttle.committed(began, events);
            optimized = false;
        }
    }

    async fn replay_stream(
        &mut self,
        to: Position,
        stop: &CancellationToken,
        progress: &mut (dyn FnMut(Position) + Send),
    ) -> Result<(), WorkerError> {
        let mut subscription = self.source.subscribe_dedicated(self.position());
        while self.position() < to {
            let mut batch = Vec::new();
            while batch.len() < MAX_REPLAY_BATCH
                && batch.last().is_none_or(|last: &Arc<Delivery>| last.position < to)
            {
                tokio::select! {
                    biased;
                    () = stop.cancelled() => return Ok(()),
                    more = subscription.next(MAX_BATCH) => match more {
                        Ok(more) => batch.extend(more),
                        Err(error) if batch.is_empty() => return Err(error.into()),
                        // The next round returns the error, after this batch was applied.
                        Err(_) => break,
                    },
                    () = tokio::time::sleep(REPLAY_TIMEOUT) => {
                        let (at, silence) = (self.position(), REPLAY_TIMEOUT.as_secs());
                        let reason = format!("no event came for {silence} s after {at}, and the replay goes to {to}");
                        return Err(SourceError::Unavailable(reason).into());
                    }
                }
            }
            self.apply(batch.into_iter().filter(|delivery| delivery.position <= to)).await?;
            self.status.heartbeat(self.projection.checkpoint(), self.clock.now());
            progress(self.position());
        }
        self.projection.optimize().await?;
        Ok(())
    }

    /// Fails if the log has another history than the model. Returns early after `stop`.
    async fn check_history(
        &mut self,
        history: &mut HistoryCheck,
        stop: &CancellationToken,
    ) -> Result<(), WorkerError> {
        let checkpoint = self.projection.checkpoint().clone();
        let check = history.check(P::Model::NAME, &checkpoint);
        stop.run_until_cancelled(check).await.unwrap_or(Ok(()))
    }

    /// Waits for the next events. After a second without any, the model is optimized until one comes.
    async fn next(
        &mut self,
        subscription: &mut Subscription,
        history: &mut HistoryCheck,
        optimized: &mut bool,
    ) -> Result<Vec<Arc<Delivery>>, WorkerError> {
        let ProjectionWorker { projection, source, status, clock, .. } = self;
        let checkpoint = projection.checkpoint().clone();
        let heartbeat = || {
            status.heartbeat(&checkpoint, clock.now());
            source.last_known_log_head().into_iter().for_each(|head| status.set_log_head(head));
        };
        heartbeat();
        let mut is_quiet = *optimized || projection.is_optimizing();
        let mut next = pin!(subscription.next(MAX_BATCH));
        while !is_quiet {
            tokio::select! {
                biased;
                batch = &mut next => return Ok(batch?),
                outcome = check_after_heartbeat(history, P::Model::NAME, &checkpoint) => {
                    outcome?;
                    is_quiet = true;
                }
            }
            heartbeat();
        }
        let mut optimizing = pin!(projection.optimize());
        loop {
            tokio::select! {
                biased;
                batch = &mut next => return Ok(batch?),
                done = &mut optimizing, if !*optimized => {
                    done?;
                    *optimized = true;
                }
                outcome = check_after_heartbeat(history, P::Model::NAME, &checkpoint) => outcome?,
            }
            heartbeat();
        }
    }

    /// Waits as long as the throttle requires before the next commit; heartbeats continue meanwhile.
    async fn throttle(&mut self, throttle: &mut Throttle) {
        let position = self.position();
        let ProjectionWorker { projection, source, status, clock, .. } = self;
        let mut waiting = pin!(throttle.wait(source, position));
        while tokio::time::timeout(HEARTBEAT, &mut waiting).await.is_err() {
            status.heartbeat(projection.checkpoint(), clock.now());
        }
    }

    /// Applies the next event from the event store, if the message in its place in the stream is damaged: it does not
    /// follow the event that was applied last. Returns `error` if it has another cause, if no write side answers, or if
    /// its log has another history than the model.
    async fn repair(&mut self, error: WorkerError) -> Result<(), WorkerError> {
        let next = self.position().next();
        let (WorkerError::Discontinuous { position, .. }
        | WorkerError::Source(SourceError::Broken(position))) = &error
        else {
            return Err(error);
        };
        if *position != next {
            return Err(error);
        }
        let Checkpoint { position: after, hash, .. } = self.projection.checkpoint();
        let Some(hash) = *hash else { return Err(error) };
        let Some(event) = self.source.logged_after(*after, hash).await else { return Err(error) };
        self.apply(std::iter::once(Arc::new(event))).await
    }

    /// Applies and commits one batch, up to the first event that does not follow the one before it.
    async fn apply(&mut self, batch: impl Iterator<Item = Arc<Delivery>> + Send) -> Result<(), WorkerError> {
        // Receiving this batch woke the task that reads the next events. It may be queued on this thread, which the commit
        // is about to block.
        tokio::task::yield_now().await;
        let mut checkpoint = self.projection.checkpoint().clone();
        let (mut events, mut parked) = (Vec::new(), Vec::new());
        let mut broken = Ok(());
        for delivery in batch {
            debug_assert_eq!(delivery.position, checkpoint.position.next(), "the source leaves no gap");
            let (after, hash) = (checkpoint.position, checkpoint.hash);
            let delivery = match (&delivery.decoded, hash) {
                // A message without an event may be a damaged one.
                (Err(_), Some(hash)) => {
                    self.source.logged_after(after, hash).await.map_or(delivery, Arc::new)
                }
                _ => delivery,
            };
            broken = self.classify(&delivery, &mut checkpoint, &mut events, &mut parked);
            if broken.is_err() {
                checkpoint.hash = hash;
                break;
            }
            checkpoint.position = delivery.position;
        }
        if checkpoint.position == self.position() {
            return broken;
        }
        for PoisonEvent { position, kind, reason } in self.projection.apply(events).await? {
            parked.push(park(P::Model::NAME, position, kind, reason));
        }
        checkpoint.park(parked);
        self.projection.commit(checkpoint).await?;
        broken
    }

    /// Adds a delivery to the events of the projection, to those that are skipped, or to those that are parked.
    fn classify(
        &mut self,
        delivery: &Delivery,
        checkpoint: &mut Checkpoint,
        events: &mut Vec<P::Event>,
        parked: &mut Vec<Parked>,
    ) -> Result<(), WorkerError> {
        let previous = std::mem::replace(&mut checkpoint.hash, delivery.hash());
        let decoded = match &delivery.decoded {
            Ok(decoded) => decoded,
            Err(error) => {
                parked.push(park(P::Model::NAME, delivery.position, String::new(), error.to_string()));
                return Ok(());
            }
        };
        let DecodedEvent { recorded, event, store, .. } = decoded;
        if let Some(store) = *store {
            if !checkpoint.belongs_to(store) {
                let own = checkpoint.store.clone().unwrap_or_default();
                return Err(WorkerError::ForeignStore {
                    model: P::Model::NAME,
                    own,
                    stream: store.to_string(),
                });
            }
            checkpoint.store.get_or_insert_with(|| store.to_string());
        }
        // Unknown at the start, after a message without an event, and in a checkpoint of version 0.1.
        if previous.is_some_and(|previous| !decoded.follows(previous)) {
            return Err(WorkerError::Discontinuous { model: P::Model::NAME, position: delivery.position });
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

/// Begins the traces of deliveries. The backlog is not traced: its traces may be a year old.
fn trace_deliveries(batch_spans: &mut BatchSpans, deliveries: &[Arc<Delivery>], backlog: Position) {
    let new = deliveries.iter().filter(|delivery| delivery.position > backlog);
    batch_spans.start(new.map(|delivery| {
        let decoded = delivery.decoded.as_ref().ok();
        (delivery.position.0, decoded.and_then(|decoded| decoded.recorded.traceparent))
    }));
}

/// Waits for one heartbeat, then checks that the log still has the event of the checkpoint.
async fn check_after_heartbeat(
    history: &mut HistoryCheck,
    model: &'static str,
    checkpoint: &Checkpoint,
) -> Result<(), WorkerError> {
    tokio::time::sleep(HEARTBEAT).await;
    history.check(model, checkpoint).await
}

fn park(projection: &str, position: Position, kind: String, reason: String) -> Parked {
    tracing::error!(projection, %position, kind, reason, "an event cannot be applied and is set aside");
    Parked { position, kind, reason }
}
