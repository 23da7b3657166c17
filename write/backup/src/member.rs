//! One backup of a chain: its folder and its manifest, read and proven.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use event_log::Head;
use schemas::hash::Hash;
use schemas::ids::Position;
use sha2::{Digest, Sha256};

use super::error::Parent;
use super::{BackupError, COPY, INCREMENT, LEDGER, LEDGER_INCREMENT, MANIFEST, Manifest};
use super::{at, digest, has_any_of};

/// One of a chain of backups.
pub(super) struct Member {
    pub(super) folder: PathBuf,
    pub(super) manifest: Manifest,
    /// SHA-256 of the manifest as it is in the folder.
    digest: Hash,
}

impl Member {
    pub(super) fn read(folder: &Path) -> Result<Member, BackupError> {
        let text = text(folder)?;
        let manifest = Manifest::parse(folder, &text)?;
        Ok(Member { folder: folder.to_owned(), manifest, digest: hash_of(&text) })
    }

    /// What a backup that continues this one says of it.
    pub(super) fn as_parent(&self) -> Parent {
        let Manifest { created, position, hash, .. } = self.manifest;
        let folder = std::path::absolute(&self.folder).unwrap_or_else(|_| self.folder.clone());
        let calls = self.ledger_head().position;
        Parent { folder, created, position, hash, calls, manifest: self.digest }
    }

    /// Where its log ends.
    pub(super) fn head(&self) -> Head {
        Head { position: self.manifest.position, hash: self.manifest.hash }
    }

    /// Where its ledger ends.
    pub(super) fn ledger_head(&self) -> Head {
        let start = Head { position: Position::START, hash: Hash::GENESIS };
        let noted = self.manifest.ledger.as_ref();
        noted.map_or(start, |noted| Head { position: noted.position, hash: noted.hash })
    }

    pub(super) fn broken(&self, reason: impl Into<String>) -> BackupError {
        BackupError::Broken { folder: self.folder.clone(), reason: reason.into() }
    }

    /// Where its part of the log is.
    pub(super) fn log(&self) -> PathBuf {
        self.folder.join(self.manifest.log())
    }

    /// Proves that a file, or a copy of it, has the bytes that were written.
    pub(super) async fn prove(&self, name: &str, path: &Path, noted: Hash) -> Result<(), BackupError> {
        if !path.exists() {
            return Err(self.broken(format!("its {name} is missing")));
        }
        let what = match name {
            COPY | INCREMENT => "its bytes".to_owned(),
            LEDGER | LEDGER_INCREMENT => "the bytes of its ledger".to_owned(),
            name => format!("the bytes of its {name}"),
        };
        if digest(path).await? == noted {
            Ok(())
        } else {
            Err(self.broken(format!("{what} are not those that were written")))
        }
    }
}

pub(super) fn hash_of(text: &[u8]) -> Hash {
    Hash(Sha256::digest(text).into())
}

/// The bytes of a manifest.
pub(super) fn text(backup: &Path) -> Result<Vec<u8>, BackupError> {
    let path = backup.join(MANIFEST);
    match fs::read(&path) {
        Ok(text) => Ok(text),
        Err(error) if error.kind() == io::ErrorKind::NotFound && has_any_of(backup) => {
            let reason = format!("it has no {MANIFEST}, which is written last");
            Err(BackupError::Broken { folder: backup.to_owned(), reason })
        }
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            Err(BackupError::Absent(backup.to_owned()))
        }
        Err(error) => Err(at(&path)(error)),
    }
}
