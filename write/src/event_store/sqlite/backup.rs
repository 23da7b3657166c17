//! Backups: a whole copy of the file and of those beside it, taken while the store is in use, with a note of what it
//! holds.

mod beside;

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use schemas::chain::Hash;
use schemas::ids::{Position, StoreId};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use sqlx::{ConnectOptions, Connection};

use super::rows::failure;
use super::{SqliteStore, file, rows, verify};
use crate::clock::Clock;
use crate::event_store::StoreError;
use crate::ledger::{self, LedgerCopy};
pub use beside::Copied;

const COPY: &str = "events.db";
const LEDGER: &str = "usage.db";
const MANIFEST: &str = "manifest.json";

/// What a backup holds; it stands beside the copy as `manifest.json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    /// Which store it is a copy of, as text.
    pub store: String,
    /// The last position in the copy.
    pub position: Position,
    /// The hash of the last event.
    pub hash: Hash,
    /// When the copy was taken.
    pub created: Timestamp,
    /// SHA-256 of the copy's bytes.
    pub sha256: Hash,
    /// The copy of the ledger beside it; absent where nothing was ever counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ledger: Option<LedgerCopy>,
    /// What was copied beside the log: the vault, and its secret where that lies beside it too. Backups of older
    /// versions have nothing here.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<Copied>,
}

