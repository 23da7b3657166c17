//! The databases of models in SQLite: options, schema, checkpoint, digest, and copies.

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
pub fn options(file: &Path) -> SqliteConnectOptions {
    sqlite::options(file)
        .journal_mode(SqliteJournalMode::Wal)
        // A power cut may lose the last commits together with their checkpoint; the events are applied again then.
        .synchronous(SqliteSynchronous::Normal)
}

/// Returns the checkpoint of a model.
pub async fn checkpoint<T: DeserializeOwned + Default>(
    connection: &mut SqliteConnection,
    model: &'static str,
) -> Result<T, ModelError> {
    parse(state(connection).await?, model)
}

/// Parses the JSON of a checkpoint, which is absent before the first commit.
fn parse<T: DeserializeOwned + Default>(state: Option<String>, model: &'static str) -> Result<T, ModelError> {
    match state {
        None => Ok(T::default()),
        Some(state) => serde_json::from_str(&state).map_err(|error| ModelError::corrupt(model, error)),
    }
}

/// Returns the JSON of the checkpoint; `None` before the first commit.
async fn state(connection: &mut SqliteConnection) -> Result<Option<String>, Error> {
    sqlx::query_scalar("SELECT state FROM checkpoint").fetch_optional(connection).await
}

/// Writes the JSON of the checkpoint, in the transaction of the rows that it describes.
#[cfg(feature = "apply")]
pub async fn set_state(connection: &mut SqliteConnection, state: String) -> Result<(), Error> {
    sqlx::query(
        "INSERT INTO checkpoint (one, state) VALUES (1, ?) ON CONFLICT DO UPDATE SET state = excluded.state",
    )
    .bind(state)
    .execute(connection)
    .await?;
    Ok(())
}

/// Creates the tables if the file is new, and otherwise checks that it has these tables and nothing else: a trigger in a file from
/// another node would change what is written.
///
/// # Errors
///
/// Returns [`ModelError::Corrupt`] for another schema, and an error if the file cannot be read or written.
#[cfg(feature = "apply")]
pub async fn create_schema(
    connection: &mut SqliteConnection,
    model: &'static str,
    schema: &'static str,
) -> Result<(), ModelError> {
    let exists: bool = sqlx::query_scalar("SELECT count(*) > 0 FROM sqlite_schema WHERE name = 'checkpoint'")
        .fetch_one(&mut *connection)
        .await?;
    if exists {
        return sqlite::check_schema(connection, &[&[schema]]).await.map_err(|error| in_model(model, error));
    }
    let mut transaction = connection.begin().await?;
    sqlx::raw_sql(schema).execute(&mut *transaction).await?;
    Ok(transaction.commit().await?)
}

/// Checks that a file which is not written meanwhile has these tables and nothing else.
#[cfg(feature = "apply")]
pub(crate) async fn check_schema_of_file(
    file: &Path,
    model: &'static str,
    schema: &'static str,
) -> Result<(), ModelError> {
    sqlite::check_schema_of_file(file, &[&[schema]]).await.map_err(|error| in_model(model, error))
}

#[cfg(feature = "apply")]
fn in_model(model: &'static str, error: sqlite::Error) -> ModelError {
    match error {
        sqlite::Error::Corrupt(reason) => ModelError::corrupt(model, reason),
        sqlite::Error::Unavailable(reason) => ModelError::Database(Error::Protocol(reason)),
    }
}

/// Disables journal and syncs for the only connection: every page is written once, and neither a crash nor a failed statement can be
/// rolled back.
#[cfg(feature = "apply")]
pub async fn disable_journal(connection: &mut SqliteConnection) -> Result<(), Error> {
    sqlx::raw_sql("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF").execute(connection).await?;
    Ok(())
}

/// Ends [`disable_journal`]: everything committed is on the disk when this returns, and later commits are as in [`options`].
#[cfg(feature = "apply")]
pub async fn restore_durability(connection: &mut SqliteConnection, file: &Path) -> Result<(), Error> {
    sqlx::raw_sql("PRAGMA synchronous = NORMAL; PRAGMA journal_mode = WAL").execute(connection).await?;
    let file = file.to_owned();
    let synced = tokio::task::spawn_blocking(move || std::fs::File::open(file)?.sync_all()).await;
    synced.map_err(std::io::Error::from).flatten()?;
    Ok(())
}

/// Returns the checkpoint in a file and a hash over the rows of these queries, consistent even while a worker writes.
#[cfg(feature = "apply")]
pub async fn digest<T: DeserializeOwned + Default>(
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

/// Copies the database `file` from one folder into another as of one commit, while it may be read and written. Returns the
/// checkpoint of the copy.
#[cfg(feature = "apply")]
pub async fn copy<T: DeserializeOwned + Default>(
    model: &'static str,
    file: &str,
    from: &Path,
    to: &Path,
) -> Result<T, ModelError> {
    let (original, copy) = (from.join(file), to.join(file));
    let failed = |path: &Path| {
        let path = path.to_owned();
        move |source| ModelError::Copy { path, source }
    };
    sqlite::copy(options(&original).read_only(true), &copy).await.map_err(failed(&original))?;
    parse(state_of_copy(&copy).await.map_err(failed(&copy))?, model)
}

/// Reads the JSON of the checkpoint of a copy. Opening it for writing puts the file into WAL mode, without which readers cannot open
/// it.
#[cfg(feature = "apply")]
async fn state_of_copy(copy: &Path) -> Result<Option<String>, Error> {
    let mut connection = options(copy).connect().await?;
    let state = state(&mut connection).await?;
    connection.close().await?;
    Ok(state)
}

/// Adds the rows of a query, in its order, to a digest.
#[cfg(feature = "apply")]
async fn add_rows(view: &mut SqliteConnection, sql: &'static str, sha: &mut Sha256) -> Result<(), Error> {
    let mut rows = sqlx::query(sql).fetch(view);
    while let Some(row) = rows.try_next().await? {
        for column in 0..row.len() {
            let value: Option<String> = row.try_get_unchecked(column)?;
            // A byte before the length distinguishes null from an empty text.
            sha.update([u8::from(value.is_some())]);
            let text = value.unwrap_or_default();
            sha.update((text.len() as u64).to_be_bytes());
            sha.update(text);
        }
    }
    Ok(())
}
