//! Finds the files of weights below a folder by their content: they may have any name, as in the cache of a model hub or in an
//! unpacked package.

use std::collections::{HashMap, HashSet};
use std::fs::{self, DirEntry};
use std::io;
use std::path::{Path, PathBuf};

use super::{EncoderError, KnownFile};

/// How many folders deep files are looked for.
const DEPTH: usize = 8;

/// The files of weights below a folder.
#[derive(Debug, Default)]
pub(super) struct FoundFiles {
    /// The content of the known files, by their hash.
    contents: HashMap<&'static str, Vec<u8>>,
    /// The paths of files with the name of a known one and other content, by this name.
    others: HashMap<&'static str, PathBuf>,
}

impl FoundFiles {
    /// Looks for these files. Folders that cannot be read are passed over, but not `folder` itself; one that does not exist has none.
    pub(super) fn below(folder: &Path, known: &[&KnownFile]) -> Result<FoundFiles, EncoderError> {
        let mut found = FoundFiles::default();
        let mut folders = match fs::read_dir(folder) {
            Ok(entries) => vec![(entries, 0)],
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(found),
            Err(source) => return Err(EncoderError::Unreadable { file: folder.to_owned(), source }),
        };
        while let Some((entries, depth)) = folders.pop() {
            for entry in entries.flatten() {
                match is_folder(&entry) {
                    Ok(true) if depth < DEPTH => {
                        folders.extend(fs::read_dir(entry.path()).ok().map(|entries| (entries, depth + 1)));
                    }
                    Ok(false) => found.add(entry.path(), known)?,
                    // A folder that is too deep, or what has vanished meanwhile.
                    Ok(true) | Err(_) => {}
                }
            }
        }
        Ok(found)
    }

    /// Adds a file if it is one of these, or has the name of one. Only a file of the right size is read.
    fn add(&mut self, path: PathBuf, known: &[&KnownFile]) -> Result<(), EncoderError> {
        let named = known.iter().find(|file| path.file_name().is_some_and(|name| name == file.name));
        let bytes = fs::metadata(&path).map_or(0, |found| found.len());
        let is_new = |file: &&&KnownFile| file.bytes == bytes && !self.contents.contains_key(file.sha256);
        let sizes: Vec<&&KnownFile> = known.iter().filter(is_new).collect();
        if !sizes.is_empty() {
            match fs::read(&path) {
                Ok(content) => {
                    if let Some(file) = sizes.into_iter().find(|file| file.fault(&content).is_none()) {
                        self.contents.insert(file.sha256, content);
                        return Ok(());
                    }
                }
                Err(source) if named.is_some() => {
                    return Err(EncoderError::Unreadable { file: path, source });
                }
                // A file of the same size by chance.
                Err(_) => {}
            }
        }
        if let Some(file) = named {
            self.others.entry(file.name).or_insert(path);
        }
        Ok(())
    }

    /// Returns the content of files, in their order; `None` if one is missing. If there is another file under the name of that one,
    /// fails with what is wrong with it.
    pub(super) fn take(&mut self, wanted: &[KnownFile]) -> Result<Option<Vec<Vec<u8>>>, EncoderError> {
        let missing = wanted.iter().filter(|file| !self.contents.contains_key(file.sha256));
        let missing: HashSet<&str> = missing.map(|file| file.name).collect();
        if missing.is_empty() {
            return Ok(wanted.iter().map(|file| self.contents.remove(file.sha256)).collect());
        }
        for file in wanted.iter().filter(|file| missing.contains(file.name)) {
            if let Some(other) = self.others.get(file.name) {
                let read = fs::read(other);
                let content =
                    read.map_err(|source| EncoderError::Unreadable { file: other.clone(), source })?;
                let fault = file.fault(&content).unwrap_or_else(|| "was changed meanwhile".to_owned());
                return Err(file.unexpected(other.clone(), fault));
            }
        }
        Ok(None)
    }
}

