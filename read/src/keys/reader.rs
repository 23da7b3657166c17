//! Reads the keys.

use std::path::Path;
use std::sync::Arc;

use futures::TryStreamExt;
use schemas::ids::Position;
use schemas::key::{KeyHash, KeyId};
use schemas::tier::TierName;
use sqlite::ChangeDetector;
use sqlx::sqlite::SqliteRow;
use sqlx::{Row, SqlitePool};
use tokio::sync::Mutex;

use super::table::{ActiveKey, Table};
use super::{StoredKey, corrupt, options, read_key};
use model::error::ModelError;

const CONNECTIONS: u32 = 3;

/// Reads one generation of the keys.
#[derive(Debug)]
pub struct KeysReader {
    pub(super) pool: SqlitePool,
    changes: ChangeDetector,
    table: Table,
    loaded: Mutex<Loaded>,
}

/// How much of the database is in memory.
#[derive(Debug, Default)]
struct Loaded {
    /// The last change that was read.
    changed: Position,
    /// Every tier that a key has or had, shared between keys.
    tiers: Vec<Arc<TierName>>,
}

impl KeysReader {
    /// Opens the keys in a generation's folder, read-only, and loads all of them.
    pub async fn open(folder: &Path) -> Result<KeysReader, ModelError> {
        let pool = sqlite::readers(options(folder), CONNECTIONS).await?;
        let changes = ChangeDetector::new(&folder.join("keys.db"));
        let reader = KeysReader { pool, changes, table: Table::new(), loaded: Mutex::default() };
        reader.refresh().await?;
        Ok(reader)
    }

    /// Returns the key with this hash unless it is revoked. The lookup takes equally long for unknown and for revoked keys.
    pub fn find(&self, hash: &KeyHash) -> Option<ActiveKey> {
        self.table.find(hash)
    }

    /// Loads what was committed since the last refresh.
    pub async fn refresh(&self) -> Result<(), ModelError> {
        let Some(stamps) = self.changes.check() else { return Ok(()) };
        let mut loaded = self.loaded.lock().await;
        let sql = "SELECT hash, key_id, tier, revoked_at IS NOT NULL AS revoked, changed FROM keys \
                   WHERE changed > ? ORDER BY changed";
        let mut rows = sqlx::query(sql).bind(loaded.changed.0.cast_signed()).fetch(&self.pool);
        // After a failure the same rows are read again by the next refresh, which changes nothing.
        let mut changed = loaded.changed;
        while let Some(row) = rows.try_next().await? {
            changed = self.load_row(&row, &mut loaded.tiers)?;
        }
        loaded.changed = changed;
        self.changes.mark_read(stamps);
        Ok(())
    }

    fn load_row(&self, row: &SqliteRow, tiers: &mut Vec<Arc<TierName>>) -> Result<Position, ModelError> {
        let hash: [u8; 32] = row.try_get::<&[u8], _>("hash")?.try_into().map_err(corrupt)?;
        let key_id: KeyId = row.try_get::<&str, _>("key_id")?.parse().map_err(corrupt)?;
        let tier = if row.try_get("revoked")? { None } else { Some(shared(tiers, row.try_get("tier")?)?) };
        self.table.set(KeyHash(schemas::hash::Hash(hash)), key_id, tier);
        Ok(Position(row.try_get::<i64, _>("changed")?.unsigned_abs()))
    }

    /// Returns the record of the key with this id.
    pub async fn record(&self, key: KeyId) -> Result<Option<StoredKey>, ModelError> {
        let sql = "SELECT key_id, hint, name, sealed_name, tier, created_at, revoked_at, proven FROM keys \
             WHERE key_id = ?";
        let row = sqlx::query(sql).bind(key.as_str()).fetch_optional(&self.pool).await?;
        row.as_ref().map(read_key).transpose()
    }

    /// Closes the database once no query uses it.
    pub async fn close(&self) {
        self.pool.close().await;
    }
}

/// Returns the shared tier with this name.
fn shared(tiers: &mut Vec<Arc<TierName>>, name: &str) -> Result<Arc<TierName>, ModelError> {
    if let Some(tier) = tiers.iter().find(|tier| tier.as_str() == name) {
        return Ok(tier.clone());
    }
    let tier = Arc::new(name.parse::<TierName>().map_err(corrupt)?);
    tiers.push(tier.clone());
    Ok(tier)
}
