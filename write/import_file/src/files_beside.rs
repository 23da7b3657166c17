//! Which files are beside the file of an import, for a suggestion that looks for its pictures.

use std::collections::VecDeque;
use std::fs::{DirEntry, read_dir};
use std::path::{Path, PathBuf};

use mapping::suggest::FilesBeside;
use schemas::text::composed;

use crate::ImportFile;

/// The most entries of folders that are looked at.
const MAX_ENTRIES: usize = 10_000;

/// How many folders below the first one are looked into.
const MAX_DEPTH: usize = 2;

impl ImportFile {
    /// Returns the files in its folder and up to two folders below it; `None` for standard input. Nothing is opened. Hidden ones are left
    /// out, and so are folders behind links, which may lead round in circles, and files behind links that lead out of the folder.
    pub fn files_beside(&self) -> Option<FilesBeside> {
        (!self.is_standard_input()).then(|| files_below(&self.folder(), MAX_ENTRIES))
    }
}

/// Returns the files below a folder, those of the nearest folders first where there are too many entries.
fn files_below(folder: &Path, most: usize) -> FilesBeside {
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let real = folder.canonicalize().ok();
    let mut files = FilesBeside { are_all: true, ..FilesBeside::default() };
    let mut folders: VecDeque<(PathBuf, String, usize)> =
        VecDeque::from([(folder.to_owned(), String::new(), 0)]);
    let mut seen = 0;
    while let Some((path, prefix, depth)) = folders.pop_front() {
        // Pictures in a folder that cannot be read cannot be imported either.
        let Ok(entries) = read_dir(&path) else { continue };
        for entry in entries.flatten() {
            if seen == most {
                files.are_all = false;
                return files;
            }
            seen += 1;
            let name = entry.file_name();
            let Some(name) = name.to_str().filter(|name| !name.starts_with('.')) else { continue };
            let name = format!("{prefix}{}", composed(name));
            let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
            if is_folder && depth < MAX_DEPTH {
                folders.push_back((entry.path(), format!("{name}/"), depth + 1));
            } else if is_file(&entry, real.as_deref()) {
                files.paths.insert(name);
            }
        }
    }
    files
}

/// Returns whether an entry is a file, or a link to one below the folder. Pipes and the like are not.
fn is_file(entry: &DirEntry, folder: Option<&Path>) -> bool {
    match entry.file_type() {
        Ok(kind) if kind.is_symlink() => entry
            .path()
            .canonicalize()
            .is_ok_and(|real| real.is_file() && folder.is_some_and(|folder| real.starts_with(folder))),
        Ok(kind) => kind.is_file(),
        Err(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use std::fs::{create_dir_all, write};
    use std::os::unix::fs::symlink;
    use std::os::unix::net::UnixListener;

    use super::*;

    fn beside(path: PathBuf) -> Option<FilesBeside> {
        ImportFile { path, ..ImportFile::default() }.files_beside()
    }

    fn files(paths: &[&str], are_all: bool) -> FilesBeside {
        FilesBeside { paths: paths.iter().map(|path| (*path).to_owned()).collect(), are_all }
    }

    #[test]
    fn files_are_found_up_to_two_folders_below() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        create_dir_all(path("a/b/c")).unwrap();
        create_dir_all(path(".hidden")).unwrap();
        for name in [
            "works.csv",
            "1.jpg",
            "a/2.jpg",
            "a/b/Bru\u{308}cke.jpg",
            "a/b/c/4.jpg",
            ".hidden/5.jpg",
            ".6.jpg",
        ] {
            write(path(name), "").unwrap();
        }
        let found = files(&["1.jpg", "a/2.jpg", "a/b/Br\u{fc}cke.jpg", "works.csv"], true);
        assert_eq!(beside(path("works.csv")), Some(found.clone()));
        // A folder of records has its pictures in itself.
        assert_eq!(beside(folder.path().to_owned()), Some(found));
        assert_eq!(beside("-".into()), None);
    }

    #[test]
    fn links_are_not_followed_round_in_circles_or_out_of_the_folder_and_special_files_are_none() {
        let outside = tempfile::tempdir().unwrap();
        write(outside.path().join("x.jpg"), "").unwrap();
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        create_dir_all(path("a")).unwrap();
        write(path("a/1.jpg"), "").unwrap();
        symlink(folder.path(), path("a/round")).unwrap();
        symlink(outside.path(), path("out")).unwrap();
        symlink(outside.path().join("x.jpg"), path("out.jpg")).unwrap();
        symlink(path("a/1.jpg"), path("link.jpg")).unwrap();
        symlink(path("gone.jpg"), path("dangling.jpg")).unwrap();
        let _socket = UnixListener::bind(path("socket.jpg")).unwrap();
        let made = std::process::Command::new("mkfifo").arg(path("pipe.jpg")).status();
        assert!(made.is_ok_and(|status| status.success()));
        assert_eq!(beside(path("works.csv")), Some(files(&["a/1.jpg", "link.jpg"], true)));
    }

    #[test]
    fn no_more_entries_are_looked_at_than_is_bounded() {
        let folder = tempfile::tempdir().unwrap();
        create_dir_all(folder.path().join("a")).unwrap();
        for name in ["1.jpg", "2.jpg", "a/3.jpg"] {
            write(folder.path().join(name), "").unwrap();
        }
        // Those of the nearest folder first: two files and the folder.
        assert_eq!(files_below(folder.path(), 3), files(&["1.jpg", "2.jpg"], false));
        assert_eq!(files_below(folder.path(), 4), files(&["1.jpg", "2.jpg", "a/3.jpg"], true));
    }
}
