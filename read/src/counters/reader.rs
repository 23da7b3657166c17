//! Reads the counters.

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
use schemas::usage::Counted;
use sqlite::ChangeDetector;
use sqlx::sqlite::SqliteRow;
use sqlx::{Row, SqlitePool};
use tokio::sync::Mutex;

use super::table::Table;
use super::{NAME, Progress, corrupt, options};
use model::database;
use model::error::ModelError;

const CONNECTIONS: u32 = 4;

/// Reads one generation of the counters.
#[derive(Debug)]
pub struct CountersReader {
    pool: SqlitePool,
    changes: ChangeDetector,
    table: Table,
    loaded: Mutex<Loaded>,
}

/// How much of the database is in memory.
#[derive(Debug, Default)]
struct Loaded {
    /// The last change that was read.
    changed: i64,
    /// The month around which totals are loaded.
    now: Option<Month>,
}

/// The calls of a month, over all keys.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct MonthSummary {
    /// The number of calls that count against quotas.
    pub calls: u64,
    /// The number of calls that were found to be over the quota after they were answered.
    pub overrun: u64,
    /// The number of keys with calls.
    pub keys: u64,
}

/// The calls of a key in a month that count against its quotas.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MonthUsage {
    /// The month.
    pub month: Month,
    /// The calls over REST.
    pub rest: u64,
    /// The calls over MCP.
    pub mcp: u64,
}

impl CountersReader {
    /// Opens the counters in a generation's folder, read-only, and loads the months around `now`, for which a slightly wrong clock may
    /// ask.
    pub async fn open(folder: &Path, now: Month) -> Result<CountersReader, ModelError> {
        let pool = sqlite::readers(options(folder), CONNECTIONS).await?;
        let changes = ChangeDetector::new(&folder.join("counters.db"));
        let reader = CountersReader { pool, changes, table: Table::new(), loaded: Mutex::default() };
        reader.refresh(now).await?;
        Ok(reader)
    }

    /// Loads what was committed since the last refresh, and other months if `now`, this node's month, has changed. The months of the calls
    /// are irrelevant: a node with a wrong clock makes calls of any month.
    pub async fn refresh(&self, now: Month) -> Result<(), ModelError> {
        let stamps = self.changes.check();
        let mut loaded = self.loaded.lock().await;
        if loaded.now != Some(now) {
            loaded.changed = self.load(&around(now)).await?;
            loaded.now = Some(now);
        } else if stamps.is_some() {
            loaded.changed = self.load_changes(loaded.changed, &around(now)).await?;
        }
        if let Some(stamps) = stamps {
            self.changes.mark_read(stamps);
        }
        Ok(())
    }

    /// Loads exactly these months. Returns the last change among them.
    async fn load(&self, months: &RangeInclusive<Month>) -> Result<i64, ModelError> {
        // What is committed after this query is loaded by the next refresh.
        let changed: Option<i64> =
            sqlx::query_scalar("SELECT max(changed) FROM totals").fetch_one(&self.pool).await?;
        let sql =
            "SELECT month, key_id, tier, used, through, changed FROM totals WHERE month BETWEEN ? AND ?";
        let query = sqlx::query(sql).bind(months.start().number()).bind(months.end().number());
        let mut rows = query.fetch(&self.pool);
        while let Some(row) = rows.try_next().await? {
            self.load_row(&row, months)?;
        }
        self.table.retain(months);
        Ok(changed.unwrap_or(0))
    }

    /// Loads the changes of these months. Returns the last change.
    async fn load_changes(&self, since: i64, months: &RangeInclusive<Month>) -> Result<i64, ModelError> {
        let sql = "SELECT month, key_id, tier, used, through, changed FROM totals \
                   WHERE changed > ? ORDER BY changed";
        let mut rows = sqlx::query(sql).bind(since).fetch(&self.pool);
        // After a failure the same rows are read again by the next refresh, which changes nothing.
        let mut changed = since;
        while let Some(row) = rows.try_next().await? {
            self.load_row(&row, months)?;
            changed = row.try_get("changed")?;
        }
        Ok(changed)
    }

