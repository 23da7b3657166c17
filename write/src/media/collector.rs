//! Fetches the pictures that records name by URL, and draws those of the demo catalog, each once: what comes of it is
//! recorded, so that nobody does it again.

mod wanting;

use std::sync::Arc;
use std::time::Duration;

use schemas::ids::{Actor, StreamId};
use schemas::picture::Picture;
use tokio::task::JoinSet;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::fetch::FetchError;
use crate::demo::pictures::picture_of;
use crate::event_store::StoreError;
use crate::follow::Follower;
use crate::project::{self, Project};
use crate::service::{CommandService, Observed, Pictures};
use wanting::{Wanted, Wanting};

/// Who records what was found.
const ACTOR: &str = "loggia-pictures";

/// Pictures fetched at once.
const AT_ONCE: usize = 4;

/// How long to wait before a store that cannot be written is tried again.
const PAUSE: Duration = Duration::from_secs(10);

/// Why the worker cannot start.
#[derive(Debug, thiserror::Error)]
#[error("pictures cannot be fetched: {0}")]
pub struct CannotCollect(String);

/// Fetches what records name and nobody has looked at.
pub struct Collector {
    service: CommandService,
    pictures: Arc<Pictures>,
    actor: Actor,
}

impl Collector {
    /// A worker that records through this service, with its pictures.
    pub fn new(service: CommandService) -> Result<Collector, CannotCollect> {
        let pictures = service.pictures().cloned();
        let pictures = pictures.ok_or_else(|| CannotCollect("this write side keeps no pictures".into()))?;
        let actor = ACTOR.parse().map_err(|error| CannotCollect(format!("{error}")))?;
        Ok(Collector { service, pictures, actor })
    }

    /// Works until `stop`.
    pub async fn run(self, stop: CancellationToken) {
        stop.run_until_cancelled(Arc::new(self).work()).await;
    }

    async fn work(self: Arc<Self>) {
        let mut log = Follower::new(self.service.store().clone());
        let mut wanting = Wanting::default();
        // What the whole log says is heard first: most of what it names was looked at long ago.
        log.hear(|event| wanting.hear(event)).await;
        // Each in a task of its own: one that is not polled while the log is read would hold what reading waits for.
        let mut under_way = JoinSet::new();
        loop {
            while under_way.len() < AT_ONCE
                && let Some(wanted) = wanting.next(Instant::now())
            {
                let this = self.clone();
                under_way.spawn(async move { this.collect(wanted).await });
            }
            let again = wanting.earliest();
            tokio::select! {
                Some(ended) = under_way.join_next(), if !under_way.is_empty() => match ended {
                    Ok((_, Ok(()))) => {}
                    Ok((wanted, Err(reason))) => {
                        if let Some(reason) = wanting.put_off(&wanted, reason, Instant::now()) {
                            self.record(&wanted, Err(reason)).await;
                        }
                    }
                    Err(error) => tracing::error!(%error, "a picture was dropped; the next start tries it again"),
                },
                () = log.wait() => log.hear(|event| wanting.hear(event)).await,
                () = until(again), if again.is_some() => {}
            }
        }
    }

    /// Fetches or draws a picture and records what came of it; the reason where a later try may bring it.
    async fn collect(&self, wanted: Wanted) -> (Wanted, Result<(), String>) {
        let got = match wanted.address() {
            Some(address) => self.pictures.fetch(&address).await,
            None => self.draw(&wanted).await,
        };
        let found = match got {
            Ok(picture) => Ok(picture),
            Err(FetchError::Refused(reason)) => Err(reason),
            Err(FetchError::Later(reason)) => return (wanted, Err(reason)),
        };
        self.record(&wanted, found).await;
        (wanted, Ok(()))
    }

    /// Draws the picture of a demo project from its record.
    async fn draw(&self, wanted: &Wanted) -> Result<Picture, FetchError> {
        let later = |error: StoreError| FetchError::Later(error.to_string());
        let project = self.service.project(&StreamId::project(wanted.project)).await.map_err(later)?;
        let record = project.listing().map(|listing| listing.record.clone());
        let drawn = self.pictures.blocking(move |store| {
            let bytes = record.as_ref().and_then(picture_of)?;
            Some(store.take(&bytes))
        });
        match drawn.await {
            Some(Ok(picture)) => Ok(picture),
            Some(Err(error)) => Err(FetchError::Later(error.to_string())),
            None => {
                Err(FetchError::Refused("The record names no picture of the demo catalog any more.".into()))
            }
        }
    }

    async fn record(&self, wanted: &Wanted, found: Result<Picture, String>) {
        let stream = StreamId::project(wanted.project);
        loop {
            let observe = async |project: &Project| project::look_at(project, &wanted.source, found.clone());
            match self.service.observe(&stream, &self.actor, observe).await {
                Ok(Observed::Recorded(_) | Observed::Nothing) => return,
                Ok(Observed::Overtaken) => {}
                Err(error) => {
                    tracing::warn!(%error, source = wanted.source, "what a picture is cannot be recorded; trying again");
                    tokio::time::sleep(PAUSE).await;
                }
            }
        }
    }
}

async fn until(moment: Option<Instant>) {
    if let Some(moment) = moment {
        tokio::time::sleep_until(moment).await;
    }
}

#[cfg(test)]
mod tests;
