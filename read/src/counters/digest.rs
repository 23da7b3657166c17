//! One hash over everything that the counters say, equal for equal counters however they were made.

use std::path::Path;

use sqlx::{ConnectOptions, Connection};

use super::{FILE, NAME, Progress, options};
use crate::database;
use crate::error::ModelError;

/// How far the counters in a folder have come, while they may be written.
pub async fn progress(folder: &Path) -> Result<Progress, ModelError> {
    let mut connection = options(folder).read_only(true).connect().await?;
    let progress = database::checkpoint(&mut connection, NAME).await?;
    connection.close().await?;
    Ok(progress)
}

/// The progress and the digest of all counts at it, in one consistent view even while a worker writes. By which messages
/// they were counted does not belong to what the counters say.
pub async fn digest(folder: &Path) -> Result<(Progress, [u8; 32]), ModelError> {
    let queries = [
        "SELECT month, key_id, tier, used, overrun FROM totals WHERE used + overrun > 0 ORDER BY month, key_id, tier",
        "SELECT key_id, date, rest, mcp FROM days ORDER BY key_id, date",
    ];
    database::digest(&folder.join(FILE), NAME, &queries).await
}
