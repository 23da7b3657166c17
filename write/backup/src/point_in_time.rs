//! Point-in-time restore: truncates the copy of a log after a point, with the names that only the removed events claimed.

use std::collections::{BTreeSet, HashSet};
use std::fs::{self, File};
use std::path::Path;
use std::str::FromStr;

use event_log::select_events;
use event_log::sqlite::rows;
use event_log::sqlite::verify;
use event_log::{Claim, Head, Namespace, StoreError};
use futures::TryStreamExt;
use jiff::Timestamp;
use schemas::account::AccountEvent;
use schemas::envelope::Recorded;
use schemas::event::Event;
use schemas::hash::Hash;
use schemas::ids::Position;
use schemas::key::KeyId;
use schemas::picture::PictureId;
use schemas::versioned::Decoded;
use serde::Serialize;
use sqlite::{integer, rewriting, vacuum_into};
use sqlx::{ConnectOptions, Connection, SqliteConnection};

use super::{BackupError, at};

/// The last event of a log to be restored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RestorePoint {
    /// The event at a position.
    Position(Position),
    /// The last event that was recorded at or before a time.
    Time(Timestamp),
}

impl FromStr for RestorePoint {
    type Err = String;

    fn from_str(text: &str) -> Result<RestorePoint, String> {
        match (text.parse::<u64>(), text.parse()) {
            (Ok(0), _) => Err("the first event is at position 1".to_owned()),
            (Ok(position), _) => Ok(RestorePoint::Position(Position(position))),
            (_, Ok(time)) => Ok(RestorePoint::Time(time)),
            _ => Err("give the position of an event such as 4711, or a time with its zone such as \
                      2026-11-23T03:20:00Z or 2026-11-23T04:20:00+01:00"
                .to_owned()),
        }
    }
}

/// The end of a log that was restored up to an earlier point.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Truncation {
    /// The position of its last event.
    pub position: Position,
    /// The hash of that event.
    pub hash: Hash,
    /// When it was recorded.
    pub time: Timestamp,
    /// The events of the backup after it.
    pub left_out: LeftOut,
}

/// The events of a backup that were not restored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LeftOut {
    /// The number of events.
    pub events: u64,
    /// The position of the first.
    pub from: Position,
    /// When the first was recorded.
    pub time: Timestamp,
    /// Keys that these events revoked and that are valid again.
    pub revoked_keys: BTreeSet<KeyId>,
}

/// Removes the events after a point from the copy of a log, through a temporary file in the same folder; `None` if there are none.
/// `created` is when the backup was created.
pub(super) async fn truncate(
    log: &Path,
    temporary: &Path,
    until: RestorePoint,
    created: Timestamp,
) -> Result<Option<Truncation>, BackupError> {
    let mut writer = rewriting(log).connect().await?;
    let (_, head) = rows::log(&mut writer).await?;
    let last = last_event(&mut writer, head, until, created).await?;
    if last.position == head.position {
        writer.close().await?;
        return Ok(None);
    }
    let truncation = delete_after(&mut writer, head, &last).await?;
    // No byte of the removed events stays in the file.
    vacuum_into(&mut writer, temporary).await?;
    writer.close().await?;
    fs::rename(temporary, log).and_then(|()| File::open(log)?.sync_all()).map_err(at(log))?;
    Ok(Some(truncation))
}

async fn last_event(
    reader: &mut SqliteConnection,
    head: Head,
    until: RestorePoint,
    created: Timestamp,
) -> Result<Recorded, BackupError> {
    let refused = |reason: String| BackupError::RestorePoint(reason);
    if head.position == Position::START {
        return Err(refused("the backup has no events; leave --until out".to_owned()));
    }
    let position = match until {
        RestorePoint::Position(position) if position == Position::START || position > head.position => {
            let end = head.position;
            return Err(refused(format!(
                "the backup has the positions 1 to {end}, and not {position}; name one of these, or take a newer backup"
            )));
        }
        RestorePoint::Position(position) => position,
        // If the clock was set back, the backup may have been created before its last event.
        RestorePoint::Time(time) if time > created.max(event_at(reader, head.position).await?.time) => {
            return Err(refused(format!(
                "the backup was made on {created} and has nothing of what was recorded until {time}; take a newer \
                 backup, or leave --until out to restore all that it has"
            )));
        }
        RestorePoint::Time(time) => match position_at(reader, time).await? {
            Some(position) => position,
            None => {
                let first = event_at(reader, Position(1)).await?.time;
                return Err(refused(format!(
                    "the first event of the backup was recorded on {first}, after {time}; name a later time"
                )));
            }
        },
    };
    Ok(event_at(reader, position).await?)
}

async fn position_at(reader: &mut SqliteConnection, time: Timestamp) -> Result<Option<Position>, StoreError> {
    // A time outside the range of the column is before or after all events.
    let limit = if time.as_nanosecond() < 0 { i64::MIN } else { i64::MAX };
    let nanoseconds = i64::try_from(time.as_nanosecond()).unwrap_or(limit);
    let found: Option<i64> = sqlx::query_scalar("SELECT max(position) FROM events WHERE time <= ?1")
        .bind(nanoseconds)
        .fetch_one(reader)
        .await?;
    Ok(found.map(|position| Position(position.cast_unsigned())))
}

