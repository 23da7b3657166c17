//! Verifies that the log is what was written: its tables are those of a log, every event has its position and hash, none is missing
//! at the end, and every name that an event claims is held by its stream.

use std::collections::HashSet;

use ::sqlite::integer;
use futures::TryStreamExt;
use schemas::chain::Link;
use schemas::hash::Hash;
use schemas::ids::{Position, StreamId};
use schemas::versioned::{self, Decoded};
use serde::Serialize;
use sqlx::{Connection, SqliteConnection};

use super::{file, rows};
use crate::claims::{self, Holder};
use crate::{Claim, Head, StoreError, select_events};

/// The number of events with claims that one statement reads.
const PAGE: u64 = 500;

/// The number of events between two reports of progress.
const STEP: u64 = 1_000;

/// A verified log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Verified {
    /// The number of events, which is also the last position.
    pub events: u64,
    /// The hash of the last event, which covers all.
    pub hash: Hash,
}

/// The first damage in a log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, thiserror::Error)]
#[error("the log is damaged at position {position}: {reason}; restore the last backup")]
pub struct Damage {
    /// Its position; everything before is intact.
    pub position: Position,
    /// The damage, as a sentence.
    pub reason: String,
}

/// Why verification ended early.
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

/// Verifies the tables and the whole log, then SQLite's own structures, in one snapshot of the file. `progress` receives the last verified
/// position.
///
/// # Errors
///
/// Fails if the file cannot be read; damage is in the inner result.
pub async fn all(
    reader: &mut SqliteConnection,
    progress: impl FnMut(Position) + Send,
) -> Result<Result<Verified, Damage>, StoreError> {
    let mut view = reader.begin().await?;
    match whole(&mut view, progress).await {
        Ok(verified) => Ok(Ok(verified)),
        Err(Stopped::Damaged(damage)) => Ok(Err(damage)),
        Err(Stopped::Unreadable(error)) => Err(error),
    }
}

async fn whole(
    view: &mut SqliteConnection,
    progress: impl FnMut(Position) + Send,
) -> Result<Verified, Stopped> {
    let start = Head { position: Position::START, hash: Hash::GENESIS };
    schema(view, start).await?;
    let head = walk(view, start, progress).await?;
    versions(view).await?;
    structures(view, head.position).await?;
    claimed_names(view).await?;
    Ok(Verified { events: head.position.0, hash: head.hash })
}

/// Verifies the tables, and the events after a head, which need not be in the file, and returns the head after them.
///
/// # Errors
///
/// Fails if the file cannot be read; damage is in the inner result.
pub async fn after(reader: &mut SqliteConnection, start: Head) -> Result<Result<Head, Damage>, StoreError> {
    let verified = async {
        schema(reader, start).await?;
        walk(reader, start, |_| {}).await
    };
    match verified.await {
        Ok(head) => Ok(Ok(head)),
        Err(Stopped::Damaged(damage)) => Ok(Err(damage)),
        Err(Stopped::Unreadable(error)) => Err(error),
    }
}

/// Verifies the last `length` events of the log and returns its head.
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

