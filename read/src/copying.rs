//! Copies a model in SQLite while its worker writes it: as of one commit, whole, in one file.

use std::path::Path;

use serde::de::DeserializeOwned;
use sqlx::{ConnectOptions, Connection, Error, SqliteConnection};

use crate::database;
use crate::error::ModelError;

/// Copies the database `file` of one folder into another that has none, as of one commit. Readers and the writer go on
/// meanwhile. Returns the checkpoint of the copy.
pub(crate) async fn database<T: DeserializeOwned + Default>(
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
    let reading = database::options(&original).read_only(true);
    sqlite::copy(reading, &copy).await.map_err(failed(&original))?;
    database::parse(state(&copy).await.map_err(failed(&copy))?, model)
}

/// Reads the checkpoint of a copy, and leaves its file as models are: readers cannot open one that no writer has put
/// into WAL mode.
async fn state(copy: &Path) -> Result<Option<String>, Error> {
    let mut connection: SqliteConnection = database::options(copy).connect().await?;
    let state = database::state(&mut connection).await?;
    connection.close().await?;
    Ok(state)
}
