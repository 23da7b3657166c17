//! What a host keeps alive: a worker on one generation of a model.

use std::path::Path;

use read::error::ModelError;
use read::model::Model;
use schemas::clock::Clock;
use schemas::ids::Position;
use tokio_util::sync::CancellationToken;

use crate::failure::Failure;
use crate::projection::Projection;
use crate::source::EventSource;
use crate::status::Status;
use crate::worker::{ReplayError, Worker};

/// Takes how far a replay is, and how far it goes.
pub type Progress<'a> = &'a mut (dyn FnMut(Position, Position) + Send);

/// A worker on one generation: of the log's events for most models, of metered calls for the counters.
pub trait Work: Sized + Send + 'static {
    /// The model that it writes.
    type Model: Model;

    /// Opens the model in a folder, or makes it. The clock serves heartbeats only.
    fn open(
        folder: &Path,
        source: EventSource,
        status: Status,
        clock: Clock,
    ) -> impl Future<Output = Result<Self, ModelError>> + Send;

    /// How much is committed.
    fn position(&self) -> Position;

    /// Shows its progress there from now on.
    fn report_to(&mut self, status: Status);

    /// Follows until it is told to stop, which it does between two commits.
    fn follow(&mut self, stop: &CancellationToken) -> impl Future<Output = Result<(), Failure>> + Send;

    /// Fills a model that nobody reads yet with all there is by now, beside a live one that stands at a position; `None`
    /// where there is no live one any more.
    fn replay_all(
        &mut self,
        live: Option<Position>,
        stop: &CancellationToken,
        progress: Progress<'_>,
    ) -> impl Future<Output = Result<(), ReplayError>> + Send;

    /// Goes on until it is no older than the live one, which stands still at a position meanwhile. Told to stop, it may
    /// end before.
    fn overtake(
        &mut self,
        live: Position,
        stop: &CancellationToken,
    ) -> impl Future<Output = Result<(), Failure>> + Send;
}

impl<P: Projection> Work for Worker<P> {
    type Model = P::Model;

    async fn open(
        folder: &Path,
        source: EventSource,
        status: Status,
        clock: Clock,
    ) -> Result<Self, ModelError> {
        Worker::open(folder, source, status, clock).await
    }

    fn position(&self) -> Position {
        Worker::position(self)
    }

    fn report_to(&mut self, status: Status) {
        Worker::report_to(self, status);
    }

    async fn follow(&mut self, stop: &CancellationToken) -> Result<(), Failure> {
        Worker::follow(self, stop).await
    }

    async fn replay_all(
        &mut self,
        _live: Option<Position>,
        stop: &CancellationToken,
        progress: Progress<'_>,
    ) -> Result<(), ReplayError> {
        self.prepare_replay().await?;
        loop {
            let head = self.source().head().await?;
            if Worker::position(self) >= head {
                return Ok(());
            }
            self.replay(head, stop, &mut |applied| progress(applied, head)).await?;
            if stop.is_cancelled() {
                return Err(ReplayError::Stopped);
            }
        }
    }

    async fn overtake(&mut self, live: Position, stop: &CancellationToken) -> Result<(), Failure> {
        self.replay(live, stop, &mut |_| {}).await
    }
}
