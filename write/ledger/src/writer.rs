//! The single writer of the ledger: entries, the progress of their source and the head in one transaction. After a failure it reopens
//! the file and verifies its end before it accepts more.

use std::collections::HashMap;
use std::fs::File;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use schemas::control::LedgerSource;
use schemas::hash::Hash;
use schemas::ids::Position;
use schemas::usage::{Call, CallId};
use sqlite::integer;
use sqlx::{Connection, SqliteConnection};
use store_file::{Head, StoreError, lock};

use super::link::{Link, Source};
use super::{file, link, rows, verify};

/// The number of entries at the end that are verified at opening.
const TAIL: u64 = 1_000;

/// A batch copied from a stream.
#[derive(Debug, Clone)]
pub struct CopiedBatch {
    /// The stream's name.
    pub stream: String,
    /// The creation time of the stream.
    pub created: Timestamp,
    /// The last sequence that was read.
    pub sequence: u64,
    /// The id of the call at that sequence, if it was a call.
    pub last: Option<CallId>,
    /// The calls with their sequences, in order.
    pub calls: Vec<(u64, Call)>,
}

pub(super) struct Writer {
    path: PathBuf,
    head: Head,
    /// `None` after a failure, until the file is reopened.
    open: Option<Open>,
    /// The lock of the file, held for the lifetime of the writer.
    _lock: File,
}

struct Open {
    connection: SqliteConnection,
    words: HashMap<String, i64>,
}

impl Writer {
    pub(super) async fn open(path: &Path) -> Result<Writer, StoreError> {
        let lock = lock(path)?;
        let mut connection = file::open(path).await?;
        let head = verify::tail(&mut connection, TAIL).await?;
        let open = Some(Open { connection, words: HashMap::new() });
        Ok(Writer { path: path.to_owned(), head, open, _lock: lock })
    }

    /// Appends the calls that are new and the progress of the stream. Returns the new end of the ledger and the progress of each
    /// stream.
    pub(super) async fn append(
        &mut self,
        batch: &CopiedBatch,
    ) -> Result<(Head, Vec<LedgerSource>), StoreError> {
        let mut open = match self.open.take() {
            Some(open) => open,
            None => self.reopen().await?,
        };
        match open.append(self.head, batch).await {
            Ok((head, sources)) => {
                self.head = head;
                self.open = Some(open);
                Ok((head, sources))
            }
            Err(error) => {
                // After a failed write the cached pages may differ from the disk: the file is reopened.
                tracing::error!(%error, "the ledger could not commit; its file is opened again");
                open.connection.close_hard().await.ok();
                Err(error)
            }
        }
    }

    async fn reopen(&mut self) -> Result<Open, StoreError> {
        let mut connection = file::open(&self.path).await?;
        self.head = verify::tail(&mut connection, TAIL).await?;
        Ok(Open { connection, words: HashMap::new() })
    }

    pub(super) async fn close(self) {
        if let Some(open) = self.open
            && let Err(error) = open.connection.close().await
        {
            tracing::warn!(%error, "the ledger's file was not closed cleanly");
        }
    }
}

impl Open {
    async fn append(
        &mut self,
        expected: Head,
        batch: &CopiedBatch,
    ) -> Result<(Head, Vec<LedgerSource>), StoreError> {
        let mut transaction = self.connection.begin_with("BEGIN IMMEDIATE").await?;
        let mut head = rows::head(&mut *transaction).await?;
        if head != expected {
            return Err(StoreError::unavailable("another program wrote to its ledger; it is checked again"));
        }
        let created = rows::nanoseconds(batch.created)
            .ok_or_else(|| StoreError::unavailable("the stream's creation time is beyond the year 2262"))?;
        let source = Source { stream: &batch.stream, created };
        let number = advance(&mut transaction, source, batch).await?;
        for (sequence, call) in &batch.calls {
            // Times out of range were skipped when the messages were read.
            let Some(time) = rows::nanoseconds(call.time) else { continue };
            let position = head.position.next();
            let sequence = integer(*sequence);
            let hash = Link::of(call, integer(position.0), time, source, sequence).hash_after(head.hash);
            let tier = word(&mut transaction, &mut self.words, call.tier.as_str()).await?;
            let operation = word(&mut transaction, &mut self.words, &call.operation).await?;
            let row = Row { position, call, tier, operation, time, source: number, sequence, hash };
            if row.insert(&mut transaction).await? {
                head = Head { position, hash };
            }
        }
        sqlx::query("UPDATE ledger SET position = ?1, hash = ?2")
            .bind(integer(head.position.0))
            .bind(head.hash.0.as_slice())
            .execute(&mut *transaction)
            .await?;
        let sources = rows::sources(&mut *transaction).await?;
        transaction.commit().await?;
        Ok((head, sources))
    }
}

/// Records the progress of a stream and returns its number.
async fn advance(
    writer: &mut SqliteConnection,
    source: Source<'_>,
    batch: &CopiedBatch,
) -> Result<i64, StoreError> {
    sqlx::query("UPDATE sources SET current = 0 WHERE stream = ?1 AND created <> ?2 AND current = 1")
        .bind(source.stream)
        .bind(source.created)
        .execute(&mut *writer)
        .await?;
    sqlx::query_scalar(
        "INSERT INTO sources (stream, created, sequence, call, current) VALUES (?1, ?2, ?3, ?4, 1) \
         ON CONFLICT (stream, created) DO UPDATE SET sequence = excluded.sequence, call = excluded.call, current = 1 \
         RETURNING id",
    )
    .bind(source.stream)
    .bind(source.created)
    .bind(integer(batch.sequence))
    .bind(batch.last.map(|id| id.0.as_bytes().to_vec()))
    .fetch_one(writer)
    .await
    .map_err(StoreError::from)
}

/// Returns the number of a word, assigning one if it is new.
async fn word(
    writer: &mut SqliteConnection,
    known: &mut HashMap<String, i64>,
    word: &str,
) -> Result<i64, StoreError> {
    if let Some(number) = known.get(word) {
        return Ok(*number);
    }
    let number = sqlx::query_scalar(
        "INSERT INTO words (word) VALUES (?1) ON CONFLICT (word) DO UPDATE SET word = excluded.word RETURNING id",
    )
    .bind(word)
    .fetch_one(writer)
    .await?;
    known.insert(word.to_owned(), number);
    Ok(number)
}

struct Row<'a> {
    position: Position,
    call: &'a Call,
    tier: i64,
    operation: i64,
    time: i64,
    source: i64,
    sequence: i64,
    hash: Hash,
}

impl Row<'_> {
    /// Inserts a call; returns `false` if the ledger has it already.
    async fn insert(&self, writer: &mut SqliteConnection) -> Result<bool, StoreError> {
        let done = sqlx::query(
            "INSERT INTO entries (position, id, key, month, tier, time, surface, operation, source, sequence, hash) \
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11) ON CONFLICT (id) DO NOTHING",
        )
        .bind(integer(self.position.0))
        .bind(self.call.id.0.as_bytes().as_slice())
        .bind(self.call.key_id.as_bytes().as_slice())
        .bind(self.call.month.number())
        .bind(self.tier)
        .bind(self.time)
        .bind(link::number(self.call.surface))
        .bind(self.operation)
        .bind(self.source)
        .bind(self.sequence)
        .bind(self.hash.0.as_slice())
        .execute(writer)
        .await?;
        Ok(done.rows_affected() == 1)
    }
}
