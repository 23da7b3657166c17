//! The projects that changed since some time, each once with its last change, the latest first.
//!
//! A list is as of the last change there was when its first page was read, which its cursors name: what happens between two pages moves
//! no project, so that none is repeated or left out. Rows of changes are never altered, so every node makes the same list again.

use std::fmt;
use std::hash::Hasher;
use std::str::FromStr;
use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use futures::TryStreamExt;
use jiff::Timestamp;
use lexical::{Fnv, OrdinalSet};
use schemas::ids::Position;
use sqlx::{QueryBuilder, Sqlite, SqliteConnection};

use super::change_kind::ChangeKind;
use super::changed_lists::{ChangedList, Head, ListPart};
use super::changes::InvalidCursor;
use super::last_changes::{self, ChangedProject};
use super::{CatalogReader, corrupt};
use model::error::ModelError;

/// No other cursor begins with this version.
const VERSION: u8 = 0xc1;
/// The length of a cursor in bytes: checksum, version, query, head, mark, last position.
const LENGTH: usize = 4 + 1 + 4 * 8;

/// Which changes a list is about, and the filters that its projects match.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangedQuery {
    /// In microseconds, which is the resolution of events.
    since: i64,
    kinds: Vec<ChangeKind>,
    filters: u64,
}

impl ChangedQuery {
    /// Returns the query for changes of these kinds, of all if there are none, at `since` or later. Cursors belong to it and to the hash
    /// of the filters.
    pub fn new(since: Timestamp, kinds: &[ChangeKind], filters: u64) -> ChangedQuery {
        let mut kinds = if kinds.is_empty() { ChangeKind::ALL.to_vec() } else { kinds.to_vec() };
        kinds.sort_unstable();
        kinds.dedup();
        ChangedQuery { since: since.as_microsecond(), kinds, filters }
    }

    /// Returns a hash that is equal in all processes.
    fn fingerprint(&self) -> u64 {
        let mut hash = Fnv::default();
        hash.write(&self.since.to_be_bytes());
        for kind in &self.kinds {
            hash.write(kind.as_str().as_bytes());
            hash.write(&[0]);
        }
        hash.write(&self.filters.to_be_bytes());
        hash.finish()
    }
}

/// The end of a page: the list with its head, and the change of the last project. It holds in every generation and on every node that
/// follows this log. As text it is URL-safe and has 50 characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChangedCursor {
    /// The hash of the query.
    query: u64,
    head: Head,
    /// The position of the last project's change.
    last: Position,
}

impl ChangedCursor {
    /// Returns the position that the catalog must have reached.
    pub fn head(&self) -> Position {
        self.head.position
    }
}

impl fmt::Display for ChangedCursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut bytes = Vec::with_capacity(LENGTH);
        bytes.extend_from_slice(&[0; 4]);
        bytes.push(VERSION);
        for number in [self.query, self.head.position.0, self.head.mark.cast_unsigned(), self.last.0] {
            bytes.extend_from_slice(&number.to_be_bytes());
        }
        let sum = Fnv::checksum(&bytes[4..]);
        bytes[..4].copy_from_slice(&sum);
        f.write_str(&URL_SAFE_NO_PAD.encode(bytes))
    }
}

impl FromStr for ChangedCursor {
    type Err = InvalidCursor;

    fn from_str(text: &str) -> Result<ChangedCursor, InvalidCursor> {
        if text.len() > 2 * LENGTH {
            return Err(InvalidCursor);
        }
        let bytes = URL_SAFE_NO_PAD.decode(text).map_err(|_| InvalidCursor)?;
        let bytes: [u8; LENGTH] = bytes.try_into().map_err(|_| InvalidCursor)?;
        if bytes[..4] != Fnv::checksum(&bytes[4..]) || bytes[4] != VERSION {
            return Err(InvalidCursor);
        }
        let number = |at: usize| bytes[5 + 8 * at..][..8].iter().fold(0, |n, byte| n << 8 | u64::from(*byte));
        let head = Head { position: Position(number(1)), mark: number(2).cast_signed() };
        Ok(ChangedCursor { query: number(0), head, last: Position(number(3)) })
    }
}

