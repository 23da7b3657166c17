//! Asks the counters.

use std::path::Path;

use futures::TryStreamExt;
use jiff::Timestamp;
use jiff::civil::Date;
use schemas::api::usage::DayUsage;
use schemas::key::KeyId;
use schemas::month::Month;
use schemas::tier::TierName;
use sqlx::sqlite::SqliteRow;
use sqlx::{Row, SqlitePool};
use tokio::sync::Mutex;

use super::table::{Counted, Table};
use super::{CountersError, Progress, corrupt, options};
use crate::database::{self, Written};

/// How many may read the database at once; more wait their turn.
const CONNECTIONS: u32 = 4;

/// Reads one generation of the counters.
#[derive(Debug)]
pub struct CountersReader {
    pool: SqlitePool,
    written: Written,
    table: Table,
    loaded: Mutex<Loaded>,
}

/// What is in memory already.
#[derive(Debug, Default)]
struct Loaded {
    /// The last change.
    changed: i64,
    /// The newest month of which anything is counted.
    newest: Option<Month>,
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
    /// Opens the counters in a generation's folder, for reading only, and loads the newest two months.
    pub async fn open(folder: &Path) -> Result<CountersReader, CountersError> {
        let pool = database::readers(options(folder), CONNECTIONS).await?;
        let written = Written::new(&folder.join("counters.db"));
        let reader = CountersReader { pool, written, table: Table::new(), loaded: Mutex::default() };
        reader.load().await?;
        Ok(reader)
    }

    async fn load(&self) -> Result<(), CountersError> {
        let mut loaded = self.loaded.lock().await;
        // What is committed after this look comes with the first refresh.
        let (changed, newest): (Option<i64>, Option<i32>) =
            sqlx::query_as("SELECT (SELECT max(changed) FROM totals), (SELECT max(month) FROM totals)")
                .fetch_one(&self.pool)
                .await?;
        let Some(newest) = newest.and_then(Month::from_number) else { return Ok(()) };
        let sql = "SELECT month, key_id, tier, used, through, changed FROM totals WHERE month >= ?";
        let mut rows = sqlx::query(sql).bind(newest.previous().number()).fetch(&self.pool);
        while let Some(row) = rows.try_next().await? {
            self.take_in(&row, Some(newest))?;
        }
        *loaded = Loaded { changed: changed.unwrap_or(0), newest: Some(newest) };
        Ok(())
    }

    /// Takes in what was committed since the last time.
    pub async fn refresh(&self) -> Result<(), CountersError> {
        let Some(look) = self.written.look() else { return Ok(()) };
        let mut loaded = self.loaded.lock().await;
        let sql = "SELECT month, key_id, tier, used, through, changed FROM totals \
                   WHERE changed > ? ORDER BY changed";
        let mut rows = sqlx::query(sql).bind(loaded.changed).fetch(&self.pool);
        // What fails midway is taken in again from the start the next time, which changes nothing.
        let (mut changed, mut newest) = (loaded.changed, loaded.newest);
        while let Some(row) = rows.try_next().await? {
            newest = newest.max(Some(month(&row)?));
            self.take_in(&row, newest)?;
            changed = row.try_get("changed")?;
        }
        if let Some(newest) = newest
            && loaded.newest != Some(newest)
        {
            self.table.forget_before(newest.previous());
        }
        *loaded = Loaded { changed, newest };
        self.written.saw(look);
        Ok(())
    }

    /// Keeps a total in memory, unless it is older than the month before the newest.
    fn take_in(&self, row: &SqliteRow, newest: Option<Month>) -> Result<(), CountersError> {
        let month = month(row)?;
        if newest.is_some_and(|newest| month < newest.previous()) {
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

    /// What is counted of one allowance of the newest month or the one before it, as of the last refresh. Zeros where
    /// there is nothing, and for older months.
    pub fn counted(&self, key: KeyId, tier: &TierName, month: Month) -> Counted {
        self.table.get(key, tier, month)
    }

    /// Each day of a month on which the key called, the first first; calls of every tier the key had.
    pub async fn days(&self, key: KeyId, month: Month) -> Result<Vec<DayUsage>, CountersError> {
        let sql =
            "SELECT date, rest, mcp FROM days WHERE key_id = ? AND date >= ? AND date < ? ORDER BY date";
        // Days are written yyyy-mm-dd, and so stand in their order behind the yyyy-mm of their month.
        let query =
            sqlx::query(sql).bind(key.as_str()).bind(month.to_string()).bind(month.next().to_string());
        let day = |row: &SqliteRow| -> Result<DayUsage, CountersError> {
            let date: Date = row.try_get::<&str, _>("date")?.parse().map_err(corrupt)?;
            Ok(DayUsage { date, rest: number(row, "rest")?, mcp: number(row, "mcp")? })
        };
        query.fetch_all(&self.pool).await?.iter().map(day).collect()
    }

    /// When the key's last counted call was answered.
    pub async fn last_used(&self, key: KeyId) -> Result<Option<Timestamp>, CountersError> {
        let time: Option<i64> = sqlx::query_scalar("SELECT time FROM last_used WHERE key_id = ?")
            .bind(key.as_str())
            .fetch_optional(&self.pool)
            .await?;
        time.map(|time| Timestamp::from_microsecond(time).map_err(corrupt)).transpose()
    }

    /// Tells key, month, tier, calls used and calls over the quota of every allowance, by month, key and tier.
    pub async fn each_total(
        &self,
        tell: &mut (dyn FnMut(KeyId, Month, &TierName, u64, u64) + Send),
    ) -> Result<(), CountersError> {
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
    pub async fn summary(&self, month: Month) -> Result<MonthSummary, CountersError> {
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
    pub async fn progress(&self) -> Result<Progress, CountersError> {
        let mut connection = self.pool.acquire().await?;
        database::checkpoint(&mut connection, corrupt).await
    }

    /// Lets the database go once nobody asks it any more.
    pub async fn close(&self) {
        self.pool.close().await;
    }
}

fn month(row: &SqliteRow) -> Result<Month, CountersError> {
    Month::from_number(row.try_get("month")?).ok_or_else(|| corrupt("a month out of range"))
}

fn number(row: &SqliteRow, column: &str) -> Result<u64, CountersError> {
    u64::try_from(row.try_get::<i64, _>(column)?).map_err(corrupt)
}
