//! Keeps one model of a node alive: its worker on the current generation, and a rebuild beside it when asked for.

use std::path::{Path, PathBuf};
use std::pin::pin;
use std::time::{Duration, Instant};

use jiff::Timestamp;
use read::generation::{Generation, Generations};
use schemas::control::RebuildProgress;
use schemas::ids::Position;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::failure::{Failure, Verdict};
use crate::projection::ProjectionError;
use crate::source::EventSource;
use crate::status::Status;
use crate::work::Work;
use crate::worker::ReplayError;

/// How long readers may take to let a former generation go before its folder is removed.
const GRACE: Duration = Duration::from_secs(2);

/// A request for a rebuild, and where its progress goes.
#[derive(Debug)]
pub struct RebuildRequest {
    /// Takes the progress; the last message is `Swapped` or `Failed`.
    pub progress: mpsc::UnboundedSender<RebuildProgress>,
}

/// One model of this node.
#[derive(Debug)]
pub struct Host {
    models: PathBuf,
    source: EventSource,
    status: Status,
    now: fn() -> Timestamp,
}

/// The worker on a generation.
struct Live<W> {
    generation: Generation,
    worker: W,
}

impl Host {
    /// A model below the folder `models`. The clock serves heartbeats only.
    pub fn new(models: &Path, source: EventSource, status: Status, now: fn() -> Timestamp) -> Host {
        Host { models: models.to_owned(), source, status, now }
    }

    /// Works until it is told to stop; an error is one that only an operator can mend.
    pub async fn run<W: Work>(
        self,
        mut requests: mpsc::Receiver<RebuildRequest>,
        stop: CancellationToken,
    ) -> Result<(), Failure> {
        let generations = Generations::in_layout(self.models.join(W::NAME), W::LAYOUT);
        let mut failures = 0;
        loop {
            let failure = match self.open_live::<W>(&generations).await {
                Ok(mut live) => {
                    let began = live.worker.position();
                    let outcome = self.serve(&generations, &mut live, &mut requests, &stop).await;
                    if live.worker.position() > began {
                        failures = 0;
                    }
                    match outcome {
                        Ok(()) => return Ok(()),
                        Err(failure) => failure,
                    }
                }
                Err(error) => error.into(),
            };
            failures += 1;
            match failure.verdict(failures) {
                Verdict::Stop => return Err(failure),
                Verdict::RetryAfter(wait) => {
                    tracing::warn!(projection = W::NAME, %failure, ?wait, "the projection goes on after a wait");
                    tokio::select! {
                        () = stop.cancelled() => return Ok(()),
                        () = tokio::time::sleep(wait) => {}
                    }
                }
            }
        }
    }

    /// Opens the current generation, or makes the first. What a rebuild left that was cut off is removed.
    async fn open_live<W: Work>(&self, generations: &Generations) -> Result<Live<W>, ProjectionError> {
        generations.remove_others()?;
        if let Some(layout) = generations.foreign_layout()? {
            tracing::warn!(
                projection = W::NAME,
                "the model was made in layout {layout} and this version reads layout {}: it is made anew from the log",
                W::LAYOUT
            );
        }
        let (generation, first) = match generations.current()? {
            Some(generation) => (generation, false),
            None => (generations.create_next()?, true),
        };
        let worker: W = self.open_worker(&generation, self.status.clone()).await?;
        if first {
            generations.make_current(&generation)?;
            generations.remove_others()?;
        }
        self.status.generation(&generation.name);
        Ok(Live { generation, worker })
    }

    async fn open_worker<W: Work>(
        &self,
        generation: &Generation,
        status: Status,
    ) -> Result<W, ProjectionError> {
        W::open(&generation.path, self.source.clone(), status, self.now).await
    }

    /// Follows, and rebuilds when asked.
    async fn serve<W: Work>(
        &self,
        generations: &Generations,
        live: &mut Live<W>,
        requests: &mut mpsc::Receiver<RebuildRequest>,
        stop: &CancellationToken,
    ) -> Result<(), Failure> {
        loop {
            let pause = stop.child_token();
            let beside = async {
                let Some(request) = requests.recv().await else { return std::future::pending().await };
                let rebuilt = self.rebuild::<W>(generations, &request, stop).await;
                // The live worker ends between two commits; then the new one overtakes it.
                pause.cancel();
                rebuilt.map(|rebuilt| (rebuilt, request))
            };
            let (outcome, rebuilt) = {
                let mut follow = pin!(live.worker.follow(&pause));
                tokio::select! {
                    outcome = &mut follow => (outcome, None),
                    rebuilt = beside => (follow.await, Some(rebuilt)),
                }
            };
            outcome?;
            match rebuilt {
                Some(Some((next, request))) => {
                    self.take_over(generations, live, next, &request, stop).await?
                }
                Some(None) => {}
                None => return Ok(()),
            }
        }
    }

    /// Replays the whole log into a new generation beside the live one.
    async fn rebuild<W: Work>(
        &self,
        generations: &Generations,
        request: &RebuildRequest,
        stop: &CancellationToken,
    ) -> Option<Rebuilt<W>> {
        match self.replay(generations, request, stop).await {
            Ok(rebuilt) => Some(rebuilt),
            Err(error) => {
                let reason = format!("{} was not rebuilt and is as it was: {error}", W::NAME);
                let _ = request.progress.send(RebuildProgress::Failed { reason });
                if let Err(error) = generations.remove_others() {
                    tracing::warn!(%error, "what a failed rebuild left could not be removed");
                }
                None
            }
        }
    }

    async fn replay<W: Work>(
        &self,
        generations: &Generations,
        request: &RebuildRequest,
        stop: &CancellationToken,
    ) -> Result<Rebuilt<W>, ReplayError> {
        let began = Instant::now();
        let generation = generations.create_next().map_err(ProjectionError::from)?;
        let mut worker: W = self.open_worker(&generation, Status::new(W::NAME)).await?;
        let mut tell = |applied: Position, of: Position| {
            let model = W::NAME.to_owned();
            let _ = request.progress.send(RebuildProgress::Replaying { model, applied: applied.0, of: of.0 });
        };
        worker.replay_all(self.status.get().position, stop, &mut tell).await?;
        let (events, seconds) = (worker.position().0, began.elapsed().as_secs_f64());
        Ok(Rebuilt { live: Live { generation, worker }, events, seconds })
    }

    /// Makes the rebuilt generation current once it is no older than the live one, and goes on with it.
    async fn take_over<W: Work>(
        &self,
        generations: &Generations,
        live: &mut Live<W>,
        mut rebuilt: Rebuilt<W>,
        request: &RebuildRequest,
        stop: &CancellationToken,
    ) -> Result<(), Failure> {
        rebuilt.live.worker.overtake(live.worker.position(), stop).await?;
        if stop.is_cancelled() {
            return Ok(());
        }
        let next = &rebuilt.live.generation;
        generations.make_current(next).map_err(ProjectionError::from)?;
        self.status.generation(&next.name);
        let _ = request.progress.send(RebuildProgress::Swapped {
            model: W::NAME.to_owned(),
            generation: next.name.clone(),
            position: rebuilt.live.worker.position(),
            events: rebuilt.events,
            seconds: rebuilt.seconds,
        });
        *live = rebuilt.live;
        live.worker.report_to(self.status.clone());
        tokio::time::sleep(GRACE).await;
        if let Err(error) = generations.remove_others() {
            tracing::warn!(%error, "the former generation could not be removed; it goes at the next start");
        }
        Ok(())
    }
}

struct Rebuilt<W> {
    live: Live<W>,
    events: u64,
    seconds: f64,
}
