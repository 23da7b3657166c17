//! The server's streams in a SQLite file: acknowledged appends survive a kill.

use std::path::Path;

use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqliteSynchronous};
use sqlx::{ConnectOptions, Connection, SqliteConnection};
use uuid::Uuid;

use super::wire::{ExpectedRevision, ProposedMessage};

/// A stored event: revision, id, type, content type, metadata and data.
pub(super) type StoredEvent = (i64, Vec<u8>, String, String, Vec<u8>, Vec<u8>);

pub(super) struct Log {
    file: SqliteConnection,
}

/// The outcome of an append: the new last revision, or the actual one if it differs from the expected one.
pub(super) type Outcome = Result<u64, Option<u64>>;

impl Log {
    pub(super) async fn open(path: &Path) -> Log {
        let mut file = SqliteConnectOptions::new()
            .filename(path)
            .create_if_missing(true)
            .journal_mode(SqliteJournalMode::Wal)
            .synchronous(SqliteSynchronous::Full)
            .disable_statement_logging()
            .connect()
            .await
            .expect("the server's file");
        sqlx::raw_sql(
            "CREATE TABLE IF NOT EXISTS events (stream TEXT, revision INTEGER, id BLOB, type TEXT, content TEXT, \
             metadata BLOB, data BLOB, PRIMARY KEY (stream, revision)) WITHOUT ROWID",
        )
        .execute(&mut file)
        .await
        .expect("its table");
        Log { file }
    }

    /// Returns the last revision of a stream; `None` if it does not exist.
    pub(super) async fn last(&mut self, stream: &str) -> Option<u64> {
        let last: Option<i64> = sqlx::query_scalar("SELECT max(revision) FROM events WHERE stream = ?1")
            .bind(stream)
            .fetch_one(&mut self.file)
            .await
            .expect("a revision");
        last.map(i64::cast_unsigned)
    }

    pub(super) async fn read(&mut self, stream: &str, from: u64, count: u64) -> Vec<StoredEvent> {
        let limit = |count: u64| i64::try_from(count).unwrap_or(i64::MAX);
        sqlx::query_as(
            "SELECT revision, id, type, content, metadata, data FROM events WHERE stream = ?1 AND revision >= ?2 \
             ORDER BY revision LIMIT ?3",
        )
        .bind(stream)
        .bind(limit(from))
        .bind(limit(count))
        .fetch_all(&mut self.file)
        .await
        .expect("events")
    }

    /// Removes all events of a stream after the first `kept`.
    pub(super) async fn truncate(&mut self, stream: &str, kept: u64) {
        sqlx::query("DELETE FROM events WHERE stream = ?1 AND revision >= ?2")
            .bind(stream)
            .bind(kept.cast_signed())
            .execute(&mut self.file)
            .await
            .expect("events are taken away");
    }

    /// Appends all events or none. Appending the same events after the same revision again is idempotent.
    pub(super) async fn append(
        &mut self,
        stream: &str,
        expected: &ExpectedRevision,
        events: &[ProposedMessage],
    ) -> Outcome {
        let last = self.last(stream).await;
        let behind = match (expected, last) {
            (ExpectedRevision::Any(_), _) | (ExpectedRevision::StreamExists(_), Some(_)) => None,
            (ExpectedRevision::NoStream(_), None) => None,
            (ExpectedRevision::Revision(wanted), Some(last)) if *wanted == last => None,
            (ExpectedRevision::NoStream(_), _) => Some(0),
            (ExpectedRevision::Revision(wanted), _) => Some(wanted + 1),
            (ExpectedRevision::StreamExists(_), None) => return Err(last),
        };
        if let Some(first) = behind {
            let there = self.read(stream, first, events.len() as u64).await;
            let ids: Vec<Vec<u8>> = events.iter().map(|event| id(event).as_bytes().to_vec()).collect();
            let same = there.iter().map(|kept| &kept.1).eq(&ids);
            return if same { Ok(first + events.len() as u64 - 1) } else { Err(last) };
        }
        let mut next = last.map_or(0, |last| last + 1);
        let mut transaction = self.file.begin().await.expect("a transaction");
        for event in events {
            sqlx::query("INSERT INTO events VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)")
                .bind(stream)
                .bind(next.cast_signed())
                .bind(id(event).as_bytes().as_slice())
                .bind(event.metadata.get("type"))
                .bind(event.metadata.get("content-type"))
                .bind(&event.custom_metadata)
                .bind(&event.data)
                .execute(&mut *transaction)
                .await
                .expect("an event is kept");
            next += 1;
        }
        transaction.commit().await.expect("a commit");
        Ok(next - 1)
    }
}

fn id(event: &ProposedMessage) -> Uuid {
    event.id.as_ref().expect("an event has an id").into()
}
