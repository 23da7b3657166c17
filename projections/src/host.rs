//! Keeps one model of a node working: runs its worker on the current generation, and rebuilds it on request. A model
//! that is damaged, or shows another history than the log, is quarantined and rebuilt from the log.

use std::convert::Infallible;
use std::path::{Path, PathBuf};
use std::pin::pin;
use std::time::{Duration, Instant};

use futures::FutureExt;
use health::{Component, Health};
use read::error::ModelError;
use read::generation::{Generation, Generations};
use read::model::Model;
use read::models::CommitSignals;
use schemas::clock::Clock;
use schemas::control::RebuildProgress;
use schemas::ids::Position;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::error::{Recovery, WorkerError, retry_after};
use crate::rebuilds::{LiveWorker, RebuildRequest, Rebuilds, Rebuilt, Requesters};
use crate::source::{EventSource, SourceError};
use crate::status::Status;
use crate::worker::{ReplayError, Worker};

/// How long readers may take to open the new generation before superseded folders are removed.
const REMOVAL_DELAY: Duration = Duration::from_secs(2);
/// A worker that has followed for this long is reported as recovered.
const RECOVERED_AFTER: Duration = Duration::from_secs(2);
/// A model that is quarantined again within this time is rebuilt after growing waits.
const REPEAT_PERIOD: Duration = Duration::from_secs(60);

/// The settings of a node and of the hosts of its models.
#[derive(Debug, Clone)]
pub struct NodeSettings {
    /// The folder of the read models.
    pub models: PathBuf,
    /// The node's name in control subjects: letters and digits.
    pub name: String,
    /// The clock of heartbeats.
    pub clock: Clock,
    /// Receives reports of models that cannot be used or cannot continue.
    pub health: Health,
    /// The signals to the readers of this process.
    pub signals: CommitSignals,
    /// Whether a model that only an operator can repair waits for a rebuild; otherwise it ends the node.
    pub waits_for_rebuild: bool,
}

/// The host of one model.
#[derive(Debug)]
pub struct Host {
    generations: Generations,
    source: EventSource,
    status: Status,
    clock: Clock,
    /// Reports a failure while no model can be used.
    rebuild: Component,
    /// Reports a failure while the worker cannot continue.
    worker: Component,
    /// Whether it waits for a rebuild when only an operator can repair the model; otherwise `run` returns the error.
    waits_for_rebuild: bool,
}

/// How [`Host::attempt`] ended without an error.
enum Ended {
    Stopped,
    /// The same worker or a new one continues.
    Continue,
}

impl Host {
    /// Creates the host of the model that `W` writes, below the node's folder of models.
    pub fn new<W: Worker>(settings: &NodeSettings, source: EventSource, status: Status) -> Host {
        let NodeSettings { models, clock, health, waits_for_rebuild, .. } = settings;
        Host {
            generations: Generations::in_layout(models.join(W::Model::NAME), W::Model::LAYOUT),
            source,
            status,
            clock: clock.clone(),
            waits_for_rebuild: *waits_for_rebuild,
            rebuild: health.component(format!("{} rebuild", W::Model::NAME)).grace_period(Duration::ZERO),
            worker: health.component(format!("{} worker", W::Model::NAME)),
        }
    }

    /// Runs until `stop`.
    ///
    /// # Errors
    ///
    /// Fails with an error that only an operator can repair.
    pub async fn run<W: Worker>(
        self,
        requests: mpsc::Receiver<RebuildRequest>,
        stop: CancellationToken,
    ) -> Result<(), WorkerError> {
        if let Err(error) = self.generations.remove_others() {
            tracing::warn!(%error, "what a former rebuild left could not be removed");
        }
        let (host, stopped, requesters) = (&self, &stop, Requesters::default());
        let progress = requesters.clone();
        let replay =
            move |replaces_damaged| host.replay::<W>(progress.clone(), replaces_damaged, stopped).boxed();
        let mut rebuilds = Rebuilds::new(W::Model::NAME, requests, requesters, replay);
        let (mut live, mut failures, mut quarantines) = (None, 0, RecentQuarantines::default());
        // The position of the model that readers use.
        let mut former = None;
        loop {
            let began = self.status.get().position;
            let failure = match self.attempt(&mut live, &mut rebuilds, &stop).await {
                Ok(Ended::Stopped) => return Ok(()),
                Ok(Ended::Continue) => continue,
                Err(failure) => failure,
            };
            former = live.take().map(|live: LiveWorker<W>| live.worker.position()).or(former);
            failures = if self.status.get().position > began { 1 } else { failures + 1 };
            let wait = match failure.recovery(failures) {
                Recovery::Stop if self.waits_for_rebuild => {
                    self.worker.failed(&failure);
                    former = None;
                    None
                }
                Recovery::Stop => return Err(failure),
                Recovery::Rebuild => {
                    self.quarantine::<W>(&failure);
                    former = None;
                    Some(quarantines.next_wait())
                }
                Recovery::RetryAfter(wait) => {
                    self.report::<W>(&failure, wait);
                    Some(wait)
                }
            };
            tokio::select! {
                () = stop.cancelled() => return Ok(()),
                () = self.wait(wait) => {}
                rebuilt = rebuilds.next() => {
                    self.take_over(&mut live, former, rebuilt, &mut rebuilds, &stop).await;
                }
            }
        }
    }

