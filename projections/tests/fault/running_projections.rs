//! The projections of a node on a stream that a test fills.

use std::path::Path;

use futures::StreamExt;
use health::Health;
use kit::{TIMEOUT, wait_until};
use projections::error::WorkerError;
use projections::node::{Node, NodeSettings, WorkerTask};
use projections::projection::Projection;
use projections::projection::search::SearchProjection;
use read::archive::ArchiveWriter;
use read::catalog::CatalogWriter;
use read::checkpoint::Checkpoint;
use read::generation::Generations;
use read::keys::KeysWriter;
use read::model::Model;
use read::models::CommitSignals;
use read::neighbours::NeighboursWriter;
use schemas::clock::Clock;
use schemas::control::{ProjectionStatus, UsagePage};
use schemas::ids::Position;
use schemas::subject;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// The running projections of a node.
pub(crate) struct RunningProjections {
    pub(crate) node: Node,
    pub(crate) health: Health,
    tracker: TaskTracker,
    stop: CancellationToken,
    failures: mpsc::UnboundedReceiver<WorkerError>,
}

impl RunningProjections {
    pub(crate) fn on(models: &Path, client: &async_nats::Client) -> RunningProjections {
        let (health, tracker, stop) = (Health::default(), TaskTracker::new(), CancellationToken::new());
        let clock = Clock::system();
        let settings = NodeSettings {
            models: models.to_owned(),
            name: "node".into(),
            clock,
            health: health.clone(),
            signals: CommitSignals::default(),
            waits_for_rebuild: false,
        };
        let (failed, failures) = mpsc::unbounded_channel();
        let spawn = |_, worker: WorkerTask| {
            let failed = failed.clone();
            tracker.spawn(async move { worker.await.or_else(|failure| failed.send(failure)) });
        };
        let node = Node::start(&settings, client, &spawn, &stop);
        RunningProjections { node, health, tracker, stop, failures }
    }

    pub(crate) fn status(&self, model: &str) -> ProjectionStatus {
        self.node.last_status().into_iter().find(|status| status.name == model).unwrap()
    }

    /// Waits until each model has this generation and has applied the log.
    pub(crate) async fn all_at(&self, generation: &str, head: Position) {
        self.log_at(generation, head).await;
        wait_until(TIMEOUT, &format!("{generation} of the counters"), async || {
            self.status("counters").generation == generation && self.health.failing().is_empty()
        })
        .await;
    }

    /// The same without the counters.
    pub(crate) async fn log_at(&self, generation: &str, head: Position) {
        wait_until(TIMEOUT, &format!("{generation} of every model of the log at {head}"), async || {
            let all = self.node.last_status();
            let mut of_the_log = all.iter().filter(|status| status.name != "counters");
            of_the_log.all(|status| status.generation == generation && status.position == head)
        })
        .await;
    }

    /// Waits for the first worker to end with an error, and returns it.
    pub(crate) async fn failure(&mut self) -> WorkerError {
        tokio::time::timeout(TIMEOUT, self.failures.recv()).await.expect("a failure").unwrap()
    }

    pub(crate) async fn end(self) {
        self.stop.cancel();
        self.tracker.close();
        self.tracker.wait().await;
    }
}

/// Answers for a write side with an empty ledger.
pub(crate) async fn keep_ledger(client: &async_nats::Client) {
    let client = client.clone();
    let mut requests = client.subscribe(subject::READ_USAGE).await.unwrap();
    tokio::spawn(async move {
        while let Some(request) = requests.next().await {
            let page = UsagePage { entries: Vec::new(), head: Position::START, sources: Vec::new() };
            let page = serde_json::to_vec(&page).unwrap();
            client.publish(request.reply.unwrap(), page.into()).await.unwrap();
        }
    });
}

async fn digest<P: Projection>(models: &Path) -> (Checkpoint, [u8; 32]) {
    let generations = Generations::in_layout(models.join(P::Model::NAME), P::Model::LAYOUT);
    P::Model::digest(&generations.current().unwrap().unwrap().path).await.unwrap()
}

pub(crate) async fn digests(models: &Path) -> Vec<(Checkpoint, [u8; 32])> {
    vec![
        digest::<CatalogWriter>(models).await,
        digest::<SearchProjection>(models).await,
        digest::<NeighboursWriter>(models).await,
        digest::<ArchiveWriter>(models).await,
        digest::<KeysWriter>(models).await,
    ]
}
