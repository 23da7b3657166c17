//! The file of the log: how it is opened and created, and which files are refused.

use std::path::{Path, PathBuf};

use ::sqlite::{FileFormat, check_library, check_schema_of_file, writing};
use schemas::hash::Hash;
use schemas::ids::StoreId;
use sqlx::sqlite::SqliteSynchronous;
use sqlx::{ConnectOptions, Connection, SqliteConnection};

pub use store_file::lock;

use crate::StoreError;

/// The `application_id` is "LOGG".
const FORMAT: FileFormat =
    FileFormat { application_id: 0x4c4f_4747, version: 1, what: "an event store", program: "Loggia" };

const SCHEMA: &str = include_str!("schema.sql");

/// The tables of a log, and those of version 0.1, which has no column for traces.
const SCHEMAS: [&[&str]; 2] = [&[SCHEMA], &[SCHEMA, "ALTER TABLE events DROP COLUMN traceparent"]];

/// Returns the path of the log in a folder.
pub fn path(folder: &Path) -> PathBuf {
    folder.join("events.db")
}

/// The name of the file that is in a store's folder while a backup is restored into it.
pub const UNFINISHED_RESTORE: &str = "restore.unfinished";

/// Refuses a folder into which a backup was not completely restored.
pub(crate) fn refuse_unfinished_restore(folder: &Path) -> Result<(), StoreError> {
    if folder.join(UNFINISHED_RESTORE).exists() {
        return Err(StoreError::unavailable(format!(
            "a backup was not restored to the end into {}; run `loggia restore` again, which begins from the start",
            folder.display()
        )));
    }
    Ok(())
}

/// Returns whether the log exists; refuses a file that is not an event log, or of a newer version. Does not change it.
pub(crate) async fn exists(path: &Path) -> Result<bool, StoreError> {
    Ok(FORMAT.check(path).await?.is_some())
}

/// Checks that an open log, or an increment of one, has the tables of a log and nothing else, such as a trigger that deletes events.
///
/// # Errors
///
/// Fails with [`StoreError::Corrupt`] and the first difference, and if the schema cannot be read.
pub async fn check_schema(connection: &mut SqliteConnection) -> Result<(), StoreError> {
    Ok(::sqlite::check_schema(connection, &SCHEMAS).await?)
}

/// Checks a file that is not written meanwhile as [`check_schema`] does, before it is written to or copied from.
///
/// # Errors
///
/// Fails as [`check_schema`] does, and if the file cannot be opened.
pub async fn check_tables(path: &Path) -> Result<(), StoreError> {
    Ok(check_schema_of_file(path, &SCHEMAS).await?)
}

/// Opens the file for writing; a new one becomes the log of `store`. A power cut may take the last commits of a replica, which
/// are read from the backend again.
pub(crate) async fn open(path: &Path, store: StoreId, replica: bool) -> Result<SqliteConnection, StoreError> {
    let exists = exists(path).await?;
    let synchronous = if replica { SqliteSynchronous::Normal } else { SqliteSynchronous::Full };
    let mut writer = writing(path).synchronous(synchronous).connect().await?;
    check_library(&mut writer).await?;
    if exists {
        add_traces(&mut writer).await?;
    } else {
        create(&mut writer, store).await?;
    }
    Ok(writer)
}

/// Adds the column of the traces, which files of version 0.1 lack. That version names the columns that it reads and writes, so
/// it can still use the file.
pub async fn add_traces(writer: &mut SqliteConnection) -> Result<(), StoreError> {
    if !has_traces(writer, "main").await? {
        let add = "ALTER TABLE main.events ADD COLUMN traceparent TEXT";
        sqlx::raw_sql(add).execute(writer).await?;
    }
    Ok(())
}

/// Returns whether the events in a schema have a column for their traces.
pub async fn has_traces(connection: &mut SqliteConnection, schema: &str) -> Result<bool, StoreError> {
    sqlx::query_scalar(
        "SELECT EXISTS (SELECT 1 FROM pragma_table_info('events', ?1) WHERE name = 'traceparent')",
    )
    .bind(schema)
    .fetch_one(connection)
    .await
    .map_err(StoreError::from)
}

/// Creates the tables of an empty log.
pub async fn create(writer: &mut SqliteConnection, store: StoreId) -> Result<(), StoreError> {
    let mut transaction = writer.begin_with("BEGIN IMMEDIATE").await?;
    sqlx::raw_sql(SCHEMA).execute(&mut *transaction).await?;
    sqlx::query("INSERT INTO log (only, store, position, hash) VALUES (1, ?1, 0, ?2)")
        .bind(store.to_string())
        .bind(Hash::GENESIS.0.as_slice())
        .execute(&mut *transaction)
        .await?;
    FORMAT.stamp(&mut transaction).await?;
    Ok(transaction.commit().await?)
}
