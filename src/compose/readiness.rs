//! Says when a node may be sent requests: once every projection has applied what the stream held when it was asked.

use std::time::{Duration, Instant};

use api::Readiness;
use async_nats::connection::State;
use health::Health;
use projections::node::Node;
use projections::source::EventSource;
use read::counters::Ledger;
use read::model::Follows;
use read::models::{ModelKind, ReadModels};
use schemas::ids::Position;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::data_folder::DataFolder;

/// The interval between two checks while the node is not ready.
const LOOK: Duration = Duration::from_millis(50);
/// The interval between two checks of the health of the process once the node has been ready.
const HEALTH: Duration = Duration::from_secs(1);
/// The most lag of a node that counts as caught up.
const BEHIND: Duration = Duration::from_secs(2);

/// Publishes the readiness of a node: not ready at first, ready once it has caught up, and not ready again while a component has failed
/// for longer than its patience, or when the process is about to stop. Later lag is a matter of metrics: an old answer is
/// better than none.
#[derive(Debug, Clone)]
pub struct ReadinessProbe {
    readiness: watch::Sender<Readiness>,
    health: Health,
    leaving: CancellationToken,
}

impl ReadinessProbe {
    /// A node that starts.
    pub fn new(health: Health, leaving: CancellationToken) -> ReadinessProbe {
        let reason = "The node is starting.".to_owned();
        ReadinessProbe {
            readiness: watch::Sender::new(Readiness { ready: false, answers: false, reason }),
            health,
            leaving,
        }
    }

    /// Returns the published readiness.
    pub fn subscribe(&self) -> watch::Receiver<Readiness> {
        self.readiness.subscribe()
    }

    /// Calls are answered from now on, whether the node is ready or not.
    pub fn answers(&self) {
        self.readiness.send_modify(|readiness| readiness.answers = true);
    }

    /// Checks until the models that answer have caught up, then follows the health of the process.
    pub async fn models(self, checked: ReadinessSource, source: EventSource, data: DataFolder) {
        if self.until(&source, &checked).await {
            data.note_caught_up();
            tracing::info!("ready");
        }
        self.follow_health().await;
    }

    /// Checks until the workers of a node without an API have caught up, then follows the health of the process.
    pub async fn workers(self, node: Node) {
        let source = node.source().clone();
        if self.until(&source, &ReadinessSource::Workers(Box::new(node))).await {
            tracing::info!("ready");
        }
        self.follow_health().await;
    }

    /// A node that is ready as soon as it runs.
    pub async fn at_once(self) {
        self.follow_health().await;
    }

    /// Returns whether the node became ready; `false` if the process shuts down before.
    async fn until(&self, source: &EventSource, checked: &ReadinessSource) -> bool {
        let looking = async {
            let mut goal = None;
            while let Err(reason) = checked.reached(&mut goal, source).await {
                self.readiness.send_modify(|readiness| readiness.reason = reason);
                self.health.log_lasting();
                tokio::time::sleep(LOOK).await;
            }
        };
        self.leaving.run_until_cancelled(looking).await.is_some()
    }

    /// Is ready for as long as every component of the process works, until the process is about to stop.
    async fn follow_health(&self) {
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
                tokio::time::sleep(HEALTH).await;
            }
        };
        let _: Option<()> = self.leaving.run_until_cancelled(following).await;
        let reason = "The node is about to stop; send requests to another one.".to_owned();
        self.readiness.send_modify(|readiness| {
            *readiness = Readiness { ready: false, answers: readiness.answers, reason }
        });
    }
}

/// What decides whether a node is ready.
pub enum ReadinessSource {
    /// Models that answer: those of calls too where they are `counted`; whether their workers are in this process, and
    /// whether they had caught up with the log when it started.
    Models { models: ReadModels, counted: bool, workers: bool, had_caught_up: bool },
    /// Workers of a process without an API.
    Workers(Box<Node>),
}

impl ReadinessSource {
    /// Whether what the stream held a short while ago is applied. Where events come without a pause no model is ever
    /// level with all of them.
    async fn reached(
        &self,
        goal: &mut Option<(Position, Instant)>,
        source: &EventSource,
    ) -> Result<(), String> {
        let head = match *goal {
            _ if self.goes_on_without(source) => Position::START,
            Some((head, asked)) if asked.elapsed() < BEHIND => head,
            _ => {
                let head = match self {
                    // An API beside workers of another process may not ask the write side.
                    ReadinessSource::Models { workers: false, .. } => source.stream_head().await,
                    ReadinessSource::Models { workers: true, .. } | ReadinessSource::Workers(_) => {
                        source.log_head().await
                    }
                };
                let head = head.map_err(|error| unread("The end of the log", &error))?;
                *goal = Some((head, Instant::now()));
                head
            }
        };
        match self {
            ReadinessSource::Models { models, counted, .. } => {
                look(models, head).await?;
                if *counted { calls(models).await } else { Ok(()) }
            }
            ReadinessSource::Workers(node) if node.has_applied(head) => Ok(()),
            ReadinessSource::Workers(_) => Err(format!("Not every model has applied all {head} events.")),
        }
    }
}

impl ReadinessSource {
    /// Whether NATS is away and the models are those of a node that had caught up: it answers from them, as it does where
    /// NATS goes away later.
    fn goes_on_without(&self, source: &EventSource) -> bool {
        matches!(self, ReadinessSource::Models { had_caught_up: true, .. })
            && source.client().connection_state() != State::Connected
    }
}

async fn look(models: &ReadModels, head: Position) -> Result<(), String> {
    for model in ModelKind::ALL.into_iter().filter(|model| model.follows() == Follows::Log) {
        let name = model.name();
        let checkpoint = models.checkpoint(model).await;
        let checkpoint = checkpoint.map_err(|error| unread(&format!("The {name} model"), &error))?;
        let applied = checkpoint.ok_or_else(|| format!("The {name} model is not there yet."))?.position;
        if applied < head {
            return Err(format!("The {name} model has applied {applied} of {head} events."));
        }
    }
    Ok(())
}

/// Whether an empty model of calls was filled from the ledger; the streams give the rest in moments.
async fn calls(models: &ReadModels) -> Result<(), String> {
    let counters = models.counters().ok_or("The counters model is not there yet.")?;
    let progress = counters.reader.progress().await.map_err(|error| unread("The counters model", &error))?;
    match progress.ledger {
        Ledger::Done => Ok(()),
        // What NATS holds is the running month and more: enough to answer calls by.
        Ledger::After(_) if progress.awaits_ledger => Ok(()),
        Ledger::After(after) => {
            Err(format!("The counters have read {after} calls of the ledger, and not all."))
        }
    }
}

/// The reason as everybody may know it; what the database or NATS says is for the log.
fn unread(what: &str, error: &dyn std::error::Error) -> String {
    tracing::debug!(%error, "the node is not ready: {what} cannot be read");
    format!("{what} cannot be read at present.")
}
