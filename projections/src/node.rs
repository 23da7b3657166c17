//! All projections of one node, and the requests that its own command line sends to it.

use std::path::PathBuf;
use std::time::Duration;

use async_nats::Subject;
use futures::StreamExt;
use futures::future::BoxFuture;
use futures::stream::FuturesUnordered;
use read::model::{Follows, Model};
use schemas::control::{ProjectionStatus, RebuildProgress};
use schemas::ids::Position;
use schemas::subject;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::archive::ArchiveProjection;
use crate::catalog::CatalogProjection;
use crate::counters::CountersWorker;
use crate::failure::Failure;
use crate::host::Host;
use crate::keys::KeysProjection;
use crate::neighbours::NeighboursProjection;
use crate::projection::Projection;
use crate::rebuilds::RebuildRequest;
use crate::search::SearchProjection;
use crate::source::{EventSource, SourceError};
use crate::status::Status;
use crate::verify::remove_leftovers;
use crate::work::Work;

pub use crate::node_settings::NodeSettings;
use crate::worker::Worker;

/// How often a rebuild is heard of at least.
const BEAT: Duration = Duration::from_secs(10);

/// The work of one model's worker, until `stop` or until it cannot go on.
pub type WorkerTask = BoxFuture<'static, Result<(), Failure>>;

/// Runs a worker, given with the name of its model, and acts on its end. Workers block their threads while they commit,
/// so the threads should be theirs alone.
pub type SpawnWorker<'a> = &'a dyn Fn(&'static str, WorkerTask);

/// The projections of this node, at work.
#[derive(Debug, Clone)]
pub struct Node {
    models: Vec<HostedModel>,
    source: EventSource,
    folder: PathBuf,
}

#[derive(Debug, Clone)]
struct HostedModel {
    name: &'static str,
    follows: Follows,
    status: Status,
    requests: mpsc::Sender<RebuildRequest>,
}

impl Node {
    /// Starts a worker for each model.
    pub fn start(
        settings: &NodeSettings,
        client: &async_nats::Client,
        spawn: SpawnWorker<'_>,
        stop: &CancellationToken,
    ) -> Node {
        if let Err(error) = remove_leftovers(&settings.models) {
            tracing::warn!(%error, "what a killed verification left could not be removed");
        }
        let source = EventSource::reporting(client.clone(), &settings.health);
        let mut start = Start { settings, source: source.clone(), spawn, stop };
        let models = vec![
            start.projection::<CatalogProjection>(),
            start.projection::<SearchProjection>(),
            start.projection::<NeighboursProjection>(),
            start.projection::<ArchiveProjection>(),
            start.projection::<KeysProjection>(),
            start.model::<CountersWorker>(),
        ];
        Node { models, source, folder: settings.models.clone() }
    }

    /// Where its projections get their events from.
    pub fn source(&self) -> &EventSource {
        &self.source
    }

    /// How each projection is, with its lag and its size as of now.
    pub async fn status(&self) -> Vec<ProjectionStatus> {
        if let Ok(head) = self.source.head_of_log().await {
            self.of_the_log().for_each(|model| model.status.head(head));
        }
        self.sized_status()
    }

    /// How each projection was when it last told, and its size as of now.
    pub fn sized_status(&self) -> Vec<ProjectionStatus> {
        self.models.iter().for_each(|model| model.status.measure(&self.folder.join(model.name)));
        self.last_status()
    }

    /// Whether every projection of the log has applied it up to this position.
    pub fn has_applied(&self, head: Position) -> bool {
        self.of_the_log()
            .map(|model| model.status.get())
            .all(|status| status.quarantined.is_none() && status.position >= head)
    }

    fn of_the_log(&self) -> impl Iterator<Item = &HostedModel> {
        self.models.iter().filter(|model| model.follows == Follows::Log)
    }

    /// How each projection was when it last told.
    pub fn last_status(&self) -> Vec<ProjectionStatus> {
        self.models.iter().map(|model| model.status.get()).collect()
    }

    /// Answers requests on `loggia.control.<name>.*` until `stop`.
    ///
    /// # Errors
    ///
    /// Fails when the connection to NATS is closed.
    pub async fn serve_control(self, name: String, stop: CancellationToken) -> Result<(), Failure> {
        let closed = |reason: String| SourceError::Unavailable(reason);
        let client = self.source.client().clone();
        let subscribed = client.subscribe(subject::control(&name, "*")).await;
        let mut requests = subscribed.map_err(|error| closed(error.to_string()))?;
        // A rebuild takes its time; other requests are answered meanwhile.
        let mut rebuilds = FuturesUnordered::new();
        loop {
            let message = tokio::select! {
                () = stop.cancelled() => return Ok(()),
                Some(()) = rebuilds.next() => continue,
                message = requests.next() => message,
            };
            let message = message.ok_or_else(|| closed("the connection to NATS was closed".into()))?;
            let Some(reply) = message.reply else { continue };
            match message.subject.rsplit('.').next() {
                Some("status") => send(&client, &reply, &self.status().await).await,
                Some("rebuild") => {
                    let (node, client) = (self.clone(), client.clone());
                    rebuilds.push(async move { node.rebuild(&client, &reply, &message.payload).await });
                }
                _ => {}
            }
        }
    }

    /// Rebuilds the named models one after the other, telling the progress to whoever asked.
    async fn rebuild(&self, client: &async_nats::Client, reply: &Subject, wanted: &[u8]) {
        let wanted: Vec<String> = serde_json::from_slice(wanted).unwrap_or_default();
        for model in self.models.iter().filter(|model| wanted.iter().any(|name| name == model.name)) {
            let (progress, mut told) = mpsc::unbounded_channel();
            if model.requests.send(RebuildRequest { progress }).await.is_err() {
                let reason = format!("the {} worker is not running; look at the log", model.name);
                send(client, reply, &RebuildProgress::Failed { reason }).await;
                return;
            }
            let (mut last, mut swapped) = (None, false);
            while let Some(progress) = next(&mut told, last.as_ref()).await {
                if matches!(progress, RebuildProgress::Replaying { .. }) {
                    last = Some(progress.clone());
                }
                swapped |= matches!(progress, RebuildProgress::Swapped { .. });
                let failed = matches!(progress, RebuildProgress::Failed { .. });
                send(client, reply, &progress).await;
                if failed {
                    return;
                }
            }
            if !swapped {
                let reason =
                    format!("the {} worker stopped; nothing was swapped, look at the log", model.name);
                send(client, reply, &RebuildProgress::Failed { reason }).await;
                return;
            }
        }
        send(client, reply, &RebuildProgress::Finished).await;
    }
}

/// What a rebuild tells next. A commit may take minutes, those of the neighbours of a large catalog do: then it is told again
/// how far it is, and whoever waits sees that the node lives. Before its host has answered nothing is told.
async fn next(
    told: &mut mpsc::UnboundedReceiver<RebuildProgress>,
    last: Option<&RebuildProgress>,
) -> Option<RebuildProgress> {
    let Some(last) = last else { return told.recv().await };
    tokio::time::timeout(BEAT, told.recv()).await.unwrap_or_else(|_elapsed| Some(last.clone()))
}

/// What starting a model takes.
struct Start<'a> {
    settings: &'a NodeSettings,
    source: EventSource,
    spawn: SpawnWorker<'a>,
    stop: &'a CancellationToken,
}

