//! Opens the vault's SQLite file: pragmas, migrations, and which files are refused.

use std::fs::File;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use sqlite::FileFormat;
use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions, SqliteSynchronous};
use sqlx::{ConnectOptions, Connection, SqliteConnection, SqlitePool};
use uuid::Uuid;

use super::VaultError;

/// The name of the file in the event store's folder.
pub const FILE: &str = "vault.db";

/// The `application_id` is "LOGV". The addresses have been in the same table since version 1.
const FORMAT: FileFormat = FileFormat {
    application_id: 0x4c4f_4756,
    version: STEPS.len() as u32,
    what: "a vault",
    program: "Loggia",
};

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

fn options(path: &Path) -> SqliteConnectOptions {
    sqlite::options(path)
        // No write-ahead log: it would retain erased data until it is overwritten.
        .journal_mode(SqliteJournalMode::Delete)
        .synchronous(SqliteSynchronous::Full)
        // Overwrites deleted rows with zeros; copies of moved rows remain, see `rewrite_if_marked`.
        .pragma("secure_delete", "ON")
        // `VACUUM` works in memory, so that nothing is copied to another place on a disk.
        .pragma("temp_store", "MEMORY")
}

/// Opens the file for writing. A new one, and SQLite's journal beside it, are readable by their owner only.
pub(super) async fn open(path: &Path) -> Result<SqlitePool, VaultError> {
    let made = File::options().write(true).create(true).truncate(false).mode(0o600).open(path);
    made.map_err(|error| VaultError::unavailable(format!("{} cannot be written: {error}", path.display())))?;
    let pool = SqlitePoolOptions::new().max_connections(1).connect_with(options(path)).await?;
    let version = FORMAT.version_of(&pool, path).await?.unwrap_or_default();
    if version < FORMAT.version {
        migrate(&pool, version).await?;
    }
    rewrite_if_marked(&pool).await?;
    Ok(pool)
}

/// Migrates the tables to the present version.
async fn migrate(pool: &SqlitePool, from: u32) -> Result<(), VaultError> {
    let mut transaction = pool.begin_with("BEGIN IMMEDIATE").await?;
    for step in STEPS.iter().skip(from as usize) {
        sqlx::raw_sql(*step).execute(&mut *transaction).await?;
    }
    FORMAT.stamp(&mut transaction).await?;
    Ok(transaction.commit().await?)
}

/// Records, in the transaction that erases something, that the file has to be rewritten.
pub(super) async fn mark_for_rewrite(transaction: &mut SqliteConnection) -> Result<(), VaultError> {
    sqlx::query("INSERT INTO traces (only) VALUES (1) ON CONFLICT (only) DO NOTHING")
        .execute(transaction)
        .await?;
    Ok(())
}

/// Rewrites the file if something was erased since the last time. When SQLite moves a row within a page, it can leave a copy in
/// the gap between pointers and rows, which no later deletion overwrites.
pub(super) async fn rewrite_if_marked(pool: &SqlitePool) -> Result<(), VaultError> {
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
    Ok(FORMAT.version_of(&pool, path).await?.map(|_| pool))
}

/// Checks a vault that is not written meanwhile, such as a copy in a backup: it has the tables of its version and nothing else, such as a
/// trigger that keeps what is erased.
///
/// # Errors
///
/// Fails if the file cannot be read, is not a vault, is of a newer Loggia, or has anything else.
pub async fn check_tables(path: &Path) -> Result<(), VaultError> {
    let mut reader = sqlite::reading(path).immutable(true).connect().await?;
    let checked = async {
        match FORMAT.version_of(&mut reader, path).await? {
            // SQLite keeps a file empty until its first transaction is done.
            None => Ok(()),
            Some(version) => sqlite::check_schema(&mut reader, &[&STEPS[..version as usize]]).await,
        }
    };
    let checked = checked.await;
    reader.close().await?;
    Ok(checked?)
}

/// Returns whether the vault contains nothing that depends on the secret.
pub(super) async fn is_empty(pool: &SqlitePool) -> Result<bool, VaultError> {
    let any: Option<i64> = sqlx::query_scalar("SELECT 1 FROM addresses LIMIT 1").fetch_optional(pool).await?;
    if any.is_some() || !has_table(pool, "notices").await? {
        return Ok(any.is_none());
    }
    let any: Option<i64> = sqlx::query_scalar("SELECT 1 FROM notices LIMIT 1").fetch_optional(pool).await?;
    Ok(any.is_none())
}

/// Returns whether there is a table: a reader does not migrate an older version, which has fewer.
pub(super) async fn has_table(pool: &SqlitePool, name: &str) -> Result<bool, VaultError> {
    let table: Option<i64> = sqlx::query_scalar("SELECT 1 FROM sqlite_schema WHERE name = ?1")
        .bind(name)
        .fetch_optional(pool)
        .await?;
    Ok(table.is_some())
}

pub(super) async fn fingerprint(pool: &SqlitePool) -> Result<[u8; 32], VaultError> {
    let check: Vec<u8> = sqlx::query_scalar("SELECT recognised FROM vault").fetch_one(pool).await?;
    Ok(sqlite::array(&check, "its check of the secret")?)
}

pub(super) async fn identity(pool: &SqlitePool) -> Result<Uuid, VaultError> {
    let id: Vec<u8> = sqlx::query_scalar("SELECT id FROM identity").fetch_one(pool).await?;
    Ok(Uuid::from_bytes(sqlite::array(&id, "its own id")?))
}

pub(super) async fn store_fingerprint(pool: &SqlitePool, check: [u8; 32]) -> Result<(), VaultError> {
    sqlx::query(
        "INSERT INTO vault (only, recognised) VALUES (1, ?1) \
         ON CONFLICT (only) DO UPDATE SET recognised = excluded.recognised WHERE recognised <> excluded.recognised",
    )
    .bind(check.as_slice())
    .execute(pool)
    .await?;
    Ok(())
}
