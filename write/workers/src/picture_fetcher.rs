//! Fetches the pictures that records name by URL and generates those of a [`PictureGenerator`]. Each outcome is recorded, so
//! that no picture is fetched twice.

mod fetch_queue;
mod host_queues;

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use event_log::StoreError;
use event_log::log_cursor::LogCursor;
use media::PutError;
use pictures::fetch::FetchError;
use schemas::envelope::Recorded;
use schemas::event::Event;
use schemas::ids::{Actor, StreamId};
use schemas::picture::{Picture, PictureId};
use schemas::record::Record;
use schemas::versioned::Decoded;
use schemas::web_address::without_login;
use tokio::task::JoinSet;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use write::project::{self, Project};
use write::service::{Observed, PictureService};

use fetch_queue::{FetchOutcome, FetchQueue};
use host_queues::FetchJob;

use crate::StartError;

/// The actor of the recorded outcomes.
const ACTOR: &str = "loggia-pictures";

/// Concurrent jobs, of which at most two per host; each may hold 10 MiB until the picture is stored.
const MAX_CONCURRENT: usize = 8;

/// The prefix of the types of all versions of [`Event::PictureErased`].
const ERASED: &str = "loggia.curation.picture_erased.";

/// The pause before a failed read or write of a store is retried.
const STORE_RETRY_PAUSE: Duration = Duration::from_secs(10);

/// Counts of the fetch queue, for metrics.
#[derive(Debug, Default)]
pub struct FetchCounts {
    waiting: AtomicUsize,
    refused: AtomicUsize,
}

impl FetchCounts {
    /// Returns the number of pictures that wait or are in flight.
    pub fn waiting(&self) -> usize {
        self.waiting.load(Ordering::Relaxed)
    }

    /// Returns the number of pictures that records of listed projects name and that were refused.
    pub fn refused(&self) -> usize {
        self.refused.load(Ordering::Relaxed)
    }

    fn set(&self, (waiting, refused): (usize, usize)) {
        self.waiting.store(waiting, Ordering::Relaxed);
        self.refused.store(refused, Ordering::Relaxed);
    }
}

/// Generates the pictures of the records of one actor, which are not fetched.
#[derive(Debug, Clone, Copy)]
pub struct PictureGenerator {
    /// The actor whose records have generated pictures; for records of other actors nothing is generated.
    pub actor: &'static str,
    /// The prefix of the `source` of such a picture.
    pub prefix: &'static str,
    /// Returns the encoded picture of a record, or `None` if the record names no generated picture.
    pub picture: fn(&Record) -> Option<Vec<u8>>,
}

/// The worker that fetches or generates pictures without a recorded outcome.
pub struct PictureFetcher {
    counts: Arc<FetchCounts>,
    generator: Option<PictureGenerator>,
    pictures: Arc<PictureService>,
    actor: Actor,
}

impl PictureFetcher {
    /// Creates a worker that stores pictures in the media store of this service and records their outcomes through it.
    ///
    /// # Errors
    ///
    /// If the name of its actor is invalid.
    pub fn new(
        pictures: Arc<PictureService>,
        generator: Option<PictureGenerator>,
    ) -> Result<PictureFetcher, StartError> {
        let actor = ACTOR.parse().map_err(|error| StartError::PictureFetcher(format!("{error}")))?;
        Ok(PictureFetcher { counts: Arc::default(), generator, pictures, actor })
    }

    /// Returns the counts, which change while the worker runs.
    pub fn counts(&self) -> Arc<FetchCounts> {
        self.counts.clone()
    }

    /// Runs until `stop` is cancelled; jobs in flight are dropped then, and the next start repeats them.
    pub async fn run(self, stop: CancellationToken) {
        stop.run_until_cancelled(Arc::new(self).work()).await;
    }

    async fn work(self: Arc<Self>) {
        let mut log = LogCursor::new(self.pictures.projects().log().clone());
        let mut queue = FetchQueue::new(self.generator);
        let mut erased = HashSet::new();
        // The whole log is read before the first job: most pictures that it names have an outcome.
        log.catch_up(|event| {
            queue.apply(event);
            erased.extend(erased_picture(event));
        })
        .await;
        self.finish_erasures(&erased).await;
        // A task for each job: a future that is not polled while the log is read could hold a lock that the read waits for.
        let mut jobs = JoinSet::new();
        loop {
            while jobs.len() < MAX_CONCURRENT
                && let Some(job) = queue.pop(Instant::now())
            {
                let this = self.clone();
                jobs.spawn(async move { this.fetch(job).await });
            }
            self.counts.set(queue.counts());
            // With no free task, the next event is the end of a job.
            let next_due = queue.next_due().filter(|_| jobs.len() < MAX_CONCURRENT);
            tokio::select! {
                Some(ended) = jobs.join_next(), if !jobs.is_empty() => match ended {
                    Ok((job, outcome)) => {
                        if let Some(reason) = queue.finish(&job, outcome, Instant::now()) {
                            self.record(&job, Err(reason)).await;
                        }
                    }
                    Err(error) => tracing::error!(%error, "fetching a picture panicked; it is tried again after a restart"),
                },
                () = log.wait() => log.catch_up(|event| queue.apply(event)).await,
                projects = self.pictures.retry_requests() => {
                    // A refusal that was recorded a moment ago may not be in the queue yet.
                    log.catch_up(|event| queue.apply(event)).await;
                    projects.into_iter().for_each(|project| queue.retry_refused(project));
                }
                () = sleep_until(next_due), if next_due.is_some() => {}
            }
        }
    }

