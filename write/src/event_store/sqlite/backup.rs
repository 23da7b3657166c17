//! Backups: a whole copy of the file, of those beside it and of the pictures, taken while the store is in use, with a
//! manifest of what it holds.

mod beside;
mod erasures;
mod pictures;
mod restore;
mod until;

use std::fs::{self, File};
use std::io::{self, Read};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use jiff::Timestamp;
use schemas::chain::Hash;
use schemas::erased_pictures::ERASED_PICTURES;
use schemas::ids::Position;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use sqlx::{ConnectOptions, Connection};

use super::rows::failure;
use super::{SqliteStore, file, rows};
use crate::clock::Clock;
use crate::event_store::StoreError;
use crate::ledger::{self, LedgerCopy};
use crate::media::MediaError;
use crate::vault::{ERASURES_FILE, VaultError};
pub use beside::Copied;
pub use erasures::{Erased, ErasedPicturesCopy, ErasuresCopy};
pub use pictures::MediaCopy;
pub use restore::Restored;
pub(super) use restore::refuse_unfinished;
pub use until::{Cut, LeftOut, Until};

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
    /// The pictures; absent in backups of older versions, whose pictures cannot be proven.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub media: Option<MediaCopy>,
    /// The journal of erasures; absent in backups of older versions, and where nothing was ever erased.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub erasures: Option<ErasuresCopy>,
    /// The journal of erased pictures; absent where none was ever erased.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub erased_pictures: Option<ErasedPicturesCopy>,
}

/// Why there is no backup, or none was restored.
#[derive(Debug, thiserror::Error)]
pub enum BackupError {
    /// Something is where the copy would go.
    #[error(
        "{} is in the way; name a folder without an event store, or remove what an interrupted backup left there; \
         nothing was changed",
        .0.display()
    )]
    InTheWay(
        /// What is there.
        PathBuf,
    ),
    /// The folder of a backup is used for something else.
    #[error(
        "{} is there already; name an empty folder, or one that does not exist yet; nothing was changed",
        .0.display()
    )]
    NotEmpty(
        /// What is there.
        PathBuf,
    ),
    /// There is nothing of a backup.
    #[error("no backup is there: {} has no {MANIFEST}; name the folder that `loggia backup` wrote", .0.display())]
    Absent(
        /// Where it was looked for.
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
    /// The pictures could not be read or written.
    #[error(transparent)]
    Media(#[from] MediaError),
    /// A line of a journal of erasures is none.
    #[error(
        "line {line} of {} names no erased account and no erased picture; correct it, or take the file of a backup",
        .path.display()
    )]
    Journal {
        /// The journal.
        path: PathBuf,
        /// Which line, from 1.
        line: usize,
    },
    /// A log cannot be restored up to this point.
    #[error("{reason}")]
    Until {
        /// What is wrong with it, and what to name instead.
        reason: String,
    },
    /// A journal of erasures could not be read.
    #[error(transparent)]
    Erasures(#[from] VaultError),
}

impl Manifest {
    /// Reads the manifest of a backup.
    ///
    /// # Errors
    ///
    /// Fails where there is none, or where it is not readable.
    pub fn read(backup: &Path) -> Result<Manifest, BackupError> {
        let path = backup.join(MANIFEST);
        let broken = |reason: String| BackupError::Broken { folder: backup.to_owned(), reason };
        match fs::read(&path) {
            Ok(text) => serde_json::from_slice(&text)
                .map_err(|error| broken(format!("its {MANIFEST} is unreadable: {error}"))),
            Err(error) if error.kind() == io::ErrorKind::NotFound && has_any_of(backup) => {
                Err(broken(format!("it has no {MANIFEST}, which is written last")))
            }
            Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
                Err(BackupError::Absent(backup.to_owned()))
            }
            Err(error) => Err(at(&path)(error)),
        }
    }

    /// Returns whether a backup in this folder was finished: its manifest is written last.
    pub fn is_in(folder: &Path) -> bool {
        folder.join(MANIFEST).is_file()
    }

    /// Removes the backup in a folder, with the folder. Its manifest goes first: what is left of a removal that was broken
    /// off is no backup.
    ///
    /// # Errors
    ///
    /// Fails where a file cannot be removed.
    pub fn remove(folder: &Path) -> io::Result<()> {
        match fs::remove_file(folder.join(MANIFEST)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => fs::remove_dir_all(folder),
        }
    }
}

