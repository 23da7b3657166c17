//! Backups proven, each part where it lies or as it was copied.

use std::path::Path;

use event_log::Head;
use event_log::sqlite::{rows, verify};
use schemas::erased_pictures::ERASED_PICTURES;
use schemas::ids::Position;
use serde::Serialize;
use sqlite::reading;
use sqlx::{ConnectOptions, Connection};
use vault::ERASURES_FILE;

use super::chain::Chain;
use super::member::Member;
use super::{BackupError, Cut, Manifest, erasures, increment, pictures};

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

/// Proves a backup without restoring it: all its bytes, its whole log, its whole ledger, its vault and its pictures. Of
/// the backups that it continues, what a restore takes from them is proven.
///
/// # Errors
///
/// Fails where the backup is not whole, naming the first fault.
pub async fn verify(backup: &Path) -> Result<Restored, BackupError> {
    let chain = Chain::read(backup)?;
    let newest = &chain.newest;
    for noted in &newest.manifest.files {
        newest.prove(&noted.name, &newest.folder.join(&noted.name), noted.sha256).await?;
    }
    journals(newest).await?;
    let mut last: Option<&Member> = None;
    for member in chain.members() {
        of_log(member, last).await?;
        of_ledger(member, last).await?;
        last = Some(member);
    }
    pictures(&chain).await?;
    let erased = erasures::pictures(&newest.folder, &[])?;
    let pictures = match &newest.manifest.media {
        Some(_) => pictures::count(&chain, erased).await?,
        None => 0,
    };
    Ok(Restored { manifest: chain.newest.manifest, pictures, cut: None })
}

/// Proves what a backup has of the log; `last` is the one that it continues.
async fn of_log(member: &Member, last: Option<&Member>) -> Result<(), BackupError> {
    let (name, manifest) = (member.manifest.log(), &member.manifest);
    let path = member.folder.join(name);
    member.prove(name, &path, manifest.sha256).await?;
    match last {
        None => log(member, &path, member.head()).await,
        Some(last) => {
            increment::prove(&path, last.head(), member.head()).await.map_err(|reason| member.broken(reason))
        }
    }
}

/// Proves what a backup has of the ledger.
async fn of_ledger(member: &Member, last: Option<&Member>) -> Result<(), BackupError> {
    let Some(noted) = &member.manifest.ledger else { return Ok(()) };
    let name = member.manifest.ledger_name();
    let path = member.folder.join(name);
    member.prove(name, &path, noted.sha256).await?;
    let proven = match last {
        None => ledger::verify_copy(&path, noted).await,
        Some(last) => ledger::verify_increment(&path, last.ledger_head(), noted).await,
    };
    proven.map_err(|reason| member.broken(reason))
}

/// Proves the pictures of all these backups; those of versions that did not list them cannot be proven.
pub(super) async fn pictures(chain: &Chain) -> Result<(), BackupError> {
    for member in chain.members() {
        if let Some(noted) = &member.manifest.media {
            pictures::prove(&member.folder, noted).await?;
        }
    }
    Ok(())
}

/// Proves the journals of what was erased.
pub(super) async fn journals(member: &Member) -> Result<(), BackupError> {
    let accounts = member.manifest.erasures.as_ref().map(|noted| (ERASURES_FILE, noted.sha256));
    let pictures = member.manifest.erased_pictures.as_ref().map(|noted| (ERASED_PICTURES, noted.sha256));
    for (name, noted) in accounts.into_iter().chain(pictures) {
        member.prove(name, &member.folder.join(name), noted).await?;
    }
    Ok(())
}

/// Proves that a copy of the log of a backup is right and ends with this event.
pub(super) async fn log(member: &Member, copy: &Path, end: Head) -> Result<(), BackupError> {
    // A copy that nobody writes is read without locks, which a file system for reading only does not have.
    let mut reader = reading(copy).immutable(true).connect().await?;
    let (store, _) = rows::log(&mut reader).await?;
    let verified =
        verify::all(&mut reader, |_| {}).await?.map_err(|damage| member.broken(damage.to_string()))?;
    reader.close().await?;
    let found = Head { position: Position(verified.events), hash: verified.hash };
    if store.to_string() != member.manifest.store || found != end {
        return Err(member.broken("its manifest belongs to another copy"));
    }
    Ok(())
}
