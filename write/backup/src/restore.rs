//! Backups put into an empty folder.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use event_log::Head;
use event_log::sqlite::file::{self, UNFINISHED_RESTORE};
use sqlite::journal_files;
use vault::ERASURES_FILE;

use super::chain::Chain;
use super::member::Member;
use super::prove::Restored;
use super::{
    BackupError, COPY, Cut, Erased, LEDGER, Until, at, beside, erasures, part, pictures, private,
    private_folder, prove, put, sync_folder, until,
};

/// The copy of a log that ends earlier, until it takes the place of the whole one.
const CUT: &str = "events.cut.db";

/// Restores a backup, with those that it continues, into a folder that has no event log, and its pictures into a media
/// folder, after verifying all its bytes, its whole log and its whole ledger. The folder's journal names the accounts that
/// were `erased` after the backup: the command service ends them again. Erased pictures are not restored, and the media
/// folder's journal names them. If it fails, it removes what it wrote; leftovers of a killed restore are overwritten.
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
    restore_until(backup, folder, media, erased, None).await
}

/// Does the same with the log up to a point only, and the pictures that it names then. What was erased later stays
/// erased: the backup's own journals say so. The ledger is restored whole, and so is the vault.
///
/// # Errors
///
/// Fails as [`restore`] does, and where the backup's log does not reach from before to after the point.
pub async fn restore_until(
    backup: &Path,
    folder: &Path,
    media: Option<&Path>,
    erased: &[Erased],
    until: Option<Until>,
) -> Result<Restored, BackupError> {
    let chain = Chain::read(backup)?;
    let target = Target::before(folder, media)?;
    private_folder(folder)?;
    let lock = file::lock(&file::path(folder))?;
    target.clear()?;
    match bring(chain, folder, media, erased, until).await {
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

/// Copies everything beside its place, proves it there, and puts it in place.
async fn bring(
    chain: Chain,
    folder: &Path,
    media: Option<&Path>,
    erased: &[Erased],
    until: Option<Until>,
) -> Result<Restored, BackupError> {
    let (unfinished, newest) = (folder.join(UNFINISHED_RESTORE), &chain.newest);
    private(&unfinished).and_then(|file| file.sync_all()).map_err(at(&unfinished))?;
    sync_folder(folder)?;
    for noted in &newest.manifest.files {
        copy(&newest.folder, folder, &noted.name)?;
        newest.prove(&noted.name, &part(folder, &noted.name), noted.sha256).await?;
    }
    let log = part(folder, COPY);
    chain.log_into(&log).await?;
    prove::log(newest, &log, newest.head()).await?;
    let cut = cut_log(newest, &log, &folder.join(CUT), until).await?;
    let has_ledger = bring_ledger(&chain, folder).await?;
    prove::journals(newest).await?;
    let mut pictures = 0;
    if let Some(media) = media {
        prove::pictures(&chain).await?;
        let named = match cut {
            Some(_) => Some(until::pictures(&log).await?),
            None => None,
        };
        let erased = erasures::pictures(&newest.folder, erased)?;
        pictures = pictures::bring(&chain, media, erased, named).await?;
    }
    if erasures::bring(&newest.folder, folder, erased)? {
        put(folder, ERASURES_FILE)?;
    }
    sync_parts(folder, has_ledger)?;
    let beside = newest.manifest.files.iter().map(|file| file.name.as_str());
    // The log is the last: a folder with a log is complete.
    for name in beside.chain(has_ledger.then_some(LEDGER)).chain([COPY]) {
        put(folder, name)?;
    }
    sync_folder(folder)?;
    fs::remove_file(&unfinished).map_err(at(&unfinished))?;
    sync_folder(folder)?;
    Ok(Restored { manifest: chain.newest.manifest, pictures, cut })
}

/// Writes the ledger beside its place and proves it; `false` where nothing was ever counted.
async fn bring_ledger(chain: &Chain, folder: &Path) -> Result<bool, BackupError> {
    let (part, newest) = (part(folder, LEDGER), &chain.newest);
    let is_there = chain.ledger_into(&part).await?;
    if let Some(noted) = &newest.manifest.ledger {
        ledger::verify_copy(&part, noted).await.map_err(|reason| newest.broken(reason))?;
    }
    Ok(is_there)
}

/// Makes what was written without a journal durable.
fn sync_parts(folder: &Path, has_ledger: bool) -> Result<(), BackupError> {
    for name in [COPY].into_iter().chain(has_ledger.then_some(LEDGER)) {
        let part = part(folder, name);
        File::open(&part).and_then(|file| file.sync_all()).map_err(at(&part))?;
    }
    Ok(())
}

/// Removes from the copy of the log what comes after a point, and proves what is left.
async fn cut_log(
    newest: &Member,
    log: &Path,
    aside: &Path,
    until: Option<Until>,
) -> Result<Option<Cut>, BackupError> {
    let Some(until) = until else { return Ok(None) };
    let cut = until::cut(log, aside, until, newest.manifest.created).await?;
    if let Some(Cut { position, hash, .. }) = cut {
        prove::log(newest, log, Head { position, hash }).await?;
    }
    Ok(cut)
}

/// The folders of a restore as they were before, so that all that a failed one wrote can be removed.
struct Target {
    folder: PathBuf,
    media: Option<PathBuf>,
}

impl Target {
    /// Refuses a folder that holds any file of a store, unless an earlier restore was interrupted there.
    fn before(folder: &Path, media: Option<&Path>) -> Result<Target, BackupError> {
        if !folder.join(UNFINISHED_RESTORE).exists()
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
            let _ = fs::remove_file(self.folder.join(UNFINISHED_RESTORE));
        }
    }
}

/// The files of a store and what SQLite puts beside them: it would play the journal of another file into a restored one.
fn files(folder: &Path) -> Vec<PathBuf> {
    let names: Vec<&str> = [COPY, LEDGER, CUT].into_iter().chain(beside::names()).collect();
    let places = names.iter().map(|name| folder.join(name));
    places.chain(names.iter().flat_map(|name| journal_files(&folder.join(name)))).collect()
}

fn copy(backup: &Path, folder: &Path, name: &str) -> Result<(), BackupError> {
    let from = backup.join(name);
    if !from.exists() {
        let reason = format!("its {name} is missing");
        return Err(BackupError::Broken { folder: backup.to_owned(), reason });
    }
    beside::copy_plain(&from, &part(folder, name))
}
