//! One hash over everything that the model says of keys, equal for equal models however they were made.

use sha2::{Digest, Sha256};

use super::{KeysError, KeysReader, corrupt};
use crate::checkpoint::Checkpoint;
use crate::database::{self, add_rows};

impl KeysReader {
    /// The checkpoint and the digest of all rows at it, in one consistent view even while a worker writes.
    pub async fn digest(&self) -> Result<(Checkpoint, [u8; 32]), KeysError> {
        let mut view = self.pool().begin().await?;
        let checkpoint = database::checkpoint(&mut view, corrupt).await?;
        let mut sha = Sha256::new();
        let sql = "SELECT key_id, hex(hash), account, hint, name, sealed_name, tier, created_at, revoked_at, proven, changed \
                   FROM keys ORDER BY key_id";
        add_rows(&mut view, sql, &mut sha).await?;
        Ok((checkpoint, sha.finalize().into()))
    }
}
