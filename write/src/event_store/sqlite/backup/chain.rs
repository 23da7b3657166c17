//! Backups that continue others: where those are, and one log and one ledger made of all of them.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use schemas::hash::Hash;
use schemas::ids::Position;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::{BackupError, COPY, INCREMENT, LEDGER, LEDGER_INCREMENT, MANIFEST, Manifest};
use super::{at, beside, digest, has_any_of, increment};
use crate::event_store::{Head, StoreError};
use crate::ledger;

/// The backup that another one continues.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Parent {
    /// Where it was. It is looked for beside the other one first.
    pub folder: PathBuf,
    /// When it was made.
    pub created: Timestamp,
    /// Its last position.
    pub position: Position,
    /// The hash of its last event.
    pub hash: Hash,
    /// How many counted calls it has.
    pub calls: Position,
    /// SHA-256 of its manifest, by which it is known.
    pub manifest: Hash,
}

/// One of a chain of backups.
pub(super) struct Member {
    pub(super) folder: PathBuf,
    pub(super) manifest: Manifest,
    /// SHA-256 of the manifest as it is in the folder.
    digest: Hash,
}

impl Member {
    fn read(folder: &Path) -> Result<Member, BackupError> {
        let text = text(folder)?;
        let manifest = Manifest::parse(folder, &text)?;
        Ok(Member { folder: folder.to_owned(), manifest, digest: hash_of(&text) })
    }

    /// What a backup that continues this one says of it.
    pub(super) fn as_parent(&self) -> Parent {
        let Manifest { created, position, hash, .. } = self.manifest;
        let folder = std::path::absolute(&self.folder).unwrap_or_else(|_| self.folder.clone());
        let calls = self.ledger_head().position;
        Parent { folder, created, position, hash, calls, manifest: self.digest }
    }

    /// Where its log ends.
    pub(super) fn head(&self) -> Head {
        Head { position: self.manifest.position, hash: self.manifest.hash }
    }

    /// Where its ledger ends.
    pub(super) fn ledger_head(&self) -> Head {
        let start = Head { position: Position::START, hash: Hash::GENESIS };
        let noted = self.manifest.ledger.as_ref();
        noted.map_or(start, |noted| Head { position: noted.position, hash: noted.hash })
    }

    pub(super) fn broken(&self, reason: impl Into<String>) -> BackupError {
        BackupError::Broken { folder: self.folder.clone(), reason: reason.into() }
    }

    /// Where its part of the log is.
    fn log(&self) -> PathBuf {
        self.folder.join(self.manifest.log())
    }

    /// Proves that a file, or a copy of it, has the bytes that were written.
    pub(super) async fn prove(&self, name: &str, path: &Path, noted: Hash) -> Result<(), BackupError> {
        if !path.exists() {
            return Err(self.broken(format!("its {name} is missing")));
        }
        let what = match name {
            COPY | INCREMENT => "its bytes".to_owned(),
            LEDGER | LEDGER_INCREMENT => "the bytes of its ledger".to_owned(),
            name => format!("the bytes of its {name}"),
        };
        if digest(path).await? == noted {
            Ok(())
        } else {
            Err(self.broken(format!("{what} are not those that were written")))
        }
    }
}

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

fn hash_of(text: &[u8]) -> Hash {
    Hash(Sha256::digest(text).into())
}

/// The bytes of a manifest.
pub(super) fn text(backup: &Path) -> Result<Vec<u8>, BackupError> {
    let path = backup.join(MANIFEST);
    match fs::read(&path) {
        Ok(text) => Ok(text),
        Err(error) if error.kind() == io::ErrorKind::NotFound && has_any_of(backup) => {
            let reason = format!("it has no {MANIFEST}, which is written last");
            Err(BackupError::Broken { folder: backup.to_owned(), reason })
        }
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            Err(BackupError::Absent(backup.to_owned()))
        }
        Err(error) => Err(at(&path)(error)),
    }
}
