//! The journal of erasures: a file beside the vault that names erased accounts and times, and no address. A backup that is older than
//! an erasure restores the address and its live keys; with the journal of the previous folder or of a newer backup they are
//! erased again.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use jiff::Timestamp;
use schemas::ids::AccountId;
use serde::{Deserialize, Serialize};

use super::secret::write_atomically;
use super::{Vault, VaultError};

/// The file name of the journal in the event store's folder: one JSON object a line.
pub const ERASURES_FILE: &str = "erasures.ndjson";

/// The most bytes of a journal that are read: some three million accounts. It is kept in memory while it is read.
pub const MAX_JOURNAL_BYTES: u64 = 256 << 20;

/// An erased account.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Erasure {
    /// Its id.
    pub account: AccountId,
    /// The time of the first erasure.
    pub erased_at: Timestamp,
}

/// Reads a journal; `None` if there is no file.
///
/// # Errors
///
/// If the file cannot be read, or a line is not an erasure; the error names the first such line.
pub fn read_erasures(path: &Path) -> Result<Option<Vec<Erasure>>, VaultError> {
    let text = match bounded_file::read_to_string(path, MAX_JOURNAL_BYTES) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(unavailable(path, &error)),
    };
    let read = |(index, line): (usize, &str)| {
        serde_json::from_str(line).map_err(|_| {
            VaultError::unavailable(format!(
                "line {} of {} names no erased account; correct it, or take the file of a backup",
                index + 1,
                path.display()
            ))
        })
    };
    text.lines().enumerate().map(read).collect::<Result<_, _>>().map(Some)
}

/// Formats a journal of these erasures, each account once with its first time.
pub fn journal_text(erasures: impl IntoIterator<Item = Erasure>) -> (usize, String) {
    let mut first: BTreeMap<AccountId, Timestamp> = BTreeMap::new();
    for Erasure { account, erased_at } in erasures {
        first.entry(account).and_modify(|at| *at = erased_at.min(*at)).or_insert(erased_at);
    }
    let line = |(account, erased_at): (&AccountId, &Timestamp)| {
        format!("{}\n", serde_json::json!({"account": account, "erased_at": erased_at}))
    };
    (first.len(), first.iter().map(line).collect())
}

impl Vault {
    /// Returns every erasure of the journal.
    ///
    /// # Errors
    ///
    /// If the journal cannot be read.
    pub async fn erasures(&self) -> Result<Vec<Erasure>, VaultError> {
        let path = self.journal.clone();
        blocking(move || Ok(read_erasures(&path)?.unwrap_or_default())).await
    }

    /// Adds erasures durably. They are added before `AccountErased` is appended, so that the next start completes an erasure
    /// that a crash interrupted.
    ///
    /// # Errors
    ///
    /// If the journal cannot be read or written.
    pub async fn record_erasures(&self, erasures: Vec<Erasure>) -> Result<(), VaultError> {
        let path = self.journal.clone();
        blocking(move || {
            let mut noted = read_erasures(&path)?.unwrap_or_default();
            let is_new = |erasure: &Erasure| !noted.iter().any(|known| known.account == erasure.account);
            let new: Vec<_> = erasures.into_iter().filter(is_new).collect();
            if new.is_empty() {
                return Ok(());
            }
            noted.extend(new);
            write_atomically(&path, &journal_text(noted).1).map_err(|error| unavailable(&path, &error))
        })
        .await
    }
}

fn unavailable(path: &Path, error: &io::Error) -> VaultError {
    VaultError::unavailable(format!("{} cannot be used: {error}", path.display()))
}

async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, VaultError> + Send + 'static,
) -> Result<T, VaultError> {
    tokio::task::spawn_blocking(work).await.map_err(|error| VaultError::unavailable(error.to_string()))?
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    use ulid::Ulid;

    use super::*;
    use crate::tests::new_vault;

    fn erasure(account: u128, second: i64) -> Erasure {
        Erasure { account: AccountId(Ulid(account)), erased_at: Timestamp::from_second(second).unwrap() }
    }

    #[tokio::test]
    async fn an_account_is_noted_once_with_its_first_time() {
        let (folder, vault) = new_vault().await;
        assert_eq!(vault.erasures().await.unwrap(), []);
        vault.record_erasures(vec![erasure(2, 20)]).await.unwrap();
        vault.record_erasures(vec![erasure(1, 30), erasure(2, 40)]).await.unwrap();
        assert_eq!(vault.erasures().await.unwrap(), [erasure(1, 30), erasure(2, 20)]);
        let path = folder.path().join(ERASURES_FILE);
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(
            fs::read_to_string(&path).unwrap().lines().next().unwrap(),
            r#"{"account":"00000000000000000000000001","erased_at":"1970-01-01T00:00:30Z"}"#
        );
    }

    #[test]
    fn a_line_that_is_no_erasure_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("list");
        assert_eq!(read_erasures(&path).unwrap(), None);
        let (count, text) = journal_text([erasure(1, 3), erasure(1, 2)]);
        assert_eq!(count, 1);
        fs::write(&path, format!("{text}ada@example.org\n")).unwrap();
        let error = read_erasures(&path).unwrap_err().to_string();
        assert!(error.contains("line 2 of ") && !error.contains("ada@example.org"), "{error}");
    }
}
