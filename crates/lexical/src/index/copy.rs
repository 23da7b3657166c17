//! Copies an index while its writer is working: the files of one commit, which never change, and the commit itself.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use tantivy::directory::{Directory, META_LOCK};
use tantivy::{Index, TantivyError};

use crate::SearchError;

/// The file that names the segments of the last commit.
const META: &str = "meta.json";

/// The file with the names of all files that tantivy may remove.
const MANAGED: &str = ".managed.json";

/// How often it is tried to open the files of one commit before the next commit replaces them.
const MAX_ATTEMPTS: u32 = 20;

/// Copies the last commit of the index in the folder `from` into the empty folder `to`, and returns its payload.
///
/// # Errors
///
/// Fails if `from` has no index, or a file cannot be read or written; `to` may then hold a part of the files.
pub fn copy(from: &Path, to: &Path) -> Result<String, SearchError> {
    let index = Index::open_in_dir(from)?;
    let Commit { meta, payload, files } = open_commit(&index, from)?;
    let mut names = vec![PathBuf::from(META)];
    for (name, mut file) in files {
        let copied = File::create_new(to.join(&name)).and_then(|mut copy| io::copy(&mut file, &mut copy));
        copied.map_err(TantivyError::from)?;
        names.push(name);
    }
    // Without this list the writer of the copy would never remove a copied file.
    let managed = serde_json::to_vec(&names).map_err(|error| SearchError::Corrupt(error.to_string()))?;
    fs::write(to.join(META), meta).map_err(TantivyError::from)?;
    fs::write(to.join(MANAGED), managed).map_err(TantivyError::from)?;
    Ok(payload)
}

/// A commit and its files. They are open, so they can be read after the writer has removed them.
struct Commit {
    meta: Vec<u8>,
    payload: String,
    files: Vec<(PathBuf, File)>,
}

fn open_commit(index: &Index, folder: &Path) -> Result<Commit, SearchError> {
    for _ in 0..MAX_ATTEMPTS {
        // The writer removes no file while this lock is held.
        let _lock = index.directory().acquire_lock(&META_LOCK).map_err(TantivyError::from)?;
        let read = || fs::read(folder.join(META)).map_err(TantivyError::from);
        let meta = read()?;
        let commit = index.load_metas()?;
        if read()? != meta {
            continue;
        }
        let mut files = Vec::new();
        for name in commit.list_segment_files() {
            match File::open(folder.join(&name)) {
                Ok(file) => files.push((name, file)),
                // Not every segment has every kind of file.
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(TantivyError::from(error).into()),
            }
        }
        files.sort_by(|one, other| one.0.cmp(&other.0));
        return Ok(Commit { meta, payload: commit.payload.unwrap_or_default(), files });
    }
    Err(TantivyError::SystemError(format!("{MAX_ATTEMPTS} commits came while one was to be copied")).into())
}
