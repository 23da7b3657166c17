//! Reads the neighbours.

use std::path::Path;

use futures::TryStreamExt;
use sqlite::ChangeDetector;
use sqlx::sqlite::SqliteRow;
use sqlx::{Row, SqlitePool};
use tokio::sync::Mutex;

use super::list::Neighbours;
use super::table::{ListStatus, Table};
use super::{corrupt, options};
use model::error::ModelError;

const CONNECTIONS: u32 = 2;

/// Reads one generation of the neighbours.
#[derive(Debug)]
pub struct NeighboursReader {
    pub(super) pool: SqlitePool,
    changes: ChangeDetector,
    table: Table,
    /// The last change that was read.
    loaded: Mutex<i64>,
}

impl NeighboursReader {
    /// Opens the neighbours in a generation's folder, read-only, and loads all lists.
    pub async fn open(folder: &Path) -> Result<NeighboursReader, ModelError> {
        let pool = sqlite::readers(options(folder), CONNECTIONS).await?;
        let changes = ChangeDetector::new(&folder.join("neighbours.db"));
        let reader = NeighboursReader { pool, changes, table: Table::new(), loaded: Mutex::default() };
        reader.refresh().await?;
        Ok(reader)
    }

    /// Returns the neighbours of the project that was selected at this position, if its status is [`ListStatus::Ready`].
    pub fn of(&self, ordinal: u64) -> Option<Neighbours> {
        self.table.find(ordinal).1
    }

    /// Returns the status of the list of the project that was selected at this position.
    pub fn status(&self, ordinal: u64) -> ListStatus {
        self.table.find(ordinal).0
    }

    /// Loads what was committed since the last refresh.
    pub async fn refresh(&self) -> Result<(), ModelError> {
        let Some(stamps) = self.changes.check() else { return Ok(()) };
        let mut loaded = self.loaded.lock().await;
        let sql = "SELECT ordinal, listed, sides, dirty, list, changed FROM projects \
                   WHERE changed > ? ORDER BY changed";
        let mut rows = sqlx::query(sql).bind(*loaded).fetch(&self.pool);
        // After a failure the same rows are read again by the next refresh, which changes nothing.
        let mut changed = *loaded;
        while let Some(row) = rows.try_next().await? {
            changed = self.load_row(&row)?;
        }
        *loaded = changed;
        self.changes.mark_read(stamps);
        Ok(())
    }

    fn load_row(&self, row: &SqliteRow) -> Result<i64, ModelError> {
        let ordinal = u32::try_from(row.try_get::<i64, _>("ordinal")?).map_err(corrupt)?;
        let (is_listed, is_dirty): (bool, bool) = (row.try_get("listed")?, row.try_get("dirty")?);
        let sides: u8 = row.try_get("sides")?;
        let list: &[u8] = row.try_get("list")?;
        let status = match (is_listed, sides) {
            (false, _) => ListStatus::Withdrawn,
            (true, 0) => ListStatus::NoVectors,
            // Until its new list is computed, a project keeps the former one.
            (true, _) if is_dirty && list.is_empty() => ListStatus::Pending,
            (true, _) => ListStatus::Ready,
        };
        self.table.set(ordinal, status, Neighbours::read(list));
        Ok(row.try_get("changed")?)
    }

    /// Closes the database once no query uses it.
    pub async fn close(&self) {
        self.pool.close().await;
    }
}
