//! Backups proven, and put into an empty folder.

use std::fs;
use std::path::{Path, PathBuf};

use schemas::chain::Hash;
use schemas::erased_pictures::ERASED_PICTURES;
use schemas::ids::{Position, StoreId};
use serde::Serialize;
use sqlx::{ConnectOptions, Connection};

use super::{
    BackupError, COPY, Cut, Erased, LEDGER, Manifest, Until, at, beside, digest, erasures, names, part,
    pictures, private, private_folder, put, sync_folder, until,
};
use crate::event_store::StoreError;
use crate::event_store::sqlite::rows::failure;
use crate::event_store::sqlite::{SqliteStore, file, rows, verify};
use crate::ledger::{self, LedgerCopy};
use crate::vault::ERASURES_FILE;

/// Stands in a store's folder while a backup is restored into it, so that an interrupted restore is known.
const UNFINISHED: &str = "restore.unfinished";

/// The copy of a log that ends earlier, until it takes the place of the whole one.
const CUT: &str = "events.cut.db";

/// A backup that was restored, or proven.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Restored {
    /// What the backup says of itself.
    #[serde(flatten)]
    pub manifest: Manifest,
    /// The pictures that it holds; of a log that was restored up to an earlier point, those that it names.
    pub pictures: u64,
    /// Where the restored log ends, if that is before the end of the backup's.
    #[serde(rename = "until", skip_serializing_if = "Option::is_none")]
    pub cut: Option<Cut>,
}

impl Restored {
    /// Returns how many events there are.
    pub fn events(&self) -> u64 {
        self.cut.as_ref().map_or(self.manifest.position, |cut| cut.position).0
    }
}

/// Refuses a folder into which a backup was not restored to the end.
pub(in crate::event_store::sqlite) fn refuse_unfinished(folder: &Path) -> Result<(), StoreError> {
    if folder.join(UNFINISHED).exists() {
        return Err(StoreError::unavailable(format!(
            "a backup was not restored to the end into {}; run `loggia restore` again, which begins from the start",
            folder.display()
        )));
    }
    Ok(())
}

impl SqliteStore {
    /// Puts a backup into a folder that has no event store, and its pictures into a media folder, once all its bytes, its
    /// whole log and its whole ledger are proven right. The folder's journal names the accounts that were `erased` after the
    /// backup: the command service ends them again. Pictures that were erased are not brought, and the media folder's
    /// journal names them. Where that fails, what was written is removed again; what a
    /// restore that was killed left is written over.
    ///
    /// # Errors
    ///
    /// Fails where something is in the way, where the backup is not whole, and where a file cannot be read or written.
    pub async fn restore(
        backup: &Path,
        folder: &Path,
        media: Option<&Path>,
        erased: &[Erased],
    ) -> Result<Restored, BackupError> {
        SqliteStore::restore_until(backup, folder, media, erased, None).await
    }

    /// Does the same with the log up to a point only, and the pictures that it names then. What was erased later stays
    /// erased: the backup's own journals say so. The ledger is restored whole, and so is the vault.
    ///
    /// # Errors
    ///
    /// Fails as [`SqliteStore::restore`] does, and where the backup's log does not reach from before to after the point.
    pub async fn restore_until(
        backup: &Path,
        folder: &Path,
        media: Option<&Path>,
        erased: &[Erased],
        until: Option<Until>,
    ) -> Result<Restored, BackupError> {
        let manifest = Manifest::read(backup)?;
        refuse_unknown(backup, &manifest)?;
        let target = Target::before(folder, media)?;
        private_folder(folder)?;
        let lock = file::lock(&file::path(folder))?;
        target.clear()?;
        match bring(backup, folder, media, manifest, erased, until).await {
            Ok(restored) => {
                drop(lock);
                Ok(restored)
            }
            Err(error) => {
                target.remove();
                Err(error)
            }
        }
    }

    /// Proves a backup without restoring it: all its bytes, its whole log, its whole ledger, its vault and its pictures.
    ///
    /// # Errors
    ///
    /// Fails where the backup is not whole, naming the first fault.
    pub async fn verify_backup(backup: &Path) -> Result<Restored, BackupError> {
        let manifest = Manifest::read(backup)?;
        refuse_unknown(backup, &manifest)?;
        for noted in &manifest.files {
            prove_file(backup, &noted.name, digest_of(backup, &noted.name).await? == noted.sha256)?;
        }
        prove_journals(backup, &manifest).await?;
        let log = backup.join(COPY);
        present(backup, COPY)?;
        prove_log(backup, &log, &manifest).await?;
        if let Some(noted) = &manifest.ledger {
            present(backup, LEDGER)?;
            prove_ledger(backup, &backup.join(LEDGER), noted).await?;
        }
        let pictures = match &manifest.media {
            Some(noted) => {
                pictures::prove(backup, noted).await?;
                noted.pictures
            }
            None => 0,
        };
        Ok(Restored { manifest, pictures, cut: None })
    }
}

