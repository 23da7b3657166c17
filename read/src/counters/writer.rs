//! Counts batches of calls: sums, ids and progress in one transaction. Each statement takes all its rows as one JSON
//! array, so that a batch of thousands is a handful of statements that are prepared once.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::path::Path;

use schemas::ids::Position;
use schemas::month::Month;
use schemas::usage::CallId;
use sqlx::sqlite::SqliteConnection;
use sqlx::{ConnectOptions, Connection};

use super::batch::{Batch, Metered};
use super::{NAME, Progress, Remembered, corrupt, options};
use crate::database;
use crate::error::ModelError;

/// Ids that are forgotten in one commit: months end at once for all keys, and nobody shall wait for that.
const FORGOTTEN_AT_ONCE: i64 = 20_000;

const SEEN_BEFORE: &str = "SELECT ids.key FROM json_each(?2) ids \
     WHERE EXISTS (SELECT 1 FROM seen WHERE month = ?1 AND call = unhex(ids.value))";

const SEE: &str = "INSERT OR IGNORE INTO seen (month, call) SELECT ?1, unhex(value) FROM json_each(?2)";

const FORGET: &str = "DELETE FROM seen WHERE (month, call) IN \
     (SELECT month, call FROM seen WHERE month < ?1 LIMIT ?2)";

const ADD_TOTALS: &str = "INSERT INTO totals (month, key_id, tier, used, overrun, through, changed) \
     SELECT value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4, coalesce(value ->> 5, -1), ?2 \
     FROM json_each(?1) WHERE true \
     ON CONFLICT (month, key_id, tier) DO UPDATE SET used = used + excluded.used, \
     overrun = overrun + excluded.overrun, changed = excluded.changed, \
     through = CASE excluded.through WHEN -1 THEN through ELSE excluded.through END";

const ADD_DAYS: &str = "INSERT INTO days (key_id, date, rest, mcp) \
     SELECT value ->> 0, value ->> 1, value ->> 2, value ->> 3 FROM json_each(?) WHERE true \
     ON CONFLICT (key_id, date) DO UPDATE SET rest = rest + excluded.rest, mcp = mcp + excluded.mcp";

const SET_LAST_USED: &str = "INSERT INTO last_used (key_id, time) \
     SELECT value ->> 0, value ->> 1 FROM json_each(?) WHERE true \
     ON CONFLICT (key_id) DO UPDATE SET time = max(time, excluded.time)";

/// Writes one generation of the counters. There is one writer at a time.
#[derive(Debug)]
pub struct CountersWriter {
    connection: SqliteConnection,
    progress: Progress,
    /// Counts the commits that changed a total.
    changes: i64,
}

impl CountersWriter {
    /// Opens the counters in a generation's folder, and makes them where there are none.
    pub async fn open(folder: &Path) -> Result<CountersWriter, ModelError> {
        let mut connection = options(folder)
            .create_if_missing(true)
            // 32 MB: the totals of random keys touch many pages.
            .pragma("cache_size", "-32768")
            .pragma("wal_autocheckpoint", "8192")
            .connect()
            .await?;
        database::make(&mut connection, include_str!("sql/schema.sql")).await?;
        let progress = database::checkpoint(&mut connection, NAME).await?;
        let changes = sqlx::query_scalar("SELECT coalesce(max(changed), 0) FROM totals")
            .fetch_one(&mut connection)
            .await?;
        Ok(CountersWriter { connection, progress, changes })
    }

    /// How far the counters have come, as of the last commit.
    pub fn progress(&self) -> &Progress {
        &self.progress
    }

