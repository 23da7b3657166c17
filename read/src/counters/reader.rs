//! Asks the counters.

use std::collections::HashMap;
use std::ops::RangeInclusive;
use std::path::Path;

use futures::TryStreamExt;
use jiff::Timestamp;
use jiff::civil::Date;
use schemas::api::usage::DayUsage;
use schemas::key::KeyId;
use schemas::month::Month;
use schemas::tier::TierName;
use sqlite::ChangeDetector;
use sqlx::sqlite::SqliteRow;
use sqlx::{Row, SqlitePool};
use tokio::sync::Mutex;

use super::table::{Counted, Table};
use super::{NAME, Progress, corrupt, options};
use crate::database;
use crate::error::ModelError;

/// How many may read the database at once; more wait their turn.
const CONNECTIONS: u32 = 4;

/// Reads one generation of the counters.
#[derive(Debug)]
pub struct CountersReader {
    pool: SqlitePool,
    changes: ChangeDetector,
    table: Table,
    loaded: Mutex<Loaded>,
}

/// What is in memory already.
#[derive(Debug, Default)]
struct Loaded {
    /// The last change.
    changed: i64,
    /// The month around which totals were loaded.
    now: Option<Month>,
}

/// What was called in a month, over all keys.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct MonthSummary {
    /// Calls that count against quotas.
    pub calls: u64,
    /// Calls that turned out to be over the quota after they had been answered.
    pub overrun: u64,
    /// Keys that called.
    pub keys: u64,
}

impl CountersReader {
    /// Opens the counters in a generation's folder, for reading only, and loads the months around this one: those that
    /// a clock that is somewhat ahead or behind may ask for.
    pub async fn open(folder: &Path, now: Month) -> Result<CountersReader, ModelError> {
        let pool = sqlite::readers(options(folder), CONNECTIONS).await?;
        let changes = ChangeDetector::new(&folder.join("counters.db"));
        let reader = CountersReader { pool, changes, table: Table::new(), loaded: Mutex::default() };
        reader.refresh(now).await?;
        Ok(reader)
    }

    /// Takes in what was committed since the last time, and other months where this node's month has changed. What the
    /// calls themselves say of the time does not matter: a node whose clock is wrong makes calls of any month.
    pub async fn refresh(&self, now: Month) -> Result<(), ModelError> {
        let stamps = self.changes.check();
        let mut loaded = self.loaded.lock().await;
        if loaded.now != Some(now) {
            loaded.changed = self.load(&around(now)).await?;
            loaded.now = Some(now);
        } else if stamps.is_some() {
            loaded.changed = self.take_changes(loaded.changed, &around(now)).await?;
        }
        if let Some(stamps) = stamps {
            self.changes.mark_read(stamps);
        }
        Ok(())
    }

    /// Has exactly these months in memory. Returns the last change that is in it.
    async fn load(&self, months: &RangeInclusive<Month>) -> Result<i64, ModelError> {
        // What is committed after this look comes with the next refresh.
        let changed: Option<i64> =
            sqlx::query_scalar("SELECT max(changed) FROM totals").fetch_one(&self.pool).await?;
        let sql =
            "SELECT month, key_id, tier, used, through, changed FROM totals WHERE month BETWEEN ? AND ?";
        let query = sqlx::query(sql).bind(months.start().number()).bind(months.end().number());
        let mut rows = query.fetch(&self.pool);
        while let Some(row) = rows.try_next().await? {
            self.take_in(&row, months)?;
        }
        self.table.keep(months);
        Ok(changed.unwrap_or(0))
    }

    /// Takes in what has changed of these months. Returns the last change.
    async fn take_changes(&self, since: i64, months: &RangeInclusive<Month>) -> Result<i64, ModelError> {
        let sql = "SELECT month, key_id, tier, used, through, changed FROM totals \
                   WHERE changed > ? ORDER BY changed";
        let mut rows = sqlx::query(sql).bind(since).fetch(&self.pool);
        // What fails midway is taken in again from the start the next time, which changes nothing.
        let mut changed = since;
        while let Some(row) = rows.try_next().await? {
            self.take_in(&row, months)?;
            changed = row.try_get("changed")?;
        }
        Ok(changed)
    }

    /// Keeps a total in memory if it is of one of these months.
    fn take_in(&self, row: &SqliteRow, months: &RangeInclusive<Month>) -> Result<(), ModelError> {
        let month = month(row)?;
        if !months.contains(&month) {
            return Ok(());
        }
        let key = row.try_get::<&str, _>("key_id")?.parse().map_err(corrupt)?;
        let tier = row.try_get::<&str, _>("tier")?.parse().map_err(corrupt)?;
        let through = row.try_get::<i64, _>("through")?;
        let counted =
            Counted { used: number(row, "used")?, through: u64::try_from(through).unwrap_or_default() };
        self.table.set(key, tier, month, counted);
        Ok(())
    }

