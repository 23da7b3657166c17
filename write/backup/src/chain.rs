//! A chain of incremental backups: finds the backups that one continues, and joins their logs and ledgers.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use event_log::StoreError;
use serde::Deserialize;

use super::error::Parent;
use super::member::{Member, manifest_bytes, sha256_of};
use super::{BackupError, MANIFEST, MAX_MANIFEST_BYTES, Manifest};
use super::{at, increment, sidecar_files};

pub(super) struct Chain {
    /// The backups that it continues, oldest first; the oldest is a full one.
    pub(super) older: Vec<Member>,
    pub(super) newest: Member,
}

impl Chain {
    /// Reads the manifests of a backup and of those that it continues.
    pub(super) fn read(backup: &Path) -> Result<Chain, BackupError> {
        let newest = Member::read(backup)?;
        let mut older = Vec::new();
        for folder in parents(backup)? {
            older.push(Member::read(&folder)?);
        }
        older.reverse();
        Ok(Chain { older, newest })
    }

    /// Returns all backups of the chain, oldest first.
    pub(super) fn members(&self) -> impl DoubleEndedIterator<Item = &Member> {
        self.older.iter().chain([&self.newest])
    }

    /// Joins the logs of the chain in a file, after checking the bytes of each. The joined log is not verified here.
    pub(super) async fn join_logs(&self, to: &Path) -> Result<(), BackupError> {
        for member in self.members() {
            let (name, sha256, from) = (member.manifest.log(), member.manifest.sha256, member.log());
            if member.manifest.parent.is_none() {
                if from.is_file() {
                    sidecar_files::copy_file(&from, to)?;
                }
                let path = if from.is_file() { to } else { &from };
                member.check_bytes(name, path, sha256).await?;
            } else {
                member.check_bytes(name, &from, sha256).await?;
                increment::extend(to, &from).await.map_err(|error| as_broken(member, error))?;
            }
        }
        Ok(())
    }

    /// Joins the ledgers of the chain in a file as [`Chain::join_logs`] does, and returns whether there is one.
    pub(super) async fn join_ledgers(&self, to: &Path) -> Result<bool, BackupError> {
        // A file that an interrupted restore left is not continued.
        remove_if_there(to)?;
        for member in self.members() {
            let Some(copy) = &member.manifest.ledger else { continue };
            let name = member.manifest.ledger_name();
            let from = member.folder.join(name);
            member.check_bytes(name, &from, copy.sha256).await?;
            if member.manifest.parent.is_none() {
                sidecar_files::copy_file(&from, to)?;
                member.check_bytes(name, to, copy.sha256).await?;
            } else {
                ledger::extend(to, &from).await.map_err(|error| as_broken(member, error))?;
            }
        }
        Ok(self.newest.manifest.ledger.is_some())
    }
}

/// Returns the error for a part that has the recorded bytes and still could not be joined.
fn as_broken(member: &Member, error: StoreError) -> BackupError {
    match error {
        StoreError::Corrupt(reason) => member.broken(reason),
        StoreError::Unavailable(_) => error.into(),
    }
}

fn remove_if_there(path: &Path) -> Result<(), BackupError> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(at(path)(error)),
        _ => Ok(()),
    }
}

/// Returns the folders of the backups that one continues, nearest first. Fails if one of them is not found, or is not
/// the one that is continued.
pub(super) fn parents(backup: &Path) -> Result<Vec<PathBuf>, BackupError> {
    let (mut found, mut folder) = (Vec::<PathBuf>::new(), backup.to_owned());
    while let Some(parent) = parent_of(&folder)? {
        folder = find(&folder, &parent)?;
        found.push(folder.clone());
    }
    Ok(found)
}

/// The part of a manifest that names the backup which it continues.
#[derive(Deserialize)]
struct Lineage {
    parent: Option<Parent>,
}

fn parent_of(backup: &Path) -> Result<Option<Parent>, BackupError> {
    let lineage: Lineage = super::parsed(backup, &manifest_bytes(backup)?)?;
    Ok(lineage.parent)
}

/// Finds the backup that another one continues: in the same directory under its name, at its recorded path, and in the same
/// directory under any name.
fn find(backup: &Path, parent: &Parent) -> Result<PathBuf, BackupError> {
    let path = std::path::absolute(backup).map_err(at(backup))?;
    let directory = path.parent().unwrap_or(&path);
    let named = parent.folder.file_name().map(|name| directory.join(name));
    let likely: Vec<PathBuf> = named.into_iter().chain([parent.folder.clone()]).collect();
    if let Some(found) = likely.iter().find(|folder| is_parent(folder, parent)) {
        return Ok(found.clone());
    }
    let mut others = Vec::new();
    for entry in fs::read_dir(directory).map_err(at(directory))? {
        others.push(entry.map_err(at(directory))?.path());
    }
    others.sort();
    if let Some(found) = others.into_iter().find(|folder| is_parent(folder, parent)) {
        return Ok(found);
    }
    let another = likely.into_iter().find(|folder| Manifest::is_in(folder));
    Err(BackupError::NoParent { backup: backup.to_owned(), parent: Box::new(parent.clone()), another })
}

fn is_parent(folder: &Path, parent: &Parent) -> bool {
    let manifest = bounded_file::read(&folder.join(MANIFEST), MAX_MANIFEST_BYTES);
    manifest.is_ok_and(|text| sha256_of(&text) == parent.manifest)
}
