//! Backup of the ledger, whole or incremental.

use std::path::Path;

use schemas::control::LedgerSource;
use schemas::hash::Hash;
use schemas::ids::Position;
use serde::{Deserialize, Serialize};
use sqlite::{Source, integer, readers, reading, rewriting, rewriting_from};
use sqlx::{ConnectOptions, Connection};
use store_file::{Head, StoreError};

use super::{file, rows, verify};

/// The ledger in a backup.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LedgerCopy {
    /// Its last position.
    pub position: Position,
    /// The hash of the last entry.
    pub hash: Hash,
    /// SHA-256 of the file.
    pub sha256: Hash,
}

/// Writes a consistent copy of the ledger to a new file and returns its head.
///
/// # Errors
///
/// Fails if the ledger cannot be read or the file cannot be written.
pub async fn copy(ledger: &Path, to: &Path) -> Result<Head, StoreError> {
    sqlite::copy(reading(ledger), to).await?;
    let mut copied = reading(to).connect().await?;
    let head = rows::head(&mut copied).await?;
    copied.close().await?;
    Ok(head)
}

/// Verifies the tables, the entries and the end of a copy.
///
/// # Errors
///
/// Fails with a sentence that says what is wrong.
pub async fn verify_copy(copy: &Path, recorded: &LedgerCopy) -> Result<(), String> {
    // Without what is in journals beside it, which a restore does not copy either.
    let readers = readers(reading(copy).immutable(true), super::READERS)
        .await
        .map_err(|error| StoreError::from(error).to_string())?;
    let outcome = verify::all(&readers, |_| {}).await;
    readers.close().await;
    let recount = outcome.map_err(|error| error.to_string())?.map_err(|damage| damage.to_string())?;
    if (Position(recount.entries), recount.hash) != (recorded.position, recorded.hash) {
        return Err("its ledger belongs to another copy".into());
    }
    Ok(())
}

/// The `application_id` of an increment: "LOGV".
const MARK: &str = "PRAGMA application_id = 0x4c4f4756";

/// Writes the entries after a head to an empty file, with all words and sources, and returns their head; `None` if the ledger does
/// not have that head.
///
/// # Errors
///
/// Fails if the ledger cannot be read or the file cannot be written.
pub async fn increment(ledger: &Path, to: &Path, after: Head) -> Result<Option<Head>, StoreError> {
    let mut empty = rewriting(to).connect().await?;
    file::create(&mut empty).await?;
    empty.close().await?;
    let mut writer = rewriting_from(to, Source::Live(ledger)).await?;
    let mut view = writer.begin().await?;
    let found: Option<Vec<u8>> = sqlx::query_scalar("SELECT hash FROM source.entries WHERE position = ?1")
        .bind(integer(after.position.0))
        .fetch_optional(&mut *view)
        .await?;
    if after.position > Position::START && found.as_deref() != Some(after.hash.0.as_slice()) {
        return Ok(None);
    }
    sqlx::query(
        "INSERT INTO main.entries SELECT * FROM source.entries WHERE position > ?1 ORDER BY position",
    )
    .bind(integer(after.position.0))
    .execute(&mut *view)
    .await?;
    sqlx::raw_sql(
        "DELETE FROM main.ledger; INSERT INTO main.ledger SELECT * FROM source.ledger; \
         INSERT INTO main.words SELECT * FROM source.words; INSERT INTO main.sources SELECT * FROM source.sources;",
    )
    .execute(&mut *view)
    .await?;
    sqlx::raw_sql(MARK).execute(&mut *view).await?;
    let head = rows::head(&mut *view).await?;
    view.commit().await?;
    writer.close().await?;
    Ok(Some(head))
}

/// Appends the entries of an increment to a copy of the ledger, which is created if absent.
///
/// # Errors
///
/// Fails if one of them has other tables than a ledger or anything else, and if the increment cannot be read or the copy cannot be
/// written.
pub async fn extend(ledger: &Path, increment: &Path) -> Result<(), StoreError> {
    file::check_tables(increment).await?;
    if ledger.exists() {
        file::check_tables(ledger).await?;
    } else {
        let mut empty = rewriting(ledger).create_if_missing(true).connect().await?;
        file::create(&mut empty).await?;
        empty.close().await?;
    }
    let mut writer = rewriting_from(ledger, Source::Immutable(increment)).await?;
    sqlx::raw_sql(
        "BEGIN; INSERT INTO main.entries SELECT * FROM source.entries ORDER BY position; \
         INSERT OR REPLACE INTO main.words SELECT * FROM source.words; \
         INSERT OR REPLACE INTO main.sources SELECT * FROM source.sources; \
         DELETE FROM main.ledger; INSERT INTO main.ledger SELECT * FROM source.ledger; COMMIT;",
    )
    .execute(&mut writer)
    .await?;
    Ok(writer.close().await?)
}

/// Verifies the tables, and the entries after a head and their end.
///
/// # Errors
///
/// Fails with a sentence that says what is wrong.
pub async fn verify_increment(increment: &Path, start: Head, recorded: &LedgerCopy) -> Result<(), String> {
    let reason = |error: StoreError| error.to_string();
    let mut reader =
        reading(increment).immutable(true).connect().await.map_err(|error| reason(error.into()))?;
    let head =
        verify::after(&mut reader, start).await.map_err(reason)?.map_err(|damage| damage.to_string())?;
    reader.close().await.map_err(|error| reason(error.into()))?;
    if (head.position, head.hash) != (recorded.position, recorded.hash) {
        return Err("its ledger belongs to another copy".into());
    }
    Ok(())
}

/// Reads the progress of each stream from a copy or an increment of the ledger.
///
/// # Errors
///
/// Fails if the file cannot be read.
pub async fn sources_of(copy: &Path) -> Result<Vec<LedgerSource>, StoreError> {
    let mut reader = reading(copy).immutable(true).connect().await?;
    let sources = rows::sources(&mut reader).await?;
    reader.close().await?;
    Ok(sources)
}
