//! Backups: a whole copy of the file, of those beside it and of the pictures, taken while the store is in use, with a
//! manifest of what it holds.

mod beside;
mod chain;
mod erasures;
mod error;
mod increment;
mod last_backup;
mod member;
mod pictures;
mod prove;
mod restore;
pub mod rotation;
mod until;

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

pub use beside::Copied;
use chain::Chain;
pub use erasures::{Erased, ErasedPicturesCopy, ErasuresCopy};
pub use error::{BackupError, Parent};
pub use last_backup::LastBackup;
use member::Member;
pub use pictures::MediaCopy;
pub use prove::{Restored, verify};
pub use restore::{restore, restore_until};
pub use until::{Cut, LeftOut, Until};

const COPY: &str = "events.db";
const LEDGER: &str = "usage.db";
const MANIFEST: &str = "manifest.json";

/// The events and the counted calls behind those of another backup.
const INCREMENT: &str = "events.increment.db";
const LEDGER_INCREMENT: &str = "usage.increment.db";

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
    /// The backup that this one continues, without which it cannot be restored; absent in one that is whole by itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<Parent>,
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

impl Manifest {
    /// Reads the manifest of a backup.
    ///
    /// # Errors
    ///
    /// Fails where there is none, or where it is not readable.
    pub fn read(backup: &Path) -> Result<Manifest, BackupError> {
        Manifest::parse(backup, &member::text(backup)?)
    }

    fn parse(backup: &Path, text: &[u8]) -> Result<Manifest, BackupError> {
        let manifest: Manifest = parsed(backup, text)?;
        // Anybody may have written the file, and its names become paths: only known ones are taken.
        match manifest.files.iter().find(|file| !beside::names().any(|name| name == file.name)) {
            None => Ok(manifest),
            Some(file) => Err(BackupError::Broken {
                folder: backup.to_owned(),
                reason: format!("it holds {}, which this version of Loggia does not know", file.name),
            }),
        }
    }

    /// Returns the folders of the backups that one continues, the nearest first.
    ///
    /// # Errors
    ///
    /// Fails where one of them is not found, or is not the one that is continued.
    pub fn parents(backup: &Path) -> Result<Vec<PathBuf>, BackupError> {
        chain::parents(backup)
    }

    /// Returns how far the streams of NATS were copied into the ledger of a backup; `None` where nothing was ever counted.
    ///
    /// # Errors
    ///
    /// Fails where there is no backup, or its ledger cannot be read.
    pub async fn copied_streams(backup: &Path) -> Result<Option<Vec<LedgerSource>>, BackupError> {
        let manifest = Manifest::read(backup)?;
        let Some(_) = &manifest.ledger else { return Ok(None) };
        Ok(Some(ledger::sources_of(&backup.join(manifest.ledger_name())).await?))
    }

    /// Where its events are.
    fn log(&self) -> &'static str {
        if self.parent.is_some() { INCREMENT } else { COPY }
    }

    /// Where its counted calls are.
    fn ledger_name(&self) -> &'static str {
        if self.parent.is_some() { LEDGER_INCREMENT } else { LEDGER }
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

fn parsed<T: DeserializeOwned>(backup: &Path, text: &[u8]) -> Result<T, BackupError> {
    serde_json::from_slice(text).map_err(|error| BackupError::Broken {
        folder: backup.to_owned(),
        reason: format!("its {MANIFEST} is unreadable: {error}"),
    })
}

/// Returns whether a folder holds anything of a backup, be it half written.
fn has_any_of(folder: &Path) -> bool {
    own_names().any(|name| folder.join(name).exists() || part(folder, name).exists())
}

/// Writes a copy of the store, of the pictures in the media folder, and its manifest into a folder that is empty or not
/// there. Where that fails or is dropped before its end, what was written is removed again.
///
/// # Errors
///
/// Fails where something is in the way, where a file cannot be read or written, and where the original of a picture
/// is damaged.
pub async fn create(log: &EventLog, folder: &Path, media: Option<&Path>) -> Result<Manifest, BackupError> {
    create_after(log, folder, media, None).await
}

