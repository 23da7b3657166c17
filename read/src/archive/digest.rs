//! One hash over everything that the model says, equal for equal models however they were made.

use std::path::Path;

use sha2::{Digest, Sha256};
use sqlx::{ConnectOptions, Connection};

use super::{ArchiveError, ArchiveWriter, corrupt, options};
use crate::checkpoint::Checkpoint;
use crate::database::{self, add_rows};

impl ArchiveWriter {
    /// The checkpoint of the model in a folder and the digest of all rows at it, in one consistent view even while a worker
    /// writes.
    pub async fn digest(folder: &Path) -> Result<(Checkpoint, [u8; 32]), ArchiveError> {
        let mut connection = options(folder).read_only(true).connect().await?;
        let mut view = connection.begin().await?;
        let checkpoint = database::checkpoint(&mut view, corrupt).await?;
        let mut sha = Sha256::new();
        let sql = "SELECT ordinal, project, slug, category, published, added, newest, listed, words FROM projects ORDER BY ordinal";
        add_rows(&mut view, sql, &mut sha).await?;
        view.rollback().await?;
        connection.close().await?;
        Ok((checkpoint, sha.finalize().into()))
    }
}