    /// Puts a total into memory if it belongs to one of these months.
    fn load_row(&self, row: &SqliteRow, months: &RangeInclusive<Month>) -> Result<(), ModelError> {
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

    /// Returns the count of a key in a tier and month as of the last refresh. Zero for months that are not in memory.
    pub fn counted(&self, key: KeyId, tier: &TierName, month: Month) -> Counted {
        self.table.get(key, tier, month)
    }

    /// Returns the days of a month on which the key called, in order, with the calls of all its tiers.
    pub async fn days(&self, key: KeyId, month: Month) -> Result<Vec<DayUsage>, ModelError> {
        let sql =
            "SELECT date, rest, mcp FROM days WHERE key_id = ? AND date >= ? AND date < ? ORDER BY date";
        // Days are stored as yyyy-mm-dd, so they sort after the yyyy-mm of their month.
        let query =
            sqlx::query(sql).bind(key.as_str()).bind(month.to_string()).bind(month.next().to_string());
        let day = |row: &SqliteRow| -> Result<DayUsage, ModelError> {
            let date: Date = row.try_get::<&str, _>("date")?.parse().map_err(corrupt)?;
            Ok(DayUsage { date, rest: number(row, "rest")?, mcp: number(row, "mcp")? })
        };
        query.fetch_all(&self.pool).await?.iter().map(day).collect()
    }

    /// Returns the last months before this one in which the key called, at most `limit`, the newest first.
    ///
    /// # Errors
    ///
    /// If the counters cannot be read.
    pub async fn months_before(
        &self,
        key: KeyId,
        month: Month,
        limit: u32,
    ) -> Result<Vec<MonthUsage>, ModelError> {
        let sql = "SELECT substr(date, 1, 7) AS month, SUM(rest) AS rest, SUM(mcp) AS mcp FROM days \
                   WHERE key_id = ? AND date < ? GROUP BY 1 ORDER BY 1 DESC LIMIT ?";
        let query = sqlx::query(sql).bind(key.as_str()).bind(month.to_string()).bind(limit);
        let month = |row: &SqliteRow| -> Result<MonthUsage, ModelError> {
            let month = row.try_get::<&str, _>("month")?.parse().map_err(corrupt)?;
            Ok(MonthUsage { month, rest: number(row, "rest")?, mcp: number(row, "mcp")? })
        };
        query.fetch_all(&self.pool).await?.iter().map(month).collect()
    }

    /// Returns the time at which the key's last counted call was answered.
    pub async fn last_used(&self, key: KeyId) -> Result<Option<Timestamp>, ModelError> {
        let time: Option<i64> = sqlx::query_scalar("SELECT time FROM last_used WHERE key_id = ?")
            .bind(key.as_str())
            .fetch_optional(&self.pool)
            .await?;
        time.map(|time| Timestamp::from_microsecond(time).map_err(corrupt)).transpose()
    }

    /// Returns the time at which the last counted call of each key was answered.
    pub async fn last_used_of_all(&self) -> Result<HashMap<KeyId, Timestamp>, ModelError> {
        let rows: Vec<(String, i64)> =
            sqlx::query_as("SELECT key_id, time FROM last_used").fetch_all(&self.pool).await?;
        let read = |(key, time): (String, i64)| {
            let time = Timestamp::from_microsecond(time).map_err(corrupt)?;
            Ok((key.parse().map_err(corrupt)?, time))
        };
        rows.into_iter().map(read).collect()
    }

    /// Calls `visit` with key, month, tier, calls used and calls over the quota of every total, ordered by month, key and tier.
    pub async fn each_total(
        &self,
        visit: &mut (dyn FnMut(KeyId, Month, &TierName, u64, u64) + Send),
    ) -> Result<(), ModelError> {
        let sql = "SELECT month, key_id, tier, used, overrun FROM totals WHERE used + overrun > 0 \
                   ORDER BY month, key_id, tier";
        let mut rows = sqlx::query(sql).fetch(&self.pool);
        while let Some(row) = rows.try_next().await? {
            let key = row.try_get::<&str, _>("key_id")?.parse().map_err(corrupt)?;
            let tier: TierName = row.try_get::<&str, _>("tier")?.parse().map_err(corrupt)?;
            visit(key, month(&row)?, &tier, number(&row, "used")?, number(&row, "overrun")?);
        }
        Ok(())
    }

    /// Returns the calls of a month, over all keys.
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

    /// Returns the progress of the last commit.
    pub async fn progress(&self) -> Result<Progress, ModelError> {
        let mut connection = self.pool.acquire().await?;
        database::checkpoint(&mut connection, NAME).await
    }

    /// Closes the database once no query uses it.
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
