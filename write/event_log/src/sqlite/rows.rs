//! Values of rows, and what errors of SQLite mean.

use jiff::Timestamp;
use schemas::envelope::Recorded;
use schemas::hash::Hash;
use schemas::ids::{CommandId, EventId, Position, StoreId, StreamId, StreamVersion};
use serde::Serialize;
use serde_json::value::RawValue;
use sqlx::sqlite::{SqliteExecutor, SqliteRow};
use sqlx::{Decode, Row, Sqlite, Type};
use traces::Traceparent;
use uuid::Uuid;

use crate::{Head, StoreError};

/// A statement that selects events in the columns that [`recorded`] reads, with what follows `FROM events`: without their
/// traces, or with them where the file keeps traces.
#[macro_export]
macro_rules! select_events {
    ($rest:literal) => {
        concat!(
            "SELECT position, id, stream, version, kind, time, actor, causation, correlation, hash, data ",
            "FROM events ",
            $rest
        )
    };
    ($keeps_traces:expr, $rest:literal) => {
        if $keeps_traces {
            concat!(
                "SELECT position, id, stream, version, kind, time, actor, causation, correlation, hash, data, ",
                "traceparent FROM events ",
                $rest
            )
        } else {
            $crate::select_events!($rest)
        }
    };
}

/// The column of the trace.
const TRACEPARENT: usize = 11;

/// Returns the event of a row.
pub fn recorded(row: &SqliteRow) -> Result<Recorded, StoreError> {
    let position = Position(column::<i64>(row, 0)?.cast_unsigned());
    let damaged = |what: &str| StoreError::corrupt(format!("the event at position {position} has {what}"));
    Ok(Recorded {
        position,
        id: EventId(uuid(column(row, 1)?)?),
        stream: column::<String>(row, 2)?.try_into().map_err(|_| damaged("no stream name"))?,
        version: StreamVersion(column::<i64>(row, 3)?.cast_unsigned()),
        kind: column(row, 4)?,
        time: Timestamp::from_nanosecond(column::<i64>(row, 5)?.into()).map_err(|_| damaged("no time"))?,
        actor: column::<String>(row, 6)?.try_into().map_err(|_| damaged("no actor"))?,
        causation: CommandId(uuid(column(row, 7)?)?),
        correlation: CommandId(uuid(column(row, 8)?)?),
        hash: hash(column(row, 9)?)?,
        traceparent: traceparent(row)?,
        data: payload(column(row, 10)?).ok_or_else(|| damaged("a payload that is not plain JSON"))?,
    })
}

/// The trace, where it was selected; one that is malformed counts as absent.
fn traceparent(row: &SqliteRow) -> Result<Option<Traceparent>, StoreError> {
    if row.len() <= TRACEPARENT {
        return Ok(None);
    }
    Ok(column::<Option<&str>>(row, TRACEPARENT)?.and_then(|text| text.parse().ok()))
}

/// A payload has no blanks around it; reading it as JSON alone would take them away unseen.
fn payload(text: String) -> Option<Box<RawValue>> {
    let length = text.len();
    RawValue::from_string(text).ok().filter(|payload| payload.get().len() == length)
}

/// Returns the position of an event, to name it if the rest cannot be read.
pub(crate) fn position(row: &SqliteRow) -> Result<Position, StoreError> {
    column::<i64>(row, 0).map(|position| Position(position.cast_unsigned()))
}

/// Returns the id of the log and its last position and hash.
pub async fn log(reader: impl SqliteExecutor<'_>) -> Result<(StoreId, Head), StoreError> {
    let (store, position, bytes): (String, i64, Vec<u8>) =
        sqlx::query_as("SELECT store, position, hash FROM log").fetch_one(reader).await.map_err(failure)?;
    let store = store.parse().map_err(|_| StoreError::corrupt("its store id is unreadable"))?;
    Ok((store, Head { position: Position(position.cast_unsigned()), hash: hash(&bytes)? }))
}

/// Reads pairs of a claimed name and its stream.
pub(crate) fn claims<C: FromIterator<(String, StreamId)>>(
    rows: Vec<(String, String)>,
) -> Result<C, StoreError> {
    rows.into_iter().map(|(name, holder)| Ok((name, stream(holder)?))).collect()
}

/// Returns the stream of a stored name.
pub(crate) fn stream(text: String) -> Result<StreamId, StoreError> {
    text.try_into().map_err(|error| StoreError::corrupt(format!("{error}")))
}

/// Returns a list as JSON for `json_each`.
pub fn json<T: Serialize + ?Sized>(list: &T) -> Result<String, StoreError> {
    serde_json::to_string(list).map_err(|error| StoreError::unavailable(error.to_string()))
}

/// Returns a count as SQLite stores it; one above the limit becomes the limit.
pub fn integer(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

/// Returns an error of SQLite as the event log's, with what to do about it.
#[expect(clippy::needless_pass_by_value, reason = "it stands in map_err")]
pub fn failure(error: sqlx::Error) -> StoreError {
    let code = match &error {
        sqlx::Error::Database(database) => database.code().and_then(|code| code.parse::<u32>().ok()),
        sqlx::Error::ColumnDecode { .. } | sqlx::Error::Decode(_) | sqlx::Error::RowNotFound => {
            return StoreError::corrupt(error.to_string());
        }
        _ => None,
    };
    // The low byte is the primary code; the rest says more of the same kind.
    match code.map(|code| code & 0xff) {
        Some(5 | 6) => StoreError::unavailable("another process holds its file; stop it, then try again"),
        Some(8) => StoreError::unavailable("its file may not be written; check the folder's permissions"),
        Some(10) => {
            StoreError::unavailable(format!("the disk gives errors ({error}); check it, then try again"))
        }
        Some(11 | 26) => StoreError::corrupt(error.to_string()),
        Some(14) => StoreError::unavailable(
            "its file cannot be opened: also to read it, its folder must be one that this user may write to, and the process \
             needs free file descriptors; copy a folder that cannot be written to elsewhere",
        ),
        Some(13) => StoreError::unavailable("the disk is full; make room, then try again"),
        _ => StoreError::unavailable(error.to_string()),
    }
}

/// Returns the value of a column.
pub fn column<'r, T: Decode<'r, Sqlite> + Type<Sqlite>>(
    row: &'r SqliteRow,
    index: usize,
) -> Result<T, StoreError> {
    row.try_get(index).map_err(failure)
}

/// Returns an id of 16 bytes.
pub fn uuid(bytes: &[u8]) -> Result<Uuid, StoreError> {
    Uuid::from_slice(bytes).map_err(|_| StoreError::corrupt("an id has not 16 bytes"))
}

/// Returns a hash of 32 bytes.
pub fn hash(bytes: &[u8]) -> Result<Hash, StoreError> {
    bytes.try_into().map(Hash).map_err(|_| StoreError::corrupt("a hash has not 32 bytes"))
}

#[cfg(test)]
mod tests {
    use sqlx::ConnectOptions;

    use super::*;
    use crate::sqlite::file;

    #[tokio::test]
    async fn a_file_that_cannot_be_opened_has_a_reason() {
        let folder = tempfile::tempdir().unwrap();
        let error = file::reading(&folder.path().join("none/events.db")).connect().await.unwrap_err();
        let said = failure(error).to_string();
        assert!(said.contains("its folder must be one that this user may write to"), "{said}");
    }
}
