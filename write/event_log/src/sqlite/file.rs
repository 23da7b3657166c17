//! The file of the store: how it is opened, and which files are refused.

use std::fs::{File, TryLockError};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use schemas::hash::Hash;
use schemas::ids::StoreId;
use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqliteSynchronous};
use sqlx::{ConnectOptions, Connection, SqliteConnection};

use super::rows::failure;
use crate::StoreError;

/// The version of the tables, kept in the file's `user_version`.
const VERSION: i64 = 1;

/// Tells the file apart from other SQLite files: "LOGG" in its `application_id`.
const APPLICATION: i64 = 0x4c4f_4747;

/// Older versions of SQLite can damage a log that is written and checkpointed at once.
const OLDEST_SQLITE: [u32; 3] = [3, 51, 3];

/// Returns the path of the log in a folder.
pub fn path(folder: &Path) -> PathBuf {
    folder.join("events.db")
}

/// Returns the options with which readers open a file.
pub fn reading(path: &Path) -> SqliteConnectOptions {
    SqliteConnectOptions::new()
        .filename(path)
        .read_only(true)
        .busy_timeout(Duration::from_secs(5))
        .row_buffer_size(512)
        .disable_statement_logging()
}

/// Returns the options with which the one writer opens a file: each commit is on the disk when it returns.
pub fn writing(path: &Path) -> SqliteConnectOptions {
    SqliteConnectOptions::new()
        .filename(path)
        .create_if_missing(true)
        .journal_mode(SqliteJournalMode::Wal)
        .synchronous(SqliteSynchronous::Full)
        .foreign_keys(true)
        .busy_timeout(Duration::from_secs(5))
        // 16 MB of pages, and a write-ahead log of four times as much: random slugs touch many pages, and each is written
        // back once however often it stands in the log.
        .pragma("cache_size", "-16384")
        .pragma("wal_autocheckpoint", "16384")
        .disable_statement_logging()
}

/// Returns the options for writing a copy that is made again if it is not finished: without a journal.
pub fn rewriting(path: &Path) -> SqliteConnectOptions {
    SqliteConnectOptions::new()
        .filename(path)
        .journal_mode(SqliteJournalMode::Off)
        .synchronous(SqliteSynchronous::Off)
        .row_buffer_size(512)
        .disable_statement_logging()
}

/// Writes a consistent copy of a database, which may be in use, to an empty or absent file.
pub async fn copy(from: &mut SqliteConnection, to: &Path) -> Result<(), StoreError> {
    let vacuum = sqlx::query("VACUUM INTO ?1").bind(to.to_string_lossy().into_owned());
    vacuum.execute(from).await.map(drop).map_err(failure)
}

/// Whether a file may be written while it is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InUse {
    /// It may.
    Maybe,
    /// It is a part of a backup, which stays as it is.
    No,
}

/// Opens a copy with the options of [`rewriting`] and attaches another file for reading as the schema `source`.
pub async fn rewriting_beside(
    copy: &Path,
    source: &Path,
    in_use: InUse,
) -> Result<SqliteConnection, StoreError> {
    let mut writer = rewriting(copy).connect().await.map_err(failure)?;
    let options = if in_use == InUse::No { "immutable=1" } else { "mode=ro" };
    let source = std::path::absolute(source).unwrap_or_else(|_| source.to_owned());
    sqlx::query("ATTACH ?1 AS source")
        .bind(format!("file:{}?{options}", in_uri(&source)))
        .execute(&mut writer)
        .await
        .map_err(failure)?;
    Ok(writer)
}

/// A path as it stands in a URI.
fn in_uri(path: &Path) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/-_.".contains(&byte);
    let text =
        |byte: &u8| if is_plain(*byte) { char::from(*byte).to_string() } else { format!("%{byte:02X}") };
    path.as_os_str().as_bytes().iter().map(text).collect()
}

/// Takes the lock of the one writer; it is held until the value is dropped.
pub fn lock(path: &Path) -> Result<File, StoreError> {
    let folder = path.parent().unwrap_or(Path::new("."));
    let refused = |error: std::io::Error| {
        StoreError::unavailable(format!("{} cannot be used: {error}", folder.display()))
    };
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder).map_err(refused)?;
    let lock = File::create(path.with_extension("lock")).map_err(refused)?;
    match lock.try_lock() {
        Ok(()) => Ok(lock),
        Err(TryLockError::WouldBlock) => Err(StoreError::unavailable(format!(
            "another process writes to the event store in {}; stop that one, or use another folder",
            folder.display()
        ))),
        Err(TryLockError::Error(error)) => Err(refused(error)),
    }
}

/// Returns whether the log exists; refuses a file that is not an event log, or of a newer version. Does not change it.
pub(crate) async fn check(path: &Path) -> Result<Option<()>, StoreError> {
    check_marks(path, (APPLICATION, VERSION), "an event store").await
}