/// Checks that nothing but the tables of a log is in the file, which could hide its events or change them later.
async fn schema(reader: &mut SqliteConnection, start: Head) -> Result<(), Stopped> {
    file::check_schema(reader).await.map_err(|error| match error {
        StoreError::Corrupt(reason) => Damage { position: start.position.next(), reason }.into(),
        StoreError::Unavailable(_) => Stopped::Unreadable(error),
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
            StoreError::Corrupt(reason) => Stopped::Damaged(damaged(&reason)),
            StoreError::Unavailable(_) => Stopped::Unreadable(error),
        };
        let Some(row) = rows.try_next().await.map_err(|error| unreadable(error.into()))? else { break };
        if rows::position(&row).map_err(unreadable)? != position {
            return Err(damaged("the event is missing").into());
        }
        if position > end.position {
            return Err(damaged("the event is after the log's end").into());
        }
        let event = rows::recorded(&row).map_err(unreadable)?;
        if Link::from(&event).hash_after(head.hash) != event.hash {
            return Err(damaged("the event does not match its hash").into());
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

/// Checks that the versions of each stream have no gap.
async fn versions(reader: &mut SqliteConnection) -> Result<(), Stopped> {
    let with_gap: Option<(String, i64)> = sqlx::query_as(
        "SELECT stream, min(position) FROM events GROUP BY stream \
         HAVING count(*) <> max(version) OR min(version) <> 1 LIMIT 1",
    )
    .fetch_optional(&mut *reader)
    .await?;
    if let Some((stream, first)) = with_gap {
        let reason = format!("the versions of the stream {stream}, which begins here, have a gap");
        return Err(Damage { position: Position(first.cast_unsigned()), reason }.into());
    }
    Ok(())
}

/// Runs SQLite's integrity check, which covers indexes and free pages, and checks that each claim has a stream.
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

struct EventClaim {
    position: Position,
    stream: StreamId,
    claim: Claim,
    holder: Holder,
}

/// Derives the claims from the events again, and checks that each is stored for its stream.
async fn claimed_names(reader: &mut SqliteConnection) -> Result<(), Stopped> {
    let mut after = Position::START;
    loop {
        let (claims, last) = claims_after(reader, after).await?;
        let holders = holders(reader, &claims).await?;
        for (EventClaim { position, stream, claim, holder }, found) in claims.iter().zip(holders) {
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

/// Returns every name that the events after a position claim.
///
/// # Errors
///
/// Fails if the file cannot be read or an event is damaged.
pub async fn names(reader: &mut SqliteConnection, mut after: Position) -> Result<HashSet<Claim>, StoreError> {
    let mut names = HashSet::new();
    loop {
        let (claims, last) = claims_after(reader, after).await.map_err(|error| match error {
            Stopped::Damaged(damage) => StoreError::corrupt(damage.to_string()),
            Stopped::Unreadable(error) => error,
        })?;
        names.extend(claims.into_iter().map(|one| one.claim));
        match last {
            Some(last) => after = last,
            None => return Ok(names),
        }
    }
}

/// Reads the claims of the next page of events; also returns the position of its last event, `None` after the last page.
async fn claims_after(
    reader: &mut SqliteConnection,
    after: Position,
) -> Result<(Vec<EventClaim>, Option<Position>), Stopped> {
    let [selected, renamed, identified, issued, recorded] = claims::KINDS.map(|kind| format!("{kind}*"));
    let rows = sqlx::query(select_events!(
        "WHERE position > ?1 AND (kind GLOB ?2 OR kind GLOB ?3 OR kind GLOB ?4 OR kind GLOB ?5 \
         OR kind GLOB ?6) ORDER BY position LIMIT ?7"
    ))
    .bind(integer(after.0))
    .bind(selected)
    .bind(renamed)
    .bind(identified)
    .bind(issued)
    .bind(recorded)
    .bind(integer(PAGE))
    .fetch_all(reader)
    .await?;
    let (mut all, mut last) = (Vec::new(), None);
    for row in &rows {
        let event = rows::recorded(row)?;
        let position = event.position;
        last = Some(position);
        let damaged = |error: versioned::Malformed| Damage { position, reason: error.to_string() };
        if let Decoded::Known(known) = event.decode().map_err(damaged)? {
            let claims = claims::all(&known, &event.stream).into_iter();
            all.extend(claims.map(|(claim, holder)| {
                let stream = event.stream.clone();
                EventClaim { position, stream, claim, holder }
            }));
        }
    }
    Ok((all, last))
}

/// Reads the stream that holds each of these names.
async fn holders(
    reader: &mut SqliteConnection,
    claims: &[EventClaim],
) -> Result<Vec<Option<String>>, StoreError> {
    let pairs: Vec<_> = claims.iter().map(|one| (one.claim.namespace.as_str(), &one.claim.name)).collect();
    sqlx::query_scalar(
        "SELECT stream FROM json_each(?1) AS pair LEFT JOIN claims \
         ON namespace = pair.value ->> 0 AND name = pair.value ->> 1 ORDER BY pair.key",
    )
    .bind(rows::json(&pairs)?)
    .fetch_all(reader)
    .await
    .map_err(StoreError::from)
}
