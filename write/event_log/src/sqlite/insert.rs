//! Writes events, their claims and the head of the log, inside a transaction.

use std::sync::{Arc, LazyLock};

use ::sqlite::integer;
use sqlx::{AssertSqlSafe, QueryBuilder, SqlSafeStr, SqlStr, Sqlite, SqliteConnection};

use super::backend::Entry;
use super::commit_error::CommitError;
use crate::{Head, StoreError};

/// The number of rows in one statement; SQLite takes 32,766 values, a row of events has 12.
const ROWS: usize = 500;

/// The statement for [`ROWS`] rows, which each connection prepares once.
static FULL: LazyLock<SqlStr> = LazyLock::new(|| statement(ROWS));

fn statement(rows: usize) -> SqlStr {
    let values = vec!["(?,?,?,?,?,?,?,?,?,?,?,?)"; rows].join(",");
    let columns =
        "position, id, stream, version, kind, time, actor, causation, correlation, hash, data, traceparent";
    AssertSqlSafe(Arc::<str>::from(format!("INSERT INTO events ({columns}) VALUES {values}"))).into_sql_str()
}

pub(super) async fn events(writer: &mut SqliteConnection, entries: &[Entry<'_>]) -> Result<(), CommitError> {
    for rows in entries.chunks(ROWS) {
        let is_full = rows.len() == ROWS;
        let sql = if is_full { FULL.clone() } else { statement(rows.len()) };
        let mut insert = sqlx::query(sql).persistent(is_full);
        for entry in rows {
            let Entry { link, hash, traceparent, .. } = entry;
            insert = insert
                .bind(integer(link.position.0))
                .bind(link.id.0.as_bytes().as_slice())
                .bind(link.stream.as_str())
                .bind(integer(link.version.0))
                .bind(link.kind)
                .bind(nanoseconds(entry)?)
                .bind(link.actor.as_str())
                .bind(link.causation.0.as_bytes().as_slice())
                .bind(link.correlation.0.as_bytes().as_slice())
                .bind(hash.0.as_slice())
                .bind(link.data)
                .bind(traceparent.map(String::from));
        }
        insert.execute(&mut *writer).await?;
    }
    claims(writer, entries).await
}

fn nanoseconds(entry: &Entry<'_>) -> Result<i64, StoreError> {
    let Entry { link, .. } = entry;
    i64::try_from(link.time.as_nanosecond())
        .map_err(|_| StoreError::corrupt(format!("the event at position {} has no time", link.position)))
}

async fn claims(writer: &mut SqliteConnection, entries: &[Entry<'_>]) -> Result<(), CommitError> {
    let claims: Vec<_> = entries
        .iter()
        .flat_map(|entry| entry.claims.iter().map(|(namespace, name)| (*namespace, *name, entry.link.stream)))
        .collect();
    for claims in claims.chunks(ROWS) {
        // A name that is claimed again is held by the same stream: the batch was admitted.
        let mut insert: QueryBuilder<Sqlite> =
            QueryBuilder::new("INSERT OR IGNORE INTO claims (namespace, name, stream) ");
        insert.push_values(claims, |mut row, (namespace, name, stream)| {
            row.push_bind(*namespace).push_bind(*name).push_bind(stream.as_str());
        });
        insert.build().persistent(false).execute(&mut *writer).await?;
    }
    Ok(())
}

pub(super) async fn set_head(writer: &mut SqliteConnection, head: Head) -> Result<(), CommitError> {
    sqlx::query("UPDATE log SET position = ?1, hash = ?2")
        .bind(integer(head.position.0))
        .bind(head.hash.0.as_slice())
        .execute(writer)
        .await?;
    Ok(())
}
