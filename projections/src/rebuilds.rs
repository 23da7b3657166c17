//! The rebuilds of one model, one at a time: requested ones, and those that replace a damaged model. They continue whatever
//! happens to the live worker.

use std::sync::{Arc, Mutex, PoisonError};

use futures::StreamExt;
use futures::future::{BoxFuture, OptionFuture};
use futures::stream::FuturesUnordered;
use read::generation::Generation;
use schemas::control::RebuildProgress;
use tokio::sync::mpsc;
use tokio::time::Instant;

use crate::error::retry_after;
use crate::worker::ReplayError;

/// A request for a rebuild.
#[derive(Debug)]
pub struct RebuildRequest {
    /// Receives the progress; the last message is `Swapped` or `Failed`.
    pub progress: mpsc::UnboundedSender<RebuildProgress>,
}

pub(crate) struct LiveWorker<W> {
    pub(crate) generation: Generation,
    pub(crate) worker: W,
}

/// A new generation, filled with the whole log as of the end of its replay.
pub(crate) struct Rebuilt<W> {
    pub(crate) live: LiveWorker<W>,
    pub(crate) events: u64,
    pub(crate) seconds: f64,
}

/// A running replay of the whole log into a new generation.
pub(crate) type Replay<'a, W> = BoxFuture<'a, Result<Rebuilt<W>, ReplayError>>;

/// All that requested the running rebuild.
#[derive(Debug, Clone, Default)]
pub(crate) struct Requesters {
    all: Arc<Mutex<Vec<mpsc::UnboundedSender<RebuildProgress>>>>,
}

impl Requesters {
    fn add(&self, requester: mpsc::UnboundedSender<RebuildProgress>) {
        self.all.lock().unwrap_or_else(PoisonError::into_inner).push(requester);
    }

    pub(crate) fn send(&self, progress: &RebuildProgress) {
        self.all
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .retain(|requester| requester.send(progress.clone()).is_ok());
    }

    /// Sends the last message to all, and removes them.
    pub(crate) fn end(&self, progress: &RebuildProgress) {
        self.send(progress);
        self.all.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }
}

/// Runs one rebuild at a time.
pub(crate) struct Rebuilds<'a, W> {
    model: &'static str,
    requests: mpsc::Receiver<RebuildRequest>,
    replay: Box<dyn Fn(bool) -> Replay<'a, W> + Send + 'a>,
    running: Option<Replay<'a, W>>,
    requesters: Requesters,
    /// Removals of superseded folders.
    cleanups: FuturesUnordered<BoxFuture<'a, ()>>,
    /// The time of the next attempt while no model can be used, and the number of failed ones.
    recovery: Option<(Instant, u32)>,
}

impl<'a, W> Rebuilds<'a, W> {
    /// `replay` starts a replay; its argument is whether it replaces a model that cannot be used.
    pub(crate) fn new(
        model: &'static str,
        requests: mpsc::Receiver<RebuildRequest>,
        requesters: Requesters,
        replay: impl Fn(bool) -> Replay<'a, W> + Send + 'a,
    ) -> Rebuilds<'a, W> {
        Rebuilds {
            model,
            requests,
            replay: Box::new(replay),
            running: None,
            requesters,
            cleanups: FuturesUnordered::new(),
            recovery: None,
        }
    }

    /// Starts rebuilds without a request until one succeeds, because no model can be used.
    pub(crate) fn recover(&mut self) {
        self.recovery.get_or_insert_with(|| (Instant::now(), 0));
    }

    /// Reports that the rebuilt model was swapped in.
    pub(crate) fn swapped(&mut self, swapped: &RebuildProgress) {
        self.recovery = None;
        if let RebuildProgress::Swapped { model, generation, position, events, seconds } = swapped {
            tracing::info!(projection = model, generation, %position, events, seconds, "a rebuilt model has taken over");
        }
        self.requesters.end(swapped);
    }

    /// Reports that a rebuild failed, in its replay or at the swap.
    pub(crate) fn failed(&mut self, reason: &str) {
        tracing::info!(projection = self.model, reason, "a model was not rebuilt");
        self.requesters
            .end(&RebuildProgress::Failed { reason: format!("{} was not rebuilt: {reason}", self.model) });
        if let Some((next, failures)) = &mut self.recovery {
            *failures += 1;
            *next = Instant::now() + retry_after(*failures);
        }
    }

    /// Runs a task while [`Rebuilds::next`] waits.
    pub(crate) fn add_cleanup(&mut self, cleanup: impl Future<Output = ()> + Send + 'a) {
        self.cleanups.push(Box::pin(cleanup));
    }

    /// Waits for the next rebuilt model, and accepts requests meanwhile. Cancel safe: the next call continues.
    pub(crate) async fn next(&mut self) -> Rebuilt<W> {
        loop {
            let due = self.recovery.filter(|_| self.running.is_none()).map(|(at, _)| at);
            tokio::select! {
                Some(request) = self.requests.recv() => {
                    // The requester learns at once that the host is working on it.
                    let model = self.model.to_owned();
                    let _ = request.progress.send(RebuildProgress::Replaying { model, applied: 0, of: 0 });
                    self.requesters.add(request.progress);
                    self.start();
                }
                Some(outcome) = OptionFuture::from(self.running.as_mut()) => {
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
                Some(()) = OptionFuture::from(due.map(tokio::time::sleep_until)) => self.start(),
                Some(()) = self.cleanups.next() => {}
                else => std::future::pending().await,
            }
        }
    }

    fn start(&mut self) {
        if self.running.is_none() {
            self.running = Some((self.replay)(self.recovery.is_some()));
        }
    }
}
