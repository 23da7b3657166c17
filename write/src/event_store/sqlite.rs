//! The event store in one SQLite file: one writer that commits many appends at once, and a few readers beside it.

mod admission;
mod backup;
mod commit;
mod failure;
pub(crate) mod file;
mod insert;
mod queue;
mod replay;
#[cfg(feature = "eventstore")]
mod replica;
pub(crate) mod rows;
pub(crate) mod upstream;
mod verify;
mod writer;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::Duration;

use async_trait::async_trait;
use futures::TryStreamExt;
use health::Component;
use schemas::envelope::Recorded;
use schemas::ids::{CommandId, Position, StoreId, StreamId, StreamVersion};
use sqlx::SqlitePool;
use sqlx::sqlite::SqlitePoolOptions;
use tokio::sync::{mpsc, oneshot, watch};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use super::{Append, AppendError, Appended, EventStore, Head, Namespace, StoreError};
use crate::clock::Clock;
use queue::{Queue, queue};
use rows::events;
use upstream::{Alone, Upstream};
use writer::{Asked, Writer};

#[cfg(feature = "eventstore")]
pub(crate) use replay::follow;
pub(crate) use replay::replay;
#[cfg(feature = "eventstore")]
pub(crate) use replica::Replica;
pub(crate) use rows::failure;
pub(crate) use writer::tail;

pub use backup::{
    BackupError, Copied, Cut, Erased, ErasedPicturesCopy, ErasuresCopy, LeftOut, Manifest, MediaCopy, Parent,
    Restored, Until,
};
pub use verify::{Damage, Verified};

/// How many readers may read at once.
const READERS: u32 = 4;

/// How often a reader beside another process looks for news.
const POLL: Duration = Duration::from_millis(250);

/// How many callers may wait for a look at the log behind a replica; more wait for a place.
const LOOKS: usize = 256;

/// How many bytes of payloads one answer of `read_all` holds at most, one event excepted.
const PAGE_BYTES: usize = 8 << 20;

/// An event store in the file `events.db` of a folder, or the replica in such a file of a log that is elsewhere.
pub struct SqliteStore {
    path: PathBuf,
    store: StoreId,
    readers: SqlitePool,
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

impl SqliteStore {
    /// Opens the store in a folder for writing, and makes both where they are absent. It is refused while another
    /// writer has it open, when the file was made by a newer Loggia, and when its end is damaged.
    pub async fn open(folder: &Path, clock: &Clock) -> Result<SqliteStore, StoreError> {
        SqliteStore::open_alone(folder, clock, None).await
    }

    /// Opens the store as [`SqliteStore::open`] does. While commits fail, for lack of room or another fault of the disk,
    /// the component fails; whether the file can be written again is tried every few seconds.
    ///
    /// # Errors
    ///
    /// Fails as [`SqliteStore::open`] does.
    pub async fn open_reporting(
        folder: &Path,
        clock: &Clock,
        component: Component,
    ) -> Result<SqliteStore, StoreError> {
        SqliteStore::open_alone(folder, clock, Some(component)).await
    }

    async fn open_alone(
        folder: &Path,
        clock: &Clock,
        component: Option<Component>,
    ) -> Result<SqliteStore, StoreError> {
        backup::refuse_unfinished(folder)?;
        let path = file::path(folder);
        let lock = file::lock(&path)?;
        let writer = Writer::open(&path, lock, clock.store_id(), Alone, component).await?;
        Ok(SqliteStore::written_by(writer, path))
    }

    fn written_by<U: Upstream>(writer: Writer<U>, path: PathBuf) -> SqliteStore {
        let (queue, appends) = queue(U::LIMIT);
        let (announce, head) = watch::channel(writer.head().position);
        let (looks, asked) = mpsc::channel(LOOKS);
        let stop = CancellationToken::new();
        let store = writer.store_id();
        #[allow(clippy::disallowed_methods, reason = "the store holds the task and waits for it in close")]
        let task = tokio::spawn(writer.run(appends, asked, announce, stop.clone()));
        let writer = Running { stop, task: Mutex::new(Some(task)) };
        let readers = readers(&path);
        let looks = U::REMOTE.then_some(looks);
        let access = Access::Writing(Writing { queue, head, looks, writer });
        SqliteStore { path, store, readers, keeps_traces: true, access }
    }

    /// Opens the store in a folder for reading only, beside a running service or without one.
    pub async fn open_read_only(folder: &Path) -> Result<SqliteStore, StoreError> {
        SqliteStore::open_file_read_only(file::path(folder)).await
    }

    pub(crate) async fn open_file_read_only(path: PathBuf) -> Result<SqliteStore, StoreError> {
        file::check(&path).await?.ok_or_else(|| {
            StoreError::unavailable(format!("there is no event store at {}", path.display()))
        })?;
        let readers = readers(&path);
        let mut reader = readers.acquire().await.map_err(rows::failure)?;
        let (store, _) = rows::log(&mut *reader).await?;
        let keeps_traces = file::keeps_traces(&mut reader, "main").await?;
        drop(reader);
        Ok(SqliteStore { path, store, readers, keeps_traces, access: Access::ReadOnly })
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

    /// Waits until the writer takes no more appends: before [`SqliteStore::close`] only because it panicked.
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
                .await
                .map_err(rows::failure)?;
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
        let mut reader = self.readers.acquire().await.map_err(rows::failure)?;
        verify::all(&mut reader, progress).await
    }
}

fn readers(path: &Path) -> SqlitePool {
    SqlitePoolOptions::new()
        .max_connections(READERS)
        .test_before_acquire(false)
        .connect_lazy_with(file::reading(path))
}

#[async_trait]
impl EventStore for SqliteStore {
    fn store_id(&self) -> StoreId {
        self.store
    }

