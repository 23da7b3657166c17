//! The ledger's file: `usage.db` beside the event store, under the same rules.

use std::path::{Path, PathBuf};

use schemas::chain::Hash;
use sqlx::{ConnectOptions, Connection, SqliteConnection};

use crate::event_store::StoreError;
use crate::event_store::sqlite::file::{check_marks, sufficient, writing};
use crate::event_store::sqlite::rows::failure;

/// The version of the tables, kept in the file's `user_version`.
const VERSION: i64 = 1;

/// Tells the file apart from other SQLite files: "LOGU" in its `application_id`.
const APPLICATION: i64 = 0x4c4f_4755;

/// Where the ledger of a store's folder is.
pub(super) fn path(folder: &Path) -> PathBuf {
    folder.join("usage.db")
}

/// Looks at the file without touching it: whether it is there, and whether it is ours to read.
pub(super) async fn check(path: &Path) -> Result<Option<()>, StoreError> {
    check_marks(path, (APPLICATION, VERSION), "a ledger").await
}

/// Opens the file for writing, and makes it where it is absent.
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