/// Copies everything beside its place, proves it there, and puts it in place.
async fn bring(
    backup: &Path,
    folder: &Path,
    media: Option<&Path>,
    manifest: Manifest,
    erased: &[Erased],
    until: Option<Until>,
) -> Result<Restored, BackupError> {
    let unfinished = folder.join(UNFINISHED);
    private(&unfinished).and_then(|file| file.sync_all()).map_err(at(&unfinished))?;
    sync_folder(folder)?;
    for noted in &manifest.files {
        copy(backup, folder, &noted.name)?;
        prove_file(backup, &noted.name, digest(&part(folder, &noted.name)).await? == noted.sha256)?;
    }
    copy(backup, folder, COPY)?;
    prove_log(backup, &part(folder, COPY), &manifest).await?;
    let cut = cut_log(backup, folder, &manifest, until).await?;
    if let Some(noted) = &manifest.ledger {
        copy(backup, folder, LEDGER)?;
        prove_ledger(backup, &part(folder, LEDGER), noted).await?;
    }
    prove_journals(backup, &manifest).await?;
    let mut pictures = 0;
    if let Some(media) = media {
        if let Some(noted) = &manifest.media {
            pictures::prove(backup, noted).await?;
        }
        let named = match cut {
            Some(_) => Some(until::pictures(&part(folder, COPY)).await?),
            None => None,
        };
        pictures = pictures::bring(backup, media, erasures::pictures(backup, erased)?, named).await?;
    }
    if erasures::bring(backup, folder, erased)? {
        put(folder, ERASURES_FILE)?;
    }
    let elsewhere = [pictures::LISTING, ERASURES_FILE, ERASED_PICTURES];
    for name in names(&manifest).iter().filter(|name| !elsewhere.contains(&name.as_str())) {
        put(folder, name)?;
    }
    sync_folder(folder)?;
    fs::remove_file(&unfinished).map_err(at(&unfinished))?;
    sync_folder(folder)?;
    Ok(Restored { manifest, pictures, cut })
}

/// Removes from the copy of the log what comes after a point, and proves what is left.
async fn cut_log(
    backup: &Path,
    folder: &Path,
    manifest: &Manifest,
    until: Option<Until>,
) -> Result<Option<Cut>, BackupError> {
    let (log, Some(until)) = (part(folder, COPY), until) else { return Ok(None) };
    let cut = until::cut(&log, &folder.join(CUT), until, manifest.created).await?;
    if let Some(cut) = &cut {
        prove_chain(backup, &log, &manifest.store, (cut.position, cut.hash)).await?;
    }
    Ok(cut)
}

/// The manifest is a file that anybody may have written, and its names become paths: only known ones are taken.
fn refuse_unknown(backup: &Path, manifest: &Manifest) -> Result<(), BackupError> {
    match manifest.files.iter().find(|file| !beside::names().any(|name| name == file.name)) {
        None => Ok(()),
        Some(file) => Err(BackupError::Broken {
            folder: backup.to_owned(),
            reason: format!("it holds {}, which this version of Loggia does not know", file.name),
        }),
    }
}

/// The folders of a restore as they were before, so that all that a failed one wrote can be removed.
struct Target {
    folder: PathBuf,
    media: Option<PathBuf>,
}

impl Target {
    /// Refuses a folder that holds any file of a store, unless an earlier restore was interrupted there.
    fn before(folder: &Path, media: Option<&Path>) -> Result<Target, BackupError> {
        if !folder.join(UNFINISHED).exists()
            && let Some(there) = files(folder).into_iter().find(|path| path.exists())
        {
            return Err(BackupError::InTheWay(there));
        }
        let media = media.filter(|media| !media.exists()).map(Path::to_owned);
        Ok(Target { folder: folder.to_owned(), media })
    }

    /// Removes what an interrupted restore left.
    fn clear(&self) -> Result<(), BackupError> {
        let mut there = files(&self.folder).into_iter().filter(|path| path.exists());
        there.try_for_each(|path| fs::remove_file(&path).map_err(at(&path)))
    }

