//! What must have caught up for a node to be ready: the read models that it answers from, or its workers.

use std::time::{Duration, Instant};

use async_nats::connection::State;
use read::counters::Ledger;
use read::model::ModelInput;
use read::models::{ModelKind, ReadModels};
use schemas::ids::Position;

use crate::node::Node;
use crate::source::EventSource;

/// How long the head of the log counts as its head: under constant writes no model ever has the newest event.
const MAX_LAG: Duration = Duration::from_secs(2);

/// What must have caught up for a node to be ready.
pub enum ReadinessSource {
    /// The read models that a process with an API answers from.
    Models {
        /// The readers of the models.
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
    /// Checks that the events up to `goal` are applied: the head of the log when it was last asked for, at most 2 seconds ago.
    ///
    /// # Errors
    ///
    /// Fails if they are not, or that cannot be read; the error is the reason that every client may see.
    pub async fn reached(
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
