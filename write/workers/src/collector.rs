//! Fetches the pictures that records name by URL, and has those of a [`PictureSource`] made, each once: what comes of it is
//! recorded, so that it is not done again.

mod hosts;
mod wanted;
mod wanting;

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use event_log::StoreError;
use event_log::log_cursor::LogCursor;
use media::TakeError;
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
use write::service::{CommandService, Observed, Pictures};

use wanted::Wanted;
use wanting::{Tried, Wanting};

/// Who records what was found.
const ACTOR: &str = "loggia-pictures";

/// Pictures fetched or made at once, at most two of one host; each may take 10 MiB until it is kept.
const AT_ONCE: usize = 8;

/// How the type of events begins that say that a picture is erased, in every version.
const ERASED: &str = "loggia.curation.picture_erased.";

/// How long to wait before a store that cannot be written is tried again.
const PAUSE: Duration = Duration::from_secs(10);

/// Why the worker cannot start.
#[derive(Debug, thiserror::Error)]
#[error("pictures cannot be fetched: {0}")]
pub struct CannotCollect(String);

/// How many pictures that records name wait, and how many were refused.
#[derive(Debug, Default)]
pub struct Counts {
    waiting: AtomicUsize,
    refused: AtomicUsize,
}

impl Counts {
    /// Pictures that wait to be fetched or are under way.
    pub fn waiting(&self) -> usize {
        self.waiting.load(Ordering::Relaxed)
    }

    /// Pictures that records of listed projects name by URL and that are not kept.
    pub fn refused(&self) -> usize {
        self.refused.load(Ordering::Relaxed)
    }

    fn set(&self, (waiting, refused): (usize, usize)) {
        self.waiting.store(waiting, Ordering::Relaxed);
        self.refused.store(refused, Ordering::Relaxed);
    }
}

/// Makes the pictures that the records of one actor name, instead of having them fetched.
#[derive(Debug, Clone, Copy)]
pub struct PictureSource {
    /// Who brings such records; those of others are not served.
    pub actor: &'static str,
    /// What the `source` of such a picture begins with.
    pub prefix: &'static str,
    /// Returns the encoded picture of a record, or `None` where the record names none of this source.
    pub picture: fn(&Record) -> Option<Vec<u8>>,
}

/// Fetches what records name and has not been looked at.
pub struct Collector {
    counts: Arc<Counts>,
    source: Option<PictureSource>,
    service: CommandService,
    pictures: Arc<Pictures>,
    actor: Actor,
}

impl Collector {
    /// A worker that records through this service, with its pictures. `source` makes those that cannot be fetched.
    pub fn new(service: CommandService, source: Option<PictureSource>) -> Result<Collector, CannotCollect> {
        let pictures = service.pictures().cloned();
        let pictures = pictures.ok_or_else(|| CannotCollect("this write side keeps no pictures".into()))?;
        let actor = ACTOR.parse().map_err(|error| CannotCollect(format!("{error}")))?;
        Ok(Collector { counts: Arc::default(), source, service, pictures, actor })
    }

    /// How much is to be done, as it goes on.
    pub fn counts(&self) -> Arc<Counts> {
        self.counts.clone()
    }

    /// Works until `stop`.
    pub async fn run(self, stop: CancellationToken) {
        stop.run_until_cancelled(Arc::new(self).work()).await;
    }

    async fn work(self: Arc<Self>) {
        let mut log = LogCursor::new(self.service.store().clone());
        let mut wanting = Wanting::new(self.source);
        let mut erased = HashSet::new();
        // What the whole log says is heard first: most of what it names was looked at long ago.
        log.catch_up(|event| {
            wanting.hear(event);
            erased.extend(erased_picture(event));
        })
        .await;
        self.finish_erasures(&erased).await;
        // Each in a task of its own: one that is not polled while the log is read would hold what reading waits for.
        let mut under_way = JoinSet::new();
        loop {
            while under_way.len() < AT_ONCE
                && let Some(wanted) = wanting.next(Instant::now())
            {
                let this = self.clone();
                under_way.spawn(async move { this.collect(wanted).await });
            }
            self.counts.set(wanting.counts());
            // Where all are busy one of them ends first.
            let again = wanting.earliest().filter(|_| under_way.len() < AT_ONCE);
            tokio::select! {
                Some(ended) = under_way.join_next(), if !under_way.is_empty() => match ended {
                    Ok((wanted, tried)) => {
                        if let Some(reason) = wanting.tried(&wanted, tried, Instant::now()) {
                            self.record(&wanted, Err(reason)).await;
                        }
                    }
                    Err(error) => tracing::error!(%error, "a picture was dropped; the next start tries it again"),
                },
                () = log.wait() => log.catch_up(|event| wanting.hear(event)).await,
                projects = self.pictures.asked_again() => {
                    // What was refused a moment ago may not have been heard.
                    log.catch_up(|event| wanting.hear(event)).await;
                    projects.into_iter().for_each(|project| wanting.want_again(project));
                }
                () = until(again), if again.is_some() => {}
            }
        }
    }

