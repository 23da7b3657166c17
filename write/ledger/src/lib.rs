//! The ledger: every counted call, copied permanently from NATS into the file `usage.db` beside the event store. Its positions are
//! dense, the hash of each entry covers the one before, and each call is in it once.
//!
//! The write side copies into it and serves pages of it, `loggia audit` reads and verifies it, and `backup` copies it.
//!
//! In reading order: [`usage_streams`] has the JetStream streams in which calls are counted; `copier` copies them, and restores
//! calls that NATS lost; `writer`, `link` and `rows` are how an entry is stored; `verify` recounts; `pages` serves nodes that
//! rebuild; `backup` copies the file, whole or incrementally.

mod backup;
pub mod comparison;
mod copier;
mod file;
mod link;
mod pages;
mod rows;
pub mod usage_streams;
mod verify;
mod writer;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use futures::TryStreamExt;
use schemas::control::{LedgerEntry, LedgerSource, UsagePage};
use schemas::ids::Position;
use schemas::key::KeyId;
use schemas::month::Month;
use schemas::usage::CallId;
use serde::Serialize;
use sqlite::{integer, lazy_readers};
use sqlx::{Connection, Row, SqlitePool};
use store_file::{Head, StoreError, uuid};
use tokio::sync::{Mutex, watch};
use tokio_util::task::TaskTracker;

use crate::usage_streams::Allowance;
use rows::entries;
use writer::Writer;

pub use backup::LedgerCopy;
pub use backup::{copy, extend, increment, sources_of, verify_copy, verify_increment};
pub use copier::Copier;
pub use pages::serve;
pub use verify::{Damage, Recount};
pub use writer::CopiedBatch;

/// The maximum number of concurrent readers: those of a recount and some more.
const READERS: u32 = 6;

/// A ledger in the file `usage.db` of a folder.
pub struct Ledger {
    path: PathBuf,
    readers: SqlitePool,
    state: Arc<State>,
    /// Running changes; each completes even if its caller no longer waits.
    changes: TaskTracker,
    malformed: AtomicU64,
}

/// The calls of one key in one month and tier.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Used {
    /// Calls within the quota.
    pub used: u64,
    /// Overruns: calls that had been answered when they were found to exceed the quota.
    pub overrun: u64,
}

/// Calls by key, month and tier.
pub type Totals = BTreeMap<Allowance, Used>;

/// Adds one more entry to the totals.
pub fn count_entry(totals: &mut Totals, entry: &LedgerEntry) {
    let call = &entry.call;
    let allowance = Allowance { key: call.key_id, month: call.month, tier: call.tier.clone() };
    let used = totals.entry(allowance).or_default();
    *(if entry.overrun { &mut used.overrun } else { &mut used.used }) += 1;
}

/// The in-memory state that changes with the file.
struct State {
    /// `None` for a read-only ledger and after closing. Its lock is held from the write to the file until `sources` is updated.
    writer: Mutex<Option<Writer>>,
    sources: watch::Sender<Vec<LedgerSource>>,
    position: AtomicU64,
    /// The last sequence of each stream when it was last checked.
    ends: std::sync::Mutex<BTreeMap<String, u64>>,
}

impl Ledger {
    /// Opens the ledger in a folder for writing, and creates both if absent.
    ///
    /// # Errors
    ///
    /// Fails while another writer has it open, for a file of a newer Loggia, and if the end of the ledger is damaged.
    pub async fn open(folder: &Path) -> Result<Ledger, StoreError> {
        let path = file::path(folder);
        let writer = Writer::open(&path).await?;
        Ledger::with_writer(path, Some(writer)).await
    }

    /// Opens the ledger in a folder for reading, with or without a running service; `None` if there is no ledger yet.
    ///
    /// # Errors
    ///
    /// Fails if the file cannot be read, is not a ledger, or is one of a newer Loggia.
    pub async fn open_read_only(folder: &Path) -> Result<Option<Ledger>, StoreError> {
        let path = file::path(folder);
        if file::exists(&path).await? { Ledger::with_writer(path, None).await.map(Some) } else { Ok(None) }
    }

    async fn with_writer(path: PathBuf, writer: Option<Writer>) -> Result<Ledger, StoreError> {
        let readers = lazy_readers(&path, READERS);
        let sources = rows::sources(&readers).await?;
        let state = State {
            writer: Mutex::new(writer),
            sources: watch::Sender::new(sources),
            position: AtomicU64::new(rows::head(&readers).await?.position.0),
            ends: std::sync::Mutex::default(),
        };
        let (state, changes) = (Arc::new(state), TaskTracker::new());
        Ok(Ledger { path, readers, state, changes, malformed: AtomicU64::new(0) })
    }

