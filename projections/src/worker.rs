//! A worker: keeps one generation of a read model up to date until it is stopped.

mod projection_worker;
mod throttle;

use std::path::Path;

use read::error::ModelError;
use read::model::Model;
use schemas::clock::Clock;
use schemas::ids::Position;
use tokio_util::sync::CancellationToken;

use crate::error::WorkerError;
use crate::source::{EventSource, SourceError};
use crate::status::Status;

pub use projection_worker::ProjectionWorker;

/// A callback that is passed the position that a replay has reached and the one that it replays to.
pub type ProgressFn<'a> = &'a mut (dyn FnMut(Position, Position) + Send);

/// A worker on one generation: [`ProjectionWorker`] for the events of the log, and one for metered calls.
pub trait Worker: Sized + Send + 'static {
    /// The model that it writes.
    type Model: Model;

    /// Opens the model in a folder, creating it if there is none. The clock is used for heartbeats only.
    fn open(
        folder: &Path,
        source: EventSource,
        status: Status,
        clock: Clock,
    ) -> impl Future<Output = Result<Self, ModelError>> + Send;

    /// Returns the last committed position; for the counters, the number of counted calls.
    fn position(&self) -> Position;

    /// Reports to this status from now on.
    fn report_to(&mut self, status: Status);

    /// Applies events as they arrive until `stop`, which takes effect between two commits.
    fn follow(&mut self, stop: &CancellationToken) -> impl Future<Output = Result<(), WorkerError>> + Send;

    /// Fills a model that has no readers yet up to the current end of its streams. `live` is the position of the model that
    /// it replaces; `None` if that one cannot be used.
    fn replay_all(
        &mut self,
        live: Option<Position>,
        stop: &CancellationToken,
        progress: ProgressFn<'_>,
    ) -> impl Future<Output = Result<(), ReplayError>> + Send;

    /// Replays until the model has reached `live`, the position at which the worker of the live model was stopped. Returns
    /// early after `stop`.
    fn overtake(
        &mut self,
        live: Position,
        stop: &CancellationToken,
    ) -> impl Future<Output = Result<(), WorkerError>> + Send;
}

/// A replay that did not reach its end.
#[derive(Debug, thiserror::Error)]
pub enum ReplayError {
    /// It was stopped.
    #[error("the replay was stopped; nothing was changed")]
    Stopped,
    /// Events could not be read, or the model could not be written.
    #[error(transparent)]
    Failed(#[from] WorkerError),
}

impl From<SourceError> for ReplayError {
    fn from(error: SourceError) -> Self {
        ReplayError::Failed(error.into())
    }
}

impl From<ModelError> for ReplayError {
    fn from(error: ModelError) -> Self {
        ReplayError::Failed(error.into())
    }
}
