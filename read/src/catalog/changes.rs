//! What happened to the projects, in log order.
//!
//! Every event that changes what readers see is kept, so that what follows any cursor contains the last change of each project and
//! every rename. A mirror that applies all changes in order therefore ends with the present slugs and records.

use std::fmt;
use std::str::FromStr;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use bytes::Bytes;
use lexical::Fnv;
use schemas::ids::{Position, StoreId};
use sqlx::Row;
use sqlx::sqlite::SqliteRow;
use tokio::sync::watch;

use super::{CatalogReader, NAME, corrupt};
use model::checkpoint::Checkpoint;
use model::database;
use model::error::ModelError;

const VERSION: u8 = 1;
/// The length of a cursor in bytes: checksum, version, store, position, mark.
const LENGTH: usize = 4 + 1 + 16 + 8 + 8;

/// A place in the log of one event store: after the change at a position. It holds in every generation and on every node that follows
/// this log. As text it is URL-safe and has 50 characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChangeCursor {
    /// The event store; 0 before its first event.
    store: u128,
    position: Position,
    /// The beginning of the hash of the event at the position, which covers the log up to it: after a restore to an earlier state
    /// another event may have the position.
    mark: i64,
}

/// The text is no cursor of changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("it was cut or altered on its way")]
pub struct InvalidCursor;

/// A change of a project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// The cursor after the change.
    pub cursor: ChangeCursor,
    /// What happened: the name of a [`super::ChangeKind`].
    pub kind: String,
    /// The slug after the change.
    pub slug: String,
    /// The slug before it, if it is a rename.
    pub from: Option<String>,
    /// The time of the event, as RFC 3339.
    pub at: String,
    /// The full record now, rendered as JSON; URLs of this site begin with [`schemas::api::site::SITE`]. `None` while the project is
    /// withdrawn.
    pub record: Option<Bytes>,
}

/// What follows a cursor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Changes {
    /// A page of changes.
    Page {
        /// The changes in log order.
        changes: Vec<Change>,
        /// The cursor after them.
        next: ChangeCursor,
        /// Whether there are no more yet.
        caught_up: bool,
    },
    /// The cursor is of another log, or of a former state of this one.
    OtherLog,
    /// The catalog has not reached the position of the cursor.
    NotReached,
}

impl ChangeCursor {
    /// Returns the position of the change.
    pub fn position(&self) -> Position {
        self.position
    }
}

impl fmt::Display for ChangeCursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut bytes = Vec::with_capacity(LENGTH);
        bytes.extend_from_slice(&[0; 4]);
        bytes.push(VERSION);
        bytes.extend_from_slice(&self.store.to_be_bytes());
        bytes.extend_from_slice(&self.position.0.to_be_bytes());
        bytes.extend_from_slice(&self.mark.to_be_bytes());
        let sum = Fnv::checksum(&bytes[4..]);
        bytes[..4].copy_from_slice(&sum);
        f.write_str(&URL_SAFE_NO_PAD.encode(bytes))
    }
}

impl FromStr for ChangeCursor {
    type Err = InvalidCursor;

    fn from_str(text: &str) -> Result<ChangeCursor, InvalidCursor> {
        if text.len() > 2 * LENGTH {
            return Err(InvalidCursor);
        }
        let bytes = URL_SAFE_NO_PAD.decode(text).map_err(|_| InvalidCursor)?;
        let (sum, rest) = bytes.split_first_chunk::<4>().ok_or(InvalidCursor)?;
        let (version, rest) = rest.split_first().ok_or(InvalidCursor)?;
        if bytes.len() != LENGTH || *sum != Fnv::checksum(&bytes[4..]) || *version != VERSION {
            return Err(InvalidCursor);
        }
        let (store, rest) = rest.split_first_chunk().ok_or(InvalidCursor)?;
        let (position, rest) = rest.split_first_chunk().ok_or(InvalidCursor)?;
        let mark = rest.try_into().map_err(|_| InvalidCursor)?;
        Ok(ChangeCursor {
            store: u128::from_be_bytes(*store),
            position: Position(u64::from_be_bytes(*position)),
            mark: i64::from_be_bytes(mark),
        })
    }
}

impl CatalogReader {
    /// Returns a receiver that is notified after commits; it is closed once another generation is read.
    pub fn commits(&self) -> watch::Receiver<()> {
        self.commits.subscribe()
    }

    /// Returns at most `limit` changes after a cursor, or from the first.
    pub async fn changes(&self, since: Option<ChangeCursor>, limit: usize) -> Result<Changes, ModelError> {
        let mut view = self.pool.begin().await?;
        let checkpoint: Checkpoint = database::checkpoint(&mut view, NAME).await?;
        let store = match &checkpoint.store {
            Some(store) => u128::from(store.parse::<StoreId>().map_err(corrupt)?.0),
            None => 0,
        };
        let after = since.unwrap_or(ChangeCursor { store, position: Position(0), mark: 0 });
        if after.position > Position(0) || after.store != 0 {
            if after.store != store {
                return Ok(Changes::OtherLog);
            }
            if after.position > checkpoint.position {
                return Ok(Changes::NotReached);
            }
        }
        if after.position > Position(0) {
            let mark: Option<i64> = sqlx::query_scalar("SELECT mark FROM changes WHERE position = ?")
                .bind(after.position.0.cast_signed())
                .fetch_optional(&mut *view)
                .await?;
            if mark != Some(after.mark) {
                return Ok(Changes::OtherLog);
            }
        }
        let rows = sqlx::query(
            "SELECT c.position, c.mark, c.kind, c.slug, c.former, c.time, CASE WHEN p.withdrawn IS NULL THEN p.answer END AS answer \
             FROM changes c JOIN projects p USING (project) WHERE c.position > ? ORDER BY c.position LIMIT ?",
        )
        .bind(after.position.0.cast_signed())
        .bind(i64::try_from(limit.saturating_add(1)).unwrap_or(i64::MAX))
        .fetch_all(&mut *view)
        .await?;
        let caught_up = rows.len() <= limit;
        let changes: Vec<Change> =
            rows.iter().take(limit).map(|row| read_change(row, store)).collect::<Result<_, _>>()?;
        let next = changes.last().map_or(ChangeCursor { store, ..after }, |last| last.cursor);
        Ok(Changes::Page { changes, next, caught_up })
    }
}

fn read_change(row: &SqliteRow, store: u128) -> Result<Change, ModelError> {
    let position = Position(row.try_get::<i64, _>("position")?.unsigned_abs());
    Ok(Change {
        cursor: ChangeCursor { store, position, mark: row.try_get("mark")? },
        kind: row.try_get("kind")?,
        slug: row.try_get("slug")?,
        from: row.try_get("former")?,
        at: row.try_get("time")?,
        record: row.try_get::<Option<String>, _>("answer")?.map(Into::into),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_is_read_as_it_was_written_and_nothing_else_is_one() {
        let cursor = ChangeCursor { store: 7 << 100, position: Position(41), mark: -3 };
        let text = cursor.to_string();
        assert_eq!((text.len(), text.parse()), (50, Ok(cursor)));
        for at in 0..text.len() {
            let mut altered = text.clone().into_bytes();
            altered[at] = if altered[at] == b'A' { b'B' } else { b'A' };
            let altered = String::from_utf8(altered).unwrap();
            assert_eq!(altered.parse::<ChangeCursor>(), Err(InvalidCursor), "{altered}");
        }
        for text in ["", "x", &text[1..], &"A".repeat(50), &"A".repeat(9_999)] {
            assert_eq!(text.parse::<ChangeCursor>(), Err(InvalidCursor), "{text}");
        }
    }
}
