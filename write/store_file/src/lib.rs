//! What the two files of the event store have in common, the log of events and the ledger of calls: why one cannot be used, its
//! head, the ids and hashes in its rows, and the lock of its one writer.
//!
//! `event_log` and `ledger` are built on it, and `event_log` exports the same names for those above it.

use std::fs::File;
use std::path::Path;

use schemas::hash::Hash;
use schemas::ids::Position;
use sqlite::{array, lock_writer};
use uuid::Uuid;

/// The end of a log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Head {
    /// The last position; 0 for an empty log.
    pub position: Position,
    /// The last entry's hash; [`Hash::GENESIS`] for an empty log.
    pub hash: Hash,
}

/// A failure of the event store, or of a file that is kept like it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StoreError {
    /// Temporary: a retry may succeed.
    #[error("the event store is not available: {0}")]
    Unavailable(String),
    /// The stored data is not what was written: the store must be restored from a backup.
    #[error("the event store is damaged: {0}; verify it, and restore the last backup")]
    Corrupt(String),
}

impl StoreError {
    /// Returns a temporary failure; `reason` is a sentence with the cause and what to do.
    pub fn unavailable(reason: impl Into<String>) -> StoreError {
        StoreError::Unavailable(reason.into())
    }

    /// Returns a failure because of damaged data.
    pub fn corrupt(reason: impl Into<String>) -> StoreError {
        StoreError::Corrupt(reason.into())
    }

    /// Returns the reason alone.
    pub fn reason(&self) -> &str {
        match self {
            StoreError::Unavailable(reason) | StoreError::Corrupt(reason) => reason,
        }
    }
}

impl From<sqlite::Error> for StoreError {
    fn from(error: sqlite::Error) -> StoreError {
        match error {
            sqlite::Error::Unavailable(reason) => StoreError::Unavailable(reason),
            sqlite::Error::Corrupt(reason) => StoreError::Corrupt(reason),
        }
    }
}

impl From<sqlx::Error> for StoreError {
    fn from(error: sqlx::Error) -> StoreError {
        sqlite::Error::from(error).into()
    }
}

/// Returns an id of 16 bytes.
///
/// # Errors
///
/// Fails with [`StoreError::Corrupt`] if there are more or fewer.
pub fn uuid(bytes: &[u8]) -> Result<Uuid, StoreError> {
    Ok(Uuid::from_bytes(array(bytes, "an id")?))
}

/// Returns a hash of 32 bytes.
///
/// # Errors
///
/// Fails with [`StoreError::Corrupt`] if there are more or fewer.
pub fn hash(bytes: &[u8]) -> Result<Hash, StoreError> {
    Ok(Hash(array(bytes, "a hash")?))
}

/// Locks the folder of a file for its one writer; the lock is held until the value is dropped.
///
/// # Errors
///
/// Fails if another process holds the lock or the folder cannot be written to.
pub fn lock(path: &Path) -> Result<File, StoreError> {
    Ok(lock_writer(path, "the event store")?)
}
