//! The keys: which there are, what each may call, and which have ended. All of them are in SQLite; what a call needs
//! is in memory besides.

#[cfg(feature = "apply")]
mod account;
#[cfg(feature = "apply")]
mod digest;
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
pub use table::KnownKey;
#[cfg(feature = "apply")]
pub use writer::KeysWriter;

use crate::database;

/// The version of the tables; a model in another one is made again from the log.
pub const LAYOUT: u32 = 2;

/// The keys could not be read or written.
#[derive(Debug, thiserror::Error)]
pub enum KeysError {
    /// SQLite refused; a full disk and a missing file look like this.
    #[error("the keys' database cannot be used: {0}")]
    Database(#[from] sqlx::Error),
    /// The stored data is not what this version writes.
    #[error("the keys' database holds something unreadable ({0}); run `loggia rebuild keys`")]
    Corrupt(String),
}

#[cfg(feature = "apply")]
impl KeysError {
    /// Whether the model is damaged and must be made again: trying again cannot help.
    pub fn is_corrupt(&self) -> bool {
        match self {
            KeysError::Database(error) => database::is_corrupt(error),
            KeysError::Corrupt(_) => true,
        }
    }
}

/// All that is kept of a key, but for its hash.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredKey {
    /// Its name in public.
    pub key_id: KeyId,
    /// Its last four characters.
    pub hint: String,
    /// What its holder calls it, where the event is one of version 0.1.
    pub name: Option<String>,
    /// The same, encrypted with the key itself.
    pub sealed_name: Option<SealedName>,
    /// What it may call.
    pub tier: TierName,
    /// When it was issued.
    pub created_at: Timestamp,
    /// When it was revoked, or its account erased.
    pub revoked_at: Option<Timestamp>,
    /// Whether its holder has shown that the address is theirs.
    pub proven: bool,
}

fn options(folder: &Path) -> SqliteConnectOptions {
    database::options(&folder.join("keys.db"))
}

fn corrupt(error: impl ToString) -> KeysError {
    KeysError::Corrupt(error.to_string())
}

/// Reads the columns key_id, hint, name, sealed_name, tier, created_at, revoked_at and proven.
fn read_key(row: &SqliteRow) -> Result<StoredKey, KeysError> {
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
