//! The one writer. It takes what waits, commits it at once, and answers; while a commit is on its way to the disk the
//! next batch gathers. After a failure it opens the file anew and checks its end before it takes anything more. Where
//! the file is a replica, the writer also follows the log behind it.

mod settle;

use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::Duration;

use ::sqlite::integer;
use health::Component;
use schemas::ids::{Position, StoreId};
use sqlx::{Connection, SqliteConnection};
use tokio::sync::{mpsc, oneshot, watch};
use tokio_util::sync::CancellationToken;

use super::admission::Prepared;
use super::backend::Backend;
use super::commit::{Committed, commit};
use super::failure::Failure;
use super::queue::{Pending, gather};
use super::{file, rows, verify};
use crate::{AppendError, Appended, Head, MAX_EVENT_BYTES, StoreError};

/// How long after a failed commit the writer tries whether the file can be written again, when nothing is appended.
const TRIAL: Duration = Duration::from_secs(5);

/// How much room there has to be, in bytes, until a disk that was full counts as writable: for one append of the largest
/// event.
const ROOM: usize = 2 * MAX_EVENT_BYTES;

/// How many events at the log's end are checked at opening.
const TAIL: u64 = 1_000;

/// Checks the events at a log's end, and says where that is.
pub(crate) async fn tail(reader: &mut SqliteConnection) -> Result<Head, StoreError> {
    verify::tail(reader, TAIL).await
}

/// A caller that waits until the file has all that the log behind it held when it asked; gets the last position then.
pub(super) type Asked = oneshot::Sender<Result<Position, StoreError>>;

pub(super) struct Writer<B> {
    path: PathBuf,
    store: StoreId,
    head: Head,
    /// Absent after a failure, until it is opened anew.
    connection: Option<SqliteConnection>,
    backend: B,
    /// Where failed commits are reported.
    component: Option<Component>,
    /// Whether the last commit failed.
    is_failing: bool,
    /// Held for as long as the writer lives.
    _lock: File,
}

impl<B: Backend> Writer<B> {
    /// Opens the file whose lock is held; a new one becomes the log of `new`.
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

    /// Commits batch after batch until it is stopped; what waits then is still committed.
    pub(super) async fn run(
        mut self,
        mut queue: mpsc::Receiver<Pending>,
        mut looks: mpsc::Receiver<Asked>,
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
                Some(asked) = looks.recv() => {
                    self.look_for(asked, &mut looks, &announce).await;
                    continue;
                }
                () = tokio::time::sleep(TRIAL), if self.is_failing => {
                    self.try_to_write().await;
                    continue;
                }
                () = self.backend.due() => {
                    if self.look().await.is_err() {
                        self.backend.back_off().await;
                    }
                    announce.send_replace(self.head.position);
                    continue;
                }
            };
            let Some(first) = first else { break };
            let (batch, answers) = gather(first, &mut queue);
            let mut outcomes = self.write(batch).await.into_iter();
            announce.send_replace(self.head.position);
            for (answer, appends) in answers {
                // Whoever does not wait any more can ask again with the same command.
                answer.send(outcomes.by_ref().take(appends).collect()).ok();
            }
        }
        if let Some(connection) = self.connection.take()
            && let Err(error) = connection.close().await
        {
            tracing::warn!(%error, "the event store's file was not closed cleanly");
        }
    }

    /// Looks once at the log behind the file for everyone who has asked for it by now.
    async fn look_for(
        &mut self,
        first: Asked,
        looks: &mut mpsc::Receiver<Asked>,
        announce: &watch::Sender<Position>,
    ) {
        let mut asked = vec![first];
        while let Ok(another) = looks.try_recv() {
            asked.push(another);
        }
        let reached = self.look().await.map(|()| self.head.position);
        announce.send_replace(self.head.position);
        for one in asked {
            // A caller that has gone needs no answer.
            one.send(reached.clone()).ok();
        }
    }

    /// Commits the batch, in parts where the log behind the file takes only so much at once.
    async fn write(&mut self, mut batch: Vec<Prepared>) -> Vec<Result<Appended, AppendError>> {
        let mut outcomes = Vec::with_capacity(batch.len());
        while !batch.is_empty() {
            let rest = batch.split_off(fitting(&batch, B::LIMIT));
            outcomes.extend(self.write_part(batch).await);
            batch = rest;
        }
        outcomes
    }

    /// Commits the part; one that breaks a rule of the tables is committed append by append, so that only the wrong
    /// one fails.
    async fn write_part(&mut self, batch: Vec<Prepared>) -> Vec<Result<Appended, AppendError>> {
        match self.commit(&batch).await {
            Ok(committed) => committed.outcomes,
            Err(Failure::Rule(_)) => {
                let mut outcomes = Vec::with_capacity(batch.len());
                for one in batch {
                    outcomes.push(self.write_alone(one).await);
                }
                outcomes
            }
            Err(failure) => vec![Err(failure.into()); batch.len()],
        }
    }

    async fn write_alone(&mut self, append: Prepared) -> Result<Appended, AppendError> {
        self.commit(&[append]).await.map(|mut committed| committed.outcomes.remove(0))?
    }

    /// One try to commit.
    async fn attempt(&mut self, batch: &[Prepared]) -> Result<Committed, Failure> {
        let mut connection = self.connected().await?;
        let result = commit(&mut connection, self.head, batch, &mut self.backend).await;
        match &result {
            Ok(committed) => {
                self.head = committed.head;
                self.connection = Some(connection);
                self.succeeded();
            }
            Err(Failure::Rule(_) | Failure::Behind) => self.connection = Some(connection),
            Err(Failure::Unknown(_)) => {
                connection.close_hard().await.ok();
            }
            Err(Failure::Store(error)) => {
                // After a failed write the pages in memory say nothing of the disk: only a fresh look does.
                self.failed(error);
                connection.close_hard().await.ok();
            }
        }
        result
    }

    /// Shows whether there is room for the next append, and whether the file can be written, by writing its end as it is.
    async fn try_to_write(&mut self) {
        let (head, trial) = (self.head, self.path.with_extension("trial"));
        let written = async {
            let room = tokio::task::spawn_blocking(move || take_room(&trial)).await;
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

/// Writes a file of some size and removes it.
fn take_room(trial: &Path) -> std::io::Result<()> {
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

/// How many appends of the batch, at least one, come to so many bytes.
fn fitting(batch: &[Prepared], limit: Option<usize>) -> usize {
    let Some(limit) = limit else { return batch.len() };
    let mut bytes = 0;
    let fits = |prepared: &&Prepared| {
        bytes += prepared.bytes();
        bytes <= limit
    };
    batch.iter().take_while(fits).count().max(1)
}
