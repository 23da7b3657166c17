//! The event log in one SQLite file: one writer that commits many appends at once, and a few concurrent readers.

mod admission;
pub(crate) mod backend;
mod commit;
mod commit_error;
pub mod file;
mod insert;
mod queue;
mod replay;
pub mod rows;
pub mod verify;
mod writer;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::Duration;

use ::sqlite::{integer, lazy_readers, reading, vacuum_into};
use futures::TryStreamExt;
use health::Component;
use schemas::clock::Clock;
use schemas::envelope::Recorded;
use schemas::ids::{CommandId, Position, StoreId, StreamId, StreamVersion};
use sqlx::{ConnectOptions, Connection, SqlitePool};
use tokio::sync::{mpsc, oneshot, watch};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use super::{Append, AppendError, Appended, Head, Namespace, StoreError, only};
use crate::select_events;
use backend::{Backend, Local};
use queue::{Queue, queue};
use writer::{CatchUpRequest, Writer};

#[cfg(feature = "eventstore")]
pub(crate) use replay::head_after;
pub(crate) use replay::replay;
pub(crate) use writer::tail;

pub use verify::{Damage, Verified};

const READERS: u32 = 4;

/// How often a read-only log checks for events of the process that writes.
const POLL: Duration = Duration::from_millis(250);

/// The number of requests to catch up that are queued; further callers wait for room.
const CATCH_UPS: usize = 256;

/// The maximum size of the payloads that `read_all` returns, in bytes; a single event may be larger.
const PAGE_BYTES: usize = 8 << 20;

/// A log of events in streams, append-only.
///
/// Positions count the events of the log from 1 without gaps, versions those of each stream. What was acknowledged is durable:
/// it survives a crash and a power cut. Each event's hash covers the hash of the event before.
///
/// The log is the file `events.db` of a folder, or has a backend of which a file is the replica.
pub struct EventLog {
    path: PathBuf,
    store: StoreId,
    pub(crate) readers: SqlitePool,
    /// Whether the file has traces of events; a file of 0.1 has them once it was opened for writing.
    has_traces: bool,
    access: Access,
}

enum Access {
    ReadOnly,
    Writing(Writing),
}

struct Writing {
    queue: Queue,
    head: watch::Receiver<Position>,
    /// Asks the writer of a replica to catch up; `None` if the file is the log itself.
    catch_ups: Option<mpsc::Sender<CatchUpRequest>>,
    writer: RunningWriter,
}

struct RunningWriter {
    stop: CancellationToken,
    task: Mutex<Option<JoinHandle<()>>>,
}

impl EventLog {
    /// Opens the log in a folder for writing, and creates both if they are absent.
    ///
    /// # Errors
    ///
    /// Fails while another writer has the log open, for a file of a newer Loggia, after an unfinished restore, and if the end of
    /// the log is damaged.
    pub async fn open(folder: &Path, clock: &Clock) -> Result<EventLog, StoreError> {
        EventLog::open_local(folder, clock, None).await
    }

    /// Opens the log as [`EventLog::open`] does, and reports to `component` while commits fail, because the disk is full or has
    /// errors; every few seconds it tests whether the file can be written again.
    ///
    /// # Errors
    ///
    /// Fails as [`EventLog::open`] does.
    pub async fn open_reporting(
        folder: &Path,
        clock: &Clock,
        component: Component,
    ) -> Result<EventLog, StoreError> {
        EventLog::open_local(folder, clock, Some(component)).await
    }

    async fn open_local(
        folder: &Path,
        clock: &Clock,
        component: Option<Component>,
    ) -> Result<EventLog, StoreError> {
        file::refuse_unfinished_restore(folder)?;
        let path = file::path(folder);
        let lock = file::lock(&path)?;
        let writer = Writer::open(&path, lock, clock.store_id(), Local, component).await?;
        Ok(EventLog::written_by(writer, path))
    }

