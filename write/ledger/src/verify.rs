//! Verifies and recounts the ledger: its tables are those of a ledger, every entry has its position and hash, and none is missing at the end. Several readers each
//! verify a part, starting from the hash that the part before it proves.

mod structures;

use std::collections::HashMap;

use futures::TryStreamExt;
use schemas::hash::Hash;
use schemas::ids::Position;
use schemas::key::KeyId;
use schemas::month::Month;
use schemas::subject::OVERRUN;
use serde::Serialize;
use sqlite::integer;
use sqlx::sqlite::SqliteRow;
use sqlx::{Connection, Row, SqliteConnection, SqlitePool};
use store_file::{Head, StoreError, hash};
use tokio::sync::mpsc;
use tokio::task::JoinSet;

use super::link::{Link, Source, surface};
use super::{Totals, Used, file, rows};
use crate::usage_streams::Allowance;
use structures::{check_against_index, count_index};

/// The number of entries between two reports of progress.
const STEP: u64 = 10_000;

/// The number of concurrent readers; one more checks the file meanwhile.
pub(super) const PARTS: u64 = 3;

/// A verified ledger and its totals.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recount {
    /// The number of entries, which is also the last position.
    pub entries: u64,
    /// The hash of the last entry, which covers all.
    pub hash: Hash,
    /// The totals by key, month and tier.
    pub totals: Totals,
}

/// The first damage in a ledger.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, thiserror::Error)]
#[error("the ledger is damaged at position {position}: {reason}; restore the last backup")]
pub struct Damage {
    /// Its position; everything before is intact.
    pub position: Position,
    /// The damage, as a sentence.
    pub reason: String,
}

