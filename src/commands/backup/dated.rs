//! Backups in one folder, each in a folder named by its time.

use std::collections::BTreeSet;
use std::fs;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use backup::Manifest;
use jiff::Timestamp;

/// How the folder of a backup is named, in UTC; names in order are backups in order.
const NAME: &str = "%Y-%m-%dT%H%M%SZ";

/// Returns the name of the folder of a backup that is made at this time.
pub(super) fn name(time: Timestamp) -> String {
    time.strftime(NAME).to_string()
}

/// Returns the newest whole backup below a folder; `None` where there is none, or no folder.
///
/// # Errors
///
/// Fails where the folder cannot be read.
pub(super) fn newest(folder: &Path) -> Result<Option<PathBuf>> {
    if !folder.exists() {
        return Ok(None);
    }
    Ok(dated(folder)?.into_iter().rfind(|path| Manifest::is_in(path)))
}

/// The folders below one that are named as backups are, in order.
fn dated(folder: &Path) -> Result<Vec<PathBuf>> {
    let entries = fs::read_dir(folder).with_context(|| format!("{} cannot be read", folder.display()))?;
    let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let mut dated: Vec<PathBuf> = names.filter(|name| is_dated(name)).map(|name| folder.join(name)).collect();
    dated.retain(|path| path.is_dir());
    dated.sort();
    Ok(dated)
}

/// Removes all but the newest `keep` whole backups below a folder and those that they continue, and what was broken off before
/// `newest`. What has no such name is left alone. Returns what was removed.
///
/// # Errors
///
/// Fails where the folder cannot be read, or a backup not be removed, and where it cannot be told what a kept backup continues:
/// nothing is removed then.
pub(super) fn remove_older(folder: &Path, newest: &Path, keep: NonZeroUsize) -> Result<Vec<PathBuf>> {
    let mut dated = dated(folder)?;
    dated.retain(|path| path.as_path() <= newest);
    let (whole, broken): (Vec<PathBuf>, Vec<PathBuf>) =
        dated.into_iter().partition(|path| Manifest::is_in(path));
    let (older, kept) = whole.split_at(whole.len().saturating_sub(keep.get()));
    let mut needed = BTreeSet::new();
    for backup in kept {
        let parents = Manifest::parents(backup).context("the backup is made, and no older one is removed")?;
        needed.extend(parents.iter().filter_map(|parent| parent.file_name().map(|name| folder.join(name))));
    }
    let older = older.iter().filter(|path| !needed.contains(*path)).cloned();
    let mut removed: Vec<PathBuf> = broken.into_iter().chain(older).collect();
    removed.sort();
    // The newest first: one that continues another goes before that one.
    for path in removed.iter().rev() {
        Manifest::remove(path).with_context(|| {
            format!("the backup is made, but the older one in {} cannot be removed", path.display())
        })?;
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
    fn the_newest_whole_ones_are_kept() {
        let folder = tempfile::tempdir().unwrap();
        let make = |name: &str, is_whole: bool| {
            let path = folder.path().join(name);
            fs::create_dir(&path).unwrap();
            fs::write(path.join("events.db"), "x").unwrap();
            if is_whole {
                fs::write(path.join("manifest.json"), "{}").unwrap();
            }
            path
        };
        let first = make("2026-11-20T031500Z", true);
        let broken = make("2026-11-21T031500Z", false);
        make("2026-11-22T031500Z", true);
        make("photographs", true);
        make("2026-13-45T999999Z", true);
        let newest = make(&name("2026-11-23T03:15:00Z".parse().unwrap()), true);
        // One that another command is making.
        make("2026-11-23T031501Z", false);
        let keep = NonZeroUsize::new(2).unwrap();
        assert_eq!(remove_older(folder.path(), &newest, keep).unwrap(), [first, broken]);
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
