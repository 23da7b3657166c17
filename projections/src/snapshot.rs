//! Snapshots: copies of the current generations of all read models, made while the node works. A new node starts from one
//! instead of from the first event.
//!
//! Each model is as of a commit of its own, from which its worker continues. A manifest lists every file with its digest; a
//! snapshot that is damaged, of another event store or in another layout is not installed. Anybody may have made one: its files are
//! read only up to their sizes in the manifest, and a database is installed only if it has the tables of its model.

mod install;
mod manifest;
mod take;
#[cfg(test)]
mod tests;

use std::io::{self, Read};
use std::path::{Path, PathBuf};

use schemas::hash::Hash;
use sha2::{Digest, Sha256};

use read::error::ModelError;

pub use install::{install, remove_incoming};
pub use manifest::{FileCopy, MANIFEST, MAX_MANIFEST_BYTES, Manifest, ModelCopy};
pub use take::take;

/// Bytes of a file that are read at once.
const READ_SIZE: usize = 256 << 10;

/// Why a snapshot was not taken or not installed.
#[derive(Debug, thiserror::Error)]
pub enum SnapshotError {
    /// The target folder is not empty.
    #[error("{} is not empty; name an empty folder or one that does not exist yet, nothing was changed", .0.display())]
    NotEmpty(PathBuf),
    /// There is no model to copy yet.
    #[error("there is no {0} model yet; wait until the node is ready, then do it again")]
    NoModel(&'static str),
    /// It is incomplete, or differs from its manifest.
    #[error("it is damaged: {0}")]
    Damaged(String),
    /// It is complete but cannot be used here.
    #[error("it does not fit: {0}")]
    Incompatible(String),
    /// A file of it cannot be read from its source.
    #[error("it cannot be fetched: {0}")]
    Unavailable(String),
    /// A model cannot be read.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// A file cannot be read or written.
    #[error("{} cannot be read or written: {source}; check its folder and the room on the disk", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The error of the system.
        #[source]
        source: io::Error,
    },
}

fn at(path: &Path) -> impl FnOnce(io::Error) -> SnapshotError {
    let path = path.to_owned();
    move |source| SnapshotError::File { path, source }
}

/// Returns the size of a file, in bytes, and its SHA-256.
fn digest(path: &Path) -> Result<(u64, Hash), SnapshotError> {
    let mut file = bounded_file::open(path).map_err(at(path))?;
    let (mut sha, mut size, mut part) = (Sha256::new(), 0, vec![0; READ_SIZE]);
    loop {
        let read = file.read(&mut part).map_err(at(path))?;
        if read == 0 {
            return Ok((size, Hash(sha.finalize().into())));
        }
        sha.update(&part[..read]);
        size += read as u64;
    }
}

/// Flushes a file or folder to disk.
fn sync(path: &Path) -> Result<(), SnapshotError> {
    std::fs::File::open(path).and_then(|file| file.sync_all()).map_err(at(path))
}
