//! The journal of erasures in a backup, and those that a restored folder begins with.

use std::path::Path;

use schemas::chain::Hash;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::{BackupError, write_part};
use crate::vault::{ERASURES_FILE, Erasure, journal_of, read_erasures};

/// The journal that a backup holds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ErasuresCopy {
    /// How many accounts it names.
    pub accounts: u64,
    /// SHA-256 of its bytes.
    pub sha256: Hash,
}

/// Copies the journal of a store's folder into a backup, beside its place; `None` where nothing was ever erased.
pub(super) fn copy(folder: &Path, backup: &Path) -> Result<Option<ErasuresCopy>, BackupError> {
    let Some(erasures) = read_erasures(&folder.join(ERASURES_FILE))? else { return Ok(None) };
    let (accounts, text) = journal_of(erasures);
    write_part(backup, ERASURES_FILE, text.as_bytes())?;
    let sha256 = Hash(Sha256::digest(text.as_bytes()).into());
    Ok(Some(ErasuresCopy { accounts: accounts as u64, sha256 }))
}

/// Writes the journal of a restored folder beside its place: what the backup, the folder itself and the caller know.
/// Returns whether there is any erasure.
pub(super) fn bring(backup: &Path, folder: &Path, given: &[Erasure]) -> Result<bool, BackupError> {
    let mut all = given.to_vec();
    for place in [backup, folder] {
        all.extend(read_erasures(&place.join(ERASURES_FILE))?.unwrap_or_default());
    }
    if all.is_empty() {
        return Ok(false);
    }
    write_part(folder, ERASURES_FILE, journal_of(all).1.as_bytes())?;
    Ok(true)
}