/// Like [`check`], for any file with this `application_id` and `user_version`; `what` names it, with its article.
pub async fn check_marks(
    path: &Path,
    (application, version): (i64, i64),
    what: &str,
) -> Result<Option<()>, StoreError> {
    if !path.exists() {
        return Ok(None);
    }
    let mut reader = reading(path).connect().await.map_err(failure)?;
    let found = marks(&mut reader).await?;
    let tables = tables(&mut reader).await?;
    reader.close().await.map_err(failure)?;
    match found {
        (0, 0) if tables == 0 => Ok(None),
        found if found == (application, version) => Ok(Some(())),
        (ours, newer) if ours == application && newer > version => Err(StoreError::unavailable(format!(
            "{} was written by a newer Loggia (its tables have version {newer}, this one knows {version}); \
             use that one",
            path.display()
        ))),
        _ => Err(StoreError::unavailable(format!("{} is not {what} of Loggia", path.display()))),
    }
}

/// Opens the file for writing; a new one becomes the log of `store`. The last commits of a replica may be lost in a power
/// cut: they are read again.
pub(crate) async fn open(path: &Path, store: StoreId, replica: bool) -> Result<SqliteConnection, StoreError> {
    let there = check(path).await?.is_some();
    let synchronous = if replica { SqliteSynchronous::Normal } else { SqliteSynchronous::Full };
    let mut writer = writing(path).synchronous(synchronous).connect().await.map_err(failure)?;
    sufficient(&mut writer).await?;
    if !there {
        create(&mut writer, store).await?;
    } else {
        keep_traces(&mut writer).await?;
    }
    Ok(writer)
}

/// Adds the column of the traces, which files of version 0.1 lack. That version names the columns that it reads and writes,
/// so it can still use the file.
pub async fn keep_traces(writer: &mut SqliteConnection) -> Result<(), StoreError> {
    if !keeps_traces(writer, "main").await? {
        let add = "ALTER TABLE main.events ADD COLUMN traceparent TEXT";
        sqlx::raw_sql(add).execute(writer).await.map_err(failure)?;
    }
    Ok(())
}

/// Returns whether the events in a schema have a column for their traces.
pub async fn keeps_traces(connection: &mut SqliteConnection, schema: &str) -> Result<bool, StoreError> {
    sqlx::query_scalar(
        "SELECT EXISTS (SELECT 1 FROM pragma_table_info('events', ?1) WHERE name = 'traceparent')",
    )
    .bind(schema)
    .fetch_one(connection)
    .await
    .map_err(failure)
}

/// Creates the tables of an empty log.
pub async fn create(writer: &mut SqliteConnection, store: StoreId) -> Result<(), StoreError> {
    let mut transaction = writer.begin_with("BEGIN IMMEDIATE").await.map_err(failure)?;
    sqlx::raw_sql(include_str!("schema.sql")).execute(&mut *transaction).await.map_err(failure)?;
    sqlx::query("INSERT INTO log (only, store, position, hash) VALUES (1, ?1, 0, ?2)")
        .bind(store.to_string())
        .bind(Hash::GENESIS.0.as_slice())
        .execute(&mut *transaction)
        .await
        .map_err(failure)?;
    sqlx::raw_sql("PRAGMA application_id = 0x4c4f4747; PRAGMA user_version = 1;")
        .execute(&mut *transaction)
        .await
        .map_err(failure)?;
    transaction.commit().await.map_err(failure)
}

async fn marks(reader: &mut SqliteConnection) -> Result<(i64, i64), StoreError> {
    sqlx::query_as("SELECT application_id, user_version FROM pragma_application_id, pragma_user_version")
        .fetch_one(reader)
        .await
        .map_err(failure)
}

async fn tables(reader: &mut SqliteConnection) -> Result<i64, StoreError> {
    sqlx::query_scalar("SELECT count(*) FROM sqlite_schema").fetch_one(reader).await.map_err(failure)
}

/// Refuses a version of SQLite that can damage a log.
pub async fn sufficient(writer: &mut SqliteConnection) -> Result<(), StoreError> {
    let version: String =
        sqlx::query_scalar("SELECT sqlite_version()").fetch_one(writer).await.map_err(failure)?;
    let numbers: Vec<u32> = version.split('.').filter_map(|part| part.parse().ok()).collect();
    if numbers.as_slice() < OLDEST_SQLITE.as_slice() {
        return Err(StoreError::unavailable(format!(
            "SQLite {version} can damage a log; build Loggia with SQLite 3.51.3 or newer"
        )));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_quoted_in_a_uri() {
        assert_eq!(in_uri(Path::new("/srv/a-b/2026_11.db")), "/srv/a-b/2026_11.db");
        assert_eq!(in_uri(Path::new("/srv/50% off?#ö")), "/srv/50%25%20off%3F%23%C3%B6");
    }
}