    /// Waits before the next attempt, at most until a reconnect; without end if no attempt can succeed.
    async fn wait(&self, wait: Option<Duration>) {
        match wait {
            Some(wait) => self.source.wait_for_reconnect(wait).await,
            None => std::future::pending().await,
        }
    }

    /// Opens the model if needed, and follows until that fails or a rebuilt model takes over.
    async fn attempt<W: Worker>(
        &self,
        live: &mut Option<LiveWorker<W>>,
        rebuilds: &mut Rebuilds<'_, W>,
        stop: &CancellationToken,
    ) -> Result<Ended, WorkerError> {
        if live.is_none() {
            *live = self.open_live().await?;
        }
        let rebuilt = match live.as_mut() {
            None => {
                if self.status.get().quarantined.is_none() {
                    let reason = "no finished generation is there; one is made from the log";
                    self.status.set_quarantined(reason);
                    self.rebuild.failed(reason);
                }
                rebuilds.recover();
                tokio::select! {
                    () = stop.cancelled() => return Ok(Ended::Stopped),
                    rebuilt = rebuilds.next() => rebuilt,
                }
            }
            Some(live) => {
                let stop_live = stop.child_token();
                let mut follow = pin!(live.worker.follow(&stop_live));
                let recovered = async {
                    tokio::time::sleep(RECOVERED_AFTER).await;
                    self.worker.recovered();
                    std::future::pending::<Infallible>().await
                };
                tokio::select! {
                    outcome = &mut follow => return outcome.map(|()| Ended::Stopped),
                    never = recovered => match never {},
                    rebuilt = rebuilds.next() => {
                        // The live worker ends between two commits; then the new one overtakes it.
                        stop_live.cancel();
                        if let Err(failure) = follow.await {
                            tracing::warn!(projection = W::Model::NAME, %failure, "the worker failed; a rebuilt model takes over");
                        }
                        rebuilt
                    }
                }
            }
        };
        let former = live.as_ref().map(|live| live.worker.position());
        self.take_over(live, former, rebuilt, rebuilds, stop).await;
        Ok(if stop.is_cancelled() { Ended::Stopped } else { Ended::Continue })
    }

    /// Opens the current generation, or creates the first; `None` if there were generations and none can be used.
    async fn open_live<W: Worker>(&self) -> Result<Option<LiveWorker<W>>, ModelError> {
        let generations = &self.generations;
        if let Some(layout) = generations.foreign_layout()? {
            tracing::warn!(
                projection = W::Model::NAME,
                "the model was written in layout {layout} and this version reads layout {}: it is rebuilt from the log",
                W::Model::LAYOUT
            );
        }
        let (generation, first) = match generations.current()? {
            Some(generation) => {
                // Opening would create an empty file in its place.
                let file = generation.path.join(W::Model::FILE);
                let is_absent = |error: std::io::Error| error.kind() == std::io::ErrorKind::NotFound;
                if std::fs::metadata(&file).map_or_else(is_absent, |file| file.len() == 0) {
                    return Err(ModelError::Absent(file));
                }
                (generation, false)
            }
            None if generations.is_new()? => (generations.create_next()?, true),
            None => return Ok(None),
        };
        let worker: W = self.open_worker(&generation, self.status.clone()).await?;
        if first {
            generations.make_current(&generation)?;
        }
        self.status.set_generation(&generation.name);
        Ok(Some(LiveWorker { generation, worker }))
    }

    async fn open_worker<W: Worker>(&self, generation: &Generation, status: Status) -> Result<W, ModelError> {
        W::open(&generation.path, self.source.clone(), status, self.clock.clone()).await
    }

    /// Takes a model that cannot be used from readers. If that fails, the next attempt fails the same way and retries it.
    fn quarantine<W: Worker>(&self, failure: &WorkerError) {
        let reason = failure.to_string();
        self.rebuild.failed(format!("the model cannot be used ({reason}); it is rebuilt from the log"));
        match self.generations.quarantine(&reason) {
            Ok(folder) => {
                self.status.set_quarantined(&reason);
                tracing::error!(
                    projection = W::Model::NAME,
                    reason,
                    folder = %folder.display(),
                    "the model is quarantined until it is rebuilt from the log, which begins now"
                );
            }
            Err(error) => {
                tracing::error!(projection = W::Model::NAME, %error, "a damaged model cannot be quarantined")
            }
        }
    }

