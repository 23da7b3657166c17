//! What the models in SQLite have in common: how a file is opened, what it says of its making, and its digest.

use std::path::Path;

use serde::de::DeserializeOwned;
use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqliteSynchronous};
use sqlx::{Error, SqliteConnection};

#[cfg(feature = "apply")]
use {
    futures::TryStreamExt,
    sha2::{Digest, Sha256},
    sqlx::{ConnectOptions, Connection, Row},
};

use crate::error::ModelError;

/// Returns the options with which the database of a model is opened.
pub(crate) fn options(file: &Path) -> SqliteConnectOptions {
    sqlite::options(file)
        .journal_mode(SqliteJournalMode::Wal)
        // A power cut may take the last commits with it; the checkpoint goes with them, and they are replayed.
        .synchronous(SqliteSynchronous::Normal)
}

/// Returns how far a model has come.
pub(crate) async fn checkpoint<T: DeserializeOwned + Default>(
    connection: &mut SqliteConnection,
    model: &'static str,
) -> Result<T, ModelError> {
    parse(state(connection).await?, model)
}

/// Reads the JSON of a checkpoint; none before the first commit.
pub(crate) fn parse<T: DeserializeOwned + Default>(
    state: Option<String>,
    model: &'static str,
) -> Result<T, ModelError> {
    match state {
        None => Ok(T::default()),
        Some(state) => serde_json::from_str(&state).map_err(|error| ModelError::corrupt(model, error)),
    }
}

/// Returns the JSON of the checkpoint; none before the first commit.
pub(crate) async fn state(connection: &mut SqliteConnection) -> Result<Option<String>, Error> {
    sqlx::query_scalar("SELECT state FROM checkpoint").fetch_optional(connection).await
}

/// Writes the JSON of the checkpoint, in the transaction of the rows that it speaks of.
#[cfg(feature = "apply")]
pub(crate) async fn set_state(connection: &mut SqliteConnection, state: String) -> Result<(), Error> {
    sqlx::query(
        "INSERT INTO checkpoint (one, state) VALUES (1, ?) ON CONFLICT DO UPDATE SET state = excluded.state",
    )
    .bind(state)
    .execute(connection)
    .await?;
    Ok(())
}

/// Carries out the schema where the file is new.
#[cfg(feature = "apply")]
pub(crate) async fn make(connection: &mut SqliteConnection, schema: &'static str) -> Result<(), Error> {
    let made: bool = sqlx::query_scalar("SELECT count(*) > 0 FROM sqlite_schema WHERE name = 'checkpoint'")
        .fetch_one(&mut *connection)
        .await?;
    if !made {
        let mut transaction = connection.begin().await?;
        sqlx::raw_sql(schema).execute(&mut *transaction).await?;
        transaction.commit().await?;
    }
    Ok(())
}

/// Leaves journal and syncs out: the only connection writes every page once, and neither a crash nor a failed statement can
/// be undone.
#[cfg(feature = "apply")]
pub(crate) async fn unprotect(connection: &mut SqliteConnection) -> Result<(), Error> {
    sqlx::raw_sql("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF").execute(connection).await?;
    Ok(())
}

/// Ends [`unprotect`]: all that was committed is on the disk when this returns, and commits are as [`options`] say.
#[cfg(feature = "apply")]
pub(crate) async fn protect(connection: &mut SqliteConnection, file: &Path) -> Result<(), Error> {
    sqlx::raw_sql("PRAGMA synchronous = NORMAL; PRAGMA journal_mode = WAL").execute(connection).await?;
    let file = file.to_owned();
    let synced = tokio::task::spawn_blocking(move || std::fs::File::open(file)?.sync_all()).await;
    synced.map_err(std::io::Error::from).flatten()?;
    Ok(())
}

/// Returns the checkpoint in a file and one hash over the rows of these queries at it, in one consistent view even while a
/// worker writes.
#[cfg(feature = "apply")]
pub(crate) async fn digest<T: DeserializeOwned + Default>(
    file: &Path,
    model: &'static str,
    queries: &[&'static str],
) -> Result<(T, [u8; 32]), ModelError> {
    let mut connection = options(file).read_only(true).connect().await?;
    let mut view = connection.begin().await?;
    let checkpoint = checkpoint(&mut view, model).await?;
    let mut sha = Sha256::new();
    for sql in queries {
        add_rows(&mut view, sql, &mut sha).await?;
    }
    view.rollback().await?;
    connection.close().await?;
    Ok((checkpoint, sha.finalize().into()))
}

/// Adds the rows of a query, in its order, to a digest.
#[cfg(feature = "apply")]
async fn add_rows(view: &mut SqliteConnection, sql: &'static str, sha: &mut Sha256) -> Result<(), Error> {
    let mut rows = sqlx::query(sql).fetch(view);
    while let Some(row) = rows.try_next().await? {
        for column in 0..row.len() {
            let value: Option<String> = row.try_get_unchecked(column)?;
            // Null and text are told apart by what stands before the length.
            sha.update([u8::from(value.is_some())]);
            let text = value.unwrap_or_default();
            sha.update((text.len() as u64).to_be_bytes());
            sha.update(text);
        }
    }
    Ok(())
}
