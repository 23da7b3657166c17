//! Verifies SQLite's own structures and the indexes over the entries.

use futures::TryStreamExt;
use schemas::ids::Position;
use schemas::subject::OVERRUN;
use sqlite::integer;
use sqlx::{Row, SqliteConnection};

use super::{Counts, Damage, Names, Recount, Stopped, add};
use crate::Totals;

/// Runs SQLite's integrity check and returns the counts of the index that audits use; the index that detects duplicates must have
/// all calls too.
pub(super) async fn count_index(reader: &mut SqliteConnection, end: Position) -> Result<Counts, Stopped> {
    let found: String = sqlx::query_scalar("PRAGMA quick_check(1)").fetch_one(&mut *reader).await?;
    let damage = |reason: String| Damage { position: end, reason };
    if found != "ok" {
        return Err(damage(found).into());
    }
    let ids: i64 = sqlx::query_scalar(
        "SELECT count(*) FROM entries INDEXED BY sqlite_autoindex_entries_1 WHERE position <= ?1",
    )
    .bind(integer(end.0))
    .fetch_one(&mut *reader)
    .await?;
    if ids != integer(end.0) {
        return Err(damage(format!("its index has {ids} call ids")).into());
    }
    let overruns: Vec<i64> = sqlx::query_scalar("SELECT id FROM sources WHERE stream = ?1")
        .bind(OVERRUN)
        .fetch_all(&mut *reader)
        .await?;
    let mut rows = sqlx::query(
        "SELECT key, month, tier, source, count(*) FROM entries INDEXED BY entries_by_month WHERE position <= ?1 \
         GROUP BY month, key, tier, source",
    )
    .bind(integer(end.0))
    .fetch(reader);
    let mut counts = Counts::new();
    while let Some(row) = rows.try_next().await? {
        let key =
            row.try_get::<&[u8], _>(0)?.try_into().map_err(|_| damage("its index has no key".into()))?;
        let overrun = overruns.contains(&row.try_get(3)?);
        *counts.entry((key, row.try_get(1)?, row.try_get(2)?, overrun)).or_default() +=
            row.try_get::<i64, _>(4)?.cast_unsigned();
    }
    Ok(counts)
}

/// Checks that the index used by audits has the same number of entries.
pub(super) fn check_against_index(
    recount: Recount,
    indexed: &Counts,
    names: &Names,
) -> Result<Recount, Stopped> {
    let mut found = Totals::new();
    add(&mut found, indexed.clone(), names)?;
    if found == recount.totals {
        return Ok(recount);
    }
    let reason = "its index of months has different counts than its entries".to_owned();
    Err(Damage { position: Position(recount.entries), reason }.into())
}
