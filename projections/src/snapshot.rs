//! Snapshots: finished generations of all read models of a node, copied while it works, from which another node begins
//! instead of from the first event.
//!
//! Each model is as of a commit of its own, and its worker goes on behind it. A manifest names every file with its
//! digest: what is damaged, of another event store or in another layout is never begun with.

mod installing;
mod manifest;
mod taking;
#[cfg(test)]
mod tests;

use std::io::{self, Read};
use std::path::{Path, PathBuf};

use schemas::hash::Hash;
use sha2::{Digest, Sha256};

use read::error::ModelError;

pub use installing::{install, remove_incoming};
pub use manifest::{FileCopy, MANIFEST, Manifest, ModelCopy};
pub use taking::take;

/// Bytes of a file that are looked at together.
const PART: usize = 256 << 10;

/// Why there is no snapshot, or none was begun with.
#[derive(Debug, thiserror::Error)]
pub enum SnapshotError {
    /// Something is where it would go.
    #[error("{} is not empty; name an empty folder or one that does not exist yet, nothing was changed", .0.display())]
    InTheWay(
        /// What is there.
        PathBuf,
    ),
    /// There is nothing to copy yet.
    #[error("there is no {0} model yet; wait until the node is ready, then do it again")]
    Nothing(
        /// The model's name.
        &'static str,
    ),
    /// It is not whole, or not what its manifest says.
    #[error("it is damaged: {0}")]
    Damaged(
        /// What is wrong with it.
        String,
    ),
    /// It is whole and cannot be used here.
    #[error("it does not fit: {0}")]
    Unfit(
        /// Why not.
        String,
    ),
    /// A file of it could not be had.
    #[error("it cannot be fetched: {0}")]
    Unfetched(
        /// Why not.
        String,
    ),
    /// A model could not be read.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// A file could not be read or written.
    #[error("{} cannot be read or written: {source}; check its folder and the room on the disk", path.display())]
    File {
        /// Which one.
        path: PathBuf,
        /// What the system says.
        #[source]
        source: io::Error,
    },
}

fn at(path: &Path) -> impl FnOnce(io::Error) -> SnapshotError {
    let path = path.to_owned();
    move |source| SnapshotError::File { path, source }
}

/// The size of a file, in bytes, and the SHA-256 of what it holds.
fn digest(path: &Path) -> Result<(u64, Hash), SnapshotError> {
    let mut file = std::fs::File::open(path).map_err(at(path))?;
    let (mut sha, mut size, mut part) = (Sha256::new(), 0, vec![0; PART]);
    loop {
        let read = file.read(&mut part).map_err(at(path))?;
        if read == 0 {
            return Ok((size, Hash(sha.finalize().into())));
        }
        sha.update(&part[..read]);
        size += read as u64;
    }
}

/// Makes what was written below a folder durable.
fn sync(path: &Path) -> Result<(), SnapshotError> {
    std::fs::File::open(path).and_then(|file| file.sync_all()).map_err(at(path))
}
