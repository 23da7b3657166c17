//! Recognises the files of a program by the two numbers that SQLite keeps for it in a file's header.

use std::path::Path;

use sqlx::sqlite::SqliteExecutor;
use sqlx::{AssertSqlSafe, ConnectOptions, Connection, SqliteConnection};

use crate::{Error, reading};

/// A kind of database files and the version of its tables.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileFormat {
    /// The `application_id`, which tells these files from all others.
    pub application_id: u32,
    /// The newest version of the tables that this build of the program can use, from 1; the `user_version`.
    pub version: u32,
    /// The kind of file in errors, with its article.
    pub what: &'static str,
    /// The program in errors.
    pub program: &'static str,
}

impl FileFormat {
    /// Returns the version of a file's tables; `None` for a file that is absent or empty. Does not change the file.
    ///
    /// # Errors
    ///
    /// Fails if the file cannot be read, is of another format, or is of a newer version, and with [`Error::Corrupt`] if it has a trigger
    /// or a view: a trigger changes what is written, and a view shows what is not stored.
    pub async fn check(&self, path: &Path) -> Result<Option<u32>, Error> {
        if !path.exists() {
            return Ok(None);
        }
        let mut reader = reading(path).connect().await?;
        let version = self.version_of(&mut reader, path).await?;
        reader.close().await?;
        Ok(version)
    }

    /// Returns the version of the tables in an open file; `None` if it is empty. `path` is for the error.
    ///
    /// # Errors
    ///
    /// Fails as [`FileFormat::check`] does.
    pub async fn version_of(
        &self,
        reader: impl SqliteExecutor<'_>,
        path: &Path,
    ) -> Result<Option<u32>, Error> {
        // By its statement, which SQLite carries out when it opens the file, whatever else the row says.
        let (application_id, version, tables, foreign): (i64, i64, i64, Option<String>) = sqlx::query_as(
            "SELECT application_id, user_version, (SELECT count(*) FROM sqlite_schema), \
             (SELECT name FROM sqlite_schema WHERE sql NOT LIKE 'CREATE TABLE %' AND sql NOT LIKE 'CREATE INDEX %' \
             AND sql NOT LIKE 'CREATE UNIQUE INDEX %' ORDER BY name LIMIT 1) \
             FROM pragma_application_id, pragma_user_version",
        )
        .fetch_one(reader)
        .await?;
        let FileFormat { version: known, what, program, .. } = self;
        let path = path.display();
        match u32::try_from(version) {
            Ok(0) if application_id == 0 && tables == 0 => Ok(None),
            Ok(version @ 1..) if application_id == i64::from(self.application_id) => {
                if let Some(foreign) = foreign {
                    return Err(Error::Corrupt(format!(
                        "{path} has the trigger or view “{}”, which {program} does not create",
                        foreign.escape_debug()
                    )));
                }
                if version <= *known {
                    return Ok(Some(version));
                }
                Err(Error::Unavailable(format!(
                    "{path} was written by a newer {program} (its tables have version {version}, this one knows {known}); \
                     use that one"
                )))
            }
            _ => Err(Error::Unavailable(format!("{path} is not {what} of {program}"))),
        }
    }

    /// Writes the two numbers, in the transaction that creates or migrates the tables.
    ///
    /// # Errors
    ///
    /// Fails if the file cannot be written.
    pub async fn stamp(&self, transaction: &mut SqliteConnection) -> Result<(), sqlx::Error> {
        let FileFormat { application_id, version, .. } = self;
        let pragmas = format!("PRAGMA application_id = {application_id}; PRAGMA user_version = {version};");
        sqlx::raw_sql(AssertSqlSafe(pragmas)).execute(transaction).await?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::writing;

    const FIRST: FileFormat =
        FileFormat { application_id: 0x4142_4344, version: 1, what: "a list", program: "Lists" };

    #[tokio::test]
    async fn a_file_is_recognised_by_its_format_and_version() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("list.db");
        let second = FileFormat { version: 2, ..FIRST };
        assert_eq!(FIRST.check(&file).await, Ok(None), "absent");
        let mut writer = writing(&file).connect().await.unwrap();
        assert_eq!(FIRST.check(&file).await, Ok(None), "empty");
        sqlx::raw_sql("CREATE TABLE a (b)").execute(&mut writer).await.unwrap();
        let refused = FIRST.check(&file).await.unwrap_err().to_string();
        assert!(refused.ends_with("list.db is not a list of Lists"), "{refused}");
        FIRST.stamp(&mut writer).await.unwrap();
        assert_eq!(FIRST.check(&file).await, Ok(Some(1)));
        assert_eq!(second.check(&file).await, Ok(Some(1)), "an older version");
        second.stamp(&mut writer).await.unwrap();
        let newer = FIRST.check(&file).await.unwrap_err().to_string();
        assert!(newer.contains("a newer Lists (its tables have version 2, this one knows 1)"), "{newer}");
        let other = FileFormat { application_id: 1, ..second };
        assert!(other.check(&file).await.is_err());
    }

    #[tokio::test]
    async fn a_file_with_a_trigger_or_a_view_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("list.db");
        let mut writer = writing(&file).connect().await.unwrap();
        sqlx::raw_sql("CREATE TABLE a (b UNIQUE); CREATE UNIQUE INDEX c ON a (b);")
            .execute(&mut writer)
            .await
            .unwrap();
        FIRST.stamp(&mut writer).await.unwrap();
        assert_eq!(FIRST.check(&file).await, Ok(Some(1)));
        let view = ["CREATE VIEW shown AS SELECT 1", "DROP VIEW shown"];
        let trigger =
            ["CREATE TRIGGER quiet AFTER INSERT ON a BEGIN DELETE FROM a; END", "DROP TRIGGER quiet"];
        for ([create, drop], name) in [(view, "shown"), (trigger, "quiet")] {
            sqlx::raw_sql(create).execute(&mut writer).await.unwrap();
            let refused = FIRST.check(&file).await.unwrap_err();
            let reason =
                format!("{} has the trigger or view “{name}”, which Lists does not create", file.display());
            assert_eq!(refused, Error::Corrupt(reason));
            sqlx::raw_sql(drop).execute(&mut writer).await.unwrap();
        }
        assert_eq!(FIRST.check(&file).await, Ok(Some(1)));
    }
}
