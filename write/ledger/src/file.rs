//! Opens the ledger's file, `usage.db` beside the event store, under the same rules.

use std::path::{Path, PathBuf};

use schemas::hash::Hash;
use sqlite::{FileFormat, check_library, check_schema_of_file, writing};
use sqlx::{ConnectOptions, Connection, SqliteConnection};
use store_file::StoreError;

/// The `application_id` is "LOGU".
const FORMAT: FileFormat =
    FileFormat { application_id: 0x4c4f_4755, version: 1, what: "a ledger", program: "Loggia" };

const SCHEMA: &str = include_str!("schema.sql");

pub(super) fn path(folder: &Path) -> PathBuf {
    folder.join("usage.db")
}

/// Returns whether the file exists; refuses one that is not a readable ledger. Does not change it.
pub(super) async fn exists(path: &Path) -> Result<bool, StoreError> {
    Ok(FORMAT.check(path).await?.is_some())
}

/// Checks that an open ledger, or an increment of one, has the tables of a ledger and nothing else, such as a trigger that deletes calls.
pub(super) async fn check_schema(connection: &mut SqliteConnection) -> Result<(), StoreError> {
    Ok(sqlite::check_schema(connection, &[&[SCHEMA]]).await?)
}

/// Checks a file that is not written meanwhile as [`check_schema`] does, before it is written to or copied from.
pub(super) async fn check_tables(path: &Path) -> Result<(), StoreError> {
    Ok(check_schema_of_file(path, &[&[SCHEMA]]).await?)
}

/// Opens the file for writing, and creates it if absent.
pub(super) async fn open(path: &Path) -> Result<SqliteConnection, StoreError> {
    let exists = exists(path).await?;
    let mut writer = writing(path).connect().await?;
    check_library(&mut writer).await?;
    if !exists {
        create(&mut writer).await?;
    }
    Ok(writer)
}

pub(super) async fn create(writer: &mut SqliteConnection) -> Result<(), StoreError> {
    let mut transaction = writer.begin_with("BEGIN IMMEDIATE").await?;
    sqlx::raw_sql(SCHEMA).execute(&mut *transaction).await?;
    sqlx::query("INSERT INTO ledger (only, position, hash) VALUES (1, 0, ?1)")
        .bind(Hash::GENESIS.0.as_slice())
        .execute(&mut *transaction)
        .await?;
    FORMAT.stamp(&mut transaction).await?;
    Ok(transaction.commit().await?)
}