    /// Counts the calls of a batch, each id once, and makes them visible together with the progress, whose position is
    /// counted on here. `now` is the month of this node's clock.
    pub async fn commit(
        &mut self,
        calls: &[Metered],
        mut progress: Progress,
        now: Month,
    ) -> Result<(), ModelError> {
        // A batch of one month is the rule; by months, so that each id is looked for where it must be.
        let mut months: BTreeMap<Month, Vec<&Metered>> = BTreeMap::new();
        for metered in calls {
            months.entry(metered.call.month).or_default().push(metered);
        }
        let mut transaction = self.connection.begin().await?;
        let mut seen = HashSet::new();
        for (month, calls) in &months {
            see(&mut transaction, *month, calls, &mut seen).await?;
        }
        let before = match self.progress.remembered {
            None if self.changes > 0 => remembered_before(&mut transaction, now).await?,
            known => known,
        };
        // What was kept before this batch tells a repetition; the batch itself may move on to a new month.
        let batch = Batch::of(calls, &seen, before.map(|before| before.since));
        let changes = self.changes + i64::from(!calls.is_empty());
        if !calls.is_empty() {
            sqlx::query(ADD_TOTALS).bind(batch.totals()).bind(changes).execute(&mut *transaction).await?;
            sqlx::query(ADD_DAYS).bind(batch.days()).execute(&mut *transaction).await?;
            sqlx::query(SET_LAST_USED).bind(batch.last_used()).execute(&mut *transaction).await?;
        }
        progress.remembered = remembered(before, calls, now);
        if let Some(remembered) = progress.remembered
            && !progress.awaits_ledger
        {
            let since = remembered.since.number();
            sqlx::query(FORGET).bind(since).bind(FORGOTTEN_AT_ONCE).execute(&mut *transaction).await?;
        }
        let counted = self.progress.checkpoint.position.0 + batch.counted;
        progress.checkpoint.position = Position(counted);
        let state = serde_json::to_string(&progress).map_err(corrupt)?;
        database::set_state(&mut transaction, state).await?;
        transaction.commit().await?;
        (self.progress, self.changes) = (progress, changes);
        Ok(())
    }

    /// Closes the database cleanly.
    pub async fn close(self) -> Result<(), ModelError> {
        Ok(self.connection.close().await?)
    }
}

/// Remembers the ids of a month's calls, and tells those that were there already.
async fn see(
    transaction: &mut SqliteConnection,
    month: Month,
    calls: &[&Metered],
    seen: &mut HashSet<CallId>,
) -> Result<(), ModelError> {
    let ids: Vec<String> = calls.iter().map(|metered| metered.call.id.0.simple().to_string()).collect();
    let ids = serde_json::to_string(&ids).map_err(corrupt)?;
    let before: Vec<i64> =
        sqlx::query_scalar(SEEN_BEFORE).bind(month.number()).bind(&ids).fetch_all(&mut *transaction).await?;
    let before = before.into_iter().filter_map(|index| calls.get(usize::try_from(index).ok()?));
    seen.extend(before.map(|metered| metered.call.id));
    sqlx::query(SEE).bind(month.number()).bind(ids).execute(transaction).await?;
    Ok(())
}

/// What a model remembers in which an earlier version has counted.
async fn remembered_before(
    transaction: &mut SqliteConnection,
    now: Month,
) -> Result<Option<Remembered>, ModelError> {
    let newest: Option<i32> = sqlx::query_scalar("SELECT max(month) FROM totals WHERE month <= ?")
        .bind(now.number())
        .fetch_one(transaction)
        .await?;
    Ok(newest.and_then(Month::from_number).map(Remembered::of))
}

/// What is remembered behind a batch. A month has begun once the node that answered, the one that took the call and this
/// one agree on it, so that no single clock makes the ids of this month be forgotten.
fn remembered(before: Option<Remembered>, calls: &[Metered], now: Month) -> Option<Remembered> {
    let begun = calls.iter().map(|metered| metered.call.month.min(metered.heard).min(now));
    let begun: BTreeSet<Month> = begun.collect();
    let mut remembered = before.or_else(|| begun.first().copied().map(Remembered::of))?;
    remembered.correct(now);
    begun.into_iter().for_each(|month| remembered.begin(month));
    Some(remembered)
}