/// Returns whether a folder holds anything of a backup, be it half written.
fn has_any_of(folder: &Path) -> bool {
    own_names().any(|name| folder.join(name).exists() || part(folder, name).exists())
}

impl SqliteStore {
    /// Writes a copy of the store, of the pictures in the media folder, and its manifest into a folder that is empty or not
    /// there. Where that fails or is dropped before its end, what was written is removed again.
    ///
    /// # Errors
    ///
    /// Fails where something is in the way, where a file cannot be read or written, and where the original of a picture
    /// is damaged.
    pub async fn backup(&self, folder: &Path, media: Option<&Path>) -> Result<Manifest, BackupError> {
        let begun = Begun(Arc::new(Undo::before(folder)?));
        let manifest = self.copy_into(folder, media, &begun).await?;
        begun.0.is_kept.store(true, Ordering::Relaxed);
        Ok(manifest)
    }

    async fn copy_into(
        &self,
        folder: &Path,
        media: Option<&Path>,
        begun: &Begun,
    ) -> Result<Manifest, BackupError> {
        private_folder(folder)?;
        let part = part(folder, COPY);
        private(&part).map_err(at(&part))?;
        let mut reader = self.readers.acquire().await.map_err(failure)?;
        sqlx::query("VACUUM INTO ?1")
            .bind(part.to_string_lossy().into_owned())
            .execute(&mut *reader)
            .await
            .map_err(failure)?;
        drop(reader);
        let mut copied = file::reading(&part).connect().await.map_err(failure)?;
        let (store, head) = rows::log(&mut copied).await?;
        copied.close().await.map_err(failure)?;
        // After the log: an address is entered before its account's first event, so none of these is missing.
        let own = self.path.parent().unwrap_or(Path::new("."));
        let files = beside::copy(own, folder).await?;
        // After the vault: an address that was erased meanwhile, and whose account is still live in the copied log, is known.
        let erasures = erasures::copy(own, folder)?;
        let ledger = copy_ledger(&self.path.with_file_name(LEDGER), folder).await?;
        // After the log too: a picture is kept before its event.
        let (mut copied_media, mut erased_pictures) = (None, None);
        if let Some(media) = media {
            copied_media = Some(pictures::copy(media, folder, begun.0.clone()).await?);
            // After them: one that is erased meanwhile is known.
            erased_pictures = erasures::copy_pictures(media, folder)?;
        }
        let manifest = Manifest {
            store: store.to_string(),
            position: head.position,
            hash: head.hash,
            created: Clock::system().now(),
            sha256: digest(&part).await?,
            ledger,
            files,
            media: copied_media,
            erasures,
            erased_pictures,
        };
        File::open(&part).and_then(|file| file.sync_all()).map_err(at(&part))?;
        for name in names(&manifest) {
            put(folder, &name)?;
        }
        write_manifest(folder, &manifest)?;
        Ok(manifest)
    }
}

/// The files of a backup beside its manifest and its pictures. The log is the last: a folder with a log is complete.
fn names(manifest: &Manifest) -> Vec<String> {
    let ledger = manifest.ledger.iter().map(|_| LEDGER.to_owned());
    let media = manifest.media.iter().map(|_| pictures::LISTING.to_owned());
    let files = manifest.files.iter().map(|file| file.name.clone());
    let erasures = manifest.erasures.iter().map(|_| ERASURES_FILE.to_owned());
    let pictures = manifest.erased_pictures.iter().map(|_| ERASED_PICTURES.to_owned());
    files.chain(ledger).chain(media).chain(erasures).chain(pictures).chain([COPY.to_owned()]).collect()
}

/// Every file that a backup may have.
fn own_names() -> impl Iterator<Item = &'static str> {
    [COPY, LEDGER, MANIFEST, pictures::LISTING, ERASURES_FILE, ERASED_PICTURES]
        .into_iter()
        .chain(beside::names())
}

/// A backup that is being written.
struct Begun(Arc<Undo>);

