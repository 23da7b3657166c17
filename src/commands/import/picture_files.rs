//! The files of pictures: found in whichever Unicode form the disk has their names, and read only below the folder of the
//! imported file.

use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};

use import_file::find;
use schemas::picture::MAX_PICTURE_BYTES;
use schemas::text::canonical;

/// Reads a picture file. The error is a sentence for users.
pub async fn read(path: PathBuf) -> Result<Vec<u8>, String> {
    blocking(move || {
        let found = find(Path::new(""), &path).ok_or_else(|| absent(&path))?;
        read_file(&found)
    })
    .await
}

/// Reads a picture file below a folder, for which the name of the file is written in a record; `None` if there is none.
/// Links that lead out of the folder are not followed: a file of records may come from somebody else, and names only what
/// comes with it. The error is a sentence for users.
pub async fn read_below(folder: &Path, name: &str) -> Result<Option<Vec<u8>>, String> {
    let folder = searched(folder);
    let name = name.to_owned();
    blocking(move || {
        let Some(path) = find_named(&folder, &name) else { return Ok(None) };
        let unreadable = |error| unreadable(&path, &error);
        let real = path.canonicalize().map_err(unreadable)?;
        if !real.starts_with(folder.canonicalize().map_err(unreadable)?) {
            return Err(format!(
                "{} is a link that leads out of the folder of the imported file, to {}; copy the picture into that folder.",
                path.display(),
                real.display()
            ));
        }
        read_file(&real).map(Some)
    })
    .await
}

/// Returns those of these names of which there is no file below a folder.
pub async fn absent_below(folder: &Path, names: Vec<String>) -> Vec<String> {
    let folder = searched(folder);
    let absent = move || names.into_iter().filter(|name| find_named(&folder, name).is_none()).collect();
    blocking(move || Ok(absent())).await.unwrap_or_default()
}

/// Returns the folder of a file without one: the current folder.
fn searched(folder: &Path) -> PathBuf {
    if folder.as_os_str().is_empty() { PathBuf::from(".") } else { folder.to_owned() }
}

fn find_named(folder: &Path, name: &str) -> Option<PathBuf> {
    // A name may have blanks at its ends, which its record has not.
    find(folder, Path::new(name)).or_else(|| find(folder, Path::new(&*canonical(name))))
}

/// Returns the sentence about a file that is not there.
pub fn absent(path: &Path) -> String {
    format!("There is no file {}.", path.display())
}

fn unreadable(path: &Path, error: &std::io::Error) -> String {
    format!("{} cannot be read: {error}.", path.display())
}

fn read_file(path: &Path) -> Result<Vec<u8>, String> {
    let unreadable = |error| unreadable(path, &error);
    let length = match std::fs::metadata(path) {
        Ok(found) if found.is_file() => found.len(),
        Ok(_) => return Err(format!("{} is not a file.", path.display())),
        Err(error) if error.kind() == ErrorKind::NotFound => return Err(absent(path)),
        Err(error) => return Err(unreadable(error)),
    };
    let too_long = |length| format!("It has {length} bytes; a picture may have {MAX_PICTURE_BYTES}.");
    if length > MAX_PICTURE_BYTES as u64 {
        return Err(too_long(length));
    }
    let mut bytes = Vec::new();
    // A file that grows meanwhile is read no further than a picture may be long.
    let file = std::fs::File::open(path).map_err(unreadable)?;
    file.take(MAX_PICTURE_BYTES as u64 + 1).read_to_end(&mut bytes).map_err(unreadable)?;
    if bytes.len() > MAX_PICTURE_BYTES { Err(too_long(bytes.len() as u64)) } else { Ok(bytes) }
}

/// Runs work on a thread for blocking work.
async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, String> + Send + 'static,
) -> Result<T, String> {
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => done,
        Err(panicked) => std::panic::resume_unwind(panicked.into_panic()),
    }
}

#[cfg(test)]
mod tests;
