//! Backups of a write side: copies of the log, its sidecar files, the ledger and the pictures, made while all are in use, with a
//! manifest of what the backup contains. `loggia backup`, `loggia restore` and their tests use it.
//!
//! Every file is staged as `NAME.part` and moved into place at the end, the manifest or the log last, so that an interrupted backup
//! or restore is recognised. A backup is verified before anything of it is restored: anybody may have written it, so that its files
//! are read only if they are regular ones of limited size, and its databases used only if they have the tables that Loggia creates.
//!
//! In reading order: this file creates backups; `sidecar_files`, `pictures` and `erasures` copy what is beside the log; `increment`
//! writes only what another backup lacks; `member` and `chain` read a backup with those that it continues; `verify` and `restore`
//! use them; `point_in_time` restores an earlier state of the log.

mod chain;
mod erasures;
mod error;
mod increment;
mod last_backup;
mod member;
mod pictures;
mod point_in_time;
mod restore;
pub mod rotation;
mod sidecar_files;
mod verify;

use std::fs::{self, File};
use std::io::{self, Read};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use event_log::{EventLog, Head, StoreError};
use jiff::Timestamp;
use ledger::LedgerCopy;
use schemas::clock::Clock;
use schemas::control::LedgerSource;
use schemas::erased_pictures::ERASED_PICTURES;
use schemas::hash::Hash;
use schemas::ids::Position;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use vault::ERASURES_FILE;

use chain::Chain;
pub use erasures::{Erased, ErasedPicturesCopy, ErasuresCopy};
pub use error::{BackupError, Parent};
pub use last_backup::LastBackup;
use member::Member;
pub use pictures::MediaCopy;
pub use point_in_time::{LeftOut, RestorePoint, Truncation};
pub use restore::{restore, restore_until};
pub use sidecar_files::CopiedFile;
pub use verify::{Restored, verify};

const LOG: &str = "events.db";
const LEDGER: &str = "usage.db";
const MANIFEST: &str = "manifest.json";

/// The most bytes of a manifest: one has some hundred, and names at most two dozen files.
const MAX_MANIFEST_BYTES: u64 = 1 << 20;

/// The events and the counted calls after those of another backup.
const INCREMENT: &str = "events.increment.db";
const LEDGER_INCREMENT: &str = "usage.increment.db";

/// What a backup contains; stored in it as `manifest.json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    /// The id of the store, as text.
    pub store: String,
    /// The last position in the copy.
    pub position: Position,
    /// The hash of the last event.
    pub hash: Hash,
    /// When the backup was created.
    pub created: Timestamp,
    /// The backup that this one continues, without which it cannot be restored; absent in a full backup.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<Parent>,
    /// SHA-256 of the bytes of the log or its increment.
    pub sha256: Hash,
    /// The ledger; absent if no call was ever counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ledger: Option<LedgerCopy>,
    /// The sidecar files of the log: the vault, its secret if that is in the same folder, and the kept mappings. Absent in backups of
    /// older versions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<CopiedFile>,
    /// The pictures; absent in backups of older versions, whose pictures cannot be verified.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub media: Option<MediaCopy>,
    /// The journal of erased accounts; absent in backups of older versions, and if none was ever erased.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub erasures: Option<ErasuresCopy>,
    /// The journal of erased pictures; absent if none was ever erased.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub erased_pictures: Option<ErasedPicturesCopy>,
}

impl Manifest {
    /// Reads the manifest of a backup.
    ///
    /// # Errors
    ///
    /// Fails if there is none, or it is unreadable.
    pub fn read(backup: &Path) -> Result<Manifest, BackupError> {
        Manifest::parse(backup, &member::manifest_bytes(backup)?)
    }

    fn parse(backup: &Path, text: &[u8]) -> Result<Manifest, BackupError> {
        let manifest: Manifest = parsed(backup, text)?;
        // The file is not trusted, and its names become paths: only known ones are accepted.
        match manifest.files.iter().find(|file| !sidecar_files::names().any(|name| name == file.name)) {
            None => Ok(manifest),
            Some(file) => Err(BackupError::Broken {
                folder: backup.to_owned(),
                reason: format!("it holds {}, which this version of Loggia does not know", file.name),
            }),
        }
    }

    /// Returns the folders of the backups that one continues, nearest first.
    ///
    /// # Errors
    ///
    /// Fails if one of them is not found, or is not the one that is continued.
    pub fn parents(backup: &Path) -> Result<Vec<PathBuf>, BackupError> {
        chain::parents(backup)
    }

    /// Returns how far the streams of NATS were copied into the ledger of a backup; `None` if no call was ever counted.
    ///
    /// # Errors
    ///
    /// Fails if there is no backup, or its ledger cannot be read.
    pub async fn copied_streams(backup: &Path) -> Result<Option<Vec<LedgerSource>>, BackupError> {
        let manifest = Manifest::read(backup)?;
        let Some(_) = &manifest.ledger else { return Ok(None) };
        let path = backup.join(manifest.ledger_name());
        bounded_file::open(&path).map_err(at(&path))?;
        Ok(Some(ledger::sources_of(&path).await?))
    }

