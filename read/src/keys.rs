//! The API keys: their tiers and which are revoked. They are stored in SQLite; what a call needs is in memory as well.

#[cfg(feature = "apply")]
mod account;
mod reader;
mod table;
#[cfg(feature = "apply")]
mod writer;

use std::path::Path;

use jiff::Timestamp;
use schemas::key::{KeyId, SealedName};
use schemas::tier::TierName;
use sqlx::Row;
use sqlx::sqlite::{SqliteConnectOptions, SqliteRow};

pub use reader::KeysReader;
pub use table::ActiveKey;
#[cfg(feature = "apply")]
pub use writer::KeysWriter;

use model::checkpoint::Checkpoint;
use model::database;
use model::error::ModelError;
use model::{Model, ModelContext};

/// The layout of its tables; a model in another layout is rebuilt from the log.
pub const LAYOUT: u32 = 2;

const NAME: &str = "keys";

/// The name of the database in a generation's folder.
const FILE: &str = "keys.db";

/// The statements that create its database.
const SCHEMA: &str = include_str!("keys/sql/schema.sql");

/// The record of a key, without its hash.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredKey {
    /// The public id.
    pub key_id: KeyId,
    /// The last four characters of the key.
    pub hint: String,
    /// The holder's name for it, if the event is one of version 0.1.
    pub name: Option<String>,
    /// The holder's name for it, encrypted with the key itself.
    pub sealed_name: Option<SealedName>,
    /// The tier, which sets the quota.
    pub tier: TierName,
    /// The time of issue.
    pub created_at: Timestamp,
    /// The time at which it was revoked, or its account erased.
    pub revoked_at: Option<Timestamp>,
    /// Whether its holder has shown that the address is theirs.
    pub proven: bool,
}

impl Model for KeysReader {
    const NAME: &'static str = NAME;
    const LAYOUT: u32 = LAYOUT;
    const FILE: &'static str = FILE;
    const SCHEMA: Option<&'static str> = Some(SCHEMA);

    async fn open(folder: &Path, _: &ModelContext) -> Result<Self, ModelError> {
        KeysReader::open(folder).await
    }

    async fn refresh(&self, _: &ModelContext) -> Result<(), ModelError> {
        KeysReader::refresh(self).await
    }

    async fn checkpoint(&self) -> Result<Checkpoint, ModelError> {
        database::checkpoint(&mut *self.pool.acquire().await?, NAME).await
    }

    #[cfg(feature = "apply")]
    async fn digest(folder: &Path) -> Result<(Checkpoint, [u8; 32]), ModelError> {
        database::digest(&folder.join(FILE), NAME, &[
            "SELECT key_id, hex(hash), account, hint, name, sealed_name, tier, created_at, revoked_at, proven, changed \
                   FROM keys ORDER BY key_id",
        ]).await
    }
}

fn options(folder: &Path) -> SqliteConnectOptions {
    database::options(&folder.join(FILE))
}

fn corrupt(reason: impl ToString) -> ModelError {
    ModelError::corrupt(NAME, reason)
}

/// Reads the columns key_id, hint, name, sealed_name, tier, created_at, revoked_at and proven.
fn read_key(row: &SqliteRow) -> Result<StoredKey, ModelError> {
    let time = |text: String| text.parse::<Timestamp>().map_err(corrupt);
    let sealed_name: Option<String> = row.try_get("sealed_name")?;
    Ok(StoredKey {
        key_id: row.try_get::<&str, _>("key_id")?.parse().map_err(corrupt)?,
        hint: row.try_get("hint")?,
        name: row.try_get("name")?,
        sealed_name: sealed_name.map(SealedName::try_from).transpose().map_err(corrupt)?,
        tier: row.try_get::<&str, _>("tier")?.parse().map_err(corrupt)?,
        created_at: time(row.try_get("created_at")?)?,
        revoked_at: row.try_get::<Option<String>, _>("revoked_at")?.map(time).transpose()?,
        proven: row.try_get("proven")?,
    })
}

#[cfg(all(test, feature = "apply"))]
mod tests;