    fn written_by<B: Backend>(writer: Writer<B>, path: PathBuf) -> EventLog {
        let (queue, appends) = queue(B::MAX_APPEND_BYTES);
        let (announce, head) = watch::channel(writer.head().position);
        let (catch_ups, requests) = mpsc::channel(CATCH_UPS);
        let stop = CancellationToken::new();
        let store = writer.store_id();
        #[allow(clippy::disallowed_methods, reason = "the store holds the task and waits for it in close")]
        let task = tokio::spawn(writer.run(appends, requests, announce, stop.clone()));
        let writer = RunningWriter { stop, task: Mutex::new(Some(task)) };
        let readers = lazy_readers(&path, READERS);
        let catch_ups = B::REMOTE.then_some(catch_ups);
        let access = Access::Writing(Writing { queue, head, catch_ups, writer });
        EventLog { path, store, readers, has_traces: true, access }
    }

    /// Opens a replica whose lock is held, catches up with its backend, and appends through it from then on.
    #[cfg(feature = "eventstore")]
    pub(crate) async fn open_replica<B: Backend>(
        path: PathBuf,
        lock: std::fs::File,
        store: StoreId,
        backend: B,
    ) -> Result<EventLog, StoreError> {
        let mut writer = Writer::open(&path, lock, store, backend, None).await?;
        let before = writer.head().position;
        writer.catch_up().await?;
        let head = writer.head().position;
        if head > before {
            tracing::info!(events = head.0 - before.0, %head, "the replica has what was appended elsewhere");
        }
        Ok(EventLog::written_by(writer, path))
    }

    /// Opens the log in a folder for reading, with or without a running service.
    ///
    /// # Errors
    ///
    /// Fails if there is no log, or one of a newer Loggia.
    pub async fn open_read_only(folder: &Path) -> Result<EventLog, StoreError> {
        EventLog::open_file_read_only(file::path(folder)).await
    }

    pub(crate) async fn open_file_read_only(path: PathBuf) -> Result<EventLog, StoreError> {
        if !file::exists(&path).await? {
            let reason = format!("there is no event store at {}", path.display());
            return Err(StoreError::unavailable(reason));
        }
        let readers = lazy_readers(&path, READERS);
        let mut reader = readers.acquire().await?;
        let (store, _) = rows::log(&mut *reader).await?;
        let has_traces = file::has_traces(&mut reader, "main").await?;
        drop(reader);
        Ok(EventLog { path, store, readers, has_traces, access: Access::ReadOnly })
    }

    /// Returns the path of the log's file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Commits what is queued, refuses further appends, and closes the file.
    pub async fn close(&self) {
        self.readers.close().await;
        if let Access::Writing(Writing { writer, .. }) = &self.access {
            writer.stop.cancel();
            let task = writer.task.lock().unwrap_or_else(std::sync::PoisonError::into_inner).take();
            if let Some(task) = task
                && let Err(error) = task.await
            {
                tracing::error!(%error, "the writer of the event store ended with a failure");
            }
        }
    }

    /// Waits until the writer has ended; before [`EventLog::close`] it ends only by a panic.
    pub async fn writer_ended(&self) {
        match &self.access {
            Access::Writing(writing) => writing.queue.closed().await,
            Access::ReadOnly => std::future::pending().await,
        }
    }

    /// Returns all claims: namespace, name, and the stream that holds it.
    pub(crate) async fn all_claims(&self) -> Result<Vec<(String, String, StreamId)>, StoreError> {
        let rows: Vec<(String, String, String)> =
            sqlx::query_as("SELECT namespace, name, stream FROM claims ORDER BY namespace, name")
                .fetch_all(&self.readers)
                .await?;
        rows.into_iter()
            .map(|(namespace, name, stream)| Ok((namespace, name, rows::stream(stream)?)))
            .collect()
    }

    /// Verifies the position, version and hash of every event, and the claims. `progress` receives the last verified position.
    ///
    /// # Errors
    ///
    /// Fails if the file cannot be read; damage is in the inner result.
    pub async fn verify(
        &self,
        progress: impl FnMut(Position) + Send,
    ) -> Result<Result<Verified, Damage>, StoreError> {
        let mut reader = self.readers.acquire().await?;
        verify::all(&mut reader, progress).await
    }
}