/// Why verification ended early.
#[derive(Debug, thiserror::Error)]
pub(super) enum Stopped {
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

/// Words and sources of the ledger by number, and counts by the same numbers.
#[derive(Debug, Clone, Default)]
struct Names {
    words: HashMap<i64, String>,
    /// Name and creation time.
    sources: HashMap<i64, (String, i64)>,
}

/// Calls by key, month, tier's number and whether they are overruns.
type Counts = HashMap<([u8; 8], i32, i64, bool), u64>;

/// Verifies and counts all entries that the ledger has at the start.
pub(super) async fn all(
    readers: &SqlitePool,
    mut progress: impl FnMut(u64) + Send,
) -> Result<Result<Recount, Damage>, StoreError> {
    let mut reader = readers.acquire().await?;
    let mut view = reader.begin().await?;
    if let Some(damage) = schema(&mut view, Position::START).await? {
        return Ok(Err(damage));
    }
    let end = rows::head(&mut *view).await?;
    let names = names(&mut view).await?;
    view.rollback().await?;
    let (report, mut reports) = mpsc::unbounded_channel();
    let mut parts = JoinSet::new();
    for (after, last) in ranges(end.position.0) {
        let (readers, names, report) = (readers.clone(), names.clone(), report.clone());
        parts.spawn(async move {
            let mut reader = readers.acquire().await?;
            let start = start(&mut reader, Position(after)).await?;
            let mut walk = Walk { names, head: start, counts: Counts::new() };
            walk.verify_to(&mut reader, Position(last), |steps| report.send(steps).unwrap_or_default())
                .await?;
            Ok::<_, Stopped>((walk.head, walk.counts))
        });
    }
    drop(report);
    let checking = count_index(&mut reader, end.position);
    let walking = async {
        let mut done = 0;
        while let Some(steps) = reports.recv().await {
            done += steps;
            progress(done);
        }
        parts.join_all().await
    };
    let (indexed, walked) = tokio::join!(checking, walking);
    let outcome = merge(walked, end, &names).and_then(|recount| indexed.map(|indexed| (recount, indexed)));
    match outcome.and_then(|(recount, indexed)| check_against_index(recount, &indexed, &names)) {
        Ok(recount) => Ok(Ok(recount)),
        Err(Stopped::Damaged(damage)) => Ok(Err(damage)),
        Err(Stopped::Unreadable(error)) => Err(error),
    }
}

/// Verifies the last entries and returns the end of the ledger.
pub(super) async fn tail(reader: &mut SqliteConnection, length: u64) -> Result<Head, StoreError> {
    let end = rows::head(&mut *reader).await?;
    let names = names(reader).await?;
    let outcome = async {
        let head = start(reader, Position(end.position.0.saturating_sub(length))).await?;
        let mut walk = Walk { names, head, counts: Counts::new() };
        // Beyond the end, too: an entry there is missing from the head.
        walk.verify_to(reader, Position(i64::MAX.cast_unsigned()), |_| {}).await?;
        check_end(walk.head, end)
    };
    outcome.await.map_err(|error| match error {
        Stopped::Damaged(Damage { position, reason }) => {
            StoreError::corrupt(format!("{reason} (position {position} of the ledger)"))
        }
        Stopped::Unreadable(error) => error,
    })
}

/// Verifies the entries after a head, which need not be in the file, and returns their end.
pub(super) async fn after(
    reader: &mut SqliteConnection,
    start: Head,
) -> Result<Result<Head, Damage>, StoreError> {
    if let Some(damage) = schema(reader, start.position).await? {
        return Ok(Err(damage));
    }
    let end = rows::head(&mut *reader).await?;
    let mut walk = Walk { names: names(reader).await?, head: start, counts: Counts::new() };
    let walked = walk.verify_to(reader, Position(i64::MAX.cast_unsigned()), |_| {}).await;
    match walked.and_then(|()| check_end(walk.head, end)) {
        Ok(head) => Ok(Ok(head)),
        Err(Stopped::Damaged(damage)) => Ok(Err(damage)),
        Err(Stopped::Unreadable(error)) => Err(error),
    }
}

/// Returns the parts to verify, each from after one position to another.
fn ranges(end: u64) -> Vec<(u64, u64)> {
    let length = end.div_ceil(PARTS).max(1);
    (0..PARTS)
        .map(|part| (part * length, ((part + 1) * length).min(end)))
        .filter(|(after, last)| after < last)
        .collect()
}

/// Checks that nothing but the tables of a ledger is in the file, which could hide its entries or change them later. Returns the damage,
/// with the position after `last`.
async fn schema(reader: &mut SqliteConnection, last: Position) -> Result<Option<Damage>, StoreError> {
    match file::check_schema(reader).await {
        Ok(()) => Ok(None),
        Err(StoreError::Corrupt(reason)) => Ok(Some(Damage { position: last.next(), reason })),
        Err(unavailable) => Err(unavailable),
    }
}

async fn names(reader: &mut SqliteConnection) -> Result<Names, StoreError> {
    let sources: Vec<(i64, String, i64)> =
        sqlx::query_as("SELECT id, stream, created FROM sources").fetch_all(&mut *reader).await?;
    let sources = sources.into_iter().map(|(id, stream, created)| (id, (stream, created))).collect();
    Ok(Names { words: rows::words(reader).await?, sources })
}

/// The start of a part: after a position, with the hash at that position.
async fn start(reader: &mut SqliteConnection, position: Position) -> Result<Head, Stopped> {
    if position == Position::START {
        return Ok(Head { position, hash: Hash::GENESIS });
    }
    let found: Option<Vec<u8>> = sqlx::query_scalar("SELECT hash FROM entries WHERE position = ?1")
        .bind(integer(position.0))
        .fetch_optional(reader)
        .await?;
    let bytes = found.ok_or_else(|| Damage { position, reason: "the entry is missing".into() })?;
    Ok(Head { position, hash: hash(&bytes)? })
}

struct Walk {
    names: Names,
    head: Head,
    counts: Counts,
}

impl Walk {
    async fn verify_to(
        &mut self,
        reader: &mut SqliteConnection,
        last: Position,
        report: impl Fn(u64),
    ) -> Result<(), Stopped> {
        let mut rows = sqlx::query(
            "SELECT position, id, key, month, tier, time, surface, operation, source, sequence, hash FROM entries \
             WHERE position > ?1 AND position <= ?2 ORDER BY position",
        )
        .bind(integer(self.head.position.0))
        .bind(integer(last.0))
        .fetch(reader);
        let mut steps = 0;
        loop {
            let position = self.head.position.next();
            let row = rows.try_next().await.map_err(|error| damaged(position, error.into()))?;
            let Some(row) = row else { break };
            self.step(&row, position).map_err(|error| match error {
                Stopped::Unreadable(error) => damaged(position, error),
                Stopped::Damaged(_) => error,
            })?;
            steps += 1;
            if steps == STEP {
                report(std::mem::take(&mut steps));
            }
        }
        report(steps);
        Ok(())
    }

