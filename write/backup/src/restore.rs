//! Restores backups into a folder without an event log.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use event_log::Head;
use event_log::sqlite::file::{self, UNFINISHED_RESTORE};
use sqlite::journal_files;
use vault::ERASURES_FILE;

use super::chain::Chain;
use super::member::Member;
use super::verify::Restored;
use super::{
    BackupError, Erased, LEDGER, LOG, RestorePoint, Truncation, at, create_private, create_private_folder,
    erasures, move_into_place, pictures, point_in_time, sidecar_files, staged, sync_folder, verify,
};

/// The name of the truncated copy of a log, until it replaces the whole one.
const TRUNCATED: &str = "events.cut.db";

/// Restores a backup, with those that it continues, into a folder that has no event log, and its pictures into a media
/// folder, after verifying all its bytes, its whole log and its whole ledger. The folder's journal names the accounts that
/// were `erased` after the backup: the command service ends them again. Erased pictures are not restored, and the media
/// folder's journal names them. If it fails, it removes what it wrote; leftovers of a killed restore are overwritten.
///
/// # Errors
///
/// Fails if the folder has an event log, the backup is incomplete or damaged, or a file cannot be read or written.
pub async fn restore(
    backup: &Path,
    folder: &Path,
    media: Option<&Path>,
    erased: &[Erased],
) -> Result<Restored, BackupError> {
    restore_until(backup, folder, media, erased, None).await
}

