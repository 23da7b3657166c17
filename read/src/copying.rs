//! Copies a model in SQLite while its worker writes it: as of one commit, whole, in one file.

use std::path::{Path, PathBuf};

use sqlx::{ConnectOptions, Connection, Error, SqliteConnection};

use crate::database;

/// A copy could not be made: a full disk, or a database that is gone.
#[derive(Debug, thiserror::Error)]
#[error("{} cannot be copied: {source}; check the room on the disk, then do it again", path.display())]
pub struct CopyError {
    /// Which database.
    pub path: PathBuf,
    /// What SQLite said.
    #[source]
    pub source: Error,
}

/// Copies the database `name` of one folder into another that has none, as of one commit, and gives the JSON of the
/// checkpoint that stands in the copy; none before the first commit. Readers and the writer go on meanwhile.
pub async fn database(from: &Path, to: &Path, name: &str) -> Result<Option<String>, CopyError> {
    let (original, copy) = (from.join(name), to.join(name));
    let failed = |path: &Path| {
        let path = path.to_owned();
        move |source| CopyError { path, source }
    };
    vacuum(&original, &copy).await.map_err(failed(&original))?;
    checkpoint(&copy).await.map_err(failed(&copy))
}

async fn vacuum(original: &Path, copy: &Path) -> Result<(), Error> {
    let mut connection = database::options(original).read_only(true).connect().await?;
    sqlx::query("VACUUM INTO ?1").bind(copy.to_string_lossy().into_owned()).execute(&mut connection).await?;
    connection.close().await
}

/// Reads the checkpoint of a copy, and leaves its file as models are: readers cannot open one that no writer has put
/// into WAL mode.
async fn checkpoint(copy: &Path) -> Result<Option<String>, Error> {
    let mut connection: SqliteConnection = database::options(copy).connect().await?;
    let checkpoint = database::state(&mut connection).await?;
    connection.close().await?;
    Ok(checkpoint)
}
