//! What an error of SQLite means for the caller, and values of rows that may be damaged.

/// A failure with its reason, as a sentence that says what to do.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// Temporary: a retry may succeed.
    #[error("{0}")]
    Unavailable(String),
    /// The stored data is not what was written.
    #[error("{0}")]
    Corrupt(String),
}

/// Primary result codes of SQLite; the lowest byte of each extended code is one of them.
mod code {
    pub(super) const BUSY: u32 = 5;
    pub(super) const LOCKED: u32 = 6;
    pub(super) const READ_ONLY: u32 = 8;
    pub(super) const IO_ERROR: u32 = 10;
    pub(super) const CORRUPT: u32 = 11;
    pub(super) const FULL: u32 = 13;
    pub(super) const CANNOT_OPEN: u32 = 14;
    pub(super) const NOT_A_DATABASE: u32 = 26;
}

fn code(error: &sqlx::Error) -> Option<u32> {
    let sqlx::Error::Database(database) = error else { return None };
    Some(database.code()?.parse::<u32>().ok()? & 0xff)
}

impl From<sqlx::Error> for Error {
    fn from(error: sqlx::Error) -> Error {
        if is_damage(&error) {
            return Error::Corrupt(error.to_string());
        }
        Error::Unavailable(match code(&error) {
            Some(code::BUSY | code::LOCKED) => {
                "another process holds its file; stop it, then try again".to_owned()
            }
            Some(code::READ_ONLY) => {
                "its file may not be written; check the folder's permissions".to_owned()
            }
            Some(code::IO_ERROR) => format!("the disk gives errors ({error}); check it, then try again"),
            Some(code::FULL) => "the disk is full; make room, then try again".to_owned(),
            Some(code::CANNOT_OPEN) => {
                "its file cannot be opened: also to read it, its folder must be one that this user may write to, and the \
                 process needs free file descriptors; copy a folder that cannot be written to elsewhere"
                    .to_owned()
            }
            _ => error.to_string(),
        })
    }
}

/// Returns whether an error means that the stored data is damaged: SQLite says so, a column has a value of another type, or a
/// row that every file has is missing. A full disk, a busy file and one that cannot be opened are no damage.
pub fn is_damage(error: &sqlx::Error) -> bool {
    use sqlx::Error;
    match error {
        Error::Database(_) => matches!(code(error), Some(code::CORRUPT | code::NOT_A_DATABASE)),
        Error::Decode(_)
        | Error::ColumnDecode { .. }
        | Error::ColumnNotFound(_)
        | Error::ColumnIndexOutOfBounds { .. }
        | Error::RowNotFound => true,
        _ => false,
    }
}

/// Returns a stored blob of `N` bytes; `what` names it in the error, with its article.
///
/// # Errors
///
/// Fails with [`Error::Corrupt`] if the blob has another length.
pub fn array<const N: usize>(blob: &[u8], what: &str) -> Result<[u8; N], Error> {
    blob.try_into().map_err(|_| Error::Corrupt(format!("{what} has not {N} bytes")))
}

/// Returns a count as SQLite stores it; one above `i64::MAX` becomes `i64::MAX`.
pub fn integer(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use sqlx::ConnectOptions;

    use super::*;
    use crate::{options, reading};

    #[tokio::test]
    async fn a_file_that_cannot_be_opened_has_a_reason() {
        let folder = tempfile::tempdir().unwrap();
        let error = reading(&folder.path().join("none/events.db")).connect().await.unwrap_err();
        assert!(!is_damage(&error));
        let reason = Error::from(error).to_string();
        assert!(reason.contains("its folder must be one that this user may write to"), "{reason}");
    }

    #[tokio::test]
    async fn a_file_of_another_kind_is_damage() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a.db");
        std::fs::write(&file, [b'a'; 4_096]).unwrap();
        let mut connection = options(&file).connect().await.unwrap();
        let error = sqlx::query("SELECT * FROM sqlite_schema").fetch_all(&mut connection).await.unwrap_err();
        assert!(matches!(Error::from(error), Error::Corrupt(_)));
    }

    #[test]
    fn a_blob_has_its_length_and_a_count_its_limit() {
        assert_eq!(array::<2>(&[1, 2], "an id"), Ok([1, 2]));
        let short = array::<2>(&[1], "an id").unwrap_err();
        assert_eq!(short, Error::Corrupt("an id has not 2 bytes".to_owned()));
        assert_eq!((integer(7), integer(u64::MAX)), (7, i64::MAX));
    }
}
