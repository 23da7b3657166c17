//! The one writer. It commits what is queued as one batch, and replies; the next batch queues while a commit is on its way to
//! the disk. After a failure it reopens the file and verifies its end before it accepts more. If the file is a replica, the
//! writer also follows the backend.

mod catch_up;

use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::Duration;

use ::sqlite::integer;
use health::Component;
use schemas::ids::{Position, StoreId};
use sqlx::{Connection, SqliteConnection};
use tokio::sync::{mpsc, oneshot, watch};
use tokio_util::sync::CancellationToken;

use super::admission::PreparedAppend;
use super::backend::Backend;
use super::commit::{Committed, commit};
use super::commit_error::CommitError;
use super::queue::{Pending, next_batch};
use super::{file, rows, verify};
use crate::{AppendError, Appended, Head, MAX_EVENT_BYTES, StoreError};

/// After a failed commit, how often the writer tests whether the file can be written again while nothing is appended.
const WRITE_TEST_INTERVAL: Duration = Duration::from_secs(5);

/// The room, in bytes, with which a disk that was full counts as writable: enough to append the largest event.
const ROOM: usize = 2 * MAX_EVENT_BYTES;

/// The number of events at the log's end that are verified at opening.
const TAIL: u64 = 1_000;

/// Verifies the events at a log's end and returns its head.
pub(crate) async fn tail(reader: &mut SqliteConnection) -> Result<Head, StoreError> {
    verify::tail(reader, TAIL).await
}

/// A request to catch up with the backend; the reply is the last position then.
pub(super) type CatchUpRequest = oneshot::Sender<Result<Position, StoreError>>;

pub(super) struct Writer<B> {
    path: PathBuf,
    store: StoreId,
    head: Head,
    /// `None` after a failure, until the file is reopened.
    connection: Option<SqliteConnection>,
    backend: B,
    /// Reports failed commits.
    component: Option<Component>,
    /// Whether the last commit failed.
    is_failing: bool,
    /// The lock of the file, held for the lifetime of the writer.
    _lock: File,
}

impl<B: Backend> Writer<B> {
    /// Opens the file whose lock is held; a new file becomes the log of `new`.
    pub(super) async fn open(
        path: &Path,
        lock: File,
        new: StoreId,
        backend: B,
        component: Option<Component>,
    ) -> Result<Writer<B>, StoreError> {
        let mut connection = file::open(path, new, B::REMOTE).await?;
        let (store, _) = rows::log(&mut connection).await?;
        let head = tail(&mut connection).await?;
        let (path, connection) = (path.to_owned(), Some(connection));
        Ok(Writer { path, store, head, connection, backend, component, is_failing: false, _lock: lock })
    }

    pub(super) fn store_id(&self) -> StoreId {
        self.store
    }

    pub(super) fn head(&self) -> Head {
        self.head
    }

    /// Commits batches until `stop`, and then what is still queued.
    pub(super) async fn run(
        mut self,
        mut queue: mpsc::Receiver<Pending>,
        mut catch_ups: mpsc::Receiver<CatchUpRequest>,
        announce: watch::Sender<Position>,
        stop: CancellationToken,
    ) {
        loop {
            let first = tokio::select! {
                first = queue.recv() => first,
                () = stop.cancelled(), if !queue.is_closed() => {
                    queue.close();
                    continue;
                }
                Some(request) = catch_ups.recv() => {
                    self.catch_up_for(request, &mut catch_ups, &announce).await;
                    continue;
                }
                () = tokio::time::sleep(WRITE_TEST_INTERVAL), if self.is_failing => {
                    self.test_write().await;
                    continue;
                }
                () = self.backend.poll_due() => {
                    if self.poll_backend().await.is_err() {
                        self.backend.back_off().await;
                    }
                    announce.send_replace(self.head.position);
                    continue;
                }
            };
            let Some(first) = first else { break };
            let (batch, replies) = next_batch(first, &mut queue);
            let mut outcomes = self.write(batch).await.into_iter();
            announce.send_replace(self.head.position);
            for (reply, appends) in replies {
                // A sender that no longer waits can retry with the same command.
                reply.send(outcomes.by_ref().take(appends).collect()).ok();
            }
        }
        if let Some(connection) = self.connection.take()
            && let Err(error) = connection.close().await
        {
            tracing::warn!(%error, "the event store's file was not closed cleanly");
        }
    }

    /// Polls the backend once for all requests so far.
    async fn catch_up_for(
        &mut self,
        first: CatchUpRequest,
        catch_ups: &mut mpsc::Receiver<CatchUpRequest>,
        announce: &watch::Sender<Position>,
    ) {
        let mut requests = vec![first];
        while let Ok(another) = catch_ups.try_recv() {
            requests.push(another);
        }
        let reached = self.poll_backend().await.map(|()| self.head.position);
        announce.send_replace(self.head.position);
        for request in requests {
            // A caller that no longer waits needs no reply.
            request.send(reached.clone()).ok();
        }
    }

