//! One backup of a chain: its folder and its manifest.

use std::io;
use std::path::{Path, PathBuf};

use bounded_file::Refusal;
use event_log::Head;
use schemas::hash::Hash;
use schemas::ids::Position;
use sha2::{Digest, Sha256};

use super::error::Parent;
use super::{BackupError, INCREMENT, LEDGER, LEDGER_INCREMENT, LOG, MANIFEST, MAX_MANIFEST_BYTES, Manifest};
use super::{at, digest, has_any_of};

/// One backup of a chain.
pub(super) struct Member {
    pub(super) folder: PathBuf,
    pub(super) manifest: Manifest,
    /// SHA-256 of the manifest as it is in the folder.
    digest: Hash,
}

impl Member {
    pub(super) fn read(folder: &Path) -> Result<Member, BackupError> {
        let bytes = manifest_bytes(folder)?;
        let manifest = Manifest::parse(folder, &bytes)?;
        Ok(Member { folder: folder.to_owned(), manifest, digest: sha256_of(&bytes) })
    }

    /// Returns the reference by which another backup continues this one.
    pub(super) fn as_parent(&self) -> Parent {
        let Manifest { created, position, hash, .. } = self.manifest;
        let folder = std::path::absolute(&self.folder).unwrap_or_else(|_| self.folder.clone());
        let calls = self.ledger_head().position;
        Parent { folder, created, position, hash, calls, manifest: self.digest }
    }

    pub(super) fn head(&self) -> Head {
        Head { position: self.manifest.position, hash: self.manifest.hash }
    }

    pub(super) fn ledger_head(&self) -> Head {
        let start = Head { position: Position::START, hash: Hash::GENESIS };
        let ledger = self.manifest.ledger.as_ref();
        ledger.map_or(start, |copy| Head { position: copy.position, hash: copy.hash })
    }

    pub(super) fn broken(&self, reason: impl Into<String>) -> BackupError {
        BackupError::Broken { folder: self.folder.clone(), reason: reason.into() }
    }

    /// Returns the error for a file of the backup that could not be read: the backup is broken if that is no file or too large.
    pub(super) fn unreadable(&self, name: &str, path: &Path, error: io::Error) -> BackupError {
        unreadable(&self.folder, name, path, error)
    }

    pub(super) fn log(&self) -> PathBuf {
        self.folder.join(self.manifest.log())
    }

    /// Checks that a file of the backup, or a copy of it at `path`, has the bytes that were written.
    pub(super) async fn check_bytes(&self, name: &str, path: &Path, sha256: Hash) -> Result<(), BackupError> {
        if !path.exists() {
            return Err(self.broken(format!("its {name} is missing")));
        }
        let what = match name {
            LOG | INCREMENT => "its bytes".to_owned(),
            LEDGER | LEDGER_INCREMENT => "the bytes of its ledger".to_owned(),
            name => format!("the bytes of its {name}"),
        };
        let found = digest(path).await.map_err(|error| match error {
            BackupError::File { path, source } => self.unreadable(name, &path, source),
            other => other,
        })?;
        if found == sha256 {
            Ok(())
        } else {
            Err(self.broken(format!("{what} are not those that were written")))
        }
    }
}

pub(super) fn sha256_of(bytes: &[u8]) -> Hash {
    Hash(Sha256::digest(bytes).into())
}

pub(super) fn manifest_bytes(backup: &Path) -> Result<Vec<u8>, BackupError> {
    let path = backup.join(MANIFEST);
    match bounded_file::read(&path, MAX_MANIFEST_BYTES) {
        Ok(bytes) => Ok(bytes),
        Err(error) if error.kind() == io::ErrorKind::NotFound && has_any_of(backup) => {
            let reason = format!("it has no {MANIFEST}, which is written last");
            Err(BackupError::Broken { folder: backup.to_owned(), reason })
        }
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            Err(BackupError::Absent(backup.to_owned()))
        }
        Err(error) => Err(unreadable(backup, MANIFEST, &path, error)),
    }
}

/// Returns the error for a file of a backup that could not be read.
pub(super) fn unreadable(backup: &Path, name: &str, path: &Path, error: io::Error) -> BackupError {
    match Refusal::of(&error) {
        Some(refusal) => BackupError::Broken {
            folder: backup.to_owned(),
            reason: format!("its {name} cannot be read ({refusal})"),
        },
        None => at(path)(error),
    }
}
