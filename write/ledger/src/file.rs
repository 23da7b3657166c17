//! Opens the ledger's file, `usage.db` beside the event store, under the same rules.

use std::path::{Path, PathBuf};

use event_log::StoreError;
use event_log::sqlite::file::{check_marks, sufficient, writing};
use event_log::sqlite::rows::failure;
use schemas::hash::Hash;
use sqlx::{ConnectOptions, Connection, SqliteConnection};

/// The version of the tables, kept in the file's `user_version`.
const VERSION: i64 = 1;

/// The `application_id` of a ledger: "LOGU".
const APPLICATION: i64 = 0x4c4f_4755;

/// Returns the path of the ledger in a store's folder.
pub(super) fn path(folder: &Path) -> PathBuf {
    folder.join("usage.db")
}

/// Returns whether the file exists; refuses one that is not a readable ledger. Does not change it.
pub(super) async fn check(path: &Path) -> Result<Option<()>, StoreError> {
    check_marks(path, (APPLICATION, VERSION), "a ledger").await
}

/// Opens the file for writing, and creates it if absent.
pub(super) async fn open(path: &Path) -> Result<SqliteConnection, StoreError> {
    let there = check(path).await?.is_some();
    let mut writer = writing(path).connect().await.map_err(failure)?;
    sufficient(&mut writer).await?;
    if !there {
        create(&mut writer).await?;
    }
    Ok(writer)
}

pub(super) async fn create(writer: &mut SqliteConnection) -> Result<(), StoreError> {
    let mut transaction = writer.begin_with("BEGIN IMMEDIATE").await.map_err(failure)?;
    sqlx::raw_sql(include_str!("schema.sql")).execute(&mut *transaction).await.map_err(failure)?;
    sqlx::query("INSERT INTO ledger (only, position, hash) VALUES (1, 0, ?1)")
        .bind(Hash::GENESIS.0.as_slice())
        .execute(&mut *transaction)
        .await
        .map_err(failure)?;
    sqlx::raw_sql("PRAGMA application_id = 0x4c4f4755; PRAGMA user_version = 1;")
        .execute(&mut *transaction)
        .await
        .map_err(failure)?;
    transaction.commit().await.map_err(failure)
}
