//! Opens the vault's SQLite file: pragmas, migrations, and which files are refused.

use std::fs::File;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::time::Duration;

use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions, SqliteSynchronous};
use sqlx::{ConnectOptions, SqliteConnection, SqlitePool};
use uuid::Uuid;

use super::VaultError;

/// The name of the file in the event store's folder.
pub const FILE: &str = "vault.db";

/// The version of the tables, kept in the file's `user_version`.
const VERSION: i64 = 7;

/// The migrations to each version, from 1.
const STEPS: [&str; 7] = [
    include_str!("schema.sql"),
    include_str!("links.sql"),
    include_str!("notices.sql"),
    include_str!("identity.sql"),
    include_str!("traces.sql"),
    include_str!("notice_names.sql"),
    include_str!("key_names.sql"),
];

/// The `application_id` of a vault: "LOGV".
const APPLICATION: i64 = 0x4c4f_4756;

fn options(path: &Path) -> SqliteConnectOptions {
    SqliteConnectOptions::new()
        .filename(path)
        // No write-ahead log: it would retain erased data until it is overwritten.
        .journal_mode(SqliteJournalMode::Delete)
        .synchronous(SqliteSynchronous::Full)
        // Overwrites deleted rows with zeros; copies of moved rows remain, see `leave_no_traces`.
        .pragma("secure_delete", "ON")
        // `VACUUM` works in memory, so that nothing is copied to another place on a disk.
        .pragma("temp_store", "MEMORY")
        .busy_timeout(Duration::from_secs(5))
        // Statements contain digests.
        .disable_statement_logging()
}

/// Opens the file for writing. A new one, and SQLite's journal beside it, are readable by their owner only.
pub(super) async fn open(path: &Path) -> Result<SqlitePool, VaultError> {
    let made = File::options().write(true).create(true).truncate(false).mode(0o600).open(path);
    made.map_err(|error| VaultError::unavailable(format!("{} cannot be written: {error}", path.display())))?;
    let pool = SqlitePoolOptions::new().max_connections(1).connect_with(options(path)).await?;
    let (_, version) = marks(&pool, path).await?;
    if version < VERSION {
        bring_up(&pool, version).await?;
    }
    leave_no_traces(&pool).await?;
    Ok(pool)
}

/// Migrates the tables to the present version.
async fn bring_up(pool: &SqlitePool, from: i64) -> Result<(), VaultError> {
    let mut transaction = pool.begin_with("BEGIN IMMEDIATE").await?;
    for step in STEPS.iter().skip(usize::try_from(from).unwrap_or_default()) {
        sqlx::raw_sql(*step).execute(&mut *transaction).await?;
    }
    sqlx::raw_sql("PRAGMA application_id = 0x4c4f4756; PRAGMA user_version = 7;")
        .execute(&mut *transaction)
        .await?;
    Ok(transaction.commit().await?)
}

/// Records, in the transaction that erases something, that the file has to be rewritten.
pub(super) async fn note_traces(transaction: &mut SqliteConnection) -> Result<(), VaultError> {
    sqlx::query("INSERT INTO traces (only) VALUES (1) ON CONFLICT (only) DO NOTHING")
        .execute(transaction)
        .await?;
    Ok(())
}

/// Rewrites the file if something was erased since the last time. When SQLite moves a row within a page, it can leave a copy in
/// the gap between pointers and rows, which no later deletion overwrites.
pub(super) async fn leave_no_traces(pool: &SqlitePool) -> Result<(), VaultError> {
    let any: Option<i64> = sqlx::query_scalar("SELECT 1 FROM traces").fetch_optional(pool).await?;
    if any.is_some() {
        sqlx::query("VACUUM").execute(pool).await?;
        sqlx::query("DELETE FROM traces").execute(pool).await?;
    }
    Ok(())
}