/// Returns whether an entry is a folder; a link to one is not, since it may lead back.
fn is_folder(entry: &DirEntry) -> io::Result<bool> {
    let kind = entry.file_type()?;
    if kind.is_symlink() && fs::metadata(entry.path())?.is_dir() {
        return Err(io::ErrorKind::NotADirectory.into());
    }
    Ok(kind.is_dir())
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: KnownFile = KnownFile {
        name: "table.bin",
        sha256: "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
        bytes: 3,
    };
    const WORDS: KnownFile = KnownFile {
        name: "words.json",
        sha256: "cb8379ac2098aa165029e3938a51da0bcecfc008fd6795f401178647f96c5b34",
        bytes: 3,
    };

    fn taken(folder: &Path) -> Result<Option<Vec<Vec<u8>>>, String> {
        let found = FoundFiles::below(folder, &[&TABLE, &WORDS]);
        found.and_then(|mut found| found.take(&[TABLE, WORDS])).map_err(|error| error.to_string())
    }

    #[test]
    fn files_are_found_by_their_content() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        assert_eq!(taken(folder.path()), Ok(None));
        fs::create_dir_all(path("snapshots/one")).unwrap();
        fs::create_dir_all(path("1/2/3/4/5/6/7/8/9")).unwrap();
        fs::write(path("snapshots/one/words.json"), "def").unwrap();
        fs::write(path("1/2/3/4/5/6/7/8/9/table.bin"), "abc").unwrap();
        assert_eq!(taken(folder.path()), Ok(None), "it is too deep");
        fs::write(path("blob"), "abc").unwrap();
        std::os::unix::fs::symlink(path("snapshots"), path("snapshots/one/back")).unwrap();
        let both = Ok(Some(vec![b"abc".to_vec(), b"def".to_vec()]));
        assert_eq!(taken(folder.path()), both);
        // Another model has files of the same names.
        fs::create_dir(path("other")).unwrap();
        fs::write(path("other/table.bin"), "ABC").unwrap();
        assert_eq!(taken(folder.path()), both);
    }

    #[test]
    fn other_content_under_the_name_of_a_missing_file_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("table.bin");
        for (content, fault) in [
            ("", "is empty"),
            (
                "ab",
                "has 2 of 3 bytes and the SHA-256 fb8e20fc2e4c3f248c60c39bd652f3c1347298bb977b8b4d5903b85055620603",
            ),
            ("ABC", "has the SHA-256 b5d4045c3f466fa91fe2cc6abe79232a1a57cdf104f7a26e716e0a1e2789df78"),
        ] {
            fs::write(&file, content).unwrap();
            let expected = format!(
                "{} {fault}, where the file with the SHA-256 {} belongs;",
                file.display(),
                TABLE.sha256
            );
            let error = taken(folder.path()).unwrap_err();
            assert!(error.starts_with(&expected), "{error}");
        }
        assert_eq!(taken(&folder.path().join("gone")), Ok(None));
        assert!(taken(&file).unwrap_err().starts_with(&format!("{} cannot be read (", file.display())));
    }

    #[test]
    fn setup_and_the_page_about_weights_name_the_same_files() {
        let (setup, page) =
            (include_str!("../../../../bin/setup"), include_str!("../../../../docs/models.md"));
        for model in super::super::MODELS {
            let delivered = model.delivered.iter().map(|file| ("delivered", file));
            for (form, file) in delivered.chain([("converted", &model.converted)]) {
                let KnownFile { name, sha256, .. } = file;
                assert!(
                    setup.contains(&format!(" {form} {sha256} {name}\n")),
                    "bin/setup lacks {name} {sha256}"
                );
                let is_row = |line: &str| line.contains(name) && line.contains(sha256);
                assert!(page.lines().any(is_row), "docs/models.md lacks {name} {sha256}");
            }
        }
    }
}
