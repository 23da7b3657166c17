//! The sidecar files of the log that a backup contains: the vault, its secret, and the kept mappings.

use std::fs::File;
use std::io;
use std::path::Path;

use schemas::hash::Hash;
use schemas::kept_mappings::{KEPT_MAPPINGS, KeptMappings, MAX_FILE_BYTES};
use serde::{Deserialize, Serialize};
use vault::VaultError;

use super::member::Member;
use super::{BackupError, at, create_private, digest, staged};

/// A file in the store's folder beside the log.
struct SidecarFile {
    name: &'static str,
    kind: Kind,
}

#[derive(Clone, Copy)]
enum Kind {
    /// A SQLite database, which may be written while it is copied.
    Database,
    /// The secret of the vault, which is written once.
    Secret,
    /// The kept mappings, which are replaced as a whole.
    Mappings,
}

const SIDECAR_FILES: [SidecarFile; 3] = [
    SidecarFile { name: vault::FILE, kind: Kind::Database },
    SidecarFile { name: vault::SECRET_FILE, kind: Kind::Secret },
    SidecarFile { name: KEPT_MAPPINGS, kind: Kind::Mappings },
];

/// The copy of a sidecar file in a backup.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CopiedFile {
    /// The file name, in the store's folder and in the backup.
    pub name: String,
    /// SHA-256 of the copy's bytes.
    pub sha256: Hash,
}

pub(super) fn names() -> impl Iterator<Item = &'static str> {
    SIDECAR_FILES.iter().map(|file| file.name)
}

/// Stages a copy of each sidecar file that exists in the backup's folder, readable by its owner only.
pub(super) async fn copy(folder: &Path, backup: &Path) -> Result<Vec<CopiedFile>, BackupError> {
    let mut copied = Vec::new();
    for SidecarFile { name, kind } in &SIDECAR_FILES {
        let (from, to) = (folder.join(name), staged(backup, name));
        if !from.exists() {
            continue;
        }
        match kind {
            Kind::Database => copy_database(&from, &to).await?,
            Kind::Secret | Kind::Mappings => copy_file(&from, &to)?,
        }
        copied.push(CopiedFile { name: (*name).to_owned(), sha256: digest(&to).await? });
    }
    Ok(copied)
}

async fn copy_database(from: &Path, to: &Path) -> Result<(), BackupError> {
    // SQLite accepts an empty file as the target, and this one is readable by its owner only.
    create_private(to).map_err(at(to))?;
    // Not read-only: a transaction of a killed process has to be rolled back first.
    sqlite::copy(sqlite::options(from), to).await?;
    File::open(to).and_then(|file| file.sync_all()).map_err(at(to))
}

/// Checks that a sidecar file of a backup, or a copy of it at `path`, has the bytes that were written, and is what its name says: a
/// vault without anything but its tables, a file that may be a secret, or kept mappings.
pub(super) async fn verify(member: &Member, copied: &CopiedFile, path: &Path) -> Result<(), BackupError> {
    member.check_bytes(&copied.name, path, copied.sha256).await?;
    let kind = SIDECAR_FILES.iter().find(|file| file.name == copied.name).map(|file| file.kind);
    match kind {
        Some(Kind::Database) => vault::check_tables(path).await.map_err(|error| match error {
            VaultError::Corrupt(reason) => {
                member.broken(format!("its {} is not what Loggia writes: {reason}", copied.name))
            }
            other => other.into(),
        }),
        Some(Kind::Secret) => {
            vault::check_secret_file(path).map_err(|error| member.unreadable(&copied.name, path, error))
        }
        Some(Kind::Mappings) => {
            let bytes = bounded_file::read(path, MAX_FILE_BYTES)
                .map_err(|error| member.unreadable(&copied.name, path, error))?;
            KeptMappings::parse(&bytes).map(drop).map_err(|error| {
                member.broken(format!("its {} is not what Loggia writes: {error}", copied.name))
            })
        }
        // A manifest names no others.
        None => Ok(()),
    }
}

/// Copies a file that is not written meanwhile; the copy is readable by its owner only.
pub(super) fn copy_file(from: &Path, to: &Path) -> Result<(), BackupError> {
    let mut source = bounded_file::open(from).map_err(at(from))?;
    let mut copy = create_private(to).map_err(at(to))?;
    io::copy(&mut source, &mut copy).and_then(|_| copy.sync_all()).map_err(at(to))
}