    /// What is counted of one allowance of this month, the one before it or the one after it, as of the last refresh.
    /// Zeros where there is nothing, and for other months.
    pub fn counted(&self, key: KeyId, tier: &TierName, month: Month) -> Counted {
        self.table.get(key, tier, month)
    }

    /// Each day of a month on which the key called, the first first; calls of every tier the key had.
    pub async fn days(&self, key: KeyId, month: Month) -> Result<Vec<DayUsage>, ModelError> {
        let sql =
            "SELECT date, rest, mcp FROM days WHERE key_id = ? AND date >= ? AND date < ? ORDER BY date";
        // Days are written yyyy-mm-dd, and so stand in their order behind the yyyy-mm of their month.
        let query =
            sqlx::query(sql).bind(key.as_str()).bind(month.to_string()).bind(month.next().to_string());
        let day = |row: &SqliteRow| -> Result<DayUsage, ModelError> {
            let date: Date = row.try_get::<&str, _>("date")?.parse().map_err(corrupt)?;
            Ok(DayUsage { date, rest: number(row, "rest")?, mcp: number(row, "mcp")? })
        };
        query.fetch_all(&self.pool).await?.iter().map(day).collect()
    }

    /// When the key's last counted call was answered.
    pub async fn last_used(&self, key: KeyId) -> Result<Option<Timestamp>, ModelError> {
        let time: Option<i64> = sqlx::query_scalar("SELECT time FROM last_used WHERE key_id = ?")
            .bind(key.as_str())
            .fetch_optional(&self.pool)
            .await?;
        time.map(|time| Timestamp::from_microsecond(time).map_err(corrupt)).transpose()
    }

    /// When the last counted call of each key that has any was answered.
    pub async fn last_used_of_all(&self) -> Result<HashMap<KeyId, Timestamp>, ModelError> {
        let rows: Vec<(String, i64)> =
            sqlx::query_as("SELECT key_id, time FROM last_used").fetch_all(&self.pool).await?;
        let read = |(key, time): (String, i64)| {
            let time = Timestamp::from_microsecond(time).map_err(corrupt)?;
            Ok((key.parse().map_err(corrupt)?, time))
        };
        rows.into_iter().map(read).collect()
    }

    /// Tells key, month, tier, calls used and calls over the quota of every allowance, by month, key and tier.
    pub async fn each_total(
        &self,
        tell: &mut (dyn FnMut(KeyId, Month, &TierName, u64, u64) + Send),
    ) -> Result<(), ModelError> {
        let sql = "SELECT month, key_id, tier, used, overrun FROM totals WHERE used + overrun > 0 \
                   ORDER BY month, key_id, tier";
        let mut rows = sqlx::query(sql).fetch(&self.pool);
        while let Some(row) = rows.try_next().await? {
            let key = row.try_get::<&str, _>("key_id")?.parse().map_err(corrupt)?;
            let tier: TierName = row.try_get::<&str, _>("tier")?.parse().map_err(corrupt)?;
            tell(key, month(&row)?, &tier, number(&row, "used")?, number(&row, "overrun")?);
        }
        Ok(())
    }

    /// What was called in a month, over all keys.
    pub async fn summary(&self, month: Month) -> Result<MonthSummary, ModelError> {
        let sql = "SELECT coalesce(sum(used), 0) AS calls, coalesce(sum(overrun), 0) AS overrun, \
                   count(DISTINCT key_id) AS keys FROM totals WHERE month = ? AND used + overrun > 0";
        let row = sqlx::query(sql).bind(month.number()).fetch_one(&self.pool).await?;
        Ok(MonthSummary {
            calls: number(&row, "calls")?,
            overrun: number(&row, "overrun")?,
            keys: number(&row, "keys")?,
        })
    }

    /// How far this model has come.
    pub async fn progress(&self) -> Result<Progress, ModelError> {
        let mut connection = self.pool.acquire().await?;
        database::checkpoint(&mut connection, NAME).await
    }

    /// Lets the database go once nobody asks it any more.
    pub async fn close(&self) {
        self.pool.close().await;
    }
}

fn around(now: Month) -> RangeInclusive<Month> {
    now.previous()..=now.next()
}

fn month(row: &SqliteRow) -> Result<Month, ModelError> {
    Month::from_number(row.try_get("month")?).ok_or_else(|| corrupt("a month out of range"))
}

fn number(row: &SqliteRow, column: &str) -> Result<u64, ModelError> {
    u64::try_from(row.try_get::<i64, _>(column)?).map_err(corrupt)
}
