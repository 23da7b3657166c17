//! Computes and records the vectors of projects: visual from the first stored picture, semantic from the texts. A side that a
//! record supplies itself is not computed.
//!
//! A picture takes some 25 ms of a core, so projects with one are computed a few at a time, on threads of low priority, and one at
//! a time while others write to the log. Those with the newest events come first: an edit does not wait while a whole catalog is
//! computed again, after a change of the encoder. Until that is done its vectors are set aside in a file, since vectors of different
//! encoders are not compared: then all are recorded at once, and lists of similar projects are never short.

mod document;
mod embedder;
mod pending;
mod progress;
mod staging;

use std::collections::HashMap;
use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use embeddings::Encoder;
use event_log::log_cursor::LogCursor;
use schemas::ids::{Actor, ProjectId};
use tokio::runtime::Handle;
use tokio::task::{JoinError, JoinSet};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use write::project::COMPUTED_BY;
use write::service::{Observed, PictureService};

use crate::StartError;
use embedder::{EmbedError, EmbedOutcome, Embedder};
use pending::{Job, PendingProjects, Room};
use progress::Replacement;
use staging::Staging;

pub use progress::EmbeddingCounts;

/// Projects without a picture computed concurrently: their events share commits of the event store.
const MAX_TEXTS: usize = 32;

/// The minimum time between two reads of the log: the events of the worker itself are in it too.
const READ_INTERVAL: Duration = Duration::from_millis(20);

/// For how long after an event of another actor only one picture is computed at a time.
const WRITING_PAUSE: Duration = Duration::from_secs(1);

/// The pause after the event store failed.
const STORE_RETRY_PAUSE: Duration = Duration::from_secs(1);

/// The pause before an unreadable picture is read again.
const UNREADABLE_PAUSE: Duration = Duration::from_secs(10);

/// The worker that records computed vectors and recomputes them when a record or its picture changes.
pub struct EmbeddingWorker {
    embedder: Arc<Embedder>,
    pending: PendingProjects,
    counts: Arc<EmbeddingCounts>,
    /// The number of pictures computed concurrently while nothing else is written.
    max_pictures: usize,
    /// When other actors will not have written for [`WRITING_PAUSE`].
    written_until: Instant,
    /// Whether the last attempt to record vectors failed.
    is_failing: bool,
    /// Until when no job is started, because the event store failed.
    paused_until: Option<Instant>,
    /// Projects whose picture could not be read, with the time of the next try.
    unreadable: HashMap<ProjectId, Instant>,
    unreadable_pause: Duration,
}

impl EmbeddingWorker {
    /// Creates a worker that reads pictures from the media store of this service and records vectors through it. It computes them on
    /// the threads for blocking work of the runtime `threads`. `aside` is the file for vectors that replace those of another
    /// encoder; it need not exist.
    ///
    /// # Errors
    ///
    /// If the name of its actor is invalid, or the file exists and cannot be read.
    pub fn new(
        pictures: Arc<PictureService>,
        encoder: Encoder,
        threads: Handle,
        aside: &Path,
    ) -> Result<EmbeddingWorker, StartError> {
        let actor: Actor =
            COMPUTED_BY.parse().map_err(|error| StartError::EmbeddingWorker(format!("{error}")))?;
        let pending = PendingProjects::new(encoder.name());
        let staging = Staging::open(aside, encoder.name()).map_err(|error| {
            StartError::EmbeddingWorker(format!("{} cannot be read ({error}); remove it", aside.display()))
        })?;
        let (encoder, staging) = (Arc::new(encoder), Arc::new(staging));
        Ok(EmbeddingWorker {
            embedder: Arc::new(Embedder { pictures, encoder, actor, threads, staging }),
            pending,
            counts: Arc::default(),
            max_pictures: std::thread::available_parallelism().map_or(1, NonZeroUsize::get),
            written_until: Instant::now(),
            is_failing: false,
            paused_until: None,
            unreadable: HashMap::new(),
            unreadable_pause: UNREADABLE_PAUSE,
        })
    }

    /// Returns the counts, which change while the worker runs.
    pub fn counts(&self) -> Arc<EmbeddingCounts> {
        self.counts.clone()
    }

    /// Runs until `stop` is cancelled; what is being computed is dropped then, and the next start repeats it.
    pub async fn run(self, stop: CancellationToken) {
        stop.run_until_cancelled(self.work()).await;
    }