    fn is_replica(&self) -> bool {
        matches!(&self.access, Access::Writing(Writing { looks: Some(_), .. }))
    }

    async fn catch_up(&self) -> Result<Position, StoreError> {
        let Access::Writing(Writing { looks: Some(looks), .. }) = &self.access else {
            return self.head().await.map(|head| head.position);
        };
        let (answer, answered) = oneshot::channel();
        // A writer that has ended drops the question, and with it the answer.
        looks.send(answer).await.ok();
        answered.await.unwrap_or_else(|_| Err(StoreError::unavailable("it is closed")))
    }

    async fn append_all(&self, appends: Vec<Append>) -> Vec<Result<Appended, AppendError>> {
        let Access::Writing(writing) = &self.access else {
            let refused = StoreError::unavailable("it is open for reading only");
            return vec![Err(refused.into()); appends.len()];
        };
        writing.queue.append_all(appends).await
    }

    async fn read_stream(
        &self,
        stream: &StreamId,
        after: StreamVersion,
    ) -> Result<Vec<Recorded>, StoreError> {
        let rows =
            sqlx::query(events!(self.keeps_traces, "WHERE stream = ?1 AND version > ?2 ORDER BY version"))
                .bind(stream.as_str())
                .bind(rows::integer(after.0))
                .fetch_all(&self.readers)
                .await
                .map_err(rows::failure)?;
        rows.iter().map(rows::recorded).collect()
    }

    async fn read_streams(
        &self,
        streams: &[StreamId],
    ) -> Result<HashMap<StreamId, Vec<Recorded>>, StoreError> {
        let rows = sqlx::query(events!(
            self.keeps_traces,
            "WHERE stream IN (SELECT value FROM json_each(?1)) ORDER BY stream, version"
        ))
        .bind(rows::json(streams)?)
        .fetch_all(&self.readers)
        .await
        .map_err(rows::failure)?;
        let mut found: HashMap<StreamId, Vec<Recorded>> = HashMap::new();
        for row in &rows {
            let event = rows::recorded(row)?;
            found.entry(event.stream.clone()).or_default().push(event);
        }
        Ok(found)
    }

    async fn streams_of(&self, command: CommandId) -> Result<Vec<StreamId>, StoreError> {
        let streams: Vec<String> =
            sqlx::query_scalar("SELECT DISTINCT stream FROM events WHERE causation = ?1 ORDER BY stream")
                .bind(command.0.as_bytes().as_slice())
                .fetch_all(&self.readers)
                .await
                .map_err(rows::failure)?;
        streams.into_iter().map(rows::stream).collect()
    }

    async fn read_all(&self, after: Position, limit: usize) -> Result<Vec<Recorded>, StoreError> {
        let mut rows =
            sqlx::query(events!(self.keeps_traces, "WHERE position > ?1 ORDER BY position LIMIT ?2"))
                .bind(rows::integer(after.0))
                .bind(rows::integer(limit as u64))
                .fetch(&self.readers);
        let (mut page, mut bytes) = (Vec::new(), 0);
        while let Some(row) = rows.try_next().await.map_err(rows::failure)? {
            let event = rows::recorded(&row)?;
            bytes += event.data.get().len();
            page.push(event);
            if bytes >= PAGE_BYTES {
                break;
            }
        }
        Ok(page)
    }

    async fn head(&self) -> Result<Head, StoreError> {
        let mut reader = self.readers.acquire().await.map_err(rows::failure)?;
        rows::log(&mut *reader).await.map(|(_, head)| head)
    }

    async fn wait_beyond(&self, position: Position) -> Result<Position, StoreError> {
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

    async fn holders(
        &self,
        namespace: Namespace,
        names: &[String],
    ) -> Result<HashMap<String, StreamId>, StoreError> {
        sqlx::query_as(
            "SELECT name, stream FROM claims \
             WHERE namespace = ?1 AND name IN (SELECT value FROM json_each(?2))",
        )
        .bind(namespace.as_str())
        .bind(rows::json(names)?)
        .fetch_all(&self.readers)
        .await
        .map_err(rows::failure)
        .and_then(rows::claims)
    }

    async fn claims(
        &self,
        namespace: Namespace,
        after: &str,
        limit: usize,
    ) -> Result<Vec<(String, StreamId)>, StoreError> {
        sqlx::query_as(
            "SELECT name, stream FROM claims WHERE namespace = ?1 AND name > ?2 ORDER BY name LIMIT ?3",
        )
        .bind(namespace.as_str())
        .bind(after)
        .bind(rows::integer(limit as u64))
        .fetch_all(&self.readers)
        .await
        .map_err(rows::failure)
        .and_then(rows::claims)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_end_of_the_writer_is_reported() {
        let folder = tempfile::tempdir().unwrap();
        let store = SqliteStore::open(folder.path(), &Clock::system()).await.unwrap();
        let soon = Duration::from_millis(50);
        assert!(tokio::time::timeout(soon, store.writer_ended()).await.is_err(), "it runs");
        let Access::Writing(writing) = &store.access else { unreachable!() };
        // As a panic does, this drops what the writer holds.
        writing.writer.task.lock().unwrap().as_ref().unwrap().abort();
        tokio::time::timeout(Duration::from_secs(60), store.writer_ended()).await.unwrap();
    }
}