    /// Returns the name of the file with its events.
    fn log(&self) -> &'static str {
        if self.parent.is_some() { INCREMENT } else { LOG }
    }

    /// Returns the name of the file with its counted calls.
    fn ledger_name(&self) -> &'static str {
        if self.parent.is_some() { LEDGER_INCREMENT } else { LEDGER }
    }

    /// Returns whether a folder has a finished backup: its manifest is written last.
    pub fn is_in(folder: &Path) -> bool {
        folder.join(MANIFEST).is_file()
    }

    /// Removes a backup with its folder. The manifest is removed first: the remains of an interrupted removal are no backup.
    ///
    /// # Errors
    ///
    /// Fails if a file cannot be removed.
    pub fn remove(folder: &Path) -> io::Result<()> {
        match fs::remove_file(folder.join(MANIFEST)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => fs::remove_dir_all(folder),
        }
    }
}

fn parsed<T: DeserializeOwned>(backup: &Path, text: &[u8]) -> Result<T, BackupError> {
    serde_json::from_slice(text).map_err(|error| BackupError::Broken {
        folder: backup.to_owned(),
        reason: format!("its {MANIFEST} is unreadable: {error}"),
    })
}

/// Returns whether a folder has any file of a backup, staged ones included.
fn has_any_of(folder: &Path) -> bool {
    own_names().any(|name| folder.join(name).exists() || staged(folder, name).exists())
}

/// Writes a full backup of the store and of the pictures in the media folder into a folder that is empty or absent. If it fails or
/// its future is dropped, everything that was written is removed.
///
/// # Errors
///
/// Fails if the folder is not empty, a file cannot be read or written, or the original of a picture is damaged.
pub async fn create(log: &EventLog, folder: &Path, media: Option<&Path>) -> Result<Manifest, BackupError> {
    create_after(log, folder, media, None).await
}

/// Writes an incremental backup with what another one lacks: later events and counted calls, and new pictures; vault and journals
/// are copied whole. It is restored together with that one and those that it continues.
///
/// # Errors
///
/// Fails as [`create`] does, if the other backup or one that it continues is absent, and if the log or the ledger no longer has the
/// other backup's end.
pub async fn create_since(
    log: &EventLog,
    last: &Path,
    folder: &Path,
    media: Option<&Path>,
) -> Result<Manifest, BackupError> {
    create_after(log, folder, media, Some(&Chain::read(last)?)).await
}

/// Writes a backup, full or after a chain, and removes what it wrote if it fails or is dropped.
async fn create_after(
    log: &EventLog,
    folder: &Path,
    media: Option<&Path>,
    since: Option<&Chain>,
) -> Result<Manifest, BackupError> {
    let running = Running(Arc::new(Cleanup::prepare(folder)?));
    let manifest = copy_into(log, folder, media, since, &running).await?;
    running.0.is_finished.store(true, Ordering::Relaxed);
    Ok(manifest)
}

async fn copy_into(
    log: &EventLog,
    folder: &Path,
    media: Option<&Path>,
    since: Option<&Chain>,
    running: &Running,
) -> Result<Manifest, BackupError> {
    create_private_folder(folder)?;
    let log_copy = staged(folder, if since.is_some() { INCREMENT } else { LOG });
    let head = copy_log(log, &log_copy, since).await?;
    // After the log: an address is stored before the first event of its account, so none is missing.
    let store = log.path().parent().unwrap_or(Path::new("."));
    let files = sidecar_files::copy(store, folder).await?;
    // After the vault: erasures during the copy, of accounts that are live in the copied log, are recorded.
    let erasures = erasures::copy(store, folder)?;
    let ledger = copy_ledger(&log.path().with_file_name(LEDGER), folder, since).await?;
    // After the log too: a picture is stored before its event.
    let (mut copied_media, mut erased_pictures) = (None, None);
    if let Some(media) = media {
        copied_media = Some(pictures::copy(media, folder, since, running.0.clone()).await?);
        // After the pictures: erasures during the copy are recorded.
        erased_pictures = erasures::copy_pictures(media, folder)?;
    }
    let manifest = Manifest {
        store: log.store_id().to_string(),
        position: head.position,
        hash: head.hash,
        created: Clock::system().now(),
        parent: since.map(|chain| chain.newest.as_parent()),
        sha256: digest(&log_copy).await?,
        ledger,
        files,
        media: copied_media,
        erasures,
        erased_pictures,
    };
    File::open(&log_copy).and_then(|file| file.sync_all()).map_err(at(&log_copy))?;
    for name in names(&manifest) {
        move_into_place(folder, &name)?;
    }
    write_manifest(folder, &manifest)?;
    Ok(manifest)
}

/// Copies the log, or its events since another backup, to a file, and returns its head.
async fn copy_log(log: &EventLog, to: &Path, since: Option<&Chain>) -> Result<Head, BackupError> {
    create_private(to).map_err(at(to))?;
    if let Some(chain) = since {
        return increment::write(log.path(), log.store_id(), to, &chain.newest).await;
    }
    Ok(log.copy_to(to).await?)
}

