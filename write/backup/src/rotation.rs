//! Backups in one folder, each in a subfolder named by its time, of which the newest are kept.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use jiff::Timestamp;

use crate::{BackupError, Manifest};

/// The name of a subfolder, in UTC: names in order are backups in order.
const NAME: &str = "%Y-%m-%dT%H%M%SZ";

/// The error of a folder of backups.
#[derive(Debug, thiserror::Error)]
pub enum RotationError {
    /// The folder cannot be read.
    #[error("{} cannot be read", .folder.display())]
    Unreadable {
        /// The folder.
        folder: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// It is not known what a kept backup builds on.
    #[error("the backup is made, and no older one is removed")]
    Parents(#[source] BackupError),
    /// An older backup cannot be removed.
    #[error("the backup is made, but the older one in {} cannot be removed", .folder.display())]
    Removal {
        /// The folder of the older backup.
        folder: PathBuf,
        /// Why.
        source: io::Error,
    },
}

/// Returns the name of the subfolder of a backup that is made at this time.
pub fn name(time: Timestamp) -> String {
    time.strftime(NAME).to_string()
}

/// Returns the newest complete backup below a folder; `None` if there is none, or no folder.
///
/// # Errors
///
/// Fails if the folder cannot be read.
pub fn newest(folder: &Path) -> Result<Option<PathBuf>, RotationError> {
    if !folder.exists() {
        return Ok(None);
    }
    Ok(dated(folder)?.into_iter().rfind(|path| Manifest::is_in(path)))
}

/// Returns the subfolders that are named as backups are, in order.
fn dated(folder: &Path) -> Result<Vec<PathBuf>, RotationError> {
    let unreadable = |source| RotationError::Unreadable { folder: folder.to_owned(), source };
    let entries = fs::read_dir(folder).map_err(unreadable)?;
    let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let mut dated: Vec<PathBuf> = names.filter(|name| is_dated(name)).map(|name| folder.join(name)).collect();
    dated.retain(|path| path.is_dir());
    dated.sort();
    Ok(dated)
}

/// Removes all but the newest `keep` complete backups below a folder and those that they build on, and incomplete ones from before
/// `newest`. Does not touch subfolders with other names. Returns what was removed.
///
/// # Errors
///
/// Fails if the folder cannot be read or a backup cannot be removed. Removes nothing if it is not known what a kept backup builds
/// on.
pub fn remove_older(folder: &Path, newest: &Path, keep: NonZeroUsize) -> Result<Vec<PathBuf>, RotationError> {
    let mut dated = dated(folder)?;
    dated.retain(|path| path.as_path() <= newest);
    let (complete, incomplete): (Vec<PathBuf>, Vec<PathBuf>) =
        dated.into_iter().partition(|path| Manifest::is_in(path));
    let (older, kept) = complete.split_at(complete.len().saturating_sub(keep.get()));
    let mut needed = BTreeSet::new();
    for backup in kept {
        let parents = Manifest::parents(backup).map_err(RotationError::Parents)?;
        needed.extend(parents.iter().filter_map(|parent| parent.file_name().map(|name| folder.join(name))));
    }
    let older = older.iter().filter(|path| !needed.contains(*path)).cloned();
    let mut removed: Vec<PathBuf> = incomplete.into_iter().chain(older).collect();
    removed.sort();
    // The newest first: a backup is removed before the one that it builds on.
    for path in removed.iter().rev() {
        let failed = |source| RotationError::Removal { folder: path.clone(), source };
        Manifest::remove(path).map_err(failed)?;
    }
    Ok(removed)
}

fn is_dated(name: &str) -> bool {
    let digits =
        |text: &str| text.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b'-' | b'T' | b'Z'));
    name.len() == 18 && digits(name) && jiff::civil::DateTime::strptime(NAME, name).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_complete_backups_are_kept() {
        let folder = tempfile::tempdir().unwrap();
        let make = |name: &str, is_complete: bool| {
            let path = folder.path().join(name);
            fs::create_dir(&path).unwrap();
            fs::write(path.join("events.db"), "x").unwrap();
            if is_complete {
                fs::write(path.join("manifest.json"), "{}").unwrap();
            }
            path
        };
        let first = make("2026-11-20T031500Z", true);
        let incomplete = make("2026-11-21T031500Z", false);
        make("2026-11-22T031500Z", true);
        make("photographs", true);
        make("2026-13-45T999999Z", true);
        let newest = make(&name("2026-11-23T03:15:00Z".parse().unwrap()), true);
        // Another command is still writing this one.
        make("2026-11-23T031501Z", false);
        let keep = NonZeroUsize::new(2).unwrap();
        assert_eq!(remove_older(folder.path(), &newest, keep).unwrap(), [first, incomplete]);
        assert_eq!(remove_older(folder.path(), &newest, keep).unwrap(), [] as [PathBuf; 0]);
        let mut left: Vec<String> = fs::read_dir(folder.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        left.sort();
        let expected = [
            "2026-11-22T031500Z",
            "2026-11-23T031500Z",
            "2026-11-23T031501Z",
            "2026-13-45T999999Z",
            "photographs",
        ];
        assert_eq!(left, expected);
    }
}
