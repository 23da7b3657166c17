//! Converts rows of the ledger to values.

use std::collections::HashMap;

use jiff::Timestamp;
use schemas::control::{LedgerEntry, LedgerSource};
use schemas::ids::Position;
use schemas::month::Month;
use schemas::subject::OVERRUN;
use schemas::tier::TierName;
use schemas::usage::{Call, CallId};
use sqlx::sqlite::{SqliteExecutor, SqliteRow};
use sqlx::{Row, SqliteConnection};
use store_file::{Head, StoreError, hash, uuid};

use super::link::surface;

/// Returns a statement that selects the columns which [`entry`] reads; the argument follows `FROM entries e …`. Words are
/// left-joined, so that an entry whose word is missing is reported as damage.
macro_rules! entries {
    ($rest:literal) => {
        concat!(
            "SELECT e.position, e.id, e.key, e.month, t.word, e.time, e.surface, o.word, s.stream, e.sequence ",
            "FROM entries e LEFT JOIN words t ON t.id = e.tier LEFT JOIN words o ON o.id = e.operation ",
            "LEFT JOIN sources s ON s.id = e.source ",
            $rest
        )
    };
}
pub(super) use entries;

pub(super) fn entry(row: &SqliteRow) -> Result<LedgerEntry, StoreError> {
    let position = Position(row.try_get::<i64, _>(0)?.cast_unsigned());
    let damaged = |what: &str| {
        StoreError::corrupt(format!("the entry at position {position} of the ledger has {what}"))
    };
    let word = |index, what: &str| row.try_get::<Option<String>, _>(index)?.ok_or_else(|| damaged(what));
    let source = word(8, "no source")?;
    let call = Call {
        id: CallId(uuid(row.try_get(1)?)?),
        key_id: row.try_get::<&[u8], _>(2)?.try_into().map_err(|_| damaged("no key"))?,
        month: Month::from_number(row.try_get(3)?).ok_or_else(|| damaged("no month"))?,
        tier: tier(&word(4, "no tier")?)?,
        time: time(row.try_get(5)?)?,
        surface: surface(row.try_get(6)?).ok_or_else(|| damaged("no surface"))?,
        operation: word(7, "no operation")?,
    };
    let sequence = row.try_get::<i64, _>(9)?.cast_unsigned();
    Ok(LedgerEntry { position, call, overrun: source == OVERRUN, source, sequence })
}

pub(super) async fn head(reader: impl SqliteExecutor<'_>) -> Result<Head, StoreError> {
    let (position, bytes): (i64, Vec<u8>) =
        sqlx::query_as("SELECT position, hash FROM ledger").fetch_one(reader).await?;
    Ok(Head { position: Position(position.cast_unsigned()), hash: hash(&bytes)? })
}

/// Reads the progress of each stream: of several streams with one name, the one copied last.
pub(super) async fn sources(reader: impl SqliteExecutor<'_>) -> Result<Vec<LedgerSource>, StoreError> {
    let rows: Vec<(String, i64, i64)> =
        sqlx::query_as("SELECT stream, created, sequence FROM sources WHERE current = 1 ORDER BY stream")
            .fetch_all(reader)
            .await?;
    rows.into_iter()
        .map(|(stream, created, sequence)| {
            Ok(LedgerSource { stream, created: time(created)?, sequence: sequence.cast_unsigned() })
        })
        .collect()
}

/// Reads all words by number.
pub(super) async fn words(reader: &mut SqliteConnection) -> Result<HashMap<i64, String>, StoreError> {
    let rows: Vec<(i64, String)> = sqlx::query_as("SELECT id, word FROM words").fetch_all(reader).await?;
    Ok(rows.into_iter().collect())
}

pub(super) fn tier(text: &str) -> Result<TierName, StoreError> {
    text.parse().map_err(|error| StoreError::corrupt(format!("{error}")))
}

/// Returns a time as stored, in nanoseconds.
pub(super) fn nanoseconds(time: Timestamp) -> Option<i64> {
    i64::try_from(time.as_nanosecond()).ok()
}

pub(super) fn time(nanoseconds: i64) -> Result<Timestamp, StoreError> {
    Timestamp::from_nanosecond(nanoseconds.into())
        .map_err(|_| StoreError::corrupt("the ledger has an invalid time"))
}