/// A page of a list.
#[derive(Debug, PartialEq, Eq)]
pub struct ChangedPage {
    /// The projects, each with the cursor after it.
    pub projects: Vec<(ChangedProject, ChangedCursor)>,
    /// The cursor of the next page, if there is one.
    pub next: Option<ChangedCursor>,
    /// The number of projects on all pages.
    pub total: u64,
    /// The whole list without filters.
    pub list: Arc<ChangedList>,
    /// The time of the last change of any kind, as far as the catalog has come.
    pub latest: Option<Timestamp>,
    /// The time of the last change of the kinds that are asked for, if nothing changed since.
    pub last: Option<Timestamp>,
}

/// What is found for a query.
#[derive(Debug, PartialEq, Eq)]
pub enum Changed {
    /// A page.
    Page(ChangedPage),
    /// The cursor is of another list, of another log, or of a former state of this one.
    OtherList,
    /// The catalog has not reached the head of the cursor's list.
    NotReached,
}

impl CatalogReader {
    /// Returns at most `limit` projects after a cursor, or from the first, as of one commit: of all projects, or of those `within` a set,
    /// in which withdrawn ones are not.
    ///
    /// # Errors
    ///
    /// If the catalog cannot be read.
    pub async fn changed(
        &self,
        query: &ChangedQuery,
        within: Option<&OrdinalSet>,
        limit: usize,
        after: Option<ChangedCursor>,
    ) -> Result<Changed, ModelError> {
        let fingerprint = query.fingerprint();
        if after.is_some_and(|cursor| cursor.query != fingerprint) {
            return Ok(Changed::OtherList);
        }
        let mut view = self.pool.begin().await?;
        let newest = newest(&mut view).await?;
        let (head, last) = match (after, newest) {
            (None, Some((head, _))) => (head, None),
            (None, None) => return Ok(Changed::Page(ChangedPage::empty())),
            (Some(cursor), newest) => {
                if newest.is_none_or(|(newest, _)| newest.position < cursor.head.position) {
                    return Ok(Changed::NotReached);
                }
                if mark_at(&mut view, cursor.head.position).await? != Some(cursor.head.mark) {
                    return Ok(Changed::OtherList);
                }
                (cursor.head, Some(cursor.last))
            }
        };
        let list = self.list(&mut view, query, head).await?;
        let ListPart { chosen, total, has_more } = list.part(within, limit, last);
        let cursor = |last| ChangedCursor { query: fingerprint, head, last };
        let next = chosen.last().filter(|_| has_more).map(|last| cursor(*last));
        let mut projects = last_changes::read(&mut view, &chosen, query.since).await?;
        let found = projects.len();
        // What selected the set may not have come as far as the catalog.
        projects.retain(|(_, project)| within.is_none() || project.record.is_some());
        let total = total - (found - projects.len()) as u64;
        let projects = projects.into_iter().map(|(position, project)| (project, cursor(position))).collect();
        let last = if list.is_empty() { last_of(&mut view, &query.kinds).await? } else { None };
        let latest = newest.map(|(_, at)| at);
        Ok(Changed::Page(ChangedPage { projects, next, total, list, latest, last }))
    }

    /// Returns the list of a query up to its head. It takes one pass over the index of what changed since, unless it was among the last.
    async fn list(
        &self,
        view: &mut SqliteConnection,
        query: &ChangedQuery,
        head: Head,
    ) -> Result<Arc<ChangedList>, ModelError> {
        let key = (query.since, query.kinds.clone(), head);
        if let Some(known) = self.lists.get(&key) {
            return Ok(known);
        }
        let mut statement = QueryBuilder::<Sqlite>::new(
            "SELECT position, ordinal FROM changes INDEXED BY by_kind WHERE kind IN (",
        );
        let mut kinds = statement.separated(", ");
        for kind in &query.kinds {
            kinds.push_bind(kind.as_str());
        }
        statement.push(") AND at >= ").push_bind(query.since);
        statement.push(" AND position <= ").push_bind(head.position.0.cast_signed());
        let mut changes = Vec::new();
        {
            let mut rows = statement.build_query_as::<(i64, i64)>().fetch(view);
            while let Some((position, ordinal)) = rows.try_next().await? {
                changes.push((Position(position.unsigned_abs()), ordinal.unsigned_abs()));
            }
        }
        let list = Arc::new(ChangedList::of(changes));
        self.lists.insert(key, Arc::clone(&list));
        Ok(list)
    }
}