impl EventLog {
    /// Returns the id that the log was created with.
    pub fn store_id(&self) -> StoreId {
        self.store
    }

    /// Returns whether reads may lag behind the log, because other processes append to the backend of this replica.
    pub fn is_replica(&self) -> bool {
        matches!(&self.access, Access::Writing(Writing { catch_ups: Some(_), .. }))
    }

    /// Copies the file of the log as of now to another file, and returns the head of the copy.
    ///
    /// # Errors
    ///
    /// Fails if the log cannot be read or the copy cannot be written.
    pub async fn copy_to(&self, copy: &Path) -> Result<Head, StoreError> {
        let mut reader = self.readers.acquire().await?;
        vacuum_into(&mut reader, copy).await?;
        drop(reader);
        let mut copied = reading(copy).connect().await?;
        let (_, head) = rows::log(&mut copied).await?;
        copied.close().await?;
        Ok(head)
    }

    /// Waits until everything that the log had at the time of the call can be read here; returns the last position then.
    ///
    /// # Errors
    ///
    /// Fails if the backend cannot be read.
    pub async fn catch_up(&self) -> Result<Position, StoreError> {
        let Access::Writing(Writing { catch_ups: Some(catch_ups), .. }) = &self.access else {
            return self.head().await.map(|head| head.position);
        };
        let (reply, replied) = oneshot::channel();
        // A writer that has ended drops the request, and with it the reply.
        catch_ups.send(reply).await.ok();
        replied.await.unwrap_or_else(|_| Err(StoreError::unavailable("it is closed")))
    }

    /// Appends each of these as [`EventLog::append`] does, in their order, and returns the outcome of each: a failed append does not
    /// affect the others. Many at once cost far less than one by one.
    pub async fn append_all(&self, appends: Vec<Append>) -> Vec<Result<Appended, AppendError>> {
        let Access::Writing(writing) = &self.access else {
            let refused = StoreError::unavailable("it is open for reading only");
            return vec![Err(refused.into()); appends.len()];
        };
        writing.queue.append_all(appends).await
    }

    /// Returns the events of one stream after a version, in order; empty if there is no such stream.
    pub async fn read_stream(
        &self,
        stream: &StreamId,
        after: StreamVersion,
    ) -> Result<Vec<Recorded>, StoreError> {
        let rows = sqlx::query(select_events!(
            self.has_traces,
            "WHERE stream = ?1 AND version > ?2 ORDER BY version"
        ))
        .bind(stream.as_str())
        .bind(integer(after.0))
        .fetch_all(&self.readers)
        .await?;
        rows.iter().map(rows::recorded).collect()
    }

    /// Returns the events of several streams, each in order; a stream that does not exist is absent.
    pub async fn read_streams(
        &self,
        streams: &[StreamId],
    ) -> Result<HashMap<StreamId, Vec<Recorded>>, StoreError> {
        let rows = sqlx::query(select_events!(
            self.has_traces,
            "WHERE stream IN (SELECT value FROM json_each(?1)) ORDER BY stream, version"
        ))
        .bind(rows::json(streams)?)
        .fetch_all(&self.readers)
        .await?;
        let mut found: HashMap<StreamId, Vec<Recorded>> = HashMap::new();
        for row in &rows {
            let event = rows::recorded(row)?;
            found.entry(event.stream.clone()).or_default().push(event);
        }
        Ok(found)
    }

    /// Returns the streams on which a command was executed.
    pub async fn streams_of(&self, command: CommandId) -> Result<Vec<StreamId>, StoreError> {
        let streams: Vec<String> =
            sqlx::query_scalar("SELECT DISTINCT stream FROM events WHERE causation = ?1 ORDER BY stream")
                .bind(command.0.as_bytes().as_slice())
                .fetch_all(&self.readers)
                .await?;
        streams.into_iter().map(rows::stream).collect()
    }

