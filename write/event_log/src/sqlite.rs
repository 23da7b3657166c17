//! The event store in one SQLite file: one writer that commits many appends at once, and a few readers beside it.

mod admission;
pub(crate) mod backend;
mod commit;
mod failure;
pub mod file;
mod insert;
mod queue;
mod replay;
#[cfg(feature = "eventstore")]
mod replica;
pub mod restoring;
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
use writer::{Asked, Writer};

#[cfg(feature = "eventstore")]
pub(crate) use replay::follow;
pub(crate) use replay::replay;
#[cfg(feature = "eventstore")]
pub(crate) use replica::Replica;
pub(crate) use writer::tail;

pub use verify::{Damage, Verified};

/// How many readers may read at once.
const READERS: u32 = 4;

/// How often a reader beside another process looks for news.
const POLL: Duration = Duration::from_millis(250);

/// How many callers may wait for a look at the log behind a replica; more wait for a place.
const LOOKS: usize = 256;

/// How many bytes of payloads one answer of `read_all` holds at most, one event excepted.
const PAGE_BYTES: usize = 8 << 20;

/// A log of events in streams, append-only.
///
/// Positions count the events of the log from 1 without holes, versions those of each stream. What was acknowledged
/// is durable: it is there after a crash or a power cut. Each event's hash covers the hash of the event before.
///
/// It is kept in the file `events.db` of a folder; where the log is elsewhere, the file is its replica.
pub struct EventLog {
    path: PathBuf,
    store: StoreId,
    pub(crate) readers: SqlitePool,
    /// Whether the file keeps the traces of events; one of 0.1 does once it was opened for writing.
    keeps_traces: bool,
    access: Access,
}

enum Access {
    ReadOnly,
    Writing(Writing),
}

struct Writing {
    queue: Queue,
    head: watch::Receiver<Position>,
    /// Asks the writer of a replica to look at the log; absent where the file is the log itself.
    looks: Option<mpsc::Sender<Asked>>,
    writer: Running,
}

struct Running {
    stop: CancellationToken,
    task: Mutex<Option<JoinHandle<()>>>,
}

impl EventLog {
    /// Opens the store in a folder for writing, and makes both where they are absent. It is refused while another
    /// writer has it open, when the file was made by a newer Loggia, and when its end is damaged.
    pub async fn open(folder: &Path, clock: &Clock) -> Result<EventLog, StoreError> {
        EventLog::open_alone(folder, clock, None).await
    }

    /// Opens the store as [`EventLog::open`] does. While commits fail, for lack of room or another fault of the disk,
    /// the component fails; whether the file can be written again is tried every few seconds.
    ///
    /// # Errors
    ///
    /// Fails as [`EventLog::open`] does.
    pub async fn open_reporting(
        folder: &Path,
        clock: &Clock,
        component: Component,
    ) -> Result<EventLog, StoreError> {
        EventLog::open_alone(folder, clock, Some(component)).await
    }

    async fn open_alone(
        folder: &Path,
        clock: &Clock,
        component: Option<Component>,
    ) -> Result<EventLog, StoreError> {
        restoring::refuse_unfinished(folder)?;
        let path = file::path(folder);
        let lock = file::lock(&path)?;
        let writer = Writer::open(&path, lock, clock.store_id(), Local, component).await?;
        Ok(EventLog::written_by(writer, path))
    }

    fn written_by<B: Backend>(writer: Writer<B>, path: PathBuf) -> EventLog {
        let (queue, appends) = queue(B::LIMIT);
        let (announce, head) = watch::channel(writer.head().position);
        let (looks, asked) = mpsc::channel(LOOKS);
        let stop = CancellationToken::new();
        let store = writer.store_id();
        #[allow(clippy::disallowed_methods, reason = "the store holds the task and waits for it in close")]
        let task = tokio::spawn(writer.run(appends, asked, announce, stop.clone()));
        let writer = Running { stop, task: Mutex::new(Some(task)) };
        let readers = lazy_readers(&path, READERS);
        let looks = B::REMOTE.then_some(looks);
        let access = Access::Writing(Writing { queue, head, looks, writer });
        EventLog { path, store, readers, keeps_traces: true, access }
    }

    /// Opens the store in a folder for reading only, beside a running service or without one.
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
        let keeps_traces = file::keeps_traces(&mut reader, "main").await?;
        drop(reader);
        Ok(EventLog { path, store, readers, keeps_traces, access: Access::ReadOnly })
    }

    /// Where the store's file is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Commits what waits, takes nothing more, and gives the file free.
    pub async fn close(&self) {
        self.readers.close().await;
        if let Access::Writing(Writing { writer, .. }) = &self.access {
            writer.stop.cancel();
            let task = writer.task.lock().unwrap_or_else(std::sync::PoisonError::into_inner).take();
            if let Some(task) = task
                && let Err(error) = task.await
            {
                tracing::error!(%error, "the event store's writer ended badly");
            }
        }
    }

    /// Waits until the writer takes no more appends: before [`EventLog::close`] only because it panicked.
    pub async fn writer_ended(&self) {
        match &self.access {
            Access::Writing(writing) => writing.queue.closed().await,
            Access::ReadOnly => std::future::pending().await,
        }
    }

    /// All names that streams claim: their kind, the name, and the stream.
    pub(crate) async fn all_claims(&self) -> Result<Vec<(String, String, StreamId)>, StoreError> {
        let rows: Vec<(String, String, String)> =
            sqlx::query_as("SELECT namespace, name, stream FROM claims ORDER BY namespace, name")
                .fetch_all(&self.readers)
                .await?;
        rows.into_iter()
            .map(|(namespace, name, stream)| Ok((namespace, name, rows::stream(stream)?)))
            .collect()
    }

    /// Reads the whole log and checks every event against its hash, its place and its stream, and says what it found.
    /// `progress` is told the last position that was found right, now and then.
    pub async fn verify(
        &self,
        progress: impl FnMut(Position) + Send,
    ) -> Result<Result<Verified, Damage>, StoreError> {
        let mut reader = self.readers.acquire().await?;
        verify::all(&mut reader, progress).await
    }
}