    /// Returns the path of the ledger's file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Waits for running changes, refuses further ones, and closes the file.
    pub async fn close(&self) {
        self.changes.close();
        self.changes.wait().await;
        self.readers.close().await;
        if let Some(writer) = self.state.writer.lock().await.take() {
            writer.close().await;
        }
    }

    /// Appends the calls that are new and the progress of their stream, durably and atomically. Dropping the future does not cancel it.
    ///
    /// # Errors
    ///
    /// Fails if the ledger is not open for writing or the file cannot be written.
    pub async fn append(&self, batch: CopiedBatch) -> Result<Head, StoreError> {
        let state = self.state.clone();
        self.run_to_completion(async move { state.append(&batch).await }).await
    }

    /// Reads the progress of each stream from the file and publishes it to [`Ledger::watch`].
    pub(crate) async fn refresh(&self) -> Result<Vec<LedgerSource>, StoreError> {
        let (state, readers) = (self.state.clone(), self.readers.clone());
        self.run_to_completion(async move { state.refresh(&readers).await }).await
    }

    /// Runs a change in a task of its own, so that the file and its in-memory state change together.
    async fn run_to_completion<T: Send + 'static>(
        &self,
        change: impl Future<Output = Result<T, StoreError>> + Send + 'static,
    ) -> Result<T, StoreError> {
        match self.changes.spawn(change).await {
            Ok(outcome) => outcome,
            Err(error) => match error.try_into_panic() {
                Ok(panic) => std::panic::resume_unwind(panic),
                Err(_cancelled) => Err(StoreError::unavailable("its ledger is shutting down")),
            },
        }
    }

    /// Returns the current progress of each JetStream stream; only a writing ledger updates it.
    pub fn watch(&self) -> watch::Receiver<Vec<LedgerSource>> {
        self.state.sources.subscribe()
    }

    /// Waits until a stream is copied to a sequence.
    pub async fn copied_to(&self, stream: &str, sequence: u64) {
        let reached = |source: &LedgerSource| source.stream == stream && source.sequence >= sequence;
        // The sender lives as long as the ledger.
        self.watch().wait_for(|sources| sources.iter().any(reached)).await.map(drop).unwrap_or_default();
    }

    /// Returns the number of messages since opening that were skipped because they are not calls.
    pub fn malformed(&self) -> u64 {
        self.malformed.load(Ordering::Relaxed)
    }

    fn count_malformed(&self) {
        self.malformed.fetch_add(1, Ordering::Relaxed);
    }

    /// Returns the last position that this process wrote or read, without reading the file.
    pub fn position(&self) -> Position {
        Position(self.state.position.load(Ordering::Relaxed))
    }

    /// Returns the number of messages of all streams that are not copied yet, as of the last check of the streams.
    pub fn lag(&self) -> u64 {
        let sources = self.state.sources.borrow();
        let copied = |name: &str| {
            let of_stream = sources.iter().filter(|source| source.stream == name);
            of_stream.map(|source| source.sequence).max().unwrap_or_default()
        };
        self.ends().iter().map(|(name, end)| end.saturating_sub(copied(name))).sum()
    }

    /// Records the last sequence of a stream.
    fn record_end(&self, stream: &str, end: u64) {
        self.ends().insert(stream.to_owned(), end);
    }

    fn ends(&self) -> std::sync::MutexGuard<'_, BTreeMap<String, u64>> {
        // A panic while the lock was held cannot leave these numbers inconsistent.
        self.state.ends.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    /// Returns the last position and the hash that covers everything up to it.
    pub async fn head(&self) -> Result<Head, StoreError> {
        rows::head(&self.readers).await
    }

    /// Returns at most `limit` entries after a position, the ledger's end and the progress of each stream, from one snapshot.
    pub async fn page(&self, after: Position, limit: usize) -> Result<UsagePage, StoreError> {
        let mut reader = self.readers.acquire().await?;
        let mut view = reader.begin().await?;
        let found = sqlx::query(entries!("WHERE e.position > ?1 ORDER BY e.position LIMIT ?2"))
            .bind(integer(after.0))
            .bind(integer(limit as u64))
            .fetch_all(&mut *view)
            .await?;
        Ok(UsagePage {
            entries: found.iter().map(rows::entry).collect::<Result<_, _>>()?,
            head: rows::head(&mut *view).await?.position,
            sources: rows::sources(&mut *view).await?,
        })
    }

    /// Passes every call of a key in a month to `each`, by position.
    pub async fn each_call(
        &self,
        key: KeyId,
        month: Month,
        mut each: impl FnMut(LedgerEntry) + Send,
    ) -> Result<(), StoreError> {
        let mut found = sqlx::query(entries!("WHERE e.month = ?1 AND e.key = ?2 ORDER BY e.position"))
            .bind(month.number())
            .bind(key.as_bytes().as_slice())
            .fetch(&self.readers);
        while let Some(row) = found.try_next().await? {
            each(rows::entry(&row)?);
        }
        Ok(())
    }

    /// Returns the months with counted calls, oldest first.
    pub async fn months(&self) -> Result<Vec<Month>, StoreError> {
        // Jumps from month to month in the index instead of reading all of it.
        let numbers: Vec<i32> = sqlx::query_scalar(
            "WITH RECURSIVE months (month) AS (SELECT min(month) FROM entries UNION ALL \
             SELECT (SELECT min(e.month) FROM entries e WHERE e.month > m.month) FROM months m \
             WHERE m.month IS NOT NULL) SELECT month FROM months WHERE month IS NOT NULL",
        )
        .fetch_all(&self.readers)
        .await?;
        let month =
            |number| Month::from_number(number).ok_or_else(|| StoreError::corrupt("the ledger has no month"));
        numbers.into_iter().map(month).collect()
    }

    /// Returns the totals of every key in a month, from the index.
    pub async fn totals(&self, month: Month) -> Result<Totals, StoreError> {
        let mut found = sqlx::query(
            "SELECT c.key, t.word, s.stream = ?2, c.calls FROM (SELECT key, tier, source, count(*) AS calls \
             FROM entries WHERE month = ?1 GROUP BY key, tier, source) c LEFT JOIN words t ON t.id = c.tier \
             LEFT JOIN sources s ON s.id = c.source",
        )
        .bind(month.number())
        .bind(schemas::subject::OVERRUN)
        .fetch(&self.readers);
        let mut totals = Totals::new();
        while let Some(row) = found.try_next().await? {
            let key = row.try_get::<&[u8], _>(0)?.try_into();
            let allowance = Allowance {
                key: key.map_err(|_| StoreError::corrupt("the ledger has no key"))?,
                month,
                tier: rows::tier(&row.try_get::<String, _>(1)?)?,
            };
            let used: &mut Used = totals.entry(allowance).or_default();
            let calls = row.try_get::<i64, _>(3)?.cast_unsigned();
            *(if row.try_get(2)? { &mut used.overrun } else { &mut used.used }) += calls;
        }
        Ok(totals)
    }

    /// Verifies the hash and position of every entry, recounts them, and returns the outcome. `progress` receives the number of
    /// verified entries.
    pub async fn verify(
        &self,
        progress: impl FnMut(u64) + Send,
    ) -> Result<Result<Recount, Damage>, StoreError> {
        verify::all(&self.readers, progress).await
    }

    /// Returns the call at the last copied sequence of a stream, if that message was a call; `None` if the file has another last
    /// sequence.
    async fn last_call(&self, source: &LedgerSource) -> Result<Option<CallId>, StoreError> {
        let found: Option<Option<Vec<u8>>> = sqlx::query_scalar(
            "SELECT call FROM sources WHERE stream = ?1 AND created = ?2 AND sequence = ?3",
        )
        .bind(&source.stream)
        .bind(rows::nanoseconds(source.created))
        .bind(integer(source.sequence))
        .fetch_optional(&self.readers)
        .await?;
        found.flatten().map(|bytes| uuid(&bytes).map(CallId)).transpose()
    }
}

impl State {
    async fn append(&self, batch: &CopiedBatch) -> Result<Head, StoreError> {
        let mut writer = self.writer.lock().await;
        let writer =
            writer.as_mut().ok_or_else(|| StoreError::unavailable("its ledger is not open for writing"))?;
        let (head, sources) = writer.append(batch).await?;
        self.sources.send_replace(sources);
        self.position.store(head.position.0, Ordering::Relaxed);
        Ok(head)
    }

    async fn refresh(&self, readers: &SqlitePool) -> Result<Vec<LedgerSource>, StoreError> {
        let _writer = self.writer.lock().await;
        let sources = rows::sources(readers).await?;
        self.sources.send_if_modified(|known| {
            let differs = *known != sources;
            known.clone_from(&sources);
            differs
        });
        Ok(sources)
    }
}

#[cfg(test)]
mod tests;