    /// Returns at most `limit` events after a position, in order. There may be fewer, to stay within 8 MiB of payloads; none only at
    /// the end of the log.
    pub async fn read_all(&self, after: Position, limit: usize) -> Result<Vec<Recorded>, StoreError> {
        let mut rows =
            sqlx::query(select_events!(self.has_traces, "WHERE position > ?1 ORDER BY position LIMIT ?2"))
                .bind(integer(after.0))
                .bind(integer(limit as u64))
                .fetch(&self.readers);
        let (mut page, mut bytes) = (Vec::new(), 0);
        while let Some(row) = rows.try_next().await? {
            let event = rows::recorded(&row)?;
            bytes += event.data.get().len();
            page.push(event);
            if bytes >= PAGE_BYTES {
                break;
            }
        }
        Ok(page)
    }

    /// Returns the last position and the hash that covers everything up to it.
    pub async fn head(&self) -> Result<Head, StoreError> {
        let mut reader = self.readers.acquire().await?;
        rows::log(&mut *reader).await.map(|(_, head)| head)
    }

    /// Waits until the log has an event after a position, whichever process appends, and returns its last position then.
    pub async fn wait_beyond(&self, position: Position) -> Result<Position, StoreError> {
        match &self.access {
            Access::Writing(Writing { head, .. }) => {
                let beyond = head.clone().wait_for(|head| *head > position).await.map(|head| *head);
                beyond.map_err(|_| StoreError::unavailable("it is closed"))
            }
            Access::ReadOnly => loop {
                let head = self.head().await?.position;
                if head > position {
                    return Ok(head);
                }
                tokio::time::sleep(POLL).await;
            },
        }
    }

    /// Returns the streams that hold these names; a name that no stream holds is absent.
    pub async fn holders(
        &self,
        namespace: Namespace,
        names: &[String],
    ) -> Result<HashMap<String, StreamId>, StoreError> {
        let rows = sqlx::query_as(
            "SELECT name, stream FROM claims \
             WHERE namespace = ?1 AND name IN (SELECT value FROM json_each(?2))",
        )
        .bind(namespace.as_str())
        .bind(rows::json(names)?)
        .fetch_all(&self.readers)
        .await?;
        rows::claims(rows)
    }

    /// Returns at most `limit` held names after a name, in byte order, with the streams that hold them. The empty name is before
    /// all.
    pub async fn claims(
        &self,
        namespace: Namespace,
        after: &str,
        limit: usize,
    ) -> Result<Vec<(String, StreamId)>, StoreError> {
        let rows = sqlx::query_as(
            "SELECT name, stream FROM claims WHERE namespace = ?1 AND name > ?2 ORDER BY name LIMIT ?3",
        )
        .bind(namespace.as_str())
        .bind(after)
        .bind(integer(limit as u64))
        .fetch_all(&self.readers)
        .await?;
        rows::claims(rows)
    }

    /// Appends all events of one command to one stream with its claims, or nothing. The events of one append are adjacent in the
    /// log.
    ///
    /// # Errors
    ///
    /// Fails if the stream has another version than expected, a name is held by another stream, or the append is invalid. A
    /// command is executed once on a stream: sent again, with any content, it fails with [`AppendError::Repeated`] and what it
    /// appended. After [`StoreError::Unavailable`] the outcome is unknown, and a retry returns it.
    pub async fn append(&self, append: Append) -> Result<Appended, AppendError> {
        only(self.append_all(vec![append]).await)
    }

    /// Returns the stream that holds a name.
    pub async fn holder(&self, namespace: Namespace, name: &str) -> Result<Option<StreamId>, StoreError> {
        Ok(self.holders(namespace, &[name.to_owned()]).await?.remove(name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_end_of_the_writer_is_reported() {
        let folder = tempfile::tempdir().unwrap();
        let store = EventLog::open(folder.path(), &Clock::system()).await.unwrap();
        let soon = Duration::from_millis(50);
        assert!(tokio::time::timeout(soon, store.writer_ended()).await.is_err(), "it runs");
        let Access::Writing(writing) = &store.access else { unreachable!() };
        // As a panic does, this drops what the writer holds.
        writing.writer.task.lock().unwrap().as_ref().unwrap().abort();
        tokio::time::timeout(Duration::from_secs(60), store.writer_ended()).await.unwrap();
    }
}