/// Restores as [`restore`] does, but the log only up to a point, and the pictures that it names then. What was erased later stays
/// erased, according to the journals of the backup. The ledger and the vault are restored whole.
///
/// # Errors
///
/// Fails as [`restore`] does, and if the point is not within the backup's log.
pub async fn restore_until(
    backup: &Path,
    folder: &Path,
    media: Option<&Path>,
    erased: &[Erased],
    until: Option<RestorePoint>,
) -> Result<Restored, BackupError> {
    let chain = Chain::read(backup)?;
    let target = RestoreTarget::check(folder, media)?;
    create_private_folder(folder)?;
    let lock = file::lock(&file::path(folder))?;
    target.clear()?;
    match restore_into(chain, folder, media, erased, until).await {
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

/// Stages a copy of every part, verifies it, and moves all into place.
async fn restore_into(
    chain: Chain,
    folder: &Path,
    media: Option<&Path>,
    erased: &[Erased],
    until: Option<RestorePoint>,
) -> Result<Restored, BackupError> {
    let (unfinished, newest) = (folder.join(UNFINISHED_RESTORE), &chain.newest);
    create_private(&unfinished).and_then(|file| file.sync_all()).map_err(at(&unfinished))?;
    sync_folder(folder)?;
    for file in &newest.manifest.files {
        stage_copy(newest, folder, &file.name)?;
        sidecar_files::verify(newest, file, &staged(folder, &file.name)).await?;
    }
    let log = staged(folder, LOG);
    chain.join_logs(&log).await?;
    verify::log(newest, &log, newest.head()).await?;
    let truncation = truncate_log(newest, &log, &folder.join(TRUNCATED), until).await?;
    let has_ledger = stage_ledger(&chain, folder).await?;
    verify::journals(newest).await?;
    let mut pictures = 0;
    if let Some(media) = media {
        verify::pictures(&chain).await?;
        let named = match truncation {
            Some(_) => Some(point_in_time::pictures(&log).await?),
            None => None,
        };
        let erased = erasures::erased_pictures(&newest.folder, erased)?;
        pictures = pictures::restore(&chain, media, erased, named).await?;
    }
    if erasures::stage_journal(&newest.folder, folder, erased)? {
        move_into_place(folder, ERASURES_FILE)?;
    }
    sync_staged(folder, has_ledger)?;
    let sidecar_files = newest.manifest.files.iter().map(|file| file.name.as_str());
    // The log is last: a folder with a log is complete.
    for name in sidecar_files.chain(has_ledger.then_some(LEDGER)).chain([LOG]) {
        move_into_place(folder, name)?;
    }
    sync_folder(folder)?;
    fs::remove_file(&unfinished).map_err(at(&unfinished))?;
    sync_folder(folder)?;
    Ok(Restored { manifest: chain.newest.manifest, pictures, truncation })
}

/// Stages the ledger and verifies it; `false` if no call was ever counted.
async fn stage_ledger(chain: &Chain, folder: &Path) -> Result<bool, BackupError> {
    let (file, newest) = (staged(folder, LEDGER), &chain.newest);
    let has_ledger = chain.join_ledgers(&file).await?;
    if let Some(copy) = &newest.manifest.ledger {
        ledger::verify_copy(&file, copy).await.map_err(|reason| newest.broken(reason))?;
    }
    Ok(has_ledger)
}

/// Makes the files durable that were written without a journal.
fn sync_staged(folder: &Path, has_ledger: bool) -> Result<(), BackupError> {
    for name in [LOG].into_iter().chain(has_ledger.then_some(LEDGER)) {
        let path = staged(folder, name);
        File::open(&path).and_then(|file| file.sync_all()).map_err(at(&path))?;
    }
    Ok(())
}

/// Truncates the copy of the log after a point, and verifies the rest.
async fn truncate_log(
    newest: &Member,
    log: &Path,
    temporary: &Path,
    until: Option<RestorePoint>,
) -> Result<Option<Truncation>, BackupError> {
    let Some(until) = until else { return Ok(None) };
    let truncation = point_in_time::truncate(log, temporary, until, newest.manifest.created).await?;
    if let Some(Truncation { position, hash, .. }) = truncation {
        verify::log(newest, log, Head { position, hash }).await?;
    }
    Ok(truncation)
}

/// The folders of a restore as they were before, so that everything that a failed one wrote can be removed.
struct RestoreTarget {
    folder: PathBuf,
    media: Option<PathBuf>,
}

impl RestoreTarget {
    /// Refuses a folder with any file of a store, unless an earlier restore was interrupted there.
    fn check(folder: &Path, media: Option<&Path>) -> Result<RestoreTarget, BackupError> {
        if !folder.join(UNFINISHED_RESTORE).exists()
            && let Some(existing) = files(folder).into_iter().find(|path| path.exists())
        {
            return Err(BackupError::InTheWay(existing));
        }
        let media = media.filter(|media| !media.exists()).map(Path::to_owned);
        Ok(RestoreTarget { folder: folder.to_owned(), media })
    }

    /// Removes the files of an interrupted restore.
    fn clear(&self) -> Result<(), BackupError> {
        let mut existing = files(&self.folder).into_iter().filter(|path| path.exists());
        existing.try_for_each(|path| fs::remove_file(&path).map_err(at(&path)))
    }

    fn remove(&self) {
        // The mark is last: if a file cannot be removed, the folder stays unfinished.
        let removed = files(&self.folder).iter().all(|path| fs::remove_file(path).is_ok() || !path.exists());
        for name in [LOG, LEDGER, ERASURES_FILE].into_iter().chain(sidecar_files::names()) {
            let _ = fs::remove_file(staged(&self.folder, name));
        }
        if let Some(media) = &self.media {
            let _ = fs::remove_dir_all(media);
        }
        if removed {
            let _ = fs::remove_file(self.folder.join(UNFINISHED_RESTORE));
        }
    }
}

/// Returns the files of a store and their journals, which SQLite would replay into a restored file.
fn files(folder: &Path) -> Vec<PathBuf> {
    let names: Vec<&str> = [LOG, LEDGER, TRUNCATED].into_iter().chain(sidecar_files::names()).collect();
    let paths = names.iter().map(|name| folder.join(name));
    paths.chain(names.iter().flat_map(|name| journal_files(&folder.join(name)))).collect()
}

fn stage_copy(backup: &Member, folder: &Path, name: &str) -> Result<(), BackupError> {
    let from = backup.folder.join(name);
    if !from.exists() {
        return Err(backup.broken(format!("its {name} is missing")));
    }
    sidecar_files::copy_file(&from, &staged(folder, name)).map_err(|error| match error {
        BackupError::File { path, source } => backup.unreadable(name, &path, source),
        other => other,
    })
}
