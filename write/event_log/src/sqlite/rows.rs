//! Values of rows.

use ::sqlite::array;
use jiff::Timestamp;
use schemas::envelope::Recorded;
use schemas::hash::Hash;
use schemas::ids::{CommandId, EventId, Position, StoreId, StreamId, StreamVersion};
use serde::Serialize;
use serde_json::value::RawValue;
use sqlx::Row;
use sqlx::sqlite::{SqliteExecutor, SqliteRow};
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
    let position = Position(row.try_get::<i64, _>(0)?.cast_unsigned());
    let damaged = |what: &str| StoreError::corrupt(format!("the event at position {position} has {what}"));
    Ok(Recorded {
        position,
        id: EventId(uuid(row.try_get(1)?)?),
        stream: row.try_get::<String, _>(2)?.try_into().map_err(|_| damaged("no stream name"))?,
        version: StreamVersion(row.try_get::<i64, _>(3)?.cast_unsigned()),
        kind: row.try_get(4)?,
        time: Timestamp::from_nanosecond(row.try_get::<i64, _>(5)?.into()).map_err(|_| damaged("no time"))?,
        actor: row.try_get::<String, _>(6)?.try_into().map_err(|_| damaged("no actor"))?,
        causation: CommandId(uuid(row.try_get(7)?)?),
        correlation: CommandId(uuid(row.try_get(8)?)?),
        hash: hash(row.try_get(9)?)?,
        traceparent: traceparent(row)?,
        data: payload(row.try_get(10)?).ok_or_else(|| damaged("a payload that is not plain JSON"))?,
    })
}

/// The trace, where it was selected; one that is malformed counts as absent.
fn traceparent(row: &SqliteRow) -> Result<Option<Traceparent>, StoreError> {
    if row.len() <= TRACEPARENT {
        return Ok(None);
    }
    Ok(row.try_get::<Option<&str>, _>(TRACEPARENT)?.and_then(|text| text.parse().ok()))
}

/// A payload has no blanks around it; reading it as JSON alone would take them away unseen.
fn payload(text: String) -> Option<Box<RawValue>> {
    let length = text.len();
    RawValue::from_string(text).ok().filter(|payload| payload.get().len() == length)
}

/// Returns the position of an event, to name it if the rest cannot be read.
pub(crate) fn position(row: &SqliteRow) -> Result<Position, StoreError> {
    Ok(Position(row.try_get::<i64, _>(0)?.cast_unsigned()))
}

/// Returns the id of the log and its last position and hash.
pub async fn log(reader: impl SqliteExecutor<'_>) -> Result<(StoreId, Head), StoreError> {
    let (store, position, bytes): (String, i64, Vec<u8>) =
        sqlx::query_as("SELECT store, position, hash FROM log").fetch_one(reader).await?;
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

/// Returns an id of 16 bytes.
pub fn uuid(bytes: &[u8]) -> Result<Uuid, StoreError> {
    Ok(Uuid::from_bytes(array(bytes, "an id")?))
}

/// Returns a hash of 32 bytes.
pub fn hash(bytes: &[u8]) -> Result<Hash, StoreError> {
    Ok(Hash(array(bytes, "a hash")?))
}
