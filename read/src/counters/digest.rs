//! One hash over everything that the counters say, equal for equal counters however they were made.

use std::path::Path;

use sha2::{Digest, Sha256};
use sqlx::{ConnectOptions, Connection};

use super::{CountersError, Progress, corrupt, options};
use crate::database::{self, add_rows};

/// How far the counters in a folder have come, while they may be written.
pub async fn progress(folder: &Path) -> Result<Progress, CountersError> {
    let mut connection = options(folder).read_only(true).connect().await?;
    let progress = database::checkpoint(&mut connection, corrupt).await?;
    connection.close().await?;
    Ok(progress)
}

/// The progress and the digest of all counts at it, in one consistent view even while a worker writes. By which messages
/// they were counted does not belong to what the counters say.
pub async fn digest(folder: &Path) -> Result<(Progress, [u8; 32]), CountersError> {
    let mut connection = options(folder).read_only(true).connect().await?;
    let mut view = connection.begin().await?;
    let progress = database::checkpoint(&mut view, corrupt).await?;
    let mut sha = Sha256::new();
    for sql in [
        "SELECT month, key_id, tier, used, overrun FROM totals WHERE used + overrun > 0 ORDER BY month, key_id, tier",
        "SELECT key_id, date, rest, mcp FROM days ORDER BY key_id, date",
    ] {
        add_rows(&mut view, sql, &mut sha).await?;
    }
    drop(view);
    connection.close().await?;
    Ok((progress, sha.finalize().into()))
}
