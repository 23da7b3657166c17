//! An increment: the events after the last one of another backup, in a file with the tables of a log.

use std::path::Path;

use event_log::sqlite::{file, rows, verify as log};
use event_log::{Head, StoreError};
use schemas::hash::Hash;
use schemas::ids::{Position, StoreId};
use sqlite::{Source, integer, reading, rewriting, rewriting_from};
use sqlx::{ConnectOptions, Connection, SqliteConnection};

use super::BackupError;
use super::member::Member;

/// Sets the `application_id` of an increment, "LOGI", which tells it from a log.
const MARK: &str = "PRAGMA application_id = 0x4c4f4749";

/// Writes the events of a log that another backup lacks to an empty file, with all claims of their streams, and returns the head
/// of the log.
pub(super) async fn write(log: &Path, store: StoreId, to: &Path, last: &Member) -> Result<Head, BackupError> {
    let refused = |reason: String| BackupError::NotContinued { backup: last.folder.clone(), reason };
    if last.manifest.store != store.to_string() {
        return Err(refused("it is of another event store".to_owned()));
    }
    let mut empty = rewriting(to).connect().await?;
    file::create(&mut empty, store).await?;
    empty.close().await?;
    let mut writer = rewriting_from(to, Source::Live(log)).await?;
    let mut view = writer.begin().await?;
    let after = last.manifest.position;
    let found = hash_at(&mut view, after).await?;
    if after > Position::START && found != Some(last.manifest.hash) {
        let reason = match found {
            None => format!("the log ends before position {after}, the last of that backup"),
            Some(_) => format!("the log has another event at position {after} than that backup"),
        };
        return Err(refused(format!("{reason}: it was restored from an older backup, or replaced")));
    }
    copy_events(&mut view, after).await?;
    sqlx::raw_sql(
        "INSERT INTO main.claims SELECT * FROM source.claims WHERE stream IN (SELECT stream FROM main.events); \
         DELETE FROM main.log; INSERT INTO main.log SELECT * FROM source.log;",
    )
    .execute(&mut *view)
    .await?;
    sqlx::raw_sql(MARK).execute(&mut *view).await?;
    let (_, head) = rows::log(&mut *view).await?;
    view.commit().await?;
    writer.close().await?;
    Ok(head)
}

/// Copies the events after a position. Either file may be of version 0.1, which has no column for traces.
async fn copy_events(writer: &mut SqliteConnection, after: Position) -> Result<(), StoreError> {
    file::add_traces(writer).await?;
    let copy = if file::has_traces(writer, "source").await? {
        "INSERT INTO main.events \
         (position, id, stream, version, kind, time, actor, causation, correlation, hash, data, traceparent) \
         SELECT position, id, stream, version, kind, time, actor, causation, correlation, hash, data, traceparent \
         FROM source.events WHERE position > ?1 ORDER BY position"
    } else {
        "INSERT INTO main.events (position, id, stream, version, kind, time, actor, causation, correlation, hash, data) \
         SELECT position, id, stream, version, kind, time, actor, causation, correlation, hash, data \
         FROM source.events WHERE position > ?1 ORDER BY position"
    };
    sqlx::query(copy).bind(integer(after.0)).execute(writer).await?;
    Ok(())
}

async fn hash_at(reader: &mut SqliteConnection, position: Position) -> Result<Option<Hash>, StoreError> {
    let found: Option<Vec<u8>> = sqlx::query_scalar("SELECT hash FROM source.events WHERE position = ?1")
        .bind(integer(position.0))
        .fetch_optional(reader)
        .await?;
    found.map(|bytes| rows::hash(&bytes)).transpose()
}

/// Adds an increment to a copy of the log, after checking that both have the tables of a log and nothing else, such as a trigger.
pub(super) async fn extend(log: &Path, increment: &Path) -> Result<(), StoreError> {
    file::check_tables(log).await?;
    file::check_tables(increment).await?;
    let mut writer = rewriting_from(log, Source::Immutable(increment)).await?;
    let mut transaction = writer.begin().await?;
    copy_events(&mut transaction, Position::START).await?;
    sqlx::raw_sql(
        "INSERT OR IGNORE INTO main.claims SELECT * FROM source.claims; \
         UPDATE main.log SET position = (SELECT position FROM source.log), hash = (SELECT hash FROM source.log);",
    )
    .execute(&mut *transaction)
    .await?;
    transaction.commit().await?;
    Ok(writer.close().await?)
}

/// Verifies that the events of an increment follow `start` and end with `end`; fails with a sentence that says what is wrong.
pub(super) async fn verify(increment: &Path, start: Head, end: Head) -> Result<(), String> {
    let reason = |error: StoreError| error.to_string();
    let mut reader =
        reading(increment).immutable(true).connect().await.map_err(|error| reason(error.into()))?;
    let found = log::after(&mut reader, start).await.map_err(reason)?.map_err(|damage| damage.to_string())?;
    reader.close().await.map_err(|error| reason(error.into()))?;
    if found == end { Ok(()) } else { Err("its manifest does not match its log".to_owned()) }
}