    /// Fetches or generates a picture and records the outcome, unless the failure is temporary.
    async fn fetch(&self, job: FetchJob) -> (FetchJob, FetchOutcome) {
        let result = match job.url() {
            Some(url) => self.pictures.fetch_in_background(&url).await,
            None => self.generate(&job).await,
        };
        let result = match result {
            Ok(picture) => Ok(picture),
            Err(FetchError::Permanent(reason)) => Err(reason),
            Err(FetchError::Transient(reason)) => {
                return (job, FetchOutcome::Retry { reason, timed_out: false });
            }
            Err(FetchError::Timeout(reason)) => {
                return (job, FetchOutcome::Retry { reason, timed_out: true });
            }
        };
        let outcome = self.record(&job, result).await;
        (job, outcome)
    }

    /// Generates the picture of a project from its record and stores it.
    async fn generate(&self, job: &FetchJob) -> Result<Picture, FetchError> {
        let transient = |error: StoreError| FetchError::Transient(error.to_string());
        let project =
            self.pictures.projects().project(&StreamId::project(job.project)).await.map_err(transient)?;
        let record = project.listing().map(|listing| listing.record.clone());
        let generate = self.generator.map(|generator| generator.picture);
        let stored = self.pictures.blocking(move |store| {
            let bytes = record.as_ref().and_then(generate?)?;
            Some(store.put(&bytes))
        });
        match stored.await {
            Some(Ok(picture)) => Ok(picture),
            Some(Err(PutError::Refused(fault))) => Err(FetchError::Permanent(fault.to_string())),
            Some(Err(PutError::Store(error))) => Err(FetchError::Transient(error.to_string())),
            None => Err(FetchError::Permanent(
                "The record names no picture that is made from it any more.".into(),
            )),
        }
    }

    /// Records the stored picture or the reason for its refusal, and retries until the event store can be written.
    async fn record(&self, job: &FetchJob, result: Result<Picture, String>) -> FetchOutcome {
        let stream = StreamId::project(job.project);
        loop {
            let (_guard, result) = match &result {
                Ok(picture) => match self.pictures.lock_against_erasure(picture.id).await {
                    Ok((guard, None)) => (Some(guard), result.clone()),
                    Ok((guard, Some(reason))) => (Some(guard), Err(reason)),
                    Err(error) => {
                        self.pause_after_error(job, &error).await;
                        continue;
                    }
                },
                Err(_) => (None, result.clone()),
            };
            let stored = result.is_ok();
            let mut is_named = false;
            let observe = async |project: &Project| {
                is_named = project.listing().is_some_and(|listing| {
                    listing.record.picture_sources().any(|source| source == job.source)
                });
                project::record_fetch(project, &job.source, result.clone())
            };
            match self.pictures.projects().observe(&stream, &self.actor, observe).await {
                Ok(Observed::Recorded(_)) => return FetchOutcome::Recorded(stored),
                Ok(Observed::Nothing) if is_named => return FetchOutcome::Recorded(stored),
                Ok(Observed::Nothing) => return FetchOutcome::NotNamed,
                Ok(Observed::Overtaken) => {}
                Err(error) => self.pause_after_error(job, &error).await,
            }
        }
    }

    async fn pause_after_error(&self, job: &FetchJob, error: &StoreError) {
        let source = without_login(&job.source);
        tracing::warn!(%error, %source, "the outcome for a picture cannot be recorded; trying again");
        tokio::time::sleep(STORE_RETRY_PAUSE).await;
    }

    /// Completes interrupted erasures: afterwards log, erasure journal and media store agree.
    async fn finish_erasures(&self, in_log: &HashSet<PictureId>) {
        while let Err(error) = self.pictures.finish_erasures(in_log, &self.actor).await {
            tracing::warn!(reason = error.to_string(), "picture erasures cannot be completed; trying again");
            tokio::time::sleep(STORE_RETRY_PAUSE).await;
        }
    }
}

fn erased_picture(recorded: &Recorded) -> Option<PictureId> {
    if !recorded.kind.starts_with(ERASED) {
        return None;
    }
    match recorded.decode() {
        Ok(Decoded::Known(event)) => match *event {
            Event::PictureErased(erased) => Some(erased.picture),
            _ => None,
        },
        _ => None,
    }
}

async fn sleep_until(moment: Option<Instant>) {
    if let Some(moment) = moment {
        tokio::time::sleep_until(moment).await;
    }
}

#[cfg(test)]
mod tests;
