//! Proves that the log is what was written: every event in its place, under its hash, none missing at the end, and every
//! name that an event claims held by its stream.

use std::collections::HashSet;

use ::sqlite::integer;
use futures::TryStreamExt;
use schemas::chain::Link;
use schemas::hash::Hash;
use schemas::ids::{Position, StreamId};
use schemas::versioned::{self, Decoded};
use serde::Serialize;
use sqlx::{Connection, SqliteConnection};

use super::rows;
use crate::claims::{self, Holder};
use crate::{Claim, Head, StoreError, select_events};

/// How many events that claim names are looked at with one statement.
const PAGE: u64 = 500;

/// How many events are checked between two reports of progress.
const STEP: u64 = 1_000;

/// A log that was found right.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Verified {
    /// How many events it has, which is also its last position.
    pub events: u64,
    /// The hash of the last one, which covers all.
    pub hash: Hash,
}

/// The first thing in a log that is not as it was written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, thiserror::Error)]
#[error("the log is damaged at position {position}: {reason}; restore the last backup")]
pub struct Damage {
    /// Where; everything before is right.
    pub position: Position,
    /// What is wrong there.
    pub reason: String,
}

/// Why a walk ends early.
#[derive(Debug, thiserror::Error)]
enum Stopped {
    #[error(transparent)]
    Damaged(#[from] Damage),
    #[error(transparent)]
    Unreadable(#[from] StoreError),
}

impl From<sqlx::Error> for Stopped {
    fn from(error: sqlx::Error) -> Stopped {
        StoreError::from(error).into()
    }
}

/// Checks the whole log, then SQLite's own structures, all in one view of the file.
pub async fn all(
    reader: &mut SqliteConnection,
    progress: impl FnMut(Position) + Send,
) -> Result<Result<Verified, Damage>, StoreError> {
    let mut view = reader.begin().await?;
    match proof(&mut view, progress).await {
        Ok(verified) => Ok(Ok(verified)),
        Err(Stopped::Damaged(damage)) => Ok(Err(damage)),
        Err(Stopped::Unreadable(error)) => Err(error),
    }
}

async fn proof(
    view: &mut SqliteConnection,
    progress: impl FnMut(Position) + Send,
) -> Result<Verified, Stopped> {
    let start = Head { position: Position::START, hash: Hash::GENESIS };
    let head = walk(view, start, progress).await?;
    versions(view).await?;
    structures(view, head.position).await?;
    claimed_names(view).await?;
    Ok(Verified { events: head.position.0, hash: head.hash })
}

/// Checks the events behind a head, which need not be in the file, and returns where they end.
pub async fn behind(reader: &mut SqliteConnection, start: Head) -> Result<Result<Head, Damage>, StoreError> {
    match walk(reader, start, |_| {}).await {
        Ok(head) => Ok(Ok(head)),
        Err(Stopped::Damaged(damage)) => Ok(Err(damage)),
        Err(Stopped::Unreadable(error)) => Err(error),
    }
}

/// Checks the last events of the log and says where it ends.
pub(crate) async fn tail(reader: &mut SqliteConnection, length: u64) -> Result<Head, StoreError> {
    let (_, end) = rows::log(&mut *reader).await?;
    let before = Position(end.position.0.saturating_sub(length));
    let start = match before {
        Position::START => Head { position: before, hash: Hash::GENESIS },
        position => Head { position, hash: hash_at(reader, position).await? },
    };
    walk(reader, start, |_| {}).await.map_err(|error| match error {
        Stopped::Damaged(Damage { position, reason }) => {
            StoreError::corrupt(format!("{reason} (position {position})"))
        }
        Stopped::Unreadable(error) => error,
    })
}

async fn hash_at(reader: &mut SqliteConnection, position: Position) -> Result<Hash, StoreError> {
    let row = sqlx::query(select_events!("WHERE position = ?1"))
        .bind(integer(position.0))
        .fetch_optional(reader)
        .await?
        .ok_or_else(|| StoreError::corrupt(format!("the event at position {position} is missing")))?;
    rows::recorded(&row).map(|event| event.hash)
}

async fn walk(
    reader: &mut SqliteConnection,
    start: Head,
    mut progress: impl FnMut(Position) + Send,
) -> Result<Head, Stopped> {
    let (_, end) = rows::log(&mut *reader).await?;
    let mut rows = sqlx::query(select_events!("WHERE position > ?1 ORDER BY position"))
        .bind(integer(start.position.0))
        .fetch(&mut *reader);
    let mut head = start;
    loop {
        let position = head.position.next();
        let damaged = |reason: &str| Damage { position, reason: reason.to_owned() };
        let unreadable = |error| match error {
            StoreError::Corrupt { reason } => Stopped::Damaged(damaged(&reason)),
            StoreError::Unavailable { .. } => Stopped::Unreadable(error),
        };
        let Some(row) = rows.try_next().await.map_err(|error| unreadable(error.into()))? else { break };
        if rows::position(&row).map_err(unreadable)? != position {
            return Err(damaged("the event is missing").into());
        }
        if position > end.position {
            return Err(damaged("the event stands behind the log's end").into());
        }
        let event = rows::recorded(&row).map_err(unreadable)?;
        if Link::from(&event).hash_after(head.hash) != event.hash {
            return Err(damaged("the event is not what its hash was made of").into());
        }
        head = Head { position, hash: event.hash };
        if position.0.is_multiple_of(STEP) {
            progress(position);
        }
    }
    progress(head.position);
    if head.position < end.position {
        return Err(Damage { position: head.position.next(), reason: "the event is missing".into() }.into());
    }
    if head.hash != end.hash {
        let reason = "the log's end has another hash than its last event".to_owned();
        return Err(Damage { position: head.position, reason }.into());
    }
    Ok(head)
}

/// Finds streams whose versions have a hole.
async fn versions(reader: &mut SqliteConnection) -> Result<(), Stopped> {
    let holed: Option<(String, i64)> = sqlx::query_as(
        "SELECT stream, min(position) FROM events GROUP BY stream \
         HAVING count(*) <> max(version) OR min(version) <> 1 LIMIT 1",
    )
    .fetch_optional(&mut *reader)
    .await?;
    if let Some((stream, first)) = holed {
        let reason = format!("the versions of the stream {stream}, which begins here, have a hole");
        return Err(Damage { position: Position(first.cast_unsigned()), reason }.into());
    }
    Ok(())
}

/// SQLite's own check of the file finds what the events do not show: indexes, claims, free pages.
async fn structures(reader: &mut SqliteConnection, position: Position) -> Result<(), Stopped> {
    let found: String = sqlx::query_scalar("PRAGMA integrity_check(1)").fetch_one(&mut *reader).await?;
    if found != "ok" {
        return Err(Damage { position, reason: found }.into());
    }
    let lost: Option<String> = sqlx::query_scalar(
        "SELECT name FROM claims c WHERE NOT EXISTS (SELECT 1 FROM events WHERE stream = c.stream) LIMIT 1",
    )
    .fetch_optional(reader)
    .await?;
    match lost {
        None => Ok(()),
        Some(name) => {
            Err(Damage { position, reason: format!("the name “{name}” is claimed by no stream") }.into())
        }
    }
}

/// A name that an event claims, as the log has it.
struct Named {
    position: Position,
    stream: StreamId,
    claim: Claim,
    holder: Holder,
}

/// Makes the claims again from the events, and finds one that is not kept or is kept for another stream.
async fn claimed_names(reader: &mut SqliteConnection) -> Result<(), Stopped> {
    let mut after = Position::START;
    loop {
        let (named, last) = names_after(reader, after).await?;
        let holders = holders(reader, &named).await?;
        for (Named { position, stream, claim, holder }, found) in named.iter().zip(holders) {
            let name = &claim.name;
            let reason = match found {
                Some(found) if *holder == Holder::First || found == stream.as_str() => continue,
                Some(found) => {
                    format!("the name “{name}” that the event claims for {stream} is held by {found}")
                }
                None => format!("the name “{name}” that the event claims is not held"),
            };
            return Err(Damage { position: *position, reason }.into());
        }
        match last {
            Some(last) => after = last,
            None => return Ok(()),
        }
    }
}

/// Returns every name that the events behind a position claim.
pub async fn names(reader: &mut SqliteConnection, mut after: Position) -> Result<HashSet<Claim>, StoreError> {
    let mut names = HashSet::new();
    loop {
        let (named, last) = names_after(reader, after).await.map_err(|error| match error {
            Stopped::Damaged(damage) => StoreError::corrupt(damage.to_string()),
            Stopped::Unreadable(error) => error,
        })?;
        names.extend(named.into_iter().map(|named| named.claim));
        match last {
            Some(last) => after = last,
            None => return Ok(names),
        }
    }
}

/// Reads the names that the next events claim, and the position of the last event that was looked at, if there was any.
async fn names_after(
    reader: &mut SqliteConnection,
    after: Position,
) -> Result<(Vec<Named>, Option<Position>), Stopped> {
    let [selected, renamed, issued, recorded] = claims::KINDS.map(|kind| format!("{kind}*"));
    let rows = sqlx::query(select_events!(
        "WHERE position > ?1 AND (kind GLOB ?2 OR kind GLOB ?3 OR kind GLOB ?4 OR kind GLOB ?5) \
         ORDER BY position LIMIT ?6"
    ))
    .bind(integer(after.0))
    .bind(selected)
    .bind(renamed)
    .bind(issued)
    .bind(recorded)
    .bind(integer(PAGE))
    .fetch_all(reader)
    .await?;
    let (mut named, mut last) = (Vec::new(), None);
    for row in &rows {
        let event = rows::recorded(row)?;
        let position = event.position;
        last = Some(position);
        let damaged = |error: versioned::Malformed| Damage { position, reason: error.to_string() };
        if let Decoded::Known(known) = event.decode().map_err(damaged)? {
            let claims = claims::all(&known, &event.stream).into_iter();
            named.extend(claims.map(|(claim, holder)| {
                let stream = event.stream.clone();
                Named { position, stream, claim, holder }
            }));
        }
    }
    Ok((named, last))
}

/// Reads who holds each of these names.
async fn holders(reader: &mut SqliteConnection, named: &[Named]) -> Result<Vec<Option<String>>, StoreError> {
    let pairs: Vec<_> = named.iter().map(|one| (one.claim.namespace.as_str(), &one.claim.name)).collect();
    sqlx::query_scalar(
        "SELECT stream FROM json_each(?1) AS pair LEFT JOIN claims \
         ON namespace = pair.value ->> 0 AND name = pair.value ->> 1 ORDER BY pair.key",
    )
    .bind(rows::json(&pairs)?)
    .fetch_all(reader)
    .await
    .map_err(StoreError::from)
}