/// Writes what another backup does not have: later events and counted calls, and new pictures; vault and journals are
/// copied whole. It is restored together with that one, and with those that it continues itself.
///
/// # Errors
///
/// Fails as [`create`] does, where the other backup or one that it continues is not there, and where the log
/// or the ledger does not have its end any more.
pub async fn create_since(
    log: &EventLog,
    last: &Path,
    folder: &Path,
    media: Option<&Path>,
) -> Result<Manifest, BackupError> {
    create_after(log, folder, media, Some(&Chain::read(last)?)).await
}

/// Writes a backup, whole or what comes after a chain, and removes what it wrote if it fails or is dropped.
async fn create_after(
    log: &EventLog,
    folder: &Path,
    media: Option<&Path>,
    since: Option<&Chain>,
) -> Result<Manifest, BackupError> {
    let begun = Begun(Arc::new(Undo::before(folder)?));
    let manifest = copy_into(log, folder, media, since, &begun).await?;
    begun.0.is_kept.store(true, Ordering::Relaxed);
    Ok(manifest)
}

async fn copy_into(
    log: &EventLog,
    folder: &Path,
    media: Option<&Path>,
    since: Option<&Chain>,
    begun: &Begun,
) -> Result<Manifest, BackupError> {
    private_folder(folder)?;
    let part = part(folder, if since.is_some() { INCREMENT } else { COPY });
    let head = copy_log(log, &part, since).await?;
    // After the log: an address is entered before its account's first event, so none of these is missing.
    let own = log.path().parent().unwrap_or(Path::new("."));
    let files = beside::copy(own, folder).await?;
    // After the vault: an address that was erased meanwhile, and whose account is still live in the copied log, is known.
    let erasures = erasures::copy(own, folder)?;
    let ledger = copy_ledger(&log.path().with_file_name(LEDGER), folder, since).await?;
    // After the log too: a picture is kept before its event.
    let (mut copied_media, mut erased_pictures) = (None, None);
    if let Some(media) = media {
        copied_media = Some(pictures::copy(media, folder, since, begun.0.clone()).await?);
        // After them: one that is erased meanwhile is known.
        erased_pictures = erasures::copy_pictures(media, folder)?;
    }
    let manifest = Manifest {
        store: log.store_id().to_string(),
        position: head.position,
        hash: head.hash,
        created: Clock::system().now(),
        parent: since.map(|chain| chain.newest.as_parent()),
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

/// Copies the log, or its events since another backup, into a file, and returns where it ends.
async fn copy_log(log: &EventLog, part: &Path, since: Option<&Chain>) -> Result<Head, BackupError> {
    private(part).map_err(at(part))?;
    if let Some(chain) = since {
        return increment::write(log.path(), log.store_id(), part, &chain.newest).await;
    }
    Ok(log.copy_to(part).await?)
}

/// The files of a backup beside its manifest and its pictures. The log is the last: a folder with a log is complete.
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

/// Every file that a backup may have.
fn own_names() -> impl Iterator<Item = &'static str> {
    [COPY, LEDGER, INCREMENT, LEDGER_INCREMENT, MANIFEST, pictures::LISTING, ERASURES_FILE, ERASED_PICTURES]
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

/// Writes a copy of the ledger, or its entries since another backup, beside its place in the folder, if there is one.
async fn copy_ledger(
    from: &Path,
    folder: &Path,
    since: Option<&Chain>,
) -> Result<Option<LedgerCopy>, BackupError> {
    let last = since.map(|chain| &chain.newest);
    let lost = |member: &Member| {
        BackupError::NotContinued {
        backup: member.folder.clone(),
        reason: "the ledger of counted calls does not have the last call of that backup: it was restored from an older \
                 backup, or replaced"
            .to_owned(),
    }
    };
    if !from.exists() {
        return match last.filter(|last| last.manifest.ledger.is_some()) {
            Some(last) => Err(lost(last)),
            None => Ok(None),
        };
    }
    let part = part(folder, if since.is_some() { LEDGER_INCREMENT } else { LEDGER });
    private(&part).map_err(at(&part))?;
    let head = match last {
        None => ledger::copy(from, &part).await?,
        Some(last) => ledger::increment(from, &part, last.ledger_head()).await?.ok_or_else(|| lost(last))?,
    };
    let sha256 = digest(&part).await?;
    File::open(&part).and_then(|file| file.sync_all()).map_err(at(&part))?;
    Ok(Some(LedgerCopy { position: head.position, hash: head.hash, sha256 }))
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
