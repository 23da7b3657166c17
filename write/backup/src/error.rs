//! The errors of backups, and the reference from one backup to another.

use std::io;
use std::path::{Path, PathBuf};

use event_log::StoreError;
use jiff::Timestamp;
use media::MediaError;
use schemas::hash::Hash;
use schemas::ids::Position;
use serde::{Deserialize, Serialize};
use vault::VaultError;

use super::MANIFEST;

/// The backup that another one continues.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Parent {
    /// Its folder when it was continued. It is looked for in the directory of the other backup first.
    pub folder: PathBuf,
    /// When it was created.
    pub created: Timestamp,
    /// Its last position.
    pub position: Position,
    /// The hash of its last event.
    pub hash: Hash,
    /// The number of its counted calls.
    pub calls: Position,
    /// SHA-256 of its manifest, which identifies it.
    pub manifest: Hash,
}

/// The reason why a backup was not created, verified or restored.
#[derive(Debug, thiserror::Error)]
pub enum BackupError {
    /// A file exists where one would be restored.
    #[error(
        "{} is in the way; name a folder without an event store, or remove what an interrupted backup left there; \
         nothing was changed",
        .0.display()
    )]
    InTheWay(PathBuf),
    /// The folder of a new backup is not empty.
    #[error(
        "{} is there already; name an empty folder, or one that does not exist yet; nothing was changed",
        .0.display()
    )]
    NotEmpty(PathBuf),
    /// There is no backup in the folder.
    #[error("no backup is there: {} has no {MANIFEST}; name the folder that `loggia backup` wrote", .0.display())]
    Absent(PathBuf),
    /// The backup is incomplete or damaged.
    #[error("{} is not a complete backup: {reason}; use another one", .folder.display())]
    Broken {
        /// Its folder.
        folder: PathBuf,
        /// The problem, as a sentence.
        reason: String,
    },
    /// The backup that another one continues is not found.
    #[error("{}", no_parent(.backup, .parent, .another.as_deref()))]
    NoParent {
        /// The one that continues.
        backup: PathBuf,
        /// The one that it continues.
        parent: Box<Parent>,
        /// Another backup at its path.
        another: Option<PathBuf>,
    },
    /// A backup cannot be continued, because the log or the ledger is another one now.
    #[error("{} cannot be continued: {reason}; make a full backup, without --since", .backup.display())]
    NotContinued {
        /// Its folder.
        backup: PathBuf,
        /// The reason, as a sentence.
        reason: String,
    },
    /// A file could not be read or written.
    #[error("{} could not be read or written: {source}", .path.display())]
    File {
        /// Its path.
        path: PathBuf,
        /// The error of the system.
        #[source]
        source: io::Error,
    },
    /// The store could not be read.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The pictures could not be read or written.
    #[error(transparent)]
    Media(#[from] MediaError),
    /// A line of a journal of erasures is invalid.
    #[error(
        "line {line} of {} names no erased account and no erased picture; correct it, or take the file of a backup",
        .path.display()
    )]
    Journal {
        /// The journal.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
    },
    /// The log cannot be restored up to this point.
    #[error("{0}")]
    RestorePoint(String),
    /// A journal of erasures could not be read.
    #[error(transparent)]
    Erasures(#[from] VaultError),
}

impl From<sqlx::Error> for BackupError {
    fn from(error: sqlx::Error) -> BackupError {
        StoreError::from(error).into()
    }
}

fn no_parent(backup: &Path, parent: &Parent, another: Option<&Path>) -> String {
    let Parent { folder, created, position, .. } = parent;
    let search = match another {
        None => format!("it is neither beside it nor at {}", folder.display()),
        Some(another) => format!("what is in {} is another one, or was altered", another.display()),
    };
    format!(
        "{} continues the backup of {created}, whose last event is at position {position}, and {search}; bring that backup \
         beside it, or restore another one",
        backup.display()
    )
}