impl Start<'_> {
    fn projection<P: Projection>(&mut self) -> HostedModel {
        self.model::<Worker<P>>()
    }

    fn model<W: Work>(&mut self) -> HostedModel {
        let status = Status::new(W::Model::NAME);
        let (requests, taken) = mpsc::channel(1);
        let host = Host::new::<W>(self.settings, self.source.clone(), status.clone());
        (self.spawn)(W::Model::NAME, Box::pin(host.run::<W>(taken, self.stop.clone())));
        HostedModel { name: W::Model::NAME, follows: W::Model::FOLLOWS, status, requests }
    }
}

async fn send<T: serde::Serialize>(client: &async_nats::Client, reply: &Subject, message: &T) {
    match serde_json::to_vec(message) {
        Ok(bytes) => {
            if let Err(error) = client.publish(reply.clone(), bytes.into()).await {
                tracing::debug!(%error, "an answer to the command line could not be sent");
            }
        }
        Err(error) => tracing::error!(%error, "an answer to the command line could not be written"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_rebuild_that_commits_for_long_is_heard_of() {
        let (progress, mut told) = mpsc::unbounded_channel();
        let at = |applied| RebuildProgress::Replaying { model: "neighbours".into(), applied, of: 9 };
        progress.send(at(7)).unwrap();
        assert_eq!(next(&mut told, None).await, Some(at(7)));
        for _ in 0..20 {
            assert_eq!(next(&mut told, Some(&at(7))).await, Some(at(7)));
        }
        drop(progress);
        assert_eq!(next(&mut told, Some(&at(7))).await, None);
    }

    #[tokio::test(start_paused = true)]
    async fn a_host_that_never_answers_shows_no_sign_of_life() {
        let (_progress, mut told) = mpsc::unbounded_channel();
        assert!(tokio::time::timeout(BEAT * 100, next(&mut told, None)).await.is_err());
    }
}