impl EventLog {
    /// Returns the id that the log was given when it was made.
    pub fn store_id(&self) -> StoreId {
        self.store
    }

    /// Returns whether what is read here may lag behind the log, as it does where another process appends to the log
    /// that this is a replica of.
    pub fn is_replica(&self) -> bool {
        matches!(&self.access, Access::Writing(Writing { looks: Some(_), .. }))
    }

    /// Copies the file of the log, as it is now, into another one and returns where the copy ends.
    ///
    /// # Errors
    ///
    /// If the log cannot be read or the copy cannot be written.
    pub async fn copy_to(&self, copy: &Path) -> Result<Head, StoreError> {
        let mut reader = self.readers.acquire().await?;
        vacuum_into(&mut reader, copy).await?;
        drop(reader);
        let mut copied = reading(copy).connect().await?;
        let (_, head) = rows::log(&mut copied).await?;
        copied.close().await?;
        Ok(head)
    }

    /// Waits until everything that the log held when this was called can be read here; returns the last position then.
    ///
    /// # Errors
    ///
    /// Where the log cannot be asked.
    pub async fn catch_up(&self) -> Result<Position, StoreError> {
        let Access::Writing(Writing { looks: Some(looks), .. }) = &self.access else {
            return self.head().await.map(|head| head.position);
        };
        let (answer, answered) = oneshot::channel();
        // A writer that has ended drops the question, and with it the answer.
        looks.send(answer).await.ok();
        answered.await.unwrap_or_else(|_| Err(StoreError::unavailable("it is closed")))
    }

    /// Appends each of these as [`EventLog::append`] does, in their order, and returns the outcome of each: one that
    /// cannot be taken does not hinder the others. Many at once cost far less than one by one.
    pub async fn append_all(&self, appends: Vec<Append>) -> Vec<Result<Appended, AppendError>> {
        let Access::Writing(writing) = &self.access else {
            let refused = StoreError::unavailable("it is open for reading only");
            return vec![Err(refused.into()); appends.len()];
        };
        writing.queue.append_all(appends).await
    }

    /// Returns the events of one stream after a version, in their order; none where there is no such stream.
    pub async fn read_stream(
        &self,
        stream: &StreamId,
        after: StreamVersion,
    ) -> Result<Vec<Recorded>, StoreError> {
        let rows = sqlx::query(select_events!(
            self.keeps_traces,
            "WHERE stream = ?1 AND version > ?2 ORDER BY version"
        ))
        .bind(stream.as_str())
        .bind(integer(after.0))
        .fetch_all(&self.readers)
        .await?;
        rows.iter().map(rows::recorded).collect()
    }

    /// Returns the events of several streams, each in its order; a stream that does not exist is left out.
    pub async fn read_streams(
        &self,
        streams: &[StreamId],
    ) -> Result<HashMap<StreamId, Vec<Recorded>>, StoreError> {
        let rows = sqlx::query(select_events!(
            self.keeps_traces,
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

    /// Returns the streams on which a command was carried out.
    pub async fn streams_of(&self, command: CommandId) -> Result<Vec<StreamId>, StoreError> {
        let streams: Vec<String> =
            sqlx::query_scalar("SELECT DISTINCT stream FROM events WHERE causation = ?1 ORDER BY stream")
                .bind(command.0.as_bytes().as_slice())
                .fetch_all(&self.readers)
                .await?;
        streams.into_iter().map(rows::stream).collect()
    }

    /// Returns at most `limit` events after a position, in the log's order. There may be fewer, to stay within some
    /// megabytes, but none only at the end of the log.
    pub async fn read_all(&self, after: Position, limit: usize) -> Result<Vec<Recorded>, StoreError> {
        let mut rows =
            sqlx::query(select_events!(self.keeps_traces, "WHERE position > ?1 ORDER BY position LIMIT ?2"))
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

    /// Returns the last position, and the hash that covers all up to it.
    pub async fn head(&self) -> Result<Head, StoreError> {
        let mut reader = self.readers.acquire().await?;
        rows::log(&mut *reader).await.map(|(_, head)| head)
    }

    /// Waits until the log goes beyond a position, whichever process appends, and returns its last position then.
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

    /// Returns the streams that hold these names; a name that no stream holds is left out.
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

    /// At most `limit` held names behind a name, in byte order, with the streams that hold them. The empty name
    /// stands before all.
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

    /// Appends all events of one command to one stream and makes its claims, or does nothing at all.
    ///
    /// The same command on the same stream is carried out once: sent again, with any content, it is answered by
    /// [`AppendError::Repeated`] with what it did. Where the outcome is unknown (`Unavailable`), sending it again
    /// settles it. The events of one append stand side by side in the log.
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
