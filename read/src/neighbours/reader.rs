//! Asks the neighbours.

use std::path::Path;

use futures::TryStreamExt;
use sqlite::ChangeDetector;
use sqlx::sqlite::SqliteRow;
use sqlx::{Row, SqlitePool};
use tokio::sync::Mutex;

use super::list::Neighbours;
use super::table::{Standing, Table};
use super::{corrupt, options};
use crate::error::ModelError;

/// How many may read the database at once; more wait their turn.
const CONNECTIONS: u32 = 2;

/// Reads one generation of the neighbours.
#[derive(Debug)]
pub struct NeighboursReader {
    pool: SqlitePool,
    changes: ChangeDetector,
    table: Table,
    /// The last change that is in memory already.
    loaded: Mutex<i64>,
}

impl NeighboursReader {
    /// Opens the neighbours in a generation's folder, for reading only, and loads all lists.
    pub async fn open(folder: &Path) -> Result<NeighboursReader, ModelError> {
        let pool = sqlite::readers(options(folder), CONNECTIONS).await?;
        let changes = ChangeDetector::new(&folder.join("neighbours.db"));
        let reader = NeighboursReader { pool, changes, table: Table::new(), loaded: Mutex::default() };
        reader.refresh().await?;
        Ok(reader)
    }

    /// The nearest of the project that was selected at this position; none unless its standing is
    /// [`Standing::Known`].
    pub fn of(&self, ordinal: u64) -> Option<Neighbours> {
        self.table.find(ordinal).1
    }

    /// What is known of the neighbours of the project that was selected at this position.
    pub fn standing(&self, ordinal: u64) -> Standing {
        self.table.find(ordinal).0
    }

    /// Takes in what was committed since the last time.
    pub async fn refresh(&self) -> Result<(), ModelError> {
        let Some(stamps) = self.changes.check() else { return Ok(()) };
        let mut loaded = self.loaded.lock().await;
        let sql = "SELECT ordinal, listed, sides, dirty, list, changed FROM projects \
                   WHERE changed > ? ORDER BY changed";
        let mut rows = sqlx::query(sql).bind(*loaded).fetch(&self.pool);
        // What fails midway is taken in again from the start the next time, which changes nothing.
        let mut changed = *loaded;
        while let Some(row) = rows.try_next().await? {
            changed = self.take_in(&row)?;
        }
        *loaded = changed;
        self.changes.mark_read(stamps);
        Ok(())
    }

    fn take_in(&self, row: &SqliteRow) -> Result<i64, ModelError> {
        let ordinal = u32::try_from(row.try_get::<i64, _>("ordinal")?).map_err(corrupt)?;
        let (is_listed, is_dirty): (bool, bool) = (row.try_get("listed")?, row.try_get("dirty")?);
        let sides: u8 = row.try_get("sides")?;
        let list: &[u8] = row.try_get("list")?;
        let standing = match (is_listed, sides) {
            (false, _) => Standing::Withdrawn,
            (true, 0) => Standing::NoVectors,
            // Until its new place is known, a project keeps the one that it had.
            (true, _) if is_dirty && list.is_empty() => Standing::Pending,
            (true, _) => Standing::Known,
        };
        self.table.set(ordinal, standing, Neighbours::read(list));
        Ok(row.try_get("changed")?)
    }

    /// Closes the database once no question is under way any more.
    pub async fn close(&self) {
        self.pool.close().await;
    }

    pub(super) fn pool(&self) -> &SqlitePool {
        &self.pool
    }
}
