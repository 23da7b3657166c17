//! Verifies backups in place, and the copies that a restore makes of them.

use std::path::Path;

use event_log::Head;
use event_log::sqlite::{rows, verify as log_check};
use schemas::erased_pictures::ERASED_PICTURES;
use schemas::ids::Position;
use serde::Serialize;
use sqlite::reading;
use sqlx::{ConnectOptions, Connection};
use vault::ERASURES_FILE;

use super::chain::Chain;
use super::member::Member;
use super::{BackupError, Manifest, Truncation, erasures, increment, pictures, sidecar_files};

/// A backup that was restored or verified.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Restored {
    /// The manifest of the backup.
    #[serde(flatten)]
    pub manifest: Manifest,
    /// The number of its pictures; of a log that was restored up to an earlier point, of those that it names.
    pub pictures: u64,
    /// The end of the restored log, if it is before the end of the backup's.
    #[serde(rename = "until", skip_serializing_if = "Option::is_none")]
    pub truncation: Option<Truncation>,
}

impl Restored {
    /// Returns the number of events.
    pub fn events(&self) -> u64 {
        self.truncation.as_ref().map_or(self.manifest.position, |truncation| truncation.position).0
    }
}

/// Verifies a backup without restoring it: all its bytes, the tables of its databases, its whole log, its whole ledger, its vault and its pictures. Of the backups
/// that it continues, the parts that a restore uses are verified.
///
/// # Errors
///
/// Fails if the backup is incomplete or damaged, and names the first damage.
pub async fn verify(backup: &Path) -> Result<Restored, BackupError> {
    let chain = Chain::read(backup)?;
    let newest = &chain.newest;
    for file in &newest.manifest.files {
        sidecar_files::verify(newest, file, &newest.folder.join(&file.name)).await?;
    }
    journals(newest).await?;
    let mut last: Option<&Member> = None;
    for member in chain.members() {
        member_log(member, last).await?;
        member_ledger(member, last).await?;
        last = Some(member);
    }
    pictures(&chain).await?;
    let erased = erasures::erased_pictures(&newest.folder, &[])?;
    let pictures = match &newest.manifest.media {
        Some(_) => pictures::count(&chain, erased).await?,
        None => 0,
    };
    Ok(Restored { manifest: chain.newest.manifest, pictures, truncation: None })
}

/// Verifies the log or the increment of a backup; `last` is the one that it continues.
async fn member_log(member: &Member, last: Option<&Member>) -> Result<(), BackupError> {
    let (name, manifest) = (member.manifest.log(), &member.manifest);
    let path = member.folder.join(name);
    member.check_bytes(name, &path, manifest.sha256).await?;
    match last {
        None => log(member, &path, member.head()).await,
        Some(last) => {
            increment::verify(&path, last.head(), member.head()).await.map_err(|reason| member.broken(reason))
        }
    }
}

async fn member_ledger(member: &Member, last: Option<&Member>) -> Result<(), BackupError> {
    let Some(copy) = &member.manifest.ledger else { return Ok(()) };
    let name = member.manifest.ledger_name();
    let path = member.folder.join(name);
    member.check_bytes(name, &path, copy.sha256).await?;
    let verified = match last {
        None => ledger::verify_copy(&path, copy).await,
        Some(last) => ledger::verify_increment(&path, last.ledger_head(), copy).await,
    };
    verified.map_err(|reason| member.broken(reason))
}

/// Verifies the pictures of a chain, except those of versions that did not list them.
pub(super) async fn pictures(chain: &Chain) -> Result<(), BackupError> {
    for member in chain.members() {
        if let Some(copy) = &member.manifest.media {
            pictures::verify(member, copy).await?;
        }
    }
    Ok(())
}

pub(super) async fn journals(member: &Member) -> Result<(), BackupError> {
    let accounts = member.manifest.erasures.as_ref().map(|copy| (ERASURES_FILE, copy.sha256));
    let pictures = member.manifest.erased_pictures.as_ref().map(|copy| (ERASED_PICTURES, copy.sha256));
    for (name, sha256) in accounts.into_iter().chain(pictures) {
        member.check_bytes(name, &member.folder.join(name), sha256).await?;
    }
    Ok(())
}

/// Verifies a copy of the log of a backup, which must end with `end`.
pub(super) async fn log(member: &Member, copy: &Path, end: Head) -> Result<(), BackupError> {
    // The copy is not written: it is read without locks, which a read-only file system lacks.
    let mut reader = reading(copy).immutable(true).connect().await?;
    let (store, _) = rows::log(&mut reader).await?;
    let verified =
        log_check::all(&mut reader, |_| {}).await?.map_err(|damage| member.broken(damage.to_string()))?;
    reader.close().await?;
    let found = Head { position: Position(verified.events), hash: verified.hash };
    if store.to_string() != member.manifest.store || found != end {
        return Err(member.broken("its manifest does not match its log"));
    }
    Ok(())
}
