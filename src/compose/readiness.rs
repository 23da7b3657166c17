//! The readiness of a node: ready for requests once every projection has applied what the stream held at the last check.

use std::time::{Duration, Instant};

use api::Readiness;
use async_nats::connection::State;
use health::Health;
use projections::node::Node;
use projections::source::EventSource;
use read::counters::Ledger;
use read::model::ModelInput;
use read::models::{ModelKind, ReadModels};
use schemas::ids::Position;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::data_folder::DataFolder;

/// The interval between two checks while the node is not ready.
const CHECK_INTERVAL: Duration = Duration::from_millis(50);
/// The interval between two checks of the health of the process once the node has been ready.
const HEALTH_INTERVAL: Duration = Duration::from_secs(1);
/// How long the head of the log counts as its head: under constant writes no model ever has the newest event.
const MAX_LAG: Duration = Duration::from_secs(2);

/// Publishes the readiness of a node: not ready at first, ready once it has caught up, and not ready again while a component has failed
/// for longer than its grace period, or when the process is about to stop. Later lag is a matter of metrics: an old answer is
/// better than none.
#[derive(Debug, Clone)]
pub struct ReadinessProbe {
    readiness: watch::Sender<Readiness>,
    health: Health,
    draining: CancellationToken,
}

impl ReadinessProbe {
    /// Returns the readiness of a node that is starting.
    pub fn new(health: Health, draining: CancellationToken) -> ReadinessProbe {
        let reason = "The node is starting.".to_owned();
        ReadinessProbe {
            readiness: watch::Sender::new(Readiness { ready: false, answers: false, reason }),
            health,
            draining,
        }
    }

    pub fn subscribe(&self) -> watch::Receiver<Readiness> {
        self.readiness.subscribe()
    }

    /// Publishes that calls are answered from now on, whether the node is ready or not.
    pub fn answers(&self) {
        self.readiness.send_modify(|readiness| readiness.answers = true);
    }

    /// Checks until the models that answer have caught up, then follows the health of the process.
    pub async fn models(self, checked: ReadinessSource, source: EventSource, data: DataFolder) {
        if self.until_ready(&source, &checked).await {
            data.note_caught_up();
            tracing::info!("ready");
        }
        self.follow_health().await;
    }

    /// Checks until the workers of a node without an API have caught up, then follows the health of the process.
    pub async fn workers(self, node: Node) {
        let source = node.source().clone();
        if self.until_ready(&source, &ReadinessSource::Workers(Box::new(node))).await {
            tracing::info!("ready");
        }
        self.follow_health().await;
    }

    /// Waits until the node is ready. Returns `false` if the process shuts down before.
    async fn until_ready(&self, source: &EventSource, checked: &ReadinessSource) -> bool {
        let checking = async {
            let mut goal = None;
            while let Err(reason) = checked.reached(&mut goal, source).await {
                self.readiness.send_modify(|readiness| readiness.reason = reason);
                self.health.log_lasting();
                tokio::time::sleep(CHECK_INTERVAL).await;
            }
        };
        self.draining.run_until_cancelled(checking).await.is_some()
    }

    /// Publishes that the node is ready while every component of the process works, until the process is about to stop.
    pub async fn follow_health(self) {
        let following = async {
            loop {
                // Operators see the reasons in the log, and in /status of their listener.
                let readiness = match self.health.not_ready_public() {
                    None => Readiness::READY,
                    Some(reason) => Readiness { ready: false, answers: true, reason },
                };
                self.readiness.send_if_modified(|published| {
                    let is_other = *published != readiness;
                    *published = readiness;
                    is_other
                });
                self.health.log_lasting();
                tokio::time::sleep(HEALTH_INTERVAL).await;
            }
        };
        let _: Option<()> = self.draining.run_until_cancelled(following).await;
        let reason = "The node is about to stop; send requests to another one.".to_owned();
        self.readiness.send_modify(|readiness| {
            *readiness = Readiness { ready: false, answers: readiness.answers, reason }
        });
    }
}

/// What must have caught up for a node to be ready.
pub enum ReadinessSource {
    Models {
        models: ReadModels,
        /// Whether calls are counted, so that the counters must have caught up too.
        counted: bool,
        /// Whether the workers of the models are in this process.
        workers: bool,
        /// Whether the models had caught up with the log when the process started.
        had_caught_up: bool,
    },
    /// The workers of a process without an API.
    Workers(Box<Node>),
}

impl ReadinessSource {
    /// Checks that the events up to `goal`, the head of the log at most [`MAX_LAG`] ago, are applied. The error is the reason for
    /// readers.
    async fn reached(
        &self,
        goal: &mut Option<(Position, Instant)>,
        source: &EventSource,
    ) -> Result<(), String> {
        let head = match *goal {
            _ if self.works_without_nats(source) => Position::START,
            Some((head, asked)) if asked.elapsed() < MAX_LAG => head,
            _ => {
                let head = match self {
                    // An API beside workers of another process may not ask the write side.
                    ReadinessSource::Models { workers: false, .. } => source.stream_head().await,
                    ReadinessSource::Models { workers: true, .. } | ReadinessSource::Workers(_) => {
                        source.log_head().await
                    }
                };
                let head = head.map_err(|error| unreadable("The end of the log", &error))?;
                *goal = Some((head, Instant::now()));
                head
            }
        };
        match self {
            ReadinessSource::Models { models, counted, .. } => {
                check_checkpoints(models, head).await?;
                if *counted { check_counters(models).await } else { Ok(()) }
            }
            ReadinessSource::Workers(node) if node.has_applied(head) => Ok(()),
            ReadinessSource::Workers(_) => Err(format!("Not every model has applied all {head} events.")),
        }
    }

    /// Returns whether NATS is unreachable and the models had caught up before: the node then answers from them, as it does if
    /// NATS becomes unreachable later.
    fn works_without_nats(&self, source: &EventSource) -> bool {
        matches!(self, ReadinessSource::Models { had_caught_up: true, .. })
            && source.client().connection_state() != State::Connected
    }
}

async fn check_checkpoints(models: &ReadModels, head: Position) -> Result<(), String> {
    for model in ModelKind::ALL.into_iter().filter(|model| model.input() == ModelInput::Log) {
        let name = model.name();
        let checkpoint = models.checkpoint(model).await;
        let checkpoint = checkpoint.map_err(|error| unreadable(&format!("The {name} model"), &error))?;
        let applied = checkpoint.ok_or_else(|| format!("The {name} model is not there yet."))?.position;
        if applied < head {
            return Err(format!("The {name} model has applied {applied} of {head} events."));
        }
    }
    Ok(())
}

/// Checks that empty counters were filled from the ledger; they read the rest from the streams within moments.
async fn check_counters(models: &ReadModels) -> Result<(), String> {
    let counters = models.counters().ok_or("The counters model is not there yet.")?;
    let progress =
        counters.reader.progress().await.map_err(|error| unreadable("The counters model", &error))?;
    match progress.ledger {
        Ledger::Done => Ok(()),
        // NATS holds the running month and more: enough to answer calls.
        Ledger::After(_) if progress.awaits_ledger => Ok(()),
        Ledger::After(after) => {
            Err(format!("The counters have read {after} calls of the ledger, and not all."))
        }
    }
}

/// Returns the reason that every client may see; the error of the database or NATS goes to the log.
fn unreadable(what: &str, error: &dyn std::error::Error) -> String {
    tracing::debug!(%error, "the node is not ready: {what} cannot be read");
    format!("{what} cannot be read at present.")
}