/// Why there is no backup, or none was restored.
#[derive(Debug, thiserror::Error)]
pub enum BackupError {
    /// Something is where the copy would go.
    #[error("{} is in the way; name a folder without an event store, nothing was changed", .0.display())]
    InTheWay(
        /// What is there.
        PathBuf,
    ),
    /// The backup is not whole.
    #[error("{} is no whole backup: {reason}; use another one", .folder.display())]
    Broken {
        /// Where it is.
        folder: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// A file could not be read or written.
    #[error("{} could not be read or written: {source}", .path.display())]
    File {
        /// Which one.
        path: PathBuf,
        /// What the system says.
        #[source]
        source: io::Error,
    },
    /// The store could not be read.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl SqliteStore {
    /// Writes a copy of the store, as it is now, and its manifest into a folder that holds no backup yet.
    pub async fn backup(&self, folder: &Path) -> Result<Manifest, BackupError> {
        let (copy, part) = (folder.join(COPY), folder.join("events.db.part"));
        fs::create_dir_all(folder).map_err(at(folder))?;
        for there in [COPY, LEDGER, MANIFEST].map(|name| folder.join(name)) {
            if there.exists() {
                return Err(BackupError::InTheWay(there));
            }
        }
        if let Some(there) = beside::in_the_way(folder) {
            return Err(BackupError::InTheWay(there));
        }
        if part.exists() {
            fs::remove_file(&part).map_err(at(&part))?;
        }
        let mut reader = self.readers.acquire().await.map_err(failure)?;
        sqlx::query("VACUUM INTO ?1")
            .bind(part.to_string_lossy().into_owned())
            .execute(&mut *reader)
            .await
            .map_err(failure)?;
        let mut copied = file::reading(&part).connect().await.map_err(failure)?;
        let (store, head) = rows::log(&mut copied).await?;
        copied.close().await.map_err(failure)?;
        // After the log: an address is entered before its account's first event, so none of these is missing.
        let own = self.path.parent().unwrap_or(Path::new("."));
        let (files, brought) = beside::copy(own, folder).await?;
        let manifest = Manifest {
            store: store.to_string(),
            position: head.position,
            hash: head.hash,
            created: Clock::system().now(),
            sha256: digest(&part).await?,
            ledger: back_up_ledger(&self.path.with_file_name(LEDGER), folder).await?,
            files,
        };
        brought.put()?;
        File::open(&part).and_then(|file| file.sync_all()).map_err(at(&part))?;
        fs::rename(&part, &copy).map_err(at(&copy))?;
        write_manifest(folder, &manifest)?;
        Ok(manifest)
    }

    /// Puts a backup into a folder that has no event store, once its bytes and its whole log are proven right.
    pub async fn restore(backup: &Path, folder: &Path) -> Result<Manifest, BackupError> {
        let (copy, target) = (backup.join(COPY), file::path(folder));
        let part = target.with_extension("db.part");
        for name in [COPY, LEDGER] {
            for ending in ["db", "db-wal", "db-shm"] {
                let there = folder.join(name).with_extension(ending);
                if there.exists() {
                    return Err(BackupError::InTheWay(there));
                }
            }
        }
        if let Some(there) = beside::in_the_way(folder) {
            return Err(BackupError::InTheWay(there));
        }
        let broken = |reason: String| BackupError::Broken { folder: backup.to_owned(), reason };
        let noted = backup.join(MANIFEST);
        let manifest: Manifest = serde_json::from_slice(&fs::read(&noted).map_err(at(&noted))?)
            .map_err(|error| broken(format!("its {MANIFEST} is unreadable: {error}")))?;
        let _lock = file::lock(&target)?;
        let brought = beside::bring(backup, folder, &manifest.files).await?;
        let copied = fs::copy(&copy, &part).map_err(at(&copy));
        let outcome = match copied {
            Ok(_) => proven(&part, &manifest).await.map_err(broken),
            Err(error) => Err(error),
        };
        if let Err(error) = outcome {
            brought.remove();
            let _ = fs::remove_file(&part);
            return Err(error);
        }
        if let Some(noted) = &manifest.ledger
            && let Err(error) = restore_ledger(backup, folder, noted).await
        {
            brought.remove();
            let _ = fs::remove_file(&part);
            return Err(error);
        }
        brought.put()?;
        File::open(&part).and_then(|file| file.sync_all()).map_err(at(&part))?;
        fs::rename(&part, &target).map_err(at(&target))?;
        sync_folder(folder)?;
        Ok(manifest)
    }
}

/// Writes a copy of the ledger, if there is one, into the folder.
async fn back_up_ledger(from: &Path, folder: &Path) -> Result<Option<LedgerCopy>, BackupError> {
    if !from.exists() {
        return Ok(None);
    }
    let (copy, part) = (folder.join(LEDGER), folder.join("usage.db.part"));
    if part.exists() {
        fs::remove_file(&part).map_err(at(&part))?;
    }
    let (position, hash) = ledger::copy(from, &part).await?;
    let sha256 = digest(&part).await?;
    File::open(&part).and_then(|file| file.sync_all()).map_err(at(&part))?;
    fs::rename(&part, &copy).map_err(at(&copy))?;
    Ok(Some(LedgerCopy { position, hash, sha256 }))
}

/// Puts the copy of the ledger into a folder, once its bytes and all its entries are proven right.
async fn restore_ledger(backup: &Path, folder: &Path, noted: &LedgerCopy) -> Result<(), BackupError> {
    let (copy, target, part) = (backup.join(LEDGER), folder.join(LEDGER), folder.join("usage.db.part"));
    fs::copy(&copy, &part).map_err(at(&copy))?;
    let outcome = match digest(&part).await? == noted.sha256 {
        true => ledger::proven(&part, noted).await,
        false => Err("the bytes of its ledger are not those that were written".into()),
    };
    if let Err(reason) = outcome {
        fs::remove_file(&part).map_err(at(&part))?;
        return Err(BackupError::Broken { folder: backup.to_owned(), reason });
    }
    File::open(&part).and_then(|file| file.sync_all()).map_err(at(&part))?;
    fs::rename(&part, &target).map_err(at(&target))
}

/// Whether the copied bytes are those of the manifest and hold a right log; the reason if not.
async fn proven(part: &Path, manifest: &Manifest) -> Result<(), String> {
    if digest(part).await.map_err(|error| error.to_string())? != manifest.sha256 {
        return Err("its bytes are not those that were written".into());
    }
    let text = |error: sqlx::Error| failure(error).to_string();
    let mut reader = file::reading(part).connect().await.map_err(text)?;
    let (store, _): (StoreId, _) = rows::log(&mut reader).await.map_err(|error| error.to_string())?;
    let verified = verify::all(&mut reader, |_| {}).await.map_err(|error| error.to_string())?;
    let verified = verified.map_err(|damage| damage.to_string())?;
    reader.close().await.map_err(text)?;
    if store.to_string() != manifest.store
        || (Position(verified.events), verified.hash) != (manifest.position, manifest.hash)
    {
        return Err("its manifest belongs to another copy".into());
    }
    Ok(())
}

async fn digest(path: &Path) -> Result<Hash, BackupError> {
    let path = path.to_owned();
    let reading = tokio::task::spawn_blocking(move || {
        let mut file = File::open(&path).map_err(at(&path))?;
        let (mut sha, mut buffer) = (Sha256::new(), vec![0; 1 << 20]);
        loop {
            let read = file.read(&mut buffer).map_err(at(&path))?;
            if read == 0 {
                return Ok(Hash(sha.finalize().into()));
            }
            sha.update(&buffer[..read]);
        }
    });
    reading.await.map_err(|error| StoreError::unavailable(error.to_string()))?
}

fn write_manifest(folder: &Path, manifest: &Manifest) -> Result<(), BackupError> {
    let (path, part) = (folder.join(MANIFEST), folder.join("manifest.json.part"));
    let text = format!("{:#}\n", serde_json::json!(manifest));
    fs::write(&part, text).and_then(|()| File::open(&part)?.sync_all()).map_err(at(&part))?;
    fs::rename(&part, &path).map_err(at(&path))?;
    sync_folder(folder)
}

/// Makes renames in a folder durable.
fn sync_folder(folder: &Path) -> Result<(), BackupError> {
    File::open(folder).and_then(|folder| folder.sync_all()).map_err(at(folder))
}

fn at(path: &Path) -> impl Fn(io::Error) -> BackupError {
    let path = path.to_owned();
    move |source| BackupError::File { path: path.clone(), source }
}