    fn remove(&self) {
        // The mark is the last: where something cannot be removed, the folder stays unfinished.
        let removed = files(&self.folder).iter().all(|path| fs::remove_file(path).is_ok() || !path.exists());
        for name in [COPY, LEDGER, ERASURES_FILE].into_iter().chain(beside::names()) {
            let _ = fs::remove_file(part(&self.folder, name));
        }
        if let Some(media) = &self.media {
            let _ = fs::remove_dir_all(media);
        }
        if removed {
            let _ = fs::remove_file(self.folder.join(UNFINISHED));
        }
    }
}

/// The files of a store and what SQLite puts beside them: it would play the journal of another file into a restored one.
fn files(folder: &Path) -> Vec<PathBuf> {
    let names: Vec<&str> = [COPY, LEDGER, CUT].into_iter().chain(beside::names()).collect();
    let places = names.iter().map(|name| folder.join(name));
    places.chain(names.iter().flat_map(|name| leftovers(folder, name))).collect()
}

fn leftovers(folder: &Path, name: &str) -> Vec<PathBuf> {
    ["-journal", "-wal", "-shm"].map(|ending| folder.join(format!("{name}{ending}"))).to_vec()
}

fn present(backup: &Path, name: &str) -> Result<(), BackupError> {
    if backup.join(name).exists() {
        return Ok(());
    }
    Err(BackupError::Broken { folder: backup.to_owned(), reason: format!("its {name} is missing") })
}

fn copy(backup: &Path, folder: &Path, name: &str) -> Result<(), BackupError> {
    present(backup, name)?;
    beside::copy_plain(&backup.join(name), &part(folder, name))
}

async fn digest_of(backup: &Path, name: &str) -> Result<Hash, BackupError> {
    present(backup, name)?;
    digest(&backup.join(name)).await
}

fn prove_file(backup: &Path, name: &str, is_right: bool) -> Result<(), BackupError> {
    if is_right {
        return Ok(());
    }
    let reason = format!("the bytes of its {name} are not those that were written");
    Err(BackupError::Broken { folder: backup.to_owned(), reason })
}

/// Proves the journals of what was erased.
async fn prove_journals(backup: &Path, manifest: &Manifest) -> Result<(), BackupError> {
    let accounts = manifest.erasures.as_ref().map(|noted| (ERASURES_FILE, noted.sha256));
    let pictures = manifest.erased_pictures.as_ref().map(|noted| (ERASED_PICTURES, noted.sha256));
    for (name, noted) in accounts.into_iter().chain(pictures) {
        prove_file(backup, name, digest_of(backup, name).await? == noted)?;
    }
    Ok(())
}

/// Proves that a copy of the log has the bytes of the manifest and holds a right log.
async fn prove_log(backup: &Path, copy: &Path, manifest: &Manifest) -> Result<(), BackupError> {
    let broken = |reason: String| BackupError::Broken { folder: backup.to_owned(), reason };
    if digest(copy).await? != manifest.sha256 {
        return Err(broken("its bytes are not those that were written".into()));
    }
    prove_chain(backup, copy, &manifest.store, (manifest.position, manifest.hash)).await
}

/// Proves that a copy of the log of a store is right and ends with this event.
async fn prove_chain(
    backup: &Path,
    copy: &Path,
    store_id: &str,
    end: (Position, Hash),
) -> Result<(), BackupError> {
    let broken = |reason: String| BackupError::Broken { folder: backup.to_owned(), reason };
    // A copy that nobody writes is read without locks, which a file system for reading only does not have.
    let mut reader = file::reading(copy).immutable(true).connect().await.map_err(failure)?;
    let (store, _): (StoreId, _) = rows::log(&mut reader).await?;
    let verified = verify::all(&mut reader, |_| {}).await?.map_err(|damage| broken(damage.to_string()))?;
    reader.close().await.map_err(failure)?;
    if store.to_string() != store_id || (Position(verified.events), verified.hash) != end {
        return Err(broken("its manifest belongs to another copy".into()));
    }
    Ok(())
}

/// Proves that a copy of the ledger has the bytes of the manifest and holds right entries.
async fn prove_ledger(backup: &Path, copy: &Path, noted: &LedgerCopy) -> Result<(), BackupError> {
    let broken = |reason: String| BackupError::Broken { folder: backup.to_owned(), reason };
    if digest(copy).await? != noted.sha256 {
        return Err(broken("the bytes of its ledger are not those that were written".into()));
    }
    ledger::proven(copy, noted).await.map_err(broken)
}