/// Opens the file for reading; `None` if it is absent or empty. A killed process can leave a journal that must be rolled back
/// first, so the file is opened read-write and never written.
pub(super) async fn open_read_only(path: &Path) -> Result<Option<SqlitePool>, VaultError> {
    if !path.exists() {
        return Ok(None);
    }
    let options = options(path).pragma("query_only", "ON");
    let pool = SqlitePoolOptions::new().max_connections(1).connect_with(options).await?;
    Ok((marks(&pool, path).await? != (0, 0)).then_some(pool))
}

/// Refuses a file that is not a vault, and one of a newer version. A new file has neither mark.
async fn marks(pool: &SqlitePool, path: &Path) -> Result<(i64, i64), VaultError> {
    let marks: (i64, i64) =
        sqlx::query_as("SELECT application_id, user_version FROM pragma_application_id, pragma_user_version")
            .fetch_one(pool)
            .await?;
    let tables: i64 = sqlx::query_scalar("SELECT count(*) FROM sqlite_schema").fetch_one(pool).await?;
    match marks {
        (0, 0) if tables == 0 => Ok(marks),
        // The addresses have been in the same table since version 1.
        (APPLICATION, 1..=VERSION) => Ok(marks),
        (APPLICATION, newer) if newer > VERSION => Err(VaultError::unavailable(format!(
            "{} was written by a newer Loggia (its tables have version {newer}, this one knows {VERSION}); use that \
             one",
            path.display()
        ))),
        _ => Err(VaultError::unavailable(format!("{} is not a vault of Loggia", path.display()))),
    }
}

/// Returns whether the vault contains nothing that depends on the secret.
pub(super) async fn is_empty(pool: &SqlitePool) -> Result<bool, VaultError> {
    let any: Option<i64> = sqlx::query_scalar("SELECT 1 FROM addresses LIMIT 1").fetch_optional(pool).await?;
    if any.is_some() || !has_notices(pool).await? {
        return Ok(any.is_none());
    }
    let any: Option<i64> = sqlx::query_scalar("SELECT 1 FROM notices LIMIT 1").fetch_optional(pool).await?;
    Ok(any.is_none())
}

/// Returns whether there is a table of notices; an older version, which a reader does not migrate, has none.
pub(super) async fn has_notices(pool: &SqlitePool) -> Result<bool, VaultError> {
    has_table(pool, "notices").await
}

/// Returns whether there is a table of this name.
pub(super) async fn has_table(pool: &SqlitePool, name: &str) -> Result<bool, VaultError> {
    let table: Option<i64> = sqlx::query_scalar("SELECT 1 FROM sqlite_schema WHERE name = ?1")
        .bind(name)
        .fetch_optional(pool)
        .await?;
    Ok(table.is_some())
}

/// Returns the fingerprint of the secret.
pub(super) async fn check(pool: &SqlitePool) -> Result<[u8; 32], VaultError> {
    let check: Vec<u8> = sqlx::query_scalar("SELECT recognised FROM vault").fetch_one(pool).await?;
    check.try_into().map_err(|_| VaultError::corrupt("its check of the secret has not 32 bytes"))
}

/// Returns the id of the vault.
pub(super) async fn identity(pool: &SqlitePool) -> Result<Uuid, VaultError> {
    let id: Vec<u8> = sqlx::query_scalar("SELECT id FROM identity").fetch_one(pool).await?;
    Uuid::from_slice(&id).map_err(|_| VaultError::corrupt("its own id has not 16 bytes"))
}

/// Stores the fingerprint of the secret.
pub(super) async fn note_check(pool: &SqlitePool, check: [u8; 32]) -> Result<(), VaultError> {
    sqlx::query(
        "INSERT INTO vault (only, recognised) VALUES (1, ?1) \
         ON CONFLICT (only) DO UPDATE SET recognised = excluded.recognised WHERE recognised <> excluded.recognised",
    )
    .bind(check.as_slice())
    .execute(pool)
    .await?;
    Ok(())
}
