//! A listing of the files of a media store with their hashes, in the format of `sha256sum`, so that a backup can be verified with
//! and without Loggia.

use std::fmt::Write as _;
use std::io::{self, BufRead, Read};
use std::path::Path;

use bounded_file::Refusal;

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

/// Bytes of a file that are hashed at once.
const READ_SIZE: usize = 256 << 10;

/// The most bytes of a line: a hash, and a path with the hash of a picture and the name of a form.
const MAX_LINE: u64 = 512;

/// Why files could not be compared with a listing.
#[derive(Debug, thiserror::Error)]
pub enum ListingError {
    /// A line names no file of a picture.
    #[error("line {0} names no file of a picture")]
    Line(usize),
    /// The listing cannot be read.
    #[error("the listing cannot be read: {0}")]
    Unreadable(#[from] io::Error),
    /// A file cannot be read.
    #[error(transparent)]
    Media(#[from] MediaError),
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
}

/// Parses one line. The path is read from disk later, so only paths of pictures are accepted.
fn parse_line(line: &str, folder: &str) -> Option<ListedFile> {
    let (hash, path) = line.split_once("  ")?;
    let path = path.strip_prefix(folder)?.strip_prefix('/')?;
    let [prefix, id, name] = path.split('/').collect::<Vec<_>>().try_into().ok()?;
    let known = name == DESCRIPTION || Form::of(name).is_some();
    let sha256 = hash.parse().ok()?;
    id.parse::<PictureId>().ok()?;
    (known && id.get(..2) == Some(prefix)).then(|| ListedFile { path: path.to_owned(), sha256 })
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
                    let file = self.root().join(&path);
                    let sha256 = self.digest(&path).map_err(|error| MediaError::unavailable(&file, error))?;
                    let sha256 = sha256
                        .ok_or_else(|| MediaError::damaged(&file, "it was removed while it was read"))?;
                    listing.files.push(ListedFile { path, sha256 });
                }
            }
            listing.pictures += 1;
        }
        Ok(listing)
    }

    /// Compares the files with the text of a listing for a media folder of this name; `None` if every listed file has the same bytes.
    /// Neither the text nor a file is held in memory as a whole.
    ///
    /// # Errors
    ///
    /// If the text cannot be read or a line names no file of a picture, and if an existing file cannot be read.
    pub fn compare(&self, mut text: impl BufRead, folder: &str) -> Result<Option<Difference>, ListingError> {
        let (mut difference, mut line): (Option<Difference>, _) = (None, Vec::new());
        for number in 1.. {
            line.clear();
            if text.by_ref().take(MAX_LINE).read_until(b'\n', &mut line)? == 0 {
                break;
            }
            let listed = std::str::from_utf8(line.trim_ascii_end()).ok();
            let listed =
                listed.and_then(|line| parse_line(line, folder)).ok_or(ListingError::Line(number))?;
            if let Some(reason) = self.difference(&listed)? {
                let first = Difference { first: listed.path, reason, count: 0 };
                difference.get_or_insert(first).count += 1;
            }
        }
        Ok(difference)
    }

    /// Returns how a file differs from what is listed.
    fn difference(&self, listed: &ListedFile) -> Result<Option<&'static str>, MediaError> {
        let path = self.root().join(&listed.path);
        Ok(match self.digest(&listed.path) {
            Ok(Some(found)) if found == listed.sha256 => None,
            Ok(Some(found)) if found.0 == <[u8; 32]>::from(Sha256::digest([])) => Some("is empty"),
            Ok(Some(_)) => Some("has other bytes"),
            Ok(None) => Some("is missing"),
            Err(error) if Refusal::of(&error).is_some() => Some("is not a regular file"),
            Err(error) => return Err(MediaError::unavailable(&path, error)),
        })
    }

    /// Returns the hash of a file; `None` if it is absent.
    fn digest(&self, path: &str) -> io::Result<Option<Hash>> {
        let mut file = match bounded_file::open(&self.root().join(path)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            file => file?,
        };
        let (mut sha, mut part) = (Sha256::new(), vec![0; READ_SIZE]);
        loop {
            match file.read(&mut part)? {
                0 => return Ok(Some(Hash(sha.finalize().into()))),
                length => sha.update(&part[..length]),
            }
        }
    }

    fn root(&self) -> &Path {
        self.files.root()
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

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
    fn a_listing_names_every_file_and_is_compared() {
        let folder = tempfile::tempdir().unwrap();
        let listing = store(folder.path()).list().unwrap();
        // The original, two widths, a JPEG and the description of each.
        assert_eq!((listing.pictures, listing.files()), (4, 20));
        let text = listing.text("media");
        let reader = MediaStore::open_read_only(folder.path());
        assert_eq!(reader.compare(text.as_bytes(), "media").unwrap(), None);
        assert!(matches!(reader.compare(text.as_bytes(), "other"), Err(ListingError::Line(1))));
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
        for (index, reason, count) in [
            (7, "has other bytes", 1),
            (5, "is not a regular file", 2),
            (3, "is empty", 3),
            (1, "is missing", 4),
        ] {
            let file = folder.path().join(path(index));
            match reason {
                "has other bytes" => fs::write(file, "x").unwrap(),
                "is empty" => fs::write(file, "").unwrap(),
                "is not a regular file" => {
                    fs::remove_file(&file).unwrap();
                    fs::create_dir(file).unwrap();
                }
                _ => fs::remove_file(file).unwrap(),
            }
            let difference = store.compare(listing.text("media").as_bytes(), "media").unwrap();
            assert_eq!(difference, Some(Difference { first: path(index), reason, count }));
        }
    }

    #[test]
    fn only_paths_of_pictures_are_parsed() {
        let (hash, id) = ("0".repeat(64), "5e".repeat(32));
        let store = MediaStore::open_read_only(Path::new("/nowhere"));
        let compared = |text: &str| store.compare(format!("{hash}  media/{text}\n").as_bytes(), "media");
        let missing = compared(&format!("5e/{id}/original")).unwrap().unwrap();
        assert_eq!((missing.reason, missing.count), ("is missing", 1));
        for path in [
            format!("5f/{id}/original"),
            format!("5e/{id}/../../../../etc/passwd"),
            format!("5e/{id}/notes.txt"),
            format!("/5e/{id}/original"),
            "../events.db".to_owned(),
            String::new(),
            "x".repeat(1 << 20),
        ] {
            assert!(matches!(compared(&path), Err(ListingError::Line(1))), "{path}");
        }
    }
}