    /// Fetches or makes a picture and records what came of it, unless a later try may bring it.
    async fn collect(&self, wanted: Wanted) -> (Wanted, Tried) {
        let got = match wanted.address() {
            Some(address) => self.pictures.fetch_patiently(&address).await,
            None => self.make(&wanted).await,
        };
        let found = match got {
            Ok(picture) => Ok(picture),
            Err(FetchError::Refused(reason)) => Err(reason),
            Err(FetchError::Later(reason)) => return (wanted, Tried::Later { reason, silent: false }),
            Err(FetchError::Silent(reason)) => return (wanted, Tried::Later { reason, silent: true }),
        };
        let tried = self.record(&wanted, found).await;
        (wanted, tried)
    }

    /// Has the picture of a project made from its record.
    async fn make(&self, wanted: &Wanted) -> Result<Picture, FetchError> {
        let later = |error: StoreError| FetchError::Later(error.to_string());
        let project = self.service.project(&StreamId::project(wanted.project)).await.map_err(later)?;
        let record = project.listing().map(|listing| listing.record.clone());
        let make = self.source.map(|source| source.picture);
        let made = self.pictures.blocking(move |store| {
            let bytes = record.as_ref().and_then(make?)?;
            Some(store.take(&bytes))
        });
        match made.await {
            Some(Ok(picture)) => Ok(picture),
            Some(Err(TakeError::Refused(fault))) => Err(FetchError::Refused(fault.to_string())),
            Some(Err(TakeError::Store(error))) => Err(FetchError::Later(error.to_string())),
            None => {
                Err(FetchError::Refused("The record names no picture that is made from it any more.".into()))
            }
        }
    }

    async fn record(&self, wanted: &Wanted, found: Result<Picture, String>) -> Tried {
        let stream = StreamId::project(wanted.project);
        loop {
            let (_guard, found) = match &found {
                Ok(picture) => match self.pictures.not_erasing(picture.id).await {
                    Ok((guard, None)) => (Some(guard), found.clone()),
                    Ok((guard, Some(reason))) => (Some(guard), Err(reason)),
                    Err(error) => {
                        self.cannot_record(wanted, &error).await;
                        continue;
                    }
                },
                Err(_) => (None, found.clone()),
            };
            let kept = found.is_ok();
            let mut is_named = false;
            let observe = async |project: &Project| {
                is_named = project.listing().is_some_and(|listing| {
                    listing.record.picture_sources().any(|source| source == wanted.source)
                });
                project::look_at(project, &wanted.source, found.clone())
            };
            match self.service.observe(&stream, &self.actor, observe).await {
                Ok(Observed::Recorded(_)) => return Tried::Settled { kept },
                Ok(Observed::Nothing) if is_named => return Tried::Settled { kept },
                Ok(Observed::Nothing) => return Tried::Unwanted,
                Ok(Observed::Overtaken) => {}
                Err(error) => self.cannot_record(wanted, &error).await,
            }
        }
    }

    async fn cannot_record(&self, wanted: &Wanted, error: &StoreError) {
        let source = without_login(&wanted.source);
        tracing::warn!(%error, %source, "what a picture is cannot be recorded; trying again");
        tokio::time::sleep(PAUSE).await;
    }

    /// Brings the log, the journal of erased pictures and what is kept to agree.
    async fn finish_erasures(&self, in_log: &HashSet<PictureId>) {
        while let Err(refusal) = self.service.finish_picture_erasures(in_log, &self.actor).await {
            tracing::warn!(reason = refusal.detail, "erased pictures cannot be seen to; trying again");
            tokio::time::sleep(PAUSE).await;
        }
    }
}

/// The picture that an event says is erased.
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

async fn until(moment: Option<Instant>) {
    if let Some(moment) = moment {
        tokio::time::sleep_until(moment).await;
    }
}

#[cfg(test)]
mod tests;
