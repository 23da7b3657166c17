//! Writes the files of the cluster, all or none.

use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use super::{Change, ConfigError, WrittenFile};

/// A file to be written.
pub(super) struct File {
    path: PathBuf,
    text: String,
    secret: bool,
}

impl File {
    /// Creates a file that all users may read.
    pub(super) fn public(path: PathBuf, text: String) -> File {
        File { path, text, secret: false }
    }

    /// Creates a file that only its owner may read.
    pub(super) fn secret(path: PathBuf, text: String) -> File {
        File { path, text, secret: true }
    }
}

/// Returns the text of a file; `None` if there is none.
pub(super) fn read(path: &Path) -> Result<Option<String>, ConfigError> {
    match fs::read_to_string(path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(source) => Err(ConfigError::Folder { path: path.to_owned(), source }),
    }
}

/// Writes changed files to a staging folder, then renames each. A new folder appears at once with all files. In an existing one, such as
/// a container's volume, the staging folder is inside it, and seeds and authority are renamed first, so that the next call completes an
/// interrupted one.
pub(super) fn write(folder: &Path, files: &[File]) -> Result<Vec<WrittenFile>, ConfigError> {
    let mut made = Vec::new();
    for file in files {
        let change = match read(&folder.join(&file.path))? {
            None => Change::New,
            Some(text) if text == file.text => Change::Kept,
            Some(_) => Change::Changed,
        };
        made.push(WrittenFile { path: file.path.clone(), change, secret: file.secret });
    }
    let is_new = !folder.exists();
    let staging = match is_new {
        true => sibling(folder),
        false => folder.join(format!(".new-{}", std::process::id())),
    };
    let written = stage(&staging, files, &made, is_new)
        .map_err(|(path, source)| ConfigError::Folder { path, source })
        .and_then(|()| move_into_place(folder, &staging, &made, is_new));
    // It is empty, or left over from a failure.
    let _ = fs::remove_dir_all(&staging);
    written.map(|()| made)
}

/// Returns the path of a staging folder next to a folder, on the same disk.
fn sibling(folder: &Path) -> PathBuf {
    let mut name = std::ffi::OsString::from(".");
    name.push(folder.file_name().unwrap_or_default());
    name.push(format!(".new-{}", std::process::id()));
    folder.with_file_name(name)
}

fn stage(
    staging: &Path,
    files: &[File],
    made: &[WrittenFile],
    all: bool,
) -> Result<(), (PathBuf, io::Error)> {
    for (file, made) in files.iter().zip(made) {
        if !all && made.change == Change::Kept {
            continue;
        }
        let path = staging.join(&file.path);
        write_one(&path, file).map_err(|source| (path, source))?;
    }
    Ok(())
}

fn write_one(path: &Path, file: &File) -> io::Result<()> {
    create_folder(path.parent().unwrap_or(path))?;
    let mode = if file.secret { 0o600 } else { 0o644 };
    let mut target = OpenOptions::new().write(true).create_new(true).mode(mode).open(path)?;
    target.write_all(file.text.as_bytes())?;
    target.sync_all()
}

/// Creates a folder that only its owner may read, since it contains seeds.
fn create_folder(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(path)
}

fn move_into_place(
    folder: &Path,
    staging: &Path,
    made: &[WrittenFile],
    is_new: bool,
) -> Result<(), ConfigError> {
    let failed = |path: &Path, source| ConfigError::Folder { path: path.to_owned(), source };
    if is_new {
        return fs::rename(staging, folder).map_err(|source| failed(folder, source));
    }
    for made in made.iter().filter(|made| made.change != Change::Kept) {
        let target = folder.join(&made.path);
        let rename = || -> io::Result<()> {
            create_folder(target.parent().unwrap_or(&target))?;
            fs::rename(staging.join(&made.path), &target)
        };
        rename().map_err(|source| failed(&target, source))?;
    }
    Ok(())
}
