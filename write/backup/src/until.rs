//! A log that is restored up to an earlier point: what was recorded after it is removed from the copy, with the names that
//! only those events claimed.

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

/// The last event of a log that is restored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Until {
    /// The one at a position.
    Position(Position),
    /// The last one that was recorded at or before a time.
    Time(Timestamp),
}

impl FromStr for Until {
    type Err = String;

    fn from_str(text: &str) -> Result<Until, String> {
        match (text.parse::<u64>(), text.parse()) {
            (Ok(0), _) => Err("the first event is at position 1".to_owned()),
            (Ok(position), _) => Ok(Until::Position(Position(position))),
            (_, Ok(time)) => Ok(Until::Time(time)),
            _ => Err("give the position of an event such as 4711, or a time with its zone such as \
                      2026-11-23T03:20:00Z or 2026-11-23T04:20:00+01:00"
                .to_owned()),
        }
    }
}

/// Where a log ends that was restored up to an earlier point.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Cut {
    /// The position of its last event.
    pub position: Position,
    /// The hash of that event.
    pub hash: Hash,
    /// When it was recorded.
    pub time: Timestamp,
    /// What the backup has besides.
    pub left_out: LeftOut,
}

/// The events of a backup that were not restored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LeftOut {
    /// How many there are.
    pub events: u64,
    /// The position of the first.
    pub from: Position,
    /// When that was recorded.
    pub time: Timestamp,
    /// Keys that these events revoked: they are valid again.
    pub revoked_keys: BTreeSet<KeyId>,
}

/// Removes from the copy of a log what comes after a point, with a file beside it that is not there yet; `None` where
/// nothing does. `created` is when the backup was made.
pub(super) async fn cut(
    log: &Path,
    aside: &Path,
    until: Until,
    created: Timestamp,
) -> Result<Option<Cut>, BackupError> {
    let mut writer = rewriting(log).connect().await?;
    let (_, head) = rows::log(&mut writer).await?;
    let last = last_event(&mut writer, head, until, created).await?;
    if last.position == head.position {
        writer.close().await?;
        return Ok(None);
    }
    let cut = shorten(&mut writer, head, &last).await?;
    // Nothing of the removed events stays in the file.
    vacuum_into(&mut writer, aside).await?;
    writer.close().await?;
    fs::rename(aside, log).and_then(|()| File::open(log)?.sync_all()).map_err(at(log))?;
    Ok(Some(cut))
}

/// The last event of the log up to a point.
async fn last_event(
    reader: &mut SqliteConnection,
    head: Head,
    until: Until,
    created: Timestamp,
) -> Result<Recorded, BackupError> {
    let refused = |reason: String| BackupError::Until { reason };
    if head.position == Position::START {
        return Err(refused("the backup has no events; leave --until out".to_owned()));
    }
    let position = match until {
        Until::Position(position) if position == Position::START || position > head.position => {
            let end = head.position;
            return Err(refused(format!(
                "the backup has the positions 1 to {end}, and not {position}; name one of these, or take a newer backup"
            )));
        }
        Until::Position(position) => position,
        // A clock that was set back may have made the backup before its last event.
        Until::Time(time) if time > created.max(event_at(reader, head.position).await?.time) => {
            return Err(refused(format!(
                "the backup was made on {created} and has nothing of what was recorded until {time}; take a newer \
                 backup, or leave --until out to restore all that it has"
            )));
        }
        Until::Time(time) => match recorded_by(reader, time).await? {
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

async fn recorded_by(reader: &mut SqliteConnection, time: Timestamp) -> Result<Option<Position>, StoreError> {
    // What lies outside of the years that the column can hold is before or after all events.
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

/// Removes the events after the last one, and the names that no other event claims.
async fn shorten(writer: &mut SqliteConnection, head: Head, last: &Recorded) -> Result<Cut, BackupError> {
    let from = event_at(writer, last.position.next()).await?;
    let mut gone = verify::names(writer, last.position).await?;
    let revoked = revoked(writer, last.position).await?;
    sqlx::query("DELETE FROM events WHERE position > ?1")
        .bind(integer(last.position.0))
        .execute(&mut *writer)
        .await?;
    let kept = verify::names(writer, Position::START).await?;
    gone.retain(|claim| !kept.contains(claim));
    release(writer, &gone).await?;
    sqlx::query("UPDATE log SET position = ?1, hash = ?2")
        .bind(integer(last.position.0))
        .bind(last.hash.0.as_slice())
        .execute(&mut *writer)
        .await?;
    let is_there = |key: &KeyId| kept.contains(&Claim { namespace: Namespace::KEY, name: key.to_string() });
    let left_out = LeftOut {
        events: head.position.0 - last.position.0,
        from: from.position,
        time: from.time,
        revoked_keys: revoked.into_iter().filter(is_there).collect(),
    };
    Ok(Cut { position: last.position, hash: last.hash, time: last.time, left_out })
}

/// Removes these names, and those of streams that have no event any more.
async fn release(writer: &mut SqliteConnection, gone: &HashSet<Claim>) -> Result<(), StoreError> {
    let pairs: Vec<_> = gone.iter().map(|claim| (claim.namespace.as_str(), &claim.name)).collect();
    sqlx::query(
        "DELETE FROM claims WHERE (namespace, name) IN (SELECT value ->> 0, value ->> 1 FROM json_each(?1)) \
         OR NOT EXISTS (SELECT 1 FROM events WHERE stream = claims.stream)",
    )
    .bind(rows::json(&pairs)?)
    .execute(writer)
    .await?;
    Ok(())
}

/// The keys that are revoked after a position.
async fn revoked(reader: &mut SqliteConnection, after: Position) -> Result<Vec<KeyId>, BackupError> {
    let revoked = |event| match event {
        Event::Account(AccountEvent::KeyRevoked(revoked)) => Some(revoked.key_id),
        _ => None,
    };
    each(reader, "loggia.account.key_revoked.*", after, revoked).await
}

/// Every picture that the log of a restored copy names.
pub(super) async fn pictures(log: &Path) -> Result<BTreeSet<PictureId>, BackupError> {
    let mut reader = rewriting(log).connect().await?;
    let attached = |event| match event {
        Event::PictureAttached(attached) => Some(attached.picture.id),
        _ => None,
    };
    let found = each(&mut reader, "loggia.curation.picture_attached.*", Position::START, attached).await?;
    reader.close().await?;
    Ok(found.into_iter().collect())
}

/// What each event of a kind says behind a position.
async fn each<T>(
    reader: &mut SqliteConnection,
    kind: &str,
    after: Position,
    wanted: impl Fn(Event) -> Option<T>,
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
            found.extend(wanted(*event));
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_point_is_a_position_or_a_time_with_its_zone() {
        let time = "2026-11-23T03:20:00Z".parse().unwrap();
        assert_eq!("4711".parse(), Ok(Until::Position(Position(4_711))));
        assert_eq!("2026-11-23T03:20:00Z".parse(), Ok(Until::Time(time)));
        assert_eq!("2026-11-23T04:20:00+01:00".parse(), Ok(Until::Time(time)));
        assert_eq!("0".parse::<Until>().unwrap_err(), "the first event is at position 1");
        for wrong in ["", "-1", "yesterday", "2026-11-23", "2026-11-23T03:20:00"] {
            let error = wrong.parse::<Until>().unwrap_err();
            assert!(
                error.contains("such as 4711") && error.contains("2026-11-23T03:20:00Z"),
                "{wrong}: {error}"
            );
        }
    }
}