    /// Verifies one entry, which must be the next, and counts it.
    fn step(&mut self, row: &SqliteRow, position: Position) -> Result<(), Stopped> {
        let damage = |reason: &str| Damage { position, reason: reason.to_owned() };
        if row.try_get::<i64, _>(0)? != integer(position.0) {
            return Err(damage("the entry is missing").into());
        }
        let (tier, operation): (i64, i64) = (row.try_get(4)?, row.try_get(7)?);
        let word =
            |number| self.names.words.get(&number).ok_or_else(|| damage("the entry has a word that is gone"));
        let source = self.names.sources.get(&row.try_get::<i64, _>(8)?);
        let (stream, created) = source.ok_or_else(|| damage("the entry has no source"))?;
        let link = Link {
            position: integer(position.0),
            id: row.try_get(1)?,
            key: row.try_get(2)?,
            month: row.try_get(3)?,
            tier: word(tier)?,
            time: row.try_get(5)?,
            surface: row.try_get(6)?,
            operation: word(operation)?,
            source: Source { stream, created: *created },
            sequence: row.try_get(9)?,
        };
        let stored = hash(row.try_get(10)?)?;
        if surface(link.surface).is_none() || link.hash_after(self.head.hash) != stored {
            return Err(damage("the entry does not match its hash").into());
        }
        let key = link.key.try_into().map_err(|_| damage("the entry has no key"))?;
        *self.counts.entry((key, link.month, tier, stream == OVERRUN)).or_default() += 1;
        self.head = Head { position, hash: stored };
        Ok(())
    }
}

/// Turns a failure to read a damaged entry into damage at its position.
fn damaged(position: Position, error: StoreError) -> Stopped {
    match error {
        StoreError::Corrupt(reason) => Damage { position, reason }.into(),
        StoreError::Unavailable(_) => error.into(),
    }
}

/// Merges the counts of the parts; of several damages, returns the first in the ledger.
fn merge(walked: Vec<Result<(Head, Counts), Stopped>>, end: Head, names: &Names) -> Result<Recount, Stopped> {
    let (mut head, mut totals, mut first) =
        (Head { position: Position::START, hash: Hash::GENESIS }, Totals::new(), None::<Damage>);
    for part in walked {
        match part {
            Ok((to, counts)) => {
                if to.position > head.position {
                    head = to;
                }
                add(&mut totals, counts, names)?;
            }
            Err(Stopped::Damaged(damage))
                if first.as_ref().is_some_and(|first| first.position <= damage.position) => {}
            Err(Stopped::Damaged(damage)) => first = Some(damage),
            Err(unreadable) => return Err(unreadable),
        }
    }
    if let Some(damage) = first {
        return Err(damage.into());
    }
    let head = check_end(head, end)?;
    let counted: u64 = totals.values().map(|used| used.used + used.overrun).sum();
    if counted != head.position.0 {
        return Err(Damage { position: head.position, reason: "entries are missing".into() }.into());
    }
    Ok(Recount { entries: head.position.0, hash: head.hash, totals })
}

fn check_end(head: Head, end: Head) -> Result<Head, Stopped> {
    if head.position > end.position {
        let reason = "the entry is after the ledger's end".to_owned();
        return Err(Damage { position: end.position.next(), reason }.into());
    }
    if head.position < end.position {
        return Err(Damage { position: head.position.next(), reason: "the entry is missing".into() }.into());
    }
    if head.hash != end.hash {
        let reason = "the ledger's end has another hash than its last entry".to_owned();
        return Err(Damage { position: head.position, reason }.into());
    }
    Ok(head)
}

fn add(totals: &mut Totals, counts: Counts, names: &Names) -> Result<(), StoreError> {
    for ((key, month, tier, overrun), count) in counts {
        let name = names.words.get(&tier).map(String::as_str).unwrap_or_default();
        let allowance = Allowance {
            key: KeyId::try_from(key.as_slice()).map_err(|error| StoreError::corrupt(error.to_string()))?,
            month: Month::from_number(month).ok_or_else(|| StoreError::corrupt("the ledger has no month"))?,
            tier: rows::tier(name)?,
        };
        let used: &mut Used = totals.entry(allowance).or_default();
        *(if overrun { &mut used.overrun } else { &mut used.used }) += count;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parts_cover_each_position_once() {
        assert_eq!(ranges(0), []);
        assert_eq!(ranges(1), [(0, 1)]);
        assert_eq!(ranges(4), [(0, 2), (2, 4)]);
        assert_eq!(ranges(10), [(0, 4), (4, 8), (8, 10)]);
    }
}
