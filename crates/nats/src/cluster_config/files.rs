//! Writes the files, all or none.

use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use super::{Change, ConfigError, WrittenFile};

/// A file as it is to be.
pub(super) struct File {
    path: PathBuf,
    text: String,
    secret: bool,
}

impl File {
    /// One that everybody may read.
    pub(super) fn public(path: PathBuf, text: String) -> File {
        File { path, text, secret: false }
    }

    /// One for its owner alone.
    pub(super) fn secret(path: PathBuf, text: String) -> File {
        File { path, text, secret: true }
    }
}

/// What a file says, if it is there.
pub(super) fn read(path: &Path) -> Result<Option<String>, ConfigError> {
    match fs::read_to_string(path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(source) => Err(ConfigError::Folder { path: path.to_owned(), source }),
    }
}

/// Writes what differs aside, and then puts each file into its place. A folder that is not there appears whole; in one that is,
/// such as the volume of a container, all happens inside it, and the seeds and the authority come first, so that a set that is
/// cut off is completed the next time.
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
    let aside = match is_new {
        true => beside(folder),
        false => folder.join(format!(".new-{}", std::process::id())),
    };
    let written = stage(&aside, files, &made, is_new)
        .map_err(|(path, source)| ConfigError::Folder { path, source })
        .and_then(|()| put(folder, &aside, &made, is_new));
    // What is left of it is no use to anybody.
    let _ = fs::remove_dir_all(&aside);
    written.map(|()| made)
}

/// A folder beside another one, on the same disk.
fn beside(folder: &Path) -> PathBuf {
    let mut name = std::ffi::OsString::from(".");
    name.push(folder.file_name().unwrap_or_default());
    name.push(format!(".new-{}", std::process::id()));
    folder.with_file_name(name)
}

fn stage(aside: &Path, files: &[File], made: &[WrittenFile], all: bool) -> Result<(), (PathBuf, io::Error)> {
    for (file, made) in files.iter().zip(made) {
        if !all && made.change == Change::Kept {
            continue;
        }
        let path = aside.join(&file.path);
        write_one(&path, file).map_err(|source| (path, source))?;
    }
    Ok(())
}

fn write_one(path: &Path, file: &File) -> io::Result<()> {
    make_folder(path.parent().unwrap_or(path))?;
    let mode = if file.secret { 0o600 } else { 0o644 };
    let mut target = OpenOptions::new().write(true).create_new(true).mode(mode).open(path)?;
    target.write_all(file.text.as_bytes())?;
    target.sync_all()
}

/// The set holds seeds: its folders are for their owner alone.
fn make_folder(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(path)
}

fn put(folder: &Path, aside: &Path, made: &[WrittenFile], is_new: bool) -> Result<(), ConfigError> {
    let failed = |path: &Path, source| ConfigError::Folder { path: path.to_owned(), source };
    if is_new {
        return fs::rename(aside, folder).map_err(|source| failed(folder, source));
    }
    for made in made.iter().filter(|made| made.change != Change::Kept) {
        let target = folder.join(&made.path);
        let put = || -> io::Result<()> {
            make_folder(target.parent().unwrap_or(&target))?;
            fs::rename(aside.join(&made.path), &target)
        };
        put().map_err(|source| failed(&target, source))?;
    }
    Ok(())
}
