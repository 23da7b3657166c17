//! One hash over everything that the catalog says, equal for equal catalogs however they were made.

use sha2::{Digest, Sha256};

use super::{CatalogError, CatalogReader};
use crate::checkpoint::Checkpoint;
use crate::database::{self, add_rows};

impl CatalogReader {
    /// The checkpoint and the digest of all rows at it, in one consistent view even while a worker writes.
    pub async fn digest(&self) -> Result<(Checkpoint, [u8; 32]), CatalogError> {
        let mut view = self.pool().begin().await?;
        let checkpoint = database::checkpoint(&mut view, |e| CatalogError::Corrupt(e.to_string())).await?;
        let mut sha = Sha256::new();
        for sql in [
            "SELECT project, ordinal, slug, revision, updated_at, withdrawn, pictures, picture, page, source, citation, answer FROM projects ORDER BY project",
            "SELECT project, revision, position, slug, time, actor, command, record FROM revisions ORDER BY project, revision",
            "SELECT project, source, until, command, picture FROM replaced ORDER BY project, source, until",
            "SELECT slug, project FROM slugs ORDER BY slug",
        ] {
            add_rows(&mut view, sql, &mut sha).await?;
        }
        Ok((checkpoint, sha.finalize().into()))
    }
}
