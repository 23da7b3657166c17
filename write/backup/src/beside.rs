//! The files beside the log that a backup holds too, each where it is there.

use std::fs::File;
use std::io;
use std::path::Path;

use schemas::hash::Hash;
use serde::{Deserialize, Serialize};

use super::{BackupError, at, digest, part, private};

/// A file of the store's folder.
struct Beside {
    name: &'static str,
    kind: Kind,
}

#[derive(Clone, Copy)]
enum Kind {
    /// In use while it is copied.
    Database,
    /// Written once.
    Plain,
}

const BESIDE: [Beside; 2] = [
    Beside { name: vault::FILE, kind: Kind::Database },
    Beside { name: vault::SECRET_FILE, kind: Kind::Plain },
];

/// A file that was copied beside the log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Copied {
    /// Its name, in the store's folder as in the backup.
    pub name: String,
    /// SHA-256 of the copy's bytes.
    pub sha256: Hash,
}

/// The names of these files.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    BESIDE.iter().map(|beside| beside.name)
}

/// Copies what is there into the backup's folder, each beside its place; the copies are their owner's alone.
pub(super) async fn copy(folder: &Path, backup: &Path) -> Result<Vec<Copied>, BackupError> {
    let mut copied = Vec::new();
    for Beside { name, kind } in &BESIDE {
        let (from, part) = (folder.join(name), part(backup, name));
        if !from.exists() {
            continue;
        }
        match kind {
            Kind::Database => copy_database(&from, &part).await?,
            Kind::Plain => copy_plain(&from, &part)?,
        }
        copied.push(Copied { name: (*name).to_owned(), sha256: digest(&part).await? });
    }
    Ok(copied)
}

/// A consistent copy of a database that may be written meanwhile.
async fn copy_database(from: &Path, to: &Path) -> Result<(), BackupError> {
    // SQLite takes an empty file as the target, and this one is made for its owner only.
    private(to).map_err(at(to))?;
    // Not for reading only: what a killed process left half written has to be rolled back first.
    sqlite::copy(sqlite::options(from), to).await?;
    File::open(to).and_then(|file| file.sync_all()).map_err(at(to))
}

/// Copies a file that nobody writes; the copy is its owner's alone.
pub(super) fn copy_plain(from: &Path, to: &Path) -> Result<(), BackupError> {
    let mut source = File::open(from).map_err(at(from))?;
    let mut copy = private(to).map_err(at(to))?;
    io::copy(&mut source, &mut copy).and_then(|_| copy.sync_all()).map_err(at(to))
}
