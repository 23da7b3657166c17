//! The journals of erased accounts and pictures: their copies in a backup, and the journals of a restored folder.

use std::fs::File;
use std::io;
use std::path::Path;

use media::MediaStore;
use schemas::erased_pictures::{self as journal, ERASED_PICTURES, ErasedPicture};
use schemas::hash::Hash;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use vault::{ERASURES_FILE, Erasure, journal_text, read_erasures};

use super::member::unreadable;
use super::{BackupError, at, stage_file};

/// The most bytes of a file with the lines of both journals.
const MAX_BYTES: u64 = vault::MAX_JOURNAL_BYTES + media::MAX_JOURNAL_BYTES;

/// The journal of erased accounts in a backup.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ErasuresCopy {
    /// The number of accounts in it.
    pub accounts: u64,
    /// SHA-256 of its bytes.
    pub sha256: Hash,
}

/// The journal of erased pictures in a backup.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ErasedPicturesCopy {
    /// The number of pictures in it.
    pub pictures: u64,
    /// SHA-256 of its bytes.
    pub sha256: Hash,
}

/// A line of either journal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Erased {
    /// An account.
    Account(Erasure),
    /// A picture.
    Picture(ErasedPicture),
}

impl Erased {
    /// Reads a journal of accounts, of pictures, or of both.
    ///
    /// # Errors
    ///
    /// Fails if the file is absent or cannot be read, and names the first line that is of neither kind.
    pub fn read(path: &Path) -> Result<Vec<Erased>, BackupError> {
        // The file is named by the caller, so it may be a pipe.
        let text = File::open(path).and_then(|file| bounded_file::read_all_to_string(file, MAX_BYTES));
        let text = text.map_err(at(path))?;
        let read = |(index, line): (usize, &str)| {
            serde_json::from_str(line)
                .map_err(|_| BackupError::Journal { path: path.to_owned(), line: index + 1 })
        };
        text.lines().enumerate().map(read).collect()
    }
}

/// Stages a copy of the journal of accounts of a store's folder in a backup; `None` if none was ever erased.
pub(super) fn copy(folder: &Path, backup: &Path) -> Result<Option<ErasuresCopy>, BackupError> {
    let Some(erasures) = read_erasures(&folder.join(ERASURES_FILE))? else { return Ok(None) };
    let (accounts, text) = journal_text(erasures);
    let sha256 = stage(backup, ERASURES_FILE, &text)?;
    Ok(Some(ErasuresCopy { accounts: accounts as u64, sha256 }))
}

/// Stages a copy of the journal of pictures of a media folder in a backup; `None` if none was ever erased.
pub(super) fn copy_pictures(media: &Path, backup: &Path) -> Result<Option<ErasedPicturesCopy>, BackupError> {
    let erased = MediaStore::open_read_only(media).erased()?;
    if erased.is_empty() {
        return Ok(None);
    }
    let (pictures, text) = journal::text(erased);
    let sha256 = stage(backup, ERASED_PICTURES, &text)?;
    Ok(Some(ErasedPicturesCopy { pictures: pictures as u64, sha256 }))
}

fn stage(backup: &Path, name: &str, text: &str) -> Result<Hash, BackupError> {
    stage_file(backup, name, text.as_bytes())?;
    Ok(Hash(Sha256::digest(text.as_bytes()).into()))
}

/// Stages the journal of accounts of a restored folder, from those of the backup, the folder itself and the caller. Returns whether
/// there is any erasure.
pub(super) fn stage_journal(backup: &Path, folder: &Path, given: &[Erased]) -> Result<bool, BackupError> {
    let account = |erased: &Erased| match erased {
        Erased::Account(erasure) => Some(erasure.clone()),
        Erased::Picture(_) => None,
    };
    let mut all: Vec<Erasure> = given.iter().filter_map(account).collect();
    for folder in [backup, folder] {
        all.extend(read_erasures(&folder.join(ERASURES_FILE))?.unwrap_or_default());
    }
    if all.is_empty() {
        return Ok(false);
    }
    stage_file(folder, ERASURES_FILE, journal_text(all).1.as_bytes())?;
    Ok(true)
}

/// Returns the pictures that must not be restored, according to the backup and the caller.
pub(super) fn erased_pictures(backup: &Path, given: &[Erased]) -> Result<Vec<ErasedPicture>, BackupError> {
    let path = backup.join(ERASED_PICTURES);
    let text = match bounded_file::read_to_string(&path, media::MAX_JOURNAL_BYTES) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
        text => text.map_err(|error| unreadable(backup, ERASED_PICTURES, &path, error))?,
    };
    let mut all = journal::parse(&text).map_err(|line| BackupError::Journal { path, line })?;
    all.extend(given.iter().filter_map(|erased| match erased {
        Erased::Account(_) => None,
        Erased::Picture(picture) => Some(picture.clone()),
    }));
    Ok(all)
}