    /// Replays the whole log into a new generation, beside the live one or in place of one that cannot be used.
    async fn replay<W: Worker>(
        &self,
        requesters: Requesters,
        replaces_damaged: bool,
        stop: &CancellationToken,
    ) -> Result<Rebuilt<W>, ReplayError> {
        let generation = self.generations.create_next().map_err(ModelError::from)?;
        let replayed = self.fill(&generation, requesters, replaces_damaged, stop).await;
        if replayed.is_err() {
            remove(&self.generations, &generation.path);
        }
        replayed
    }

    async fn fill<W: Worker>(
        &self,
        generation: &Generation,
        requesters: Requesters,
        replaces_damaged: bool,
        stop: &CancellationToken,
    ) -> Result<Rebuilt<W>, ReplayError> {
        let began = Instant::now();
        // Without a live worker, the status shows the progress of the replay.
        let status = if replaces_damaged { self.status.clone() } else { Status::new(W::Model::NAME) };
        let mut worker: W = self.open_worker(generation, status).await?;
        let mut report_progress = |applied: Position, of: Position| {
            let model = W::Model::NAME.to_owned();
            requesters.send(&RebuildProgress::Replaying { model, applied: applied.0, of: of.0 });
        };
        let live = (!replaces_damaged).then(|| self.status.get().position);
        worker.replay_all(live, stop, &mut report_progress).await?;
        let (events, seconds) = (worker.position().0, began.elapsed().as_secs_f64());
        Ok(Rebuilt { live: LiveWorker { generation: generation.clone(), worker }, events, seconds })
    }

    /// Swaps in the rebuilt generation once it has reached the live one, and continues with it. If that fails, the live one
    /// continues.
    async fn take_over<W: Worker>(
        &self,
        live: &mut Option<LiveWorker<W>>,
        former: Option<Position>,
        rebuilt: Rebuilt<W>,
        rebuilds: &mut Rebuilds<'_, W>,
        stop: &CancellationToken,
    ) {
        let Rebuilt { live: mut next, events, seconds } = rebuilt;
        let superseded = match self.swap(former, &mut next, stop).await {
            Ok(Some(superseded)) => superseded,
            Ok(None) => return,
            Err(failure) => {
                tracing::warn!(projection = W::Model::NAME, %failure, "the rebuilt model could not take over");
                rebuilds.failed(&failure.to_string());
                let folder = next.generation.path.clone();
                drop(next);
                return remove(&self.generations, &folder);
            }
        };
        self.status.set_generation(&next.generation.name);
        rebuilds.swapped(&RebuildProgress::Swapped {
            model: W::Model::NAME.to_owned(),
            generation: next.generation.name.clone(),
            position: next.worker.position(),
            events,
            seconds,
        });
        self.rebuild.recovered();
        next.worker.report_to(self.status.clone());
        *live = Some(next);
        // Readers look for a swap every few milliseconds. A folder that is left at a stop is removed at the next start.
        let generations = self.generations.clone();
        rebuilds.add_cleanup(async move {
            tokio::time::sleep(REMOVAL_DELAY).await;
            let remove = move || superseded.iter().for_each(|folder| remove(&generations, folder));
            let _ = tokio::task::spawn_blocking(remove).await;
        });
    }

    /// Makes the rebuilt generation current and returns the superseded folders; `None` if the host was stopped before.
    async fn swap<W: Worker>(
        &self,
        former: Option<Position>,
        next: &mut LiveWorker<W>,
        stop: &CancellationToken,
    ) -> Result<Option<Vec<PathBuf>>, WorkerError> {
        if let Some(former) = former {
            next.worker.overtake(former, stop).await?;
        }
        if stop.is_cancelled() {
            return Ok(None);
        }
        self.generations.make_current(&next.generation).map_err(ModelError::from)?;
        Ok(Some(self.generations.superseded().unwrap_or_default()))
    }

    /// Reports an error that can pass by itself.
    fn report<W: Worker>(&self, failure: &WorkerError, wait: Duration) {
        match failure {
            // NATS may be unreachable for long, and readers are served meanwhile.
            WorkerError::Source(SourceError::Unavailable(_)) => {
                tracing::warn!(projection = W::Model::NAME, %failure, ?wait, "the projection continues after a delay");
            }
            _ => self.worker.failed(failure),
        }
    }
}

/// How often a model was quarantined lately.
#[derive(Debug, Default)]
struct RecentQuarantines {
    last: Option<Instant>,
    times: u32,
}

impl RecentQuarantines {
    /// Counts a quarantine, and returns how long to wait before the rebuild.
    fn next_wait(&mut self) -> Duration {
        let is_repeated =
            self.last.replace(Instant::now()).is_some_and(|last| last.elapsed() < REPEAT_PERIOD);
        self.times = if is_repeated { self.times + 1 } else { 0 };
        if is_repeated { retry_after(self.times + 4) } else { Duration::ZERO }
    }
}

fn remove(generations: &Generations, folder: &Path) {
    if let Err(error) = generations.remove(folder) {
        tracing::warn!(%error, "a former generation could not be removed; it goes at the next start");
    }
}

#[cfg(test)]
mod tests;
