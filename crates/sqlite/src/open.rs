//! How databases are opened, and the lock that keeps other writers out.

use std::fs::{DirBuilder, File, TryLockError};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use sqlx::sqlite::{
    SqliteConnectOptions, SqliteExecutor, SqliteJournalMode, SqlitePoolOptions, SqliteSynchronous,
};
use sqlx::{ConnectOptions, SqlitePool};

use crate::Error;

/// Older versions of SQLite can damage a database in WAL mode that is written and checkpointed at the same time.
const OLDEST_SQLITE: [u32; 3] = [3, 51, 3];

/// The number of rows that are fetched ahead of the code that reads them.
const ROWS_AHEAD: usize = 512;

/// Returns what all databases have in common: a busy timeout of five seconds, and no log of statements. What is slow on a
/// busy machine tells an operator nothing in thousands of question marks, and statements may contain secrets. What the schema of a
/// file contains cannot call functions with effects.
pub fn options(path: &Path) -> SqliteConnectOptions {
    SqliteConnectOptions::new()
        .filename(path)
        .busy_timeout(Duration::from_secs(5))
        .pragma("trusted_schema", "OFF")
        .disable_statement_logging()
}

/// Returns the options of a reader, which never changes the file.
pub fn reading(path: &Path) -> SqliteConnectOptions {
    options(path).read_only(true).row_buffer_size(ROWS_AHEAD)
}

/// Returns the options of a single writer in WAL mode that creates the file: each commit is on the disk when it returns.
pub fn writing(path: &Path) -> SqliteConnectOptions {
    options(path)
        .create_if_missing(true)
        .journal_mode(SqliteJournalMode::Wal)
        .synchronous(SqliteSynchronous::Full)
        // 16 MB of pages, and a write-ahead log of four times as much: random keys touch many pages, and each is written back
        // once, however often it is in the log.
        .pragma("cache_size", "-16384")
        .pragma("wal_autocheckpoint", "16384")
}

/// Returns the options for writing a copy that is made again if it is not finished: without a journal and syncs.
pub fn rewriting(path: &Path) -> SqliteConnectOptions {
    options(path)
        .journal_mode(SqliteJournalMode::Off)
        .synchronous(SqliteSynchronous::Off)
        .row_buffer_size(ROWS_AHEAD)
}

/// Opens up to `connections` connections that only read and stay open: one that is open keeps working when the process has
/// no file descriptors left.
///
/// # Errors
///
/// Fails if the file is absent or cannot be read.
pub async fn readers(options: SqliteConnectOptions, connections: u32) -> Result<SqlitePool, sqlx::Error> {
    pool(connections).idle_timeout(None).max_lifetime(None).connect_with(options.read_only(true)).await
}

/// Returns up to `connections` readers, each of which opens the file when it is first needed.
pub fn lazy_readers(path: &Path, connections: u32) -> SqlitePool {
    pool(connections).connect_lazy_with(reading(path))
}

fn pool(connections: u32) -> SqlitePoolOptions {
    // A file on this machine need not be asked whether it is still there.
    SqlitePoolOptions::new().max_connections(connections).test_before_acquire(false)
}

/// Takes the lock of the one writer, a file beside the database, which is held until the value is dropped. An absent folder is
/// created for its owner only. `what` names the database in the error, with its article.
///
/// # Errors
///
/// Fails if another process holds the lock or the folder cannot be written to.
pub fn lock_writer(path: &Path, what: &str) -> Result<File, Error> {
    let folder = path.parent().unwrap_or(Path::new("."));
    let unusable =
        |error: std::io::Error| Error::Unavailable(format!("{} cannot be used: {error}", folder.display()));
    DirBuilder::new().recursive(true).mode(0o700).create(folder).map_err(unusable)?;
    let lock = File::create(path.with_extension("lock")).map_err(unusable)?;
    match lock.try_lock() {
        Ok(()) => Ok(lock),
        Err(TryLockError::WouldBlock) => Err(Error::Unavailable(format!(
            "another process writes to {what} in {}; stop that one, or use another folder",
            folder.display()
        ))),
        Err(TryLockError::Error(error)) => Err(unusable(error)),
    }
}

/// Checks that the SQLite in use cannot damage a database in WAL mode.
///
/// # Errors
///
/// Fails for SQLite before 3.51.3, and if the connection fails.
pub async fn check_library(connection: impl SqliteExecutor<'_>) -> Result<(), Error> {
    let version: String = sqlx::query_scalar("SELECT sqlite_version()").fetch_one(connection).await?;
    let numbers: Vec<u32> = version.split('.').filter_map(|part| part.parse().ok()).collect();
    if numbers.as_slice() < OLDEST_SQLITE.as_slice() {
        return Err(Error::Unavailable(format!(
            "SQLite {version} can damage a database; build with SQLite 3.51.3 or newer"
        )));
    }
    Ok(())
}

/// Returns the files that SQLite keeps beside a database in use: rollback journal, write-ahead log and its shared index.
pub fn journal_files(path: &Path) -> [PathBuf; 3] {
    ["-journal", "-wal", "-shm"].map(|ending| {
        let mut name = path.as_os_str().to_owned();
        name.push(ending);
        name.into()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_one_writer_has_the_lock() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("new/a.db");
        let held = lock_writer(&file, "the archive").unwrap();
        let refused = lock_writer(&file, "the archive").unwrap_err().to_string();
        assert!(refused.starts_with("another process writes to the archive in "), "{refused}");
        drop(held);
        lock_writer(&file, "the archive").unwrap();
    }

    #[tokio::test]
    async fn readers_do_not_write() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a.db");
        let mut writer = writing(&file).connect().await.unwrap();
        check_library(&mut writer).await.unwrap();
        sqlx::raw_sql("CREATE TABLE a (b)").execute(&mut writer).await.unwrap();
        for readers in [lazy_readers(&file, 2), readers(options(&file), 2).await.unwrap()] {
            let rows: i64 = sqlx::query_scalar("SELECT count(*) FROM a").fetch_one(&readers).await.unwrap();
            assert_eq!(rows, 0);
            sqlx::query("INSERT INTO a VALUES (1)").execute(&readers).await.unwrap_err();
        }
    }
}
