//! All projections of one node, and the control requests of its own command line.

use std::path::PathBuf;
use std::time::Duration;

use async_nats::Subject;
use futures::StreamExt;
use futures::future::BoxFuture;
use futures::stream::FuturesUnordered;
use read::model::{Model, ModelInput};
use read::models::ModelKind;
use schemas::control::{ProjectionStatus, RebuildProgress};
use schemas::ids::Position;
use schemas::subject;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::error::WorkerError;
use crate::host::Host;
use crate::projection::Projection;
use crate::projection::counters::CountersWorker;
use crate::projection::search::SearchProjection;
use crate::rebuilds::RebuildRequest;
use crate::source::{EventSource, SourceError};
use crate::status::Status;
use crate::verify::remove_leftovers;
use crate::worker::{ProjectionWorker, Worker};
use read::archive::ArchiveWriter;
use read::catalog::CatalogWriter;
use read::keys::KeysWriter;
use read::neighbours::NeighboursWriter;

pub use crate::host::NodeSettings;

/// The longest time between two progress messages of a rebuild.
const PROGRESS_INTERVAL: Duration = Duration::from_secs(10);

/// The task of one model's host; it ends after `stop`, or with an error that only an operator can repair.
pub type WorkerTask = BoxFuture<'static, Result<(), WorkerError>>;

/// Spawns the task of the model with this name, and handles its result. A commit blocks its thread, so the runtime should be
/// used by these tasks alone.
pub type SpawnWorker<'a> = &'a dyn Fn(&'static str, WorkerTask);

/// The running projections of a node.
#[derive(Debug, Clone)]
pub struct Node {
    models: Vec<HostedModel>,
    source: EventSource,
    folder: PathBuf,
}

#[derive(Debug, Clone)]
struct HostedModel {
    name: &'static str,
    input: ModelInput,
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
        let source = EventSource::with_health(client.clone(), &settings.health);
        let mut start = Start { settings, source: source.clone(), spawn, stop };
        let models = vec![
            start.projection::<CatalogWriter>(),
            start.projection::<SearchProjection>(),
            start.projection::<NeighboursWriter>(),
            start.projection::<ArchiveWriter>(),
            start.projection::<KeysWriter>(),
            start.model::<CountersWorker>(),
        ];
        Node { models, source, folder: settings.models.clone() }
    }

    /// Returns the source of its projections' events.
    pub fn source(&self) -> &EventSource {
        &self.source
    }

    /// Returns the status of each projection, with its present lag and size.
    pub async fn status(&self) -> Vec<ProjectionStatus> {
        if let Ok(head) = self.source.log_head().await {
            self.log_models().for_each(|model| model.status.set_log_head(head));
        }
        self.sized_status()
    }

    /// Returns the last status of each projection, with its present size.
    pub fn sized_status(&self) -> Vec<ProjectionStatus> {
        self.models.iter().for_each(|model| model.status.measure_size(&self.folder.join(model.name)));
        self.last_status()
    }

    /// Returns whether every projection of the log has applied it up to this position.
    pub fn has_applied(&self, head: Position) -> bool {
        self.log_models()
            .map(|model| model.status.get())
            .all(|status| status.quarantined.is_none() && status.position >= head)
    }

    fn log_models(&self) -> impl Iterator<Item = &HostedModel> {
        self.models.iter().filter(|model| model.input == ModelInput::Log)
    }

    /// Returns the last status of each projection.
    pub fn last_status(&self) -> Vec<ProjectionStatus> {
        self.models.iter().map(|model| model.status.get()).collect()
    }

    /// Answers requests on `loggia.control.<name>.*` until `stop`.
    ///
    /// # Errors
    ///
    /// Fails when the connection to NATS is closed.
    pub async fn serve_control(self, name: String, stop: CancellationToken) -> Result<(), WorkerError> {
        let closed = |reason: String| SourceError::Unavailable(reason);
        let client = self.source.client().clone();
        let subscribed = client.subscribe(subject::control(&name, "*")).await;
        let mut requests = subscribed.map_err(|error| closed(error.to_string()))?;
        // A rebuild takes long; other requests are answered meanwhile.
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

    /// Rebuilds the named models one after the other, sending the progress to `reply`.
    async fn rebuild(&self, client: &async_nats::Client, reply: &Subject, names: &[u8]) {
        let names: Vec<String> = serde_json::from_slice(names).unwrap_or_default();
        for model in self.models.iter().filter(|model| names.iter().any(|name| name == model.name)) {
            let (progress, mut messages) = mpsc::unbounded_channel();
            if model.requests.send(RebuildRequest { progress }).await.is_err() {
                let reason = format!("the {} worker is not running; look at the log", model.name);
                send(client, reply, &RebuildProgress::Failed { reason }).await;
                return;
            }
            let (mut last, mut swapped) = (None, false);
            while let Some(progress) = next(&mut messages, last.as_ref()).await {
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

/// Returns the next progress message of a rebuild. A commit can take minutes, as with the neighbours of a large catalog; then
/// the last message is repeated every 10 seconds, to show that the node is alive. It is not repeated before the host answered.
async fn next(
    messages: &mut mpsc::UnboundedReceiver<RebuildProgress>,
    last: Option<&RebuildProgress>,
) -> Option<RebuildProgress> {
    let Some(last) = last else { return messages.recv().await };
    tokio::time::timeout(PROGRESS_INTERVAL, messages.recv())
        .await
        .unwrap_or_else(|_elapsed| Some(last.clone()))
}

/// What the start of a model needs.
struct Start<'a> {
    settings: &'a NodeSettings,
    source: EventSource,
    spawn: SpawnWorker<'a>,
    stop: &'a CancellationToken,
}

impl Start<'_> {
    fn projection<P: Projection>(&mut self) -> HostedModel {
        self.model::<ProjectionWorker<P>>()
    }

    fn model<W: Worker>(&mut self) -> HostedModel {
        let model = ModelKind::ALL.into_iter().find(|model| model.name() == W::Model::NAME);
        let signal = model.map(|model| self.settings.signals.of(model)).unwrap_or_default();
        let status = Status::new(W::Model::NAME).with_signal(signal);
        let (requests, receiver) = mpsc::channel(1);
        let host = Host::new::<W>(self.settings, self.source.clone(), status.clone());
        (self.spawn)(W::Model::NAME, Box::pin(host.run::<W>(receiver, self.stop.clone())));
        HostedModel { name: W::Model::NAME, input: W::Model::INPUT, status, requests }
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
    async fn a_long_commit_repeats_the_progress_of_a_rebuild() {
        let (progress, mut messages) = mpsc::unbounded_channel();
        let at = |applied| RebuildProgress::Replaying { model: "neighbours".into(), applied, of: 9 };
        progress.send(at(7)).unwrap();
        assert_eq!(next(&mut messages, None).await, Some(at(7)));
        for _ in 0..20 {
            assert_eq!(next(&mut messages, Some(&at(7))).await, Some(at(7)));
        }
        drop(progress);
        assert_eq!(next(&mut messages, Some(&at(7))).await, None);
    }

    #[tokio::test(start_paused = true)]
    async fn no_progress_is_repeated_before_the_host_answers() {
        let (_progress, mut messages) = mpsc::unbounded_channel();
        assert!(tokio::time::timeout(PROGRESS_INTERVAL * 100, next(&mut messages, None)).await.is_err());
    }
}