/// Returns the files of a backup except its manifest and its pictures. The log is last: a folder with a log is complete.
fn names(manifest: &Manifest) -> Vec<String> {
    let ledger = manifest.ledger.iter().map(|_| manifest.ledger_name().to_owned());
    let media = manifest.media.iter().map(|_| pictures::LISTING.to_owned());
    let files = manifest.files.iter().map(|file| file.name.clone());
    let erasures = manifest.erasures.iter().map(|_| ERASURES_FILE.to_owned());
    let pictures = manifest.erased_pictures.iter().map(|_| ERASED_PICTURES.to_owned());
    files
        .chain(ledger)
        .chain(media)
        .chain(erasures)
        .chain(pictures)
        .chain([manifest.log().to_owned()])
        .collect()
}

/// Returns the name of every file that a backup may have.
fn own_names() -> impl Iterator<Item = &'static str> {
    [LOG, LEDGER, INCREMENT, LEDGER_INCREMENT, MANIFEST, pictures::LISTING, ERASURES_FILE, ERASED_PICTURES]
        .into_iter()
        .chain(sidecar_files::names())
}

/// A backup that is being written; dropped before it is finished, it is cancelled.
struct Running(Arc<Cleanup>);

impl Drop for Running {
    fn drop(&mut self) {
        self.0.is_cancelled.store(true, Ordering::Relaxed);
    }
}

/// Removes what an unfinished backup wrote, when the last task that writes to its folder drops it.
struct Cleanup {
    folder: PathBuf,
    /// Whether the folder was absent.
    is_new: bool,
    is_finished: AtomicBool,
    /// Whether nothing more may be written.
    is_cancelled: AtomicBool,
}

impl Drop for Cleanup {
    fn drop(&mut self) {
        if !self.is_finished.load(Ordering::Relaxed) {
            self.remove();
        }
    }
}

impl Cleanup {
    /// Refuses a folder with any other files than those of a killed backup.
    fn prepare(folder: &Path) -> Result<Cleanup, BackupError> {
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
        let (is_finished, is_cancelled) = Default::default();
        Ok(Cleanup { folder: folder.to_owned(), is_new, is_finished, is_cancelled })
    }

    /// Removes what was written; a file that cannot be removed is overwritten by the next backup into the folder.
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

/// Stages a copy of the ledger, or of its entries since another backup, if there is a ledger.
async fn copy_ledger(
    from: &Path,
    folder: &Path,
    since: Option<&Chain>,
) -> Result<Option<LedgerCopy>, BackupError> {
    let last = since.map(|chain| &chain.newest);
    let has_changed = |member: &Member| {
        BackupError::NotContinued {
        backup: member.folder.clone(),
        reason: "the ledger of counted calls does not have the last call of that backup: it was restored from an older \
                 backup, or replaced"
            .to_owned(),
    }
    };
    if !from.exists() {
        return match last.filter(|last| last.manifest.ledger.is_some()) {
            Some(last) => Err(has_changed(last)),
            None => Ok(None),
        };
    }
    let copy = staged(folder, if since.is_some() { LEDGER_INCREMENT } else { LEDGER });
    create_private(&copy).map_err(at(&copy))?;
    let head = match last {
        None => ledger::copy(from, &copy).await?,
        Some(last) => {
            ledger::increment(from, &copy, last.ledger_head()).await?.ok_or_else(|| has_changed(last))?
        }
    };
    let sha256 = digest(&copy).await?;
    File::open(&copy).and_then(|file| file.sync_all()).map_err(at(&copy))?;
    Ok(Some(LedgerCopy { position: head.position, hash: head.hash, sha256 }))
}

async fn digest(path: &Path) -> Result<Hash, BackupError> {
    let path = path.to_owned();
    let reading = tokio::task::spawn_blocking(move || {
        let mut file = bounded_file::open(&path).map_err(at(&path))?;
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
    stage_file(folder, MANIFEST, text.as_bytes())?;
    move_into_place(folder, MANIFEST)?;
    sync_folder(folder)
}

fn stage_file(folder: &Path, name: &str, bytes: &[u8]) -> Result<(), BackupError> {
    let path = staged(folder, name);
    let written = create_private(&path).and_then(|mut file| {
        io::Write::write_all(&mut file, bytes)?;
        file.sync_all()
    });
    written.map_err(at(&path))
}

/// Returns the path under which a file is staged.
fn staged(folder: &Path, name: &str) -> PathBuf {
    folder.join(format!("{name}.part"))
}

fn move_into_place(folder: &Path, name: &str) -> Result<(), BackupError> {
    let target = folder.join(name);
    fs::rename(staged(folder, name), &target).map_err(at(&target))
}

/// Creates an empty file that is readable by its owner only; SQLite accepts one as the target of a copy.
fn create_private(path: &Path) -> io::Result<File> {
    File::options().write(true).create(true).truncate(true).mode(0o600).open(path)
}

/// Creates a folder that is accessible to its owner only; an existing one stays as it is.
fn create_private_folder(folder: &Path) -> Result<(), BackupError> {
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