impl ChangedPage {
    /// Returns the page of a catalog to which nothing ever happened.
    fn empty() -> ChangedPage {
        let (projects, list) = (Vec::new(), Arc::default());
        ChangedPage { projects, next: None, total: 0, list, latest: None, last: None }
    }
}

/// Returns the last change and its time.
async fn newest(view: &mut SqliteConnection) -> Result<Option<(Head, Timestamp)>, ModelError> {
    let row: Option<(i64, i64, i64)> =
        sqlx::query_as("SELECT position, mark, at FROM changes ORDER BY position DESC LIMIT 1")
            .fetch_optional(view)
            .await?;
    let Some((position, mark, at)) = row else { return Ok(None) };
    Ok(Some((Head { position: Position(position.unsigned_abs()), mark }, timestamp(at)?)))
}

async fn mark_at(view: &mut SqliteConnection, position: Position) -> Result<Option<i64>, ModelError> {
    let mark = sqlx::query_scalar("SELECT mark FROM changes WHERE position = ?");
    Ok(mark.bind(position.0.cast_signed()).fetch_optional(view).await?)
}

/// Returns the time of the last change of these kinds.
async fn last_of(view: &mut SqliteConnection, kinds: &[ChangeKind]) -> Result<Option<Timestamp>, ModelError> {
    let mut last = None;
    for kind in kinds {
        let at: Option<i64> = sqlx::query_scalar("SELECT max(at) FROM changes WHERE kind = ?")
            .bind(kind.as_str())
            .fetch_one(&mut *view)
            .await?;
        last = last.max(at);
    }
    last.map(timestamp).transpose()
}

fn timestamp(microseconds: i64) -> Result<Timestamp, ModelError> {
    Timestamp::from_microsecond(microseconds).map_err(corrupt)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_is_read_as_it_was_written_and_nothing_else_is_one() {
        let head = Head { position: Position(1 << 40), mark: -3 };
        let cursor = ChangedCursor { query: u64::MAX - 7, head, last: Position(41) };
        let text = cursor.to_string();
        assert_eq!((text.len(), text.parse()), (50, Ok(cursor)));
        for at in 0..text.len() {
            let mut altered = text.clone().into_bytes();
            altered[at] = if altered[at] == b'A' { b'B' } else { b'A' };
            let altered = String::from_utf8(altered).unwrap();
            assert_eq!(altered.parse::<ChangedCursor>(), Err(InvalidCursor), "{altered}");
        }
        assert!(text.parse::<super::super::ChangeCursor>().is_err(), "it is no cursor of /v1/changes");
        for text in ["", "x", &text[1..], &"A".repeat(50), &"A".repeat(9_999)] {
            assert_eq!(text.parse::<ChangedCursor>(), Err(InvalidCursor), "{text}");
        }
    }

    #[test]
    fn a_query_is_the_same_in_whatever_order_its_kinds_are() {
        let at = |text: &str| text.parse::<Timestamp>().unwrap();
        let since = at("2026-11-20T08:00:00Z");
        let query = |kinds: &[ChangeKind]| ChangedQuery::new(since, kinds, 7);
        let two = query(&[ChangeKind::Restored, ChangeKind::Revised, ChangeKind::Restored]);
        assert_eq!(two, query(&[ChangeKind::Revised, ChangeKind::Restored]));
        assert_eq!(query(&[]), query(&ChangeKind::ALL));
        let others = [
            query(&[]),
            query(&[ChangeKind::Revised]),
            ChangedQuery::new(at("2026-11-20T08:00:00.000001Z"), &[], 7),
            ChangedQuery::new(since, &[], 8),
        ];
        let mut hashes: Vec<u64> = others.iter().chain([&two]).map(ChangedQuery::fingerprint).collect();
        hashes.sort_unstable();
        hashes.dedup();
        assert_eq!(hashes.len(), 5);
    }
}
