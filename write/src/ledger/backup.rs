//! The ledger's part of a backup.

use std::path::Path;

use schemas::chain::Hash;
use schemas::ids::Position;
use serde::{Deserialize, Serialize};
use sqlx::sqlite::SqlitePoolOptions;
use sqlx::{ConnectOptions, Connection};

use super::{rows, verify};
use crate::event_store::StoreError;
use crate::event_store::sqlite::file::reading;
use crate::event_store::sqlite::rows::failure;

/// What a backup holds of the ledger.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LedgerCopy {
    /// The last position in the copy.
    pub position: Position,
    /// The hash of the last entry.
    pub hash: Hash,
    /// SHA-256 of the copy's bytes.
    pub sha256: Hash,
}

/// Writes a copy of the ledger, as it is now, to a file that is not there yet; gives where it ends.
pub(crate) async fn copy(ledger: &Path, to: &Path) -> Result<(Position, Hash), StoreError> {
    let mut reader = reading(ledger).connect().await.map_err(failure)?;
    sqlx::query("VACUUM INTO ?1")
        .bind(to.to_string_lossy().into_owned())
        .execute(&mut reader)
        .await
        .map_err(failure)?;
    reader.close().await.map_err(failure)?;
    let mut copied = reading(to).connect().await.map_err(failure)?;
    let head = rows::head(&mut copied).await?;
    copied.close().await.map_err(failure)?;
    Ok((head.position, head.hash))
}

/// Whether a copy's entries are right and end where they should; the reason if not.
pub(crate) async fn proven(copy: &Path, noted: &LedgerCopy) -> Result<(), String> {
    let readers = SqlitePoolOptions::new().max_connections(super::READERS).connect_lazy_with(reading(copy));
    let outcome = verify::all(&readers, |_| {}).await;
    readers.close().await;
    let recount = outcome.map_err(|error| error.to_string())?.map_err(|damage| damage.to_string())?;
    if (Position(recount.entries), recount.hash) != (noted.position, noted.hash) {
        return Err("its ledger belongs to another copy".into());
    }
    Ok(())
}
