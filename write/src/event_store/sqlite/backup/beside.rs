//! The files beside the log that a backup holds too, each where it is there.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use schemas::chain::Hash;
use serde::{Deserialize, Serialize};
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{ConnectOptions, Connection};

use super::{BackupError, at, digest, failure};
use crate::vault;

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

/// Copies that lie beside their places, until they are put there or removed.
pub(super) struct Brought(Vec<(PathBuf, PathBuf)>);

/// The first of the files that is in a folder already.
pub(super) fn in_the_way(folder: &Path) -> Option<PathBuf> {
    BESIDE.iter().map(|beside| folder.join(beside.name)).find(|path| path.exists())
}

/// Copies what is there into the backup's folder, beside its place; the copies are their owner's alone.
pub(super) async fn copy(folder: &Path, backup: &Path) -> Result<(Vec<Copied>, Brought), BackupError> {
    let (mut copied, mut brought) = (Vec::new(), Brought(Vec::new()));
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
        brought.0.push((part, backup.join(name)));
    }
    Ok((copied, brought))
}

/// Copies the files of a backup beside their places, if each has the bytes that were written.
pub(super) async fn bring(backup: &Path, folder: &Path, files: &[Copied]) -> Result<Brought, BackupError> {
    let broken = |reason: String| BackupError::Broken { folder: backup.to_owned(), reason };
    let mut brought = Brought(Vec::new());
    for Copied { name, sha256 } in files {
        // The name comes from a file and becomes a path: only known ones are taken.
        if !BESIDE.iter().any(|beside| beside.name == name) {
            brought.remove();
            return Err(broken(format!("it holds {name}, which this version of Loggia does not know")));
        }
        let (target, part) = (folder.join(name), part(folder, name));
        let copied = copy_plain(&backup.join(name), &part);
        brought.0.push((part.clone(), target));
        let right = match copied {
            Ok(()) => digest(&part).await.map(|found| found == *sha256),
            Err(error) => Err(error),
        };
        match right {
            Ok(true) => {}
            Ok(false) => {
                brought.remove();
                return Err(broken(format!("the bytes of its {name} are not those that were written")));
            }
            Err(error) => {
                brought.remove();
                return Err(error);
            }
        }
    }
    Ok(brought)
}

impl Brought {
    /// Puts the copies where they belong.
    pub(super) fn put(self) -> Result<(), BackupError> {
        self.0.iter().try_for_each(|(part, target)| fs::rename(part, target).map_err(at(target)))
    }

    /// Takes the copies away; what cannot be removed is overwritten by the next try.
    pub(super) fn remove(&self) {
        for (part, _) in &self.0 {
            let _ = fs::remove_file(part);
        }
    }
}

fn part(folder: &Path, name: &str) -> PathBuf {
    folder.join(format!("{name}.part"))
}

/// A consistent copy of a database that may be written meanwhile.
async fn copy_database(from: &Path, to: &Path) -> Result<(), BackupError> {
    // SQLite takes an empty file as the target, and this one is made for its owner only.
    private(to).map_err(at(to))?;
    // Not for reading only: what a killed process left half written has to be rolled back first.
    let options = SqliteConnectOptions::new()
        .filename(from)
        .busy_timeout(Duration::from_secs(5))
        .disable_statement_logging();
    let mut reader = options.connect().await.map_err(failure)?;
    sqlx::query("VACUUM INTO ?1")
        .bind(to.to_string_lossy().into_owned())
        .execute(&mut reader)
        .await
        .map_err(failure)?;
    reader.close().await.map_err(failure)?;
    File::open(to).and_then(|file| file.sync_all()).map_err(at(to))
}

fn copy_plain(from: &Path, to: &Path) -> Result<(), BackupError> {
    let mut source = File::open(from).map_err(at(from))?;
    let mut copy = private(to).map_err(at(to))?;
    io::copy(&mut source, &mut copy).and_then(|_| copy.sync_all()).map_err(at(to))
}

fn private(path: &Path) -> io::Result<File> {
    File::options().write(true).create(true).truncate(true).mode(0o600).open(path)
}
