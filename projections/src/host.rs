//! Keeps one model of a node alive: its worker on the current generation, and a rebuild beside it when asked for. A model
//! that is damaged, or shows another history than the log, is quarantined and made again from the log.

use std::convert::Infallible;
use std::path::{Path, PathBuf};
use std::pin::pin;
use std::time::{Duration, Instant};

use futures::FutureExt;
use health::Component;
use read::error::ModelError;
use read::generation::{Generation, Generations};
use read::model::Model;
use schemas::clock::Clock;
use schemas::control::RebuildProgress;
use schemas::ids::Position;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::failure::{Failure, Verdict, retry_after};
use crate::node_settings::NodeSettings;
use crate::rebuilds::{Askers, Live, RebuildRequest, Rebuilds, Rebuilt};
use crate::source::{EventSource, SourceError};
use crate::status::Status;
use crate::work::Work;
use crate::worker::ReplayError;

/// How long readers may take to let a former generation go before its folder is removed.
const GRACE: Duration = Duration::from_secs(2);
/// A worker that has followed for so long works again.
const SETTLED: Duration = Duration::from_secs(2);
/// Models that are quarantined again within this time are rebuilt at growing intervals.
const AGAIN: Duration = Duration::from_secs(60);

/// One model of this node.
#[derive(Debug)]
pub struct Host {
    generations: Generations,
    source: EventSource,
    status: Status,
    clock: Clock,
    /// Fails while there is no model that could be used.
    rebuild: Component,
    /// Fails while the worker cannot go on.
    worker: Component,
    /// Whether it waits for a rebuild where only an operator can mend the model.
    waits_for_rebuild: bool,
}

/// How an attempt to follow ended without a failure.
enum Ended {
    /// The host was told to stop.
    Stopped,
    /// There is another worker, or the same one goes on.
    Continue,
}

impl Host {
    /// The model that `W` keeps, below the node's folder of models.
    pub fn new<W: Work>(settings: &NodeSettings, source: EventSource, status: Status) -> Host {
        let NodeSettings { models, clock, health, waits_for_rebuild, .. } = settings;
        Host {
            generations: Generations::in_layout(models.join(W::Model::NAME), W::Model::LAYOUT),
            source,
            status,
            clock: clock.clone(),
            waits_for_rebuild: *waits_for_rebuild,
            rebuild: health.component(format!("{} rebuild", W::Model::NAME)).patience(Duration::ZERO),
            worker: health.component(format!("{} worker", W::Model::NAME)),
        }
    }

    /// Works until it is told to stop; an error is one that only an operator can mend.
    pub async fn run<W: Work>(
        self,
        requests: mpsc::Receiver<RebuildRequest>,
        stop: CancellationToken,
    ) -> Result<(), Failure> {
        if let Err(error) = self.generations.remove_others() {
            tracing::warn!(%error, "what a former rebuild left could not be removed");
        }
        let (host, stopped, askers) = (&self, &stop, Askers::default());
        let progress = askers.clone();
        let replay = move |recovers| host.replay::<W>(progress.clone(), recovers, stopped).boxed();
        let mut rebuilds = Rebuilds::new(W::Model::NAME, requests, askers, replay);
        let (mut live, mut failures, mut quarantined) = (None, 0, Quarantined::default());
        // How far the model is that readers use.
        let mut former = None;
        loop {
            let began = self.status.get().position;
            let failure = match self.attempt(&mut live, &mut rebuilds, &stop).await {
                Ok(Ended::Stopped) => return Ok(()),
                Ok(Ended::Continue) => continue,
                Err(failure) => failure,
            };
            former = live.take().map(|live: Live<W>| live.worker.position()).or(former);
            failures = if self.status.get().position > began { 1 } else { failures + 1 };
            let wait = match failure.verdict(failures) {
                Verdict::Stop if self.waits_for_rebuild => {
                    self.worker.failed(&failure);
                    former = None;
                    None
                }
                Verdict::Stop => return Err(failure),
                Verdict::Rebuild => {
                    self.quarantine::<W>(&failure);
                    former = None;
                    Some(quarantined.wait())
                }
                Verdict::RetryAfter(wait) => {
                    self.report::<W>(&failure, wait);
                    Some(wait)
                }
            };
            tokio::select! {
                () = stop.cancelled() => return Ok(()),
                () = self.pause(wait) => {}
                rebuilt = rebuilds.next() => {
                    self.take_over(&mut live, former, rebuilt, &mut rebuilds, &stop).await;
                }
            }
        }
    }

