//! What can be wrong with a backup.

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

/// Why there is no backup, or none was restored.
#[derive(Debug, thiserror::Error)]
pub enum BackupError {
    /// Something is where the copy would go.
    #[error(
        "{} is in the way; name a folder without an event store, or remove what an interrupted backup left there; \
         nothing was changed",
        .0.display()
    )]
    InTheWay(
        /// What is there.
        PathBuf,
    ),
    /// The folder of a backup is used for something else.
    #[error(
        "{} is there already; name an empty folder, or one that does not exist yet; nothing was changed",
        .0.display()
    )]
    NotEmpty(
        /// What is there.
        PathBuf,
    ),
    /// There is nothing of a backup.
    #[error("no backup is there: {} has no {MANIFEST}; name the folder that `loggia backup` wrote", .0.display())]
    Absent(
        /// Where it was looked for.
        PathBuf,
    ),
    /// The backup is not whole.
    #[error("{} is no whole backup: {reason}; use another one", .folder.display())]
    Broken {
        /// Where it is.
        folder: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// A backup continues another one that is not found.
    #[error("{}", no_parent(.backup, .parent, .another.as_deref()))]
    NoParent {
        /// The one that continues.
        backup: PathBuf,
        /// The one that it continues.
        parent: Box<Parent>,
        /// Another backup in its place.
        another: Option<PathBuf>,
    },
    /// A backup cannot be continued by what is here now.
    #[error("{} cannot be continued: {reason}; make a full backup, without --since", .backup.display())]
    NotContinued {
        /// Where it is.
        backup: PathBuf,
        /// Why not.
        reason: String,
    },
    /// A file could not be read or written.
    #[error("{} could not be read or written: {source}", .path.display())]
    File {
        /// Which one.
        path: PathBuf,
        /// What the system says.
        #[source]
        source: io::Error,
    },
    /// The store could not be read.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The pictures could not be read or written.
    #[error(transparent)]
    Media(#[from] MediaError),
    /// A line of a journal of erasures is none.
    #[error(
        "line {line} of {} names no erased account and no erased picture; correct it, or take the file of a backup",
        .path.display()
    )]
    Journal {
        /// The journal.
        path: PathBuf,
        /// Which line, from 1.
        line: usize,
    },
    /// A log cannot be restored up to this point.
    #[error("{reason}")]
    Until {
        /// What is wrong with it, and what to name instead.
        reason: String,
    },
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
    let place = match another {
        None => format!("it is neither beside it nor at {}", folder.display()),
        Some(another) => format!("what is in {} is another one, or was altered", another.display()),
    };
    format!(
        "{} continues the backup of {created}, whose last event is at position {position}, and {place}; bring that backup \
         beside it, or restore another one",
        backup.display()
    )
}
