//! The one writer. It takes what waits, commits it at once, and answers; while a commit is on its way to the disk the
//! next batch gathers. After a failure it opens the file anew and checks its end before it takes anything more. Where
//! the file is a replica, the writer also follows the log behind it.

mod settle;

use std::fs::File;
use std::path::{Path, PathBuf};

use schemas::ids::{Position, StoreId};
use sqlx::{Connection, SqliteConnection};
use tokio::sync::{mpsc, oneshot, watch};
use tokio_util::sync::CancellationToken;

use super::admission::Prepared;
use super::commit::{Committed, Failure, commit};
use super::queue::{Pending, gather};
use super::upstream::Upstream;
use super::{file, rows, verify};
use crate::event_store::{AppendError, Appended, Head, StoreError};

/// How many events at the log's end are checked at opening.
const TAIL: u64 = 1_000;

/// Checks the events at a log's end, and says where that is.
pub(crate) async fn tail(reader: &mut SqliteConnection) -> Result<Head, StoreError> {
    verify::tail(reader, TAIL).await
}

/// A caller that waits until the file has all that the log behind it held when it asked; gets the last position then.
pub(super) type Asked = oneshot::Sender<Result<Position, StoreError>>;

pub(super) struct Writer<U> {
    path: PathBuf,
    store: StoreId,
    head: Head,
    /// Absent after a failure, until it is opened anew.
    connection: Option<SqliteConnection>,
    upstream: U,
    /// Held for as long as the writer lives.
    _lock: File,
}

impl<U: Upstream> Writer<U> {
    /// Opens the file whose lock is held; a new one becomes the log of `new`.
    pub(super) async fn open(
        path: &Path,
        lock: File,
        new: StoreId,
        upstream: U,
    ) -> Result<Writer<U>, StoreError> {
        let mut connection = file::open(path, new, U::REMOTE).await?;
        let (store, _) = rows::log(&mut connection).await?;
        let head = tail(&mut connection).await?;
        let (path, connection) = (path.to_owned(), Some(connection));
        Ok(Writer { path, store, head, connection, upstream, _lock: lock })
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
                () = self.upstream.due() => {
                    if self.look().await.is_err() {
                        self.upstream.back_off().await;
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
            let rest = batch.split_off(fitting(&batch, U::LIMIT));
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
        let result = commit(&mut connection, self.head, batch, &mut self.upstream).await;
        match &result {
            Ok(committed) => {
                self.head = committed.head;
                self.connection = Some(connection);
            }
            Err(Failure::Rule(_) | Failure::Behind) => self.connection = Some(connection),
            Err(Failure::Unknown(_)) => {
                connection.close_hard().await.ok();
            }
            Err(Failure::Store(error)) => {
                // After a failed write the pages in memory say nothing of the disk: only a fresh look does.
                tracing::error!(%error, "the event store could not commit; its file is opened anew");
                connection.close_hard().await.ok();
            }
        }
        result
    }

    async fn connected(&mut self) -> Result<SqliteConnection, StoreError> {
        match self.connection.take() {
            Some(connection) => Ok(connection),
            None => self.reopen().await,
        }
    }

    async fn reopen(&mut self) -> Result<SqliteConnection, StoreError> {
        let mut connection = file::open(&self.path, self.store, U::REMOTE).await?;
        self.head = tail(&mut connection).await?;
        tracing::info!(position = %self.head.position, "the event store takes appends again");
        Ok(connection)
    }
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
