//! Backups that continue others: where those are, and one log and one ledger made of all of them.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use event_log::StoreError;
use serde::Deserialize;

use super::error::Parent;
use super::member::{Member, hash_of, text};
use super::{BackupError, MANIFEST, Manifest};
use super::{at, beside, increment};

/// A backup with those that it continues.
pub(super) struct Chain {
    /// Those that it continues, the oldest first, which is whole by itself.
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

    /// All of them, the oldest first.
    pub(super) fn members(&self) -> impl DoubleEndedIterator<Item = &Member> {
        self.older.iter().chain([&self.newest])
    }

    /// Writes the log of all of them into a file. Each part has the bytes that were written; whether they make a log is not
    /// proven here.
    pub(super) async fn log_into(&self, to: &Path) -> Result<(), BackupError> {
        for member in self.members() {
            let (name, noted, from) = (member.manifest.log(), member.manifest.sha256, member.log());
            if member.manifest.parent.is_none() {
                if from.exists() {
                    beside::copy_plain(&from, to)?;
                }
                let path = if from.exists() { to } else { &from };
                member.prove(name, path, noted).await?;
            } else {
                member.prove(name, &from, noted).await?;
                increment::extend(to, &from).await.map_err(|error| unfit(member, error))?;
            }
        }
        Ok(())
    }

    /// Does the same with the ledger, and returns whether there is one.
    pub(super) async fn ledger_into(&self, to: &Path) -> Result<bool, BackupError> {
        // What an interrupted restore left is not continued.
        remove_if_there(to)?;
        for member in self.members() {
            let Some(noted) = &member.manifest.ledger else { continue };
            let name = member.manifest.ledger_name();
            let from = member.folder.join(name);
            member.prove(name, &from, noted.sha256).await?;
            if member.manifest.parent.is_none() {
                beside::copy_plain(&from, to)?;
                member.prove(name, to, noted.sha256).await?;
            } else {
                ledger::extend(to, &from).await.map_err(|error| unfit(member, error))?;
            }
        }
        Ok(self.newest.manifest.ledger.is_some())
    }
}

/// Why a part that has its right bytes could not be added.
fn unfit(member: &Member, error: StoreError) -> BackupError {
    match error {
        StoreError::Corrupt { reason } => member.broken(reason),
        StoreError::Unavailable { .. } => error.into(),
    }
}

fn remove_if_there(path: &Path) -> Result<(), BackupError> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(at(path)(error)),
        _ => Ok(()),
    }
}

/// The backups that one continues, the nearest first.
///
/// # Errors
///
/// Fails where one of them is not there, or not the one that is continued.
pub(super) fn parents(backup: &Path) -> Result<Vec<PathBuf>, BackupError> {
    let (mut found, mut of) = (Vec::<PathBuf>::new(), backup.to_owned());
    while let Some(parent) = parent_of(&of)? {
        of = find(&of, &parent)?;
        found.push(of.clone());
    }
    Ok(found)
}

/// What a manifest says of the backup that it continues.
#[derive(Deserialize)]
struct Lineage {
    parent: Option<Parent>,
}

fn parent_of(backup: &Path) -> Result<Option<Parent>, BackupError> {
    let lineage: Lineage = super::parsed(backup, &text(backup)?)?;
    Ok(lineage.parent)
}

/// Looks for the backup that another one continues: beside it under its name, where it was, and beside it under any name.
fn find(backup: &Path, parent: &Parent) -> Result<PathBuf, BackupError> {
    let whole = std::path::absolute(backup).map_err(at(backup))?;
    let beside = whole.parent().unwrap_or(&whole);
    let named = parent.folder.file_name().map(|name| beside.join(name));
    let likely: Vec<PathBuf> = named.into_iter().chain([parent.folder.clone()]).collect();
    if let Some(found) = likely.iter().find(|folder| is(folder, parent)) {
        return Ok(found.clone());
    }
    let mut others = Vec::new();
    for entry in fs::read_dir(beside).map_err(at(beside))? {
        others.push(entry.map_err(at(beside))?.path());
    }
    others.sort();
    if let Some(found) = others.into_iter().find(|folder| is(folder, parent)) {
        return Ok(found);
    }
    let another = likely.into_iter().find(|folder| Manifest::is_in(folder));
    Err(BackupError::NoParent { backup: backup.to_owned(), parent: Box::new(parent.clone()), another })
}

fn is(folder: &Path, parent: &Parent) -> bool {
    fs::read(folder.join(MANIFEST)).is_ok_and(|text| hash_of(&text) == parent.manifest)
}