    /// Commits the batch, in parts of at most the size that the backend accepts.
    async fn write(&mut self, mut batch: Vec<PreparedAppend>) -> Vec<Result<Appended, AppendError>> {
        let mut outcomes = Vec::with_capacity(batch.len());
        while !batch.is_empty() {
            let rest = batch.split_off(fitting(&batch, B::MAX_APPEND_BYTES));
            outcomes.extend(self.write_part(batch).await);
            batch = rest;
        }
        outcomes
    }

    /// Commits the part; one that violates a constraint is committed append by append, so that only the invalid one fails.
    async fn write_part(&mut self, batch: Vec<PreparedAppend>) -> Vec<Result<Appended, AppendError>> {
        match self.commit(&batch).await {
            Ok(committed) => committed.outcomes,
            Err(CommitError::Constraint(_)) => {
                let mut outcomes = Vec::with_capacity(batch.len());
                for one in batch {
                    outcomes.push(self.write_alone(one).await);
                }
                outcomes
            }
            Err(error) => vec![Err(error.into()); batch.len()],
        }
    }

    async fn write_alone(&mut self, append: PreparedAppend) -> Result<Appended, AppendError> {
        self.commit(&[append]).await.map(|mut committed| committed.outcomes.remove(0))?
    }

    /// Tries once to commit.
    async fn attempt(&mut self, batch: &[PreparedAppend]) -> Result<Committed, CommitError> {
        let mut connection = self.connected().await?;
        let result = commit(&mut connection, self.head, batch, &mut self.backend).await;
        match &result {
            Ok(committed) => {
                self.head = committed.head;
                self.connection = Some(connection);
                self.succeeded();
            }
            Err(CommitError::Constraint(_) | CommitError::ReplicaLags) => self.connection = Some(connection),
            Err(CommitError::Unknown(_)) => {
                connection.close_hard().await.ok();
            }
            Err(CommitError::Store(error)) => {
                // After a failed write the cached pages may differ from the disk: the file is reopened.
                self.failed(error);
                connection.close_hard().await.ok();
            }
        }
        result
    }

    /// Shows whether there is room for the next append, and whether the file can be written, by writing its end as it is.
    async fn test_write(&mut self) {
        let (head, trial) = (self.head, self.path.with_extension("trial"));
        let written = async {
            let room = tokio::task::spawn_blocking(move || test_room(&trial)).await;
            room.map_err(std::io::Error::other).flatten().map_err(|error| {
                StoreError::unavailable(format!(
                    "no {} KiB can be written beside its file: {error}",
                    ROOM >> 10
                ))
            })?;
            let mut connection = self.connected().await?;
            let written = rewrite_end(&mut connection, head).await;
            match &written {
                Ok(()) => self.connection = Some(connection),
                Err(_) => drop(connection.close_hard().await),
            }
            written
        };
        match written.await {
            Ok(()) => self.succeeded(),
            Err(error) => self.failed(&error),
        }
    }

    fn failed(&mut self, error: &StoreError) {
        self.is_failing = self.component.is_some();
        match &self.component {
            Some(component) => component.failed(error),
            None => tracing::error!(%error, "the event store could not commit; its file is opened again"),
        }
    }

    fn succeeded(&mut self) {
        if std::mem::take(&mut self.is_failing)
            && let Some(component) = &self.component
        {
            component.recovered();
        }
    }

    async fn connected(&mut self) -> Result<SqliteConnection, StoreError> {
        match self.connection.take() {
            Some(connection) => Ok(connection),
            None => self.reopen().await,
        }
    }

    async fn reopen(&mut self) -> Result<SqliteConnection, StoreError> {
        let mut connection = file::open(&self.path, self.store, B::REMOTE).await?;
        self.head = tail(&mut connection).await?;
        Ok(connection)
    }
}

/// Writes a file of [`ROOM`] bytes and removes it.
fn test_room(trial: &Path) -> std::io::Result<()> {
    let written = std::fs::write(trial, vec![0; ROOM]).and_then(|()| File::open(trial)?.sync_all());
    written.and(std::fs::remove_file(trial))
}

async fn rewrite_end(connection: &mut SqliteConnection, head: Head) -> Result<(), StoreError> {
    let mut transaction = connection.begin_with("BEGIN IMMEDIATE").await?;
    sqlx::query("UPDATE log SET position = ?1 WHERE position = ?1")
        .bind(integer(head.position.0))
        .execute(&mut *transaction)
        .await?;
    Ok(transaction.commit().await?)
}

/// Returns how many appends of the batch fit into `limit` bytes, at least one.
fn fitting(batch: &[PreparedAppend], limit: Option<usize>) -> usize {
    let Some(limit) = limit else { return batch.len() };
    let mut bytes = 0;
    let fits = |prepared: &&PreparedAppend| {
        bytes += prepared.bytes();
        bytes <= limit
    };
    batch.iter().take_while(fits).count().max(1)
}