impl Drop for Begun {
    fn drop(&mut self) {
        self.0.is_given_up.store(true, Ordering::Relaxed);
    }
}

/// What was in a backup's folder before. Dropped by the last that writes to the folder, it removes what a backup that was
/// not kept wrote.
struct Undo {
    folder: PathBuf,
    is_new: bool,
    is_kept: AtomicBool,
    /// Whether nothing more is to be written.
    is_given_up: AtomicBool,
}

impl Drop for Undo {
    fn drop(&mut self) {
        if !self.is_kept.load(Ordering::Relaxed) {
            self.remove();
        }
    }
}

impl Undo {
    /// Refuses a folder that holds anything but what a backup that was killed left there.
    fn before(folder: &Path) -> Result<Undo, BackupError> {
        let is_new = !folder.exists();
        if !is_new {
            for entry in fs::read_dir(folder).map_err(at(folder))? {
                let entry = entry.map_err(at(folder))?;
                let name = entry.file_name().to_string_lossy().into_owned();
                if !own_names()
                    .any(|own| name == format!("{own}.part") || name == format!("{own}.part-journal"))
                {
                    return Err(BackupError::NotEmpty(entry.path()));
                }
            }
        }
        let (is_kept, is_given_up) = Default::default();
        Ok(Undo { folder: folder.to_owned(), is_new, is_kept, is_given_up })
    }

    /// Removes what was written; what cannot be removed is written over by the next backup into the folder.
    fn remove(&self) {
        for name in own_names() {
            for name in [name.to_owned(), format!("{name}.part"), format!("{name}.part-journal")] {
                let _ = fs::remove_file(self.folder.join(name));
            }
        }
        let _ = fs::remove_dir_all(self.folder.join(pictures::FOLDER));
        if self.is_new {
            let _ = fs::remove_dir(&self.folder);
        }
    }
}

/// Writes a copy of the ledger, if there is one, beside its place in the folder.
async fn copy_ledger(from: &Path, folder: &Path) -> Result<Option<LedgerCopy>, BackupError> {
    if !from.exists() {
        return Ok(None);
    }
    let part = part(folder, LEDGER);
    private(&part).map_err(at(&part))?;
    let (position, hash) = ledger::copy(from, &part).await?;
    let sha256 = digest(&part).await?;
    File::open(&part).and_then(|file| file.sync_all()).map_err(at(&part))?;
    Ok(Some(LedgerCopy { position, hash, sha256 }))
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
    let text = format!("{:#}\n", serde_json::json!(manifest));
    write_part(folder, MANIFEST, text.as_bytes())?;
    put(folder, MANIFEST)?;
    sync_folder(folder)
}

/// Writes a file durably beside its place.
fn write_part(folder: &Path, name: &str, bytes: &[u8]) -> Result<(), BackupError> {
    let part = part(folder, name);
    let written = private(&part).and_then(|mut file| {
        io::Write::write_all(&mut file, bytes)?;
        file.sync_all()
    });
    written.map_err(at(&part))
}

/// Where a file is written before it is put in its place.
fn part(folder: &Path, name: &str) -> PathBuf {
    folder.join(format!("{name}.part"))
}

/// Puts a file that was written beside its place into it.
fn put(folder: &Path, name: &str) -> Result<(), BackupError> {
    let target = folder.join(name);
    fs::rename(part(folder, name), &target).map_err(at(&target))
}

/// Makes an empty file that its owner alone may read; SQLite takes one as the target of a copy.
fn private(path: &Path) -> io::Result<File> {
    File::options().write(true).create(true).truncate(true).mode(0o600).open(path)
}

/// Makes a folder that its owner alone may enter; one that is there stays as it is.
fn private_folder(folder: &Path) -> Result<(), BackupError> {
    fs::DirBuilder::new().recursive(true).mode(0o700).create(folder).map_err(at(folder))
}

/// Makes renames in a folder durable.
fn sync_folder(folder: &Path) -> Result<(), BackupError> {
    File::open(folder).and_then(|folder| folder.sync_all()).map_err(at(folder))
}

fn at(path: &Path) -> impl Fn(io::Error) -> BackupError {
    let path = path.to_owned();
    move |source| BackupError::File { path: path.clone(), source }
}
