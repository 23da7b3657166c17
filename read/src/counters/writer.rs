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
use super::{DedupWindow, NAME, Progress, SCHEMA, corrupt, options};
use model::database;
use model::error::ModelError;

/// The maximum number of ids that one commit deletes: a month ends for all keys at once, which must not delay a commit.
const MAX_DELETED_IDS: i64 = 20_000;

const SELECT_SEEN: &str = "SELECT ids.key FROM json_each(?2) ids \
     WHERE EXISTS (SELECT 1 FROM seen WHERE month = ?1 AND call = unhex(ids.value))";

const INSERT_SEEN: &str =
    "INSERT OR IGNORE INTO seen (month, call) SELECT ?1, unhex(value) FROM json_each(?2)";

const DELETE_SEEN: &str = "DELETE FROM seen WHERE (month, call) IN \
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

/// Writes one generation of the counters. There must be only one writer at a time.
#[derive(Debug)]
pub struct CountersWriter {
    connection: SqliteConnection,
    progress: Progress,
    /// The number of commits that changed a total.
    changes: i64,
}

impl CountersWriter {
    /// Opens the counters in a generation's folder, and creates them if there are none.
    pub async fn open(folder: &Path) -> Result<CountersWriter, ModelError> {
        let mut connection = options(folder)
            .create_if_missing(true)
            // 32 MB: the totals of random keys are on many pages.
            .pragma("cache_size", "-32768")
            .pragma("wal_autocheckpoint", "8192")
            .connect()
            .await?;
        database::create_schema(&mut connection, NAME, SCHEMA).await?;
        let progress = database::checkpoint(&mut connection, NAME).await?;
        let changes = sqlx::query_scalar("SELECT coalesce(max(changed), 0) FROM totals")
            .fetch_one(&mut connection)
            .await?;
        Ok(CountersWriter { connection, progress, changes })
    }

    /// Returns the progress of the last commit.
    pub fn progress(&self) -> &Progress {
        &self.progress
    }

    /// Counts the calls of a batch, each id once, and commits them together with the progress, whose position is set here. `now` is the
    /// month of this node's clock.
    pub async fn commit(
        &mut self,
        calls: &[Metered],
        mut progress: Progress,
        now: Month,
    ) -> Result<(), ModelError> {
        // Usually all calls of a batch are of one month. Ids are stored by month.
        let mut months: BTreeMap<Month, Vec<&Metered>> = BTreeMap::new();
        for metered in calls {
            months.entry(metered.call.month).or_default().push(metered);
        }
        let mut transaction = self.connection.begin().await?;
        let mut seen = HashSet::new();
        for (month, calls) in &months {
            record_ids(&mut transaction, *month, calls, &mut seen).await?;
        }
        let before = match self.progress.dedup_window {
            None if self.changes > 0 => initial_window(&mut transaction, now).await?,
            known => known,
        };
        // The window before this batch identifies repeated calls; the batch itself may advance it.
        let batch = Batch::of(calls, &seen, before.map(|before| before.since));
        let changes = self.changes + i64::from(!calls.is_empty());
        if !calls.is_empty() {
            sqlx::query(ADD_TOTALS).bind(batch.totals()).bind(changes).execute(&mut *transaction).await?;
            sqlx::query(ADD_DAYS).bind(batch.days()).execute(&mut *transaction).await?;
            sqlx::query(SET_LAST_USED).bind(batch.last_used()).execute(&mut *transaction).await?;
        }
        progress.dedup_window = advanced(before, calls, now);
        if let Some(window) = progress.dedup_window
            && !progress.awaits_ledger
        {
            let since = window.since.number();
            sqlx::query(DELETE_SEEN).bind(since).bind(MAX_DELETED_IDS).execute(&mut *transaction).await?;
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

/// Stores the ids of a month's calls, and adds those that were stored before to `seen`.
async fn record_ids(
    transaction: &mut SqliteConnection,
    month: Month,
    calls: &[&Metered],
    seen: &mut HashSet<CallId>,
) -> Result<(), ModelError> {
    let ids: Vec<String> = calls.iter().map(|metered| metered.call.id.0.simple().to_string()).collect();
    let ids = serde_json::to_string(&ids).map_err(corrupt)?;
    let before: Vec<i64> =
        sqlx::query_scalar(SELECT_SEEN).bind(month.number()).bind(&ids).fetch_all(&mut *transaction).await?;
    let before = before.into_iter().filter_map(|index| calls.get(usize::try_from(index).ok()?));
    seen.extend(before.map(|metered| metered.call.id));
    sqlx::query(INSERT_SEEN).bind(month.number()).bind(ids).execute(transaction).await?;
    Ok(())
}

/// Returns the window of a model that an earlier version wrote.
async fn initial_window(
    transaction: &mut SqliteConnection,
    now: Month,
) -> Result<Option<DedupWindow>, ModelError> {
    let newest: Option<i32> = sqlx::query_scalar("SELECT max(month) FROM totals WHERE month <= ?")
        .bind(now.number())
        .fetch_one(transaction)
        .await?;
    Ok(newest.and_then(Month::from_number).map(DedupWindow::of))
}

/// Returns the window after a batch. A month counts as begun once the node that answered, the node that received the call and this one
/// agree on it, so that no single clock can cause the ids of the present month to be deleted.
fn advanced(before: Option<DedupWindow>, calls: &[Metered], now: Month) -> Option<DedupWindow> {
    let begun = calls.iter().map(|metered| metered.call.month.min(metered.received).min(now));
    let begun: BTreeSet<Month> = begun.collect();
    let mut window = before.or_else(|| begun.first().copied().map(DedupWindow::of))?;
    window.correct(now);
    begun.into_iter().for_each(|month| window.advance(month));
    Some(window)
}