    async fn work(mut self) {
        let mut log = LogCursor::new(self.embedder.pictures.projects().log().clone());
        // The whole log is read before the first project is computed: most have vectors.
        log.catch_up(|event| self.pending.apply(event)).await;
        for (id, position) in self.embedder.staging.positions() {
            self.pending.resume(id, position);
        }
        let mut replacement = Replacement::begin(self.embedder.encoder.name(), self.pending.unstaged());
        let mut next_read = Instant::now();
        // A task for each job: a future that is not polled while the log is read could hold a lock that the read waits for.
        let mut jobs = JoinSet::new();
        loop {
            self.queue_unreadable();
            self.start_jobs(&mut jobs);
            self.counts.set(&self.pending);
            replacement.observe(self.pending.unstaged());
            let next_try = self.unreadable.values().copied().chain(self.paused_until).min();
            tokio::select! {
                Some(ended) = jobs.join_next(), if !jobs.is_empty() => self.finish(ended),
                () = wait(&mut log, next_read) => {
                    self.read(&mut log).await;
                    next_read = Instant::now() + READ_INTERVAL;
                }
                () = sleep_until(next_try), if next_try.is_some() => {}
            }
        }
    }

    /// Applies the new events of the log. During a bulk load this waits, and no job is started meanwhile.
    async fn read(&mut self, log: &mut LogCursor) {
        let mut is_written = false;
        log.catch_up(|event| {
            is_written |= event.actor.as_str() != COMPUTED_BY;
            self.pending.apply(event);
        })
        .await;
        if is_written {
            self.written_until = Instant::now() + WRITING_PAUSE;
        }
    }

    /// Starts as many jobs as may run concurrently.
    fn start_jobs(&mut self, jobs: &mut JoinSet<(Job, Result<EmbedOutcome, EmbedError>)>) {
        let now = Instant::now();
        if self.paused_until.is_some_and(|until| now < until) {
            return;
        }
        self.paused_until = None;
        let max_pictures = if now < self.written_until { 1 } else { self.max_pictures };
        loop {
            let running = self.pending.running();
            let room = Room {
                with_picture: max_pictures.saturating_sub(running.with_picture),
                without_picture: MAX_TEXTS.saturating_sub(running.without_picture),
            };
            let Some(job) = self.pending.start(room) else { return };
            let embedder = self.embedder.clone();
            jobs.spawn(async move { (job, embedder.embed(job).await) });
        }
    }

    fn finish(&mut self, ended: Result<(Job, Result<EmbedOutcome, EmbedError>), JoinError>) {
        let (job, outcome) = match ended {
            Ok(ended) => ended,
            Err(error) => match error.try_into_panic() {
                Ok(panic) => std::panic::resume_unwind(panic),
                Err(_cancelled) => return,
            },
        };
        match outcome {
            Ok(EmbedOutcome {
                observed: Observed::Recorded(_) | Observed::Nothing,
                is_staged,
                unreadable,
            }) => {
                self.is_failing = false;
                self.pending.finish(job, is_staged);
                self.set_unreadable(job.project, unreadable);
                self.clear_staging();
            }
            Ok(EmbedOutcome { observed: Observed::Overtaken, .. }) => self.pending.defer(job),
            Err(error) => {
                self.pending.defer(job);
                if !std::mem::replace(&mut self.is_failing, true) {
                    tracing::warn!(%error, "vectors cannot be recorded at present; they are tried again");
                }
                self.paused_until = Some(Instant::now() + STORE_RETRY_PAUSE);
            }
        }
    }

    /// Removes what was set aside once all of it is recorded.
    fn clear_staging(&self) {
        if self.pending.outdated() == 0
            && let Err(error) = self.embedder.staging.clear()
        {
            tracing::warn!(%error, "the file of vectors that were set aside cannot be removed");
        }
    }

    /// Queues projects whose unreadable picture is due for another try.
    fn queue_unreadable(&mut self) {
        let now = Instant::now();
        for (id, due) in self.unreadable.iter_mut().filter(|(_, due)| **due <= now) {
            *due = now + self.unreadable_pause;
            self.pending.retry(*id);
        }
    }

    /// Sets the reason why the picture of a project cannot be read, or clears it; logs the first of a series.
    fn set_unreadable(&mut self, id: ProjectId, reason: Option<String>) {
        match reason {
            None => drop(self.unreadable.remove(&id)),
            Some(reason) => {
                if self.unreadable.insert(id, Instant::now() + self.unreadable_pause).is_none() {
                    tracing::warn!(
                        project = %id,
                        reason,
                        "a picture cannot be read; the project keeps its recorded visual vector until it can"
                    );
                }
            }
        }
    }
}

/// Waits for the next event, but not before this time.
async fn wait(log: &mut LogCursor, from: Instant) {
    tokio::time::sleep_until(from).await;
    log.wait().await;
}

async fn sleep_until(time: Option<Instant>) {
    match time {
        Some(time) => tokio::time::sleep_until(time).await,
        None => std::future::pending().await,
    }
}

#[cfg(test)]
mod tests;
