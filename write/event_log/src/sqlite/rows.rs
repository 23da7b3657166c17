//! Reads events, claims and the head of the log from rows.

use jiff::Timestamp;
use schemas::envelope::Recorded;
use schemas::ids::{CommandId, EventId, Position, StoreId, StreamId, StreamVersion};
use serde::Serialize;
use serde_json::value::RawValue;
use sqlx::Row;
use sqlx::sqlite::{SqliteExecutor, SqliteRow};
use traceparent::Traceparent;

pub use store_file::{hash, uuid};

use crate::{Head, StoreError};

/// A statement that selects the columns which [`recorded`] reads; the last argument follows `FROM events`. Traces are selected
/// if the first of two arguments is true.
#[macro_export]
macro_rules! select_events {
    ($rest:literal) => {
        concat!(
            "SELECT position, id, stream, version, kind, time, actor, causation, correlation, hash, data ",
            "FROM events ",
            $rest
        )
    };
    ($has_traces:expr, $rest:literal) => {
        if $has_traces {
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

/// Returns the trace if it was selected; a malformed one counts as absent.
fn traceparent(row: &SqliteRow) -> Result<Option<Traceparent>, StoreError> {
    if row.len() <= TRACEPARENT {
        return Ok(None);
    }
    Ok(row.try_get::<Option<&str>, _>(TRACEPARENT)?.and_then(|text| text.parse().ok()))
}

/// Parses a payload; refuses blanks around it, which a JSON parser would strip unnoticed.
fn payload(text: String) -> Option<Box<RawValue>> {
    let length = text.len();
    RawValue::from_string(text).ok().filter(|payload| payload.get().len() == length)
}

/// Returns the position of an event, which names it if the rest is damaged.
pub(crate) fn position(row: &SqliteRow) -> Result<Position, StoreError> {
    Ok(Position(row.try_get::<i64, _>(0)?.cast_unsigned()))
}

/// Returns the id and the head of the log.
pub async fn log(reader: impl SqliteExecutor<'_>) -> Result<(StoreId, Head), StoreError> {
    let (store, position, bytes): (String, i64, Vec<u8>) =
        sqlx::query_as("SELECT store, position, hash FROM log").fetch_one(reader).await?;
    let store = store.parse().map_err(|_| StoreError::corrupt("its store id is unreadable"))?;
    Ok((store, Head { position: Position(position.cast_unsigned()), hash: hash(&bytes)? }))
}

/// Collects pairs of a claimed name and its stream.
pub(crate) fn claims<C: FromIterator<(String, StreamId)>>(
    rows: Vec<(String, String)>,
) -> Result<C, StoreError> {
    rows.into_iter().map(|(name, holder)| Ok((name, stream(holder)?))).collect()
}

/// Parses a stored stream name.
pub(crate) fn stream(text: String) -> Result<StreamId, StoreError> {
    text.try_into().map_err(|error| StoreError::corrupt(format!("{error}")))
}

/// Returns a list as JSON for `json_each`.
pub fn json<T: Serialize + ?Sized>(list: &T) -> Result<String, StoreError> {
    serde_json::to_string(list).map_err(|error| StoreError::unavailable(error.to_string()))
}
