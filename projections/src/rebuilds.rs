//! The rebuilds of one model: those that are asked for, and those that replace a damaged one. They go on whatever
//! becomes of the worker beside them.

use std::sync::{Arc, Mutex, PoisonError};

use futures::StreamExt;
use futures::future::BoxFuture;
use futures::stream::FuturesUnordered;
use read::generation::Generation;
use schemas::control::RebuildProgress;
use tokio::sync::mpsc;
use tokio::time::Instant;

use crate::failure::retry_after;
use crate::worker::ReplayError;

/// A request for a rebuild, and where its progress goes.
#[derive(Debug)]
pub struct RebuildRequest {
    /// Takes the progress; the last message is `Swapped` or `Failed`.
    pub progress: mpsc::UnboundedSender<RebuildProgress>,
}

/// The worker on a generation.
pub(crate) struct Live<W> {
    pub(crate) generation: Generation,
    pub(crate) worker: W,
}

/// A new generation that holds the whole log, as of the end of its replay.
pub(crate) struct Rebuilt<W> {
    pub(crate) live: Live<W>,
    pub(crate) events: u64,
    pub(crate) seconds: f64,
}

/// What replays the whole log into a new generation.
pub(crate) type Replay<'a, W> = BoxFuture<'a, Result<Rebuilt<W>, ReplayError>>;

/// Everybody who asked for the rebuild that is under way.
#[derive(Debug, Clone, Default)]
pub(crate) struct Askers {
    all: Arc<Mutex<Vec<mpsc::UnboundedSender<RebuildProgress>>>>,
}

impl Askers {
    fn add(&self, asker: mpsc::UnboundedSender<RebuildProgress>) {
        self.all.lock().unwrap_or_else(PoisonError::into_inner).push(asker);
    }

    /// Sends each of them how far it is.
    pub(crate) fn send(&self, progress: &RebuildProgress) {
        self.all
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .retain(|asker| asker.send(progress.clone()).is_ok());
    }

    /// Sends each of them its last message.
    pub(crate) fn end(&self, progress: &RebuildProgress) {
        self.send(progress);
        self.all.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }
}

/// Runs one rebuild at a time.
pub(crate) struct Rebuilds<'a, W> {
    model: &'static str,
    requests: mpsc::Receiver<RebuildRequest>,
    /// Begins a replay.
    replay: Box<dyn Fn(bool) -> Replay<'a, W> + Send + 'a>,
    running: Option<Replay<'a, W>>,
    askers: Askers,
    /// What is left to do after a swap.
    chores: FuturesUnordered<BoxFuture<'a, ()>>,
    /// When to try next while there is no model that could be used, and how often that failed.
    recovery: Option<(Instant, u32)>,
}

impl<'a, W> Rebuilds<'a, W> {
    /// Takes requests. `replay` begins a replay, and is passed whether it replaces a model that cannot be used.
    pub(crate) fn new(
        model: &'static str,
        requests: mpsc::Receiver<RebuildRequest>,
        askers: Askers,
        replay: impl Fn(bool) -> Replay<'a, W> + Send + 'a,
    ) -> Rebuilds<'a, W> {
        Rebuilds {
            model,
            requests,
            replay: Box::new(replay),
            running: None,
            askers,
            chores: FuturesUnordered::new(),
            recovery: None,
        }
    }

    /// There is no model that could be used: one is made without being asked for, until that succeeds.
    pub(crate) fn recover(&mut self) {
        self.recovery.get_or_insert_with(|| (Instant::now(), 0));
    }

    /// The rebuilt model has taken over.
    pub(crate) fn taken_over(&mut self, swapped: &RebuildProgress) {
        self.recovery = None;
        if let RebuildProgress::Swapped { model, generation, position, events, seconds } = swapped {
            tracing::info!(projection = model, generation, %position, events, seconds, "a rebuilt model has taken over");
        }
        self.askers.end(swapped);
    }

    /// A rebuild failed, before its end or when it was to take over.
    pub(crate) fn failed(&mut self, reason: &str) {
        tracing::info!(projection = self.model, reason, "a model was not rebuilt");
        self.askers
            .end(&RebuildProgress::Failed { reason: format!("{} was not rebuilt: {reason}", self.model) });
        if let Some((next, failures)) = &mut self.recovery {
            *failures += 1;
            *next = Instant::now() + retry_after(*failures);
        }
    }

    /// Does this beside [`Rebuilds::next`].
    pub(crate) fn beside(&mut self, chore: impl Future<Output = ()> + Send + 'a) {
        self.chores.push(Box::pin(chore));
    }

    /// Waits for the next rebuilt model, and takes requests meanwhile. Dropped, it goes on with the next call.
    pub(crate) async fn next(&mut self) -> Rebuilt<W> {
        loop {
            let due = self.recovery.filter(|_| self.running.is_none()).map(|(at, _)| at);
            tokio::select! {
                Some(request) = self.requests.recv() => {
                    // The asker learns at once that it is waited for with reason.
                    let model = self.model.to_owned();
                    let _ = request.progress.send(RebuildProgress::Replaying { model, applied: 0, of: 0 });
                    self.askers.add(request.progress);
                    self.start();
                }
                outcome = ended(&mut self.running) => {
                    self.running = None;
                    match outcome {
                        Ok(rebuilt) => return rebuilt,
                        Err(error) => {
                            if self.recovery.is_some() {
                                tracing::warn!(projection = self.model, %error, "the rebuild failed; it is tried again");
                            }
                            self.failed(&error.to_string());
                        }
                    }
                }
                () = until(due) => self.start(),
                Some(()) = self.chores.next() => {}
            }
        }
    }

    fn start(&mut self) {
        if self.running.is_none() {
            self.running = Some((self.replay)(self.recovery.is_some()));
        }
    }
}

async fn ended<W>(running: &mut Option<Replay<'_, W>>) -> Result<Rebuilt<W>, ReplayError> {
    match running {
        Some(replay) => replay.await,
        None => std::future::pending().await,
    }
}

async fn until(due: Option<Instant>) {
    match due {
        Some(due) => tokio::time::sleep_until(due).await,
        None => std::future::pending().await,
    }
}