async fn event_at(reader: &mut SqliteConnection, position: Position) -> Result<Recorded, StoreError> {
    let row = sqlx::query(select_events!("WHERE position = ?1"))
        .bind(integer(position.0))
        .fetch_one(reader)
        .await?;
    rows::recorded(&row)
}

/// Deletes the events after `last`, and the names that no other event claims.
async fn delete_after(
    writer: &mut SqliteConnection,
    head: Head,
    last: &Recorded,
) -> Result<Truncation, BackupError> {
    let from = event_at(writer, last.position.next()).await?;
    let mut released = verify::names(writer, last.position).await?;
    let revoked = revoked(writer, last.position).await?;
    sqlx::query("DELETE FROM events WHERE position > ?1")
        .bind(integer(last.position.0))
        .execute(&mut *writer)
        .await?;
    let remaining = verify::names(writer, Position::START).await?;
    released.retain(|claim| !remaining.contains(claim));
    release(writer, &released).await?;
    sqlx::query("UPDATE log SET position = ?1, hash = ?2")
        .bind(integer(last.position.0))
        .bind(last.hash.0.as_slice())
        .execute(&mut *writer)
        .await?;
    let is_issued =
        |key: &KeyId| remaining.contains(&Claim { namespace: Namespace::KEY, name: key.to_string() });
    let left_out = LeftOut {
        events: head.position.0 - last.position.0,
        from: from.position,
        time: from.time,
        revoked_keys: revoked.into_iter().filter(is_issued).collect(),
    };
    Ok(Truncation { position: last.position, hash: last.hash, time: last.time, left_out })
}

/// Deletes these claims, and those of streams that no longer have an event.
async fn release(writer: &mut SqliteConnection, names: &HashSet<Claim>) -> Result<(), StoreError> {
    let pairs: Vec<_> = names.iter().map(|claim| (claim.namespace.as_str(), &claim.name)).collect();
    sqlx::query(
        "DELETE FROM claims WHERE (namespace, name) IN (SELECT value ->> 0, value ->> 1 FROM json_each(?1)) \
         OR NOT EXISTS (SELECT 1 FROM events WHERE stream = claims.stream)",
    )
    .bind(rows::json(&pairs)?)
    .execute(writer)
    .await?;
    Ok(())
}

async fn revoked(reader: &mut SqliteConnection, after: Position) -> Result<Vec<KeyId>, BackupError> {
    let revoked = |event| match event {
        Event::Account(AccountEvent::KeyRevoked(revoked)) => Some(revoked.key_id),
        _ => None,
    };
    values_of(reader, "loggia.account.key_revoked.*", after, revoked).await
}

/// Returns every picture that a truncated log names.
pub(super) async fn pictures(log: &Path) -> Result<BTreeSet<PictureId>, BackupError> {
    let mut reader = rewriting(log).connect().await?;
    let attached = |event| match event {
        Event::PictureAttached(attached) => Some(attached.picture.id),
        _ => None,
    };
    let found =
        values_of(&mut reader, "loggia.curation.picture_attached.*", Position::START, attached).await?;
    reader.close().await?;
    Ok(found.into_iter().collect())
}

/// Returns a value of each event of a kind after a position.
async fn values_of<T>(
    reader: &mut SqliteConnection,
    kind: &str,
    after: Position,
    value: impl Fn(Event) -> Option<T>,
) -> Result<Vec<T>, BackupError> {
    let mut rows = sqlx::query(select_events!("WHERE position > ?1 AND kind GLOB ?2 ORDER BY position"))
        .bind(integer(after.0))
        .bind(kind)
        .fetch(reader);
    let mut found = Vec::new();
    while let Some(row) = rows.try_next().await? {
        let event = rows::recorded(&row)?;
        let decoded = event.decode().map_err(|error| StoreError::corrupt(error.to_string()))?;
        if let Decoded::Known(event) = decoded {
            found.extend(value(*event));
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_restore_point_is_a_position_or_a_time_with_its_zone() {
        let time = "2026-11-23T03:20:00Z".parse().unwrap();
        assert_eq!("4711".parse(), Ok(RestorePoint::Position(Position(4_711))));
        assert_eq!("2026-11-23T03:20:00Z".parse(), Ok(RestorePoint::Time(time)));
        assert_eq!("2026-11-23T04:20:00+01:00".parse(), Ok(RestorePoint::Time(time)));
        assert_eq!("0".parse::<RestorePoint>().unwrap_err(), "the first event is at position 1");
        for wrong in ["", "-1", "yesterday", "2026-11-23", "2026-11-23T03:20:00"] {
            let error = wrong.parse::<RestorePoint>().unwrap_err();
            assert!(
                error.contains("such as 4711") && error.contains("2026-11-23T03:20:00Z"),
                "{wrong}: {error}"
            );
        }
    }
}
