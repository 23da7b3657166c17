//! Copies of databases that may be in use, and copies that are written from another database.

use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{ConnectOptions, Connection, Error, SqliteConnection};

use crate::rewriting;

/// Writes a consistent copy of a database, which may be written meanwhile, to an empty or absent file.
///
/// # Errors
///
/// Fails if the database cannot be read, or the file cannot be written or is not empty.
pub async fn vacuum_into(from: &mut SqliteConnection, to: &Path) -> Result<(), Error> {
    let vacuum = sqlx::query("VACUUM INTO ?1").bind(to.to_string_lossy().into_owned());
    vacuum.execute(from).await.map(drop)
}

/// Opens a database with these options, and copies it as [`vacuum_into`] does.
///
/// # Errors
///
/// Fails if the database cannot be opened, and as [`vacuum_into`] does.
pub async fn copy(from: SqliteConnectOptions, to: &Path) -> Result<(), Error> {
    let mut connection = from.connect().await?;
    vacuum_into(&mut connection, to).await?;
    connection.close().await
}

/// A database from which a copy is written.
#[derive(Debug, Clone, Copy)]
pub enum Source<'a> {
    /// One that may be written meanwhile.
    Live(&'a Path),
    /// One that is never written again: it is read without locks, which a read-only file system lacks.
    Immutable(&'a Path),
}

/// Opens a copy with the options of [`rewriting`], and attaches the source for reading as the schema `source`.
///
/// # Errors
///
/// Fails if one of them cannot be opened.
pub async fn rewriting_from(copy: &Path, source: Source<'_>) -> Result<SqliteConnection, Error> {
    let (path, mode) = match source {
        Source::Live(path) => (path, "mode=ro"),
        Source::Immutable(path) => (path, "immutable=1"),
    };
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let mut connection = rewriting(copy).connect().await?;
    let attach = sqlx::query("ATTACH ?1 AS source").bind(format!("file:{}?{mode}", quoted(&path)));
    attach.execute(&mut connection).await?;
    Ok(connection)
}

/// Returns a path as part of a URI.
fn quoted(path: &Path) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/-_.".contains(&byte);
    let quoted =
        |byte: &u8| if is_plain(*byte) { char::from(*byte).to_string() } else { format!("%{byte:02X}") };
    path.as_os_str().as_bytes().iter().map(quoted).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{reading, writing};

    #[test]
    fn a_path_is_quoted_in_a_uri() {
        assert_eq!(quoted(Path::new("/srv/a-b/2026_11.db")), "/srv/a-b/2026_11.db");
        assert_eq!(quoted(Path::new("/srv/50% off?#ö")), "/srv/50%25%20off%3F%23%C3%B6");
    }

    #[tokio::test]
    async fn a_copy_has_the_rows_and_is_continued_from_another_database() {
        let folder = tempfile::tempdir().unwrap();
        let (original, copied) = (folder.path().join("50% off.db"), folder.path().join("copy.db"));
        let mut writer = writing(&original).connect().await.unwrap();
        let rows = "CREATE TABLE a (b INTEGER); INSERT INTO a VALUES (1), (2);";
        sqlx::raw_sql(rows).execute(&mut writer).await.unwrap();
        copy(reading(&original), &copied).await.unwrap();
        assert!(copy(reading(&original), &copied).await.is_err(), "the file is not empty");
        for (name, source) in [("1.db", Source::Live(&original)), ("2.db", Source::Immutable(&copied))] {
            let target = folder.path().join(name);
            std::fs::write(&target, "").unwrap();
            let mut target = rewriting_from(&target, source).await.unwrap();
            let create = "CREATE TABLE main.a AS SELECT * FROM source.a";
            sqlx::raw_sql(create).execute(&mut target).await.unwrap();
            let sum: i64 =
                sqlx::query_scalar("SELECT sum(b) FROM main.a").fetch_one(&mut target).await.unwrap();
            assert_eq!(sum, 3);
            sqlx::query("INSERT INTO source.a VALUES (3)").execute(&mut target).await.unwrap_err();
        }
    }
}