    /// Waits before the next attempt; for ever where none can succeed.
    async fn pause(&self, wait: Option<Duration>) {
        match wait {
            Some(wait) => self.source.pause(wait).await,
            None => std::future::pending().await,
        }
    }

    /// Opens the model where that is needed, and follows until that fails, or a rebuilt one takes over.
    async fn attempt<W: Work>(
        &self,
        live: &mut Option<Live<W>>,
        rebuilds: &mut Rebuilds<'_, W>,
        stop: &CancellationToken,
    ) -> Result<Ended, Failure> {
        if live.is_none() {
            *live = self.open_live().await?;
        }
        let rebuilt = match live.as_mut() {
            None => {
                if self.status.get().quarantined.is_none() {
                    let reason = "no finished generation is there; one is made from the log";
                    self.status.quarantined(reason);
                    self.rebuild.failed(reason);
                }
                rebuilds.recover();
                tokio::select! {
                    () = stop.cancelled() => return Ok(Ended::Stopped),
                    rebuilt = rebuilds.next() => rebuilt,
                }
            }
            Some(live) => {
                let pause = stop.child_token();
                let mut follow = pin!(live.worker.follow(&pause));
                let settled = async {
                    tokio::time::sleep(SETTLED).await;
                    self.worker.recovered();
                    std::future::pending::<Infallible>().await
                };
                tokio::select! {
                    outcome = &mut follow => return outcome.map(|()| Ended::Stopped),
                    never = settled => match never {},
                    rebuilt = rebuilds.next() => {
                        // The live worker ends between two commits; then the new one overtakes it.
                        pause.cancel();
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

    /// Opens the current generation, or makes the first; `None` where there was one and none can be used.
    async fn open_live<W: Work>(&self) -> Result<Option<Live<W>>, ModelError> {
        let generations = &self.generations;
        if let Some(layout) = generations.foreign_layout()? {
            tracing::warn!(
                projection = W::Model::NAME,
                "the model was made in layout {layout} and this version reads layout {}: it is made again from the log",
                W::Model::LAYOUT
            );
        }
        let (generation, first) = match generations.current()? {
            Some(generation) => {
                // Opening would make an empty one in its place.
                let file = generation.path.join(W::Model::FILE);
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
        self.status.generation(&generation.name);
        Ok(Some(Live { generation, worker }))
    }

    async fn open_worker<W: Work>(&self, generation: &Generation, status: Status) -> Result<W, ModelError> {
        W::open(&generation.path, self.source.clone(), status, self.clock.clone()).await
    }

    /// Takes a model that cannot be used away from readers. Where that fails, the next attempt comes here again.
    fn quarantine<W: Work>(&self, failure: &Failure) {
        let reason = failure.to_string();
        self.rebuild.failed(format!("the model cannot be used ({reason}); it is made again from the log"));
        match self.generations.quarantine(&reason) {
            Ok(folder) => {
                self.status.quarantined(&reason);
                tracing::error!(
                    projection = W::Model::NAME,
                    reason,
                    folder = %folder.display(),
                    "the model is quarantined until it is made again from the log, which begins now"
                );
            }
            Err(error) => {
                tracing::error!(projection = W::Model::NAME, %error, "a damaged model cannot be quarantined")
            }
        }
    }

    /// Replays the whole log into a new generation: beside the live one, or in place of one that cannot be used.
    async fn replay<W: Work>(
        &self,
        askers: Askers,
        recovers: bool,
        stop: &CancellationToken,
    ) -> Result<Rebuilt<W>, ReplayError> {
        let generation = self.generations.create_next().map_err(ModelError::from)?;
        let replayed = self.fill(&generation, askers, recovers, stop).await;
        if replayed.is_err() {
            remove(&self.generations, &generation.path);
        }
        replayed
    }

    async fn fill<W: Work>(
        &self,
        generation: &Generation,
        askers: Askers,
        recovers: bool,
        stop: &CancellationToken,
    ) -> Result<Rebuilt<W>, ReplayError> {
        let began = Instant::now();
        // Where nothing else shows progress, this does.
        let status = if recovers { self.status.clone() } else { Status::new(W::Model::NAME) };
        let mut worker: W = self.open_worker(generation, status).await?;
        let mut tell = |applied: Position, of: Position| {
            let model = W::Model::NAME.to_owned();
            askers.send(&RebuildProgress::Replaying { model, applied: applied.0, of: of.0 });
        };
        let live = (!recovers).then(|| self.status.get().position);
        worker.replay_all(live, stop, &mut tell).await?;
        let (events, seconds) = (worker.position().0, began.elapsed().as_secs_f64());
        Ok(Rebuilt { live: Live { generation: generation.clone(), worker }, events, seconds })
    }

    /// Makes the rebuilt generation current once it is no older than the live one, and goes on with it. Where that fails,
    /// all stays as it was.
    async fn take_over<W: Work>(
        &self,
        live: &mut Option<Live<W>>,
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
        self.status.generation(&next.generation.name);
        rebuilds.taken_over(&RebuildProgress::Swapped {
            model: W::Model::NAME.to_owned(),
            generation: next.generation.name.clone(),
            position: next.worker.position(),
            events,
            seconds,
        });
        self.rebuild.recovered();
        next.worker.report_to(self.status.clone());
        *live = Some(next);
        // Readers look for the swap every few milliseconds; what is left over at a stop goes with the next start.
        let generations = self.generations.clone();
        rebuilds.beside(async move {
            tokio::time::sleep(GRACE).await;
            let remove = move || superseded.iter().for_each(|folder| remove(&generations, folder));
            let _ = tokio::task::spawn_blocking(remove).await;
        });
    }

    /// Gives the folders that no reader needs once it has seen the swap; `None` if it was told to stop before.
    async fn swap<W: Work>(
        &self,
        former: Option<Position>,
        next: &mut Live<W>,
        stop: &CancellationToken,
    ) -> Result<Option<Vec<PathBuf>>, Failure> {
        if let Some(former) = former {
            next.worker.overtake(former, stop).await?;
        }
        if stop.is_cancelled() {
            return Ok(None);
        }
        self.generations.make_current(&next.generation).map_err(ModelError::from)?;
        Ok(Some(self.generations.superseded().unwrap_or_default()))
    }

    /// Reports a failure that can pass by itself.
    fn report<W: Work>(&self, failure: &Failure, wait: Duration) {
        match failure {
            // NATS may be away for long, and readers go on meanwhile.
            Failure::Source(SourceError::Unavailable(_)) => {
                tracing::warn!(projection = W::Model::NAME, %failure, ?wait, "the projection goes on after a wait");
            }
            _ => self.worker.failed(failure),
        }
    }
}

/// How often a model was quarantined lately.
#[derive(Debug, Default)]
struct Quarantined {
    last: Option<Instant>,
    times: u32,
}

impl Quarantined {
    /// Counts one more, and tells how long to wait before the rebuild.
    fn wait(&mut self) -> Duration {
        let is_again = self.last.replace(Instant::now()).is_some_and(|last| last.elapsed() < AGAIN);
        self.times = if is_again { self.times + 1 } else { 0 };
        if is_again { retry_after(self.times + 4) } else { Duration::ZERO }
    }
}

fn is_absent(error: std::io::Error) -> bool {
    error.kind() == std::io::ErrorKind::NotFound
}

fn remove(generations: &Generations, folder: &Path) {
    if let Err(error) = generations.remove(folder) {
        tracing::warn!(%error, "a former generation could not be removed; it goes at the next start");
    }
}

#[cfg(test)]
mod tests;
