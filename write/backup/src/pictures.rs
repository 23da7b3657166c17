//! The pictures of a backup: copies in a media folder, and a listing with which they are verified.

use std::collections::BTreeSet;
use std::io::BufReader;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use event_log::StoreError;
use media::{Difference, Listing, ListingError, MediaStore};
use schemas::erased_pictures::ErasedPicture;
use schemas::hash::Hash;
use schemas::picture::PictureId;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::chain::Chain;
use super::member::Member;
use super::{BackupError, Cleanup, at, stage_file};

pub(super) const FOLDER: &str = "media";

/// The listing of their files, in the format of `sha256sum`.
pub(super) const LISTING: &str = "pictures.sha256";

/// The pictures in a backup.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MediaCopy {
    /// The number of pictures.
    pub pictures: u64,
    /// The number of their files: originals, smaller forms and descriptions.
    pub files: u64,
    /// SHA-256 of the listing of these files.
    pub sha256: Hash,
}

/// Copies the pictures of a media folder that the backups before it lack into a backup, and stages their listing.
pub(super) async fn copy(
    media: &Path,
    backup: &Path,
    since: Option<&Chain>,
    cleanup: Arc<Cleanup>,
) -> Result<MediaCopy, BackupError> {
    let (from, to) = (media.to_owned(), backup.join(FOLDER));
    let former = since.map(stores).unwrap_or_default();
    let listing = blocking(move || {
        let from = MediaStore::open_read_only(&from);
        let new: BTreeSet<PictureId> =
            from.ids()?.into_iter().filter(|id| is_new(&from, *id, &former)).collect();
        if new.is_empty() {
            return Ok(Listing::default());
        }
        let to = MediaStore::open(&to)?;
        // The clean-up is held until here, so that it removes what is written only afterwards.
        from.copy_selected(&to, |id| new.contains(&id), || !cleanup.is_cancelled.load(Ordering::Relaxed))?;
        Ok(to.list()?)
    });
    let listing = listing.await?;
    let text = listing.text(FOLDER);
    stage_file(backup, LISTING, text.as_bytes())?;
    let sha256 = Hash(Sha256::digest(text.as_bytes()).into());
    Ok(MediaCopy { pictures: listing.pictures, files: listing.files(), sha256 })
}

/// Returns the pictures of each backup of a chain, newest first.
fn stores(chain: &Chain) -> Vec<MediaStore> {
    chain.members().rev().map(|member| MediaStore::open_read_only(&member.folder.join(FOLDER))).collect()
}

/// Returns whether a restore of the former backups, newest first, would lack the picture or restore an older state of it.
fn is_new(now: &MediaStore, id: PictureId, former: &[MediaStore]) -> bool {
    let has = |store: &&MediaStore| store.get(id).is_ok_and(|picture| picture.is_some());
    !former.iter().find(has).is_some_and(|store| now.is_copied_to(store, id))
}

/// Verifies that every picture of a backup has the bytes that were written.
pub(super) async fn verify(member: &Member, copy: &MediaCopy) -> Result<(), BackupError> {
    let backup = &member.folder;
    let path = backup.join(LISTING);
    let broken = |reason: String| member.broken(reason);
    member.check_bytes(LISTING, &path, copy.sha256).await?;
    let listing = bounded_file::open(&path).map_err(at(&path))?;
    let media = backup.join(FOLDER);
    let compare = move || Ok(MediaStore::open_read_only(&media).compare(BufReader::new(listing), FOLDER));
    match blocking(compare).await? {
        Ok(None) => Ok(()),
        Err(ListingError::Line(line)) => {
            Err(broken(format!("line {line} of its {LISTING} names no file of a picture")))
        }
        Err(ListingError::Unreadable(error)) => Err(at(&path)(error)),
        Err(ListingError::Media(error)) => Err(error.into()),
        Ok(Some(Difference { first, reason, count })) => Err(broken(format!(
            "of its {} picture files {count} {} not what was written; the first is {FOLDER}/{first}, which {reason}",
            copy.files,
            if count == 1 { "is" } else { "are" },
        ))),
    }
}

/// Restores the pictures of a chain into a media folder, except erased ones, and returns their number. If the log was truncated,
/// only those in `named` are restored.
pub(super) async fn restore(
    chain: &Chain,
    media: &Path,
    erased: Vec<ErasedPicture>,
    named: Option<BTreeSet<PictureId>>,
) -> Result<u64, BackupError> {
    let (stores, to): (_, PathBuf) = (stores(chain), media.to_owned());
    blocking(move || {
        let mut remaining = ids(&stores)?;
        if remaining.is_empty() && erased.is_empty() {
            return Ok(0);
        }
        let to = MediaStore::open(&to)?;
        to.erase(&erased)?;
        remaining.retain(|id| named.as_ref().is_none_or(|named| named.contains(id)));
        let mut pictures = 0;
        for from in stores {
            pictures += from.copy_selected(&to, |id| remaining.contains(&id), || true)?;
            for id in from.ids()? {
                remaining.remove(&id);
            }
        }
        Ok(pictures)
    })
    .await
}

pub(super) async fn count(chain: &Chain, erased: Vec<ErasedPicture>) -> Result<u64, BackupError> {
    let stores = stores(chain);
    blocking(move || {
        let mut ids = ids(&stores)?;
        for erased in &erased {
            ids.remove(&erased.picture);
        }
        Ok(ids.len() as u64)
    })
    .await
}

fn ids(stores: &[MediaStore]) -> Result<BTreeSet<PictureId>, BackupError> {
    let mut ids = BTreeSet::new();
    for store in stores {
        ids.extend(store.ids()?);
    }
    Ok(ids)
}

async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, BackupError> + Send + 'static,
) -> Result<T, BackupError> {
    tokio::task::spawn_blocking(work).await.map_err(|error| StoreError::unavailable(error.to_string()))?
}
