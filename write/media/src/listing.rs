//! A listing of the files of a media store with their hashes, in the format of `sha256sum`, so that a backup can be verified with
//! and without Loggia.

use std::fmt::Write as _;
use std::fs;
use std::io;
use std::path::Path;

use schemas::hash::Hash;
use schemas::picture::{Form, PictureId};
use sha2::{Digest, Sha256};

use super::files::DESCRIPTION;
use super::{MediaError, MediaStore};

/// The files of a media store.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Listing {
    files: Vec<ListedFile>,
    /// The number of pictures.
    pub pictures: u64,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct ListedFile {
    /// The path below the media folder, for example `5e/5e…5e/640.webp`.
    path: String,
    sha256: Hash,
}

/// Files that differ from the listing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// The path of the first, below the media folder.
    pub first: String,
    /// How the first differs.
    pub reason: &'static str,
    /// The number of files that differ.
    pub count: u64,
}

impl Listing {
    /// Returns the number of files.
    pub fn files(&self) -> u64 {
        self.files.len() as u64
    }

    /// Returns the text of the listing for a media folder of this name: one line per file, in byte order.
    pub fn text(&self, folder: &str) -> String {
        let mut text = String::with_capacity(self.files.len() * 160);
        for ListedFile { path, sha256 } in &self.files {
            let _ = writeln!(text, "{sha256}  {folder}/{path}");
        }
        text
    }

    /// Parses the text of a listing.
    ///
    /// # Errors
    ///
    /// The number of the first line that names no file of a picture.
    pub fn parse(text: &str, folder: &str) -> Result<Listing, usize> {
        let mut listing = Listing::default();
        let mut last = None;
        for (index, line) in text.lines().enumerate() {
            let (listed, id) = parse_line(line, folder).ok_or(index + 1)?;
            listing.pictures += u64::from(last != Some(id));
            last = Some(id);
            listing.files.push(listed);
        }
        Ok(listing)
    }
}

/// Parses one line. The path is read from disk later, so only paths of pictures are accepted.
fn parse_line(line: &str, folder: &str) -> Option<(ListedFile, PictureId)> {
    let (hash, path) = line.split_once("  ")?;
    let path = path.strip_prefix(folder)?.strip_prefix('/')?;
    let [prefix, id, name] = path.split('/').collect::<Vec<_>>().try_into().ok()?;
    let known = name == DESCRIPTION || Form::of(name).is_some();
    let (sha256, picture) = (hash.parse().ok()?, id.parse().ok()?);
    (known && id.get(..2) == Some(prefix)).then(|| (ListedFile { path: path.to_owned(), sha256 }, picture))
}

impl MediaStore {
    /// Reads every file of every picture and lists it with its hash.
    ///
    /// # Errors
    ///
    /// If a file cannot be read.
    pub fn list(&self) -> Result<Listing, MediaError> {
        let mut listing = Listing::default();
        for id in self.ids()? {
            let original = Form::Original.path(id);
            let folder = original.trim_end_matches("/original");
            for name in super::copy::names(&self.root().join(folder))? {
                if name == DESCRIPTION || Form::of(&name).is_some() {
                    let path = format!("{folder}/{name}");
                    let sha256 = self.digest(&path)?.ok_or_else(|| {
                        MediaError::damaged(&self.root().join(&path), "it was removed while it was read")
                    })?;
                    listing.files.push(ListedFile { path, sha256 });
                }
            }
            listing.pictures += 1;
        }
        Ok(listing)
    }

    /// Compares the files with a listing; `None` if every listed file has the same bytes.
    ///
    /// # Errors
    ///
    /// If an existing file cannot be read.
    pub fn compare(&self, listing: &Listing) -> Result<Option<Difference>, MediaError> {
        let mut difference: Option<Difference> = None;
        for ListedFile { path, sha256 } in &listing.files {
            let reason = match self.digest(path)? {
                Some(found) if found == *sha256 => continue,
                None => "is missing",
                Some(found) if found.0 == <[u8; 32]>::from(Sha256::digest([])) => "is empty",
                Some(_) => "has other bytes",
            };
            let first = Difference { first: path.clone(), reason, count: 0 };
            difference.get_or_insert(first).count += 1;
        }
        Ok(difference)
    }

    fn digest(&self, path: &str) -> Result<Option<Hash>, MediaError> {
        let path = self.root().join(path);
        match fs::read(&path) {
            Ok(bytes) => Ok(Some(Hash(Sha256::digest(bytes).into()))),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(MediaError::unavailable(&path, error)),
        }
    }

    fn root(&self) -> &Path {
        self.files.root()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kit::samples::{in_every_format, scene};

    fn store(folder: &Path) -> MediaStore {
        let store = MediaStore::open(folder).unwrap();
        for (_, bytes) in in_every_format(&scene(400, 300)) {
            store.put(&bytes).unwrap();
        }
        store
    }

    #[test]
    fn a_listing_names_every_file_and_parses_back() {
        let folder = tempfile::tempdir().unwrap();
        let listing = store(folder.path()).list().unwrap();
        // The original, two widths, a JPEG and the description of each.
        assert_eq!((listing.pictures, listing.files()), (4, 20));
        let text = listing.text("media");
        assert_eq!(Listing::parse(&text, "media"), Ok(listing.clone()));
        assert_eq!(Listing::parse(&text, "other"), Err(1));
        assert_eq!(MediaStore::open_read_only(folder.path()).compare(&listing).unwrap(), None);
        let name = folder.path().file_name().unwrap().to_str().unwrap();
        std::fs::write(folder.path().join("list"), listing.text(name)).unwrap();
        let checked = std::process::Command::new("sha256sum")
            .args(["--check", "--strict", "--quiet"])
            .arg(folder.path().join("list"))
            .current_dir(folder.path().parent().unwrap())
            .output()
            .unwrap();
        assert!(checked.status.success(), "{checked:?}");
    }

    #[test]
    fn missing_empty_and_altered_files_are_counted_and_the_first_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let store = store(folder.path());
        let listing = store.list().unwrap();
        let path = |index: usize| listing.files[index].path.clone();
        for (index, reason, count) in [(7, "has other bytes", 1), (3, "is empty", 2), (1, "is missing", 3)] {
            let file = folder.path().join(path(index));
            match reason {
                "has other bytes" => fs::write(file, "x").unwrap(),
                "is empty" => fs::write(file, "").unwrap(),
                _ => fs::remove_file(file).unwrap(),
            }
            let difference = store.compare(&listing).unwrap();
            assert_eq!(difference, Some(Difference { first: path(index), reason, count }));
        }
    }

    #[test]
    fn only_paths_of_pictures_are_parsed() {
        let (hash, id) = ("0".repeat(64), "5e".repeat(32));
        let line = |path: &str| Listing::parse(&format!("{hash}  media/{path}\n"), "media");
        assert_eq!(line(&format!("5e/{id}/original")).unwrap().files(), 1);
        for path in [
            format!("5f/{id}/original"),
            format!("5e/{id}/../../../../etc/passwd"),
            format!("5e/{id}/notes.txt"),
            format!("/5e/{id}/original"),
            "../events.db".to_owned(),
            String::new(),
        ] {
            assert_eq!(line(&path), Err(1), "{path}");
        }
    }
}
