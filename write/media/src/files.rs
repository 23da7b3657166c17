//! The files of the store. A picture's folder is written under `incoming/` and then renamed to its path, so a killed process leaves
//! all of it or nothing.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use bounded_file::Refusal;
use schemas::picture::{Form, Picture, PictureId};

/// The subfolder of new pictures and partial uploads.
const INCOMING: &str = "incoming";
/// The file name of the description, beside the forms. It is written last.
pub(super) const DESCRIPTION: &str = "picture.json";

/// The most bytes of any file of a picture. An original and what is derived from it have at most
/// [`MAX_PICTURE_BYTES`](schemas::picture::MAX_PICTURE_BYTES); what is read from a backup may be anything.
const MAX_FILE_BYTES: u64 = 4 * schemas::picture::MAX_PICTURE_BYTES as u64;

/// Why an operation of the store failed.
#[derive(Debug, thiserror::Error)]
pub enum MediaError {
    /// An I/O error; a later try may succeed.
    #[error("the media folder cannot be used: {} ({source}); {}", .path.display(), advice(.source))]
    Unavailable {
        /// The file or folder.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// A file does not have the content that was written.
    #[error(
        "a stored picture is damaged: {}: {reason}; remove its folder and send the picture again",
        .path.display()
    )]
    Damaged {
        /// The file.
        path: PathBuf,
        /// The damage.
        reason: String,
    },
}

impl MediaError {
    pub(super) fn unavailable(path: &Path, source: io::Error) -> MediaError {
        MediaError::Unavailable { path: path.to_owned(), source }
    }

    pub(super) fn damaged(path: &Path, reason: impl ToString) -> MediaError {
        MediaError::Damaged { path: path.to_owned(), reason: reason.to_string() }
    }
}

fn advice(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => "free some space there",
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
            "let the user that Loggia runs as write there"
        }
        io::ErrorKind::NotADirectory | io::ErrorKind::AlreadyExists | io::ErrorKind::IsADirectory => {
            "something else is there: move it away, or name another folder"
        }
        _ => "look at the disk, and start Loggia again",
    }
}

/// The folder of a store.
#[derive(Debug)]
pub(super) struct Files {
    root: PathBuf,
    /// Distinguishes folders that are written concurrently.
    next: AtomicU64,
}

impl Files {
    /// Creates the folder if absent and removes incomplete pictures; incomplete uploads stay.
    pub(super) fn open(root: &Path) -> Result<Files, MediaError> {
        let incoming = root.join(INCOMING);
        fs::create_dir_all(&incoming).map_err(|error| MediaError::unavailable(root, error))?;
        let remove = || -> io::Result<()> {
            for entry in fs::read_dir(&incoming)? {
                let entry = entry?;
                if entry.file_type()?.is_dir() {
                    fs::remove_dir_all(entry.path())?;
                }
            }
            // Fails now if the folder cannot be written, and not with the first picture.
            let trial = incoming.join("trial");
            File::create(&trial)?;
            fs::remove_file(&trial)
        };
        remove().map_err(|error| MediaError::unavailable(&incoming, error))?;
        Ok(Files { root: root.to_owned(), next: AtomicU64::new(0) })
    }

    /// Opens a folder without writing to it.
    pub(super) fn read_only(root: &Path) -> Files {
        Files { root: root.to_owned(), next: AtomicU64::new(0) }
    }

    pub(super) fn root(&self) -> &Path {
        &self.root
    }

    /// Returns the subfolder of new pictures and partial uploads.
    pub(super) fn incoming(&self) -> PathBuf {
        self.root.join(INCOMING)
    }

    pub(super) fn path(&self, id: PictureId, form: Form) -> PathBuf {
        self.root.join(form.path(id))
    }

    /// Reads the description of a picture; `None` if it is not stored.
    pub(super) fn picture(&self, id: PictureId) -> Result<Option<Picture>, MediaError> {
        let path = self.folder(id).join(DESCRIPTION);
        let Some(bytes) = read(&path)? else { return Ok(None) };
        let picture: Picture =
            serde_json::from_slice(&bytes).map_err(|error| MediaError::damaged(&path, error))?;
        if picture.id == id {
            Ok(Some(picture))
        } else {
            Err(MediaError::damaged(&path, "it describes another picture"))
        }
    }

    /// Reads one form of a picture; `None` if it is not stored.
    pub(super) fn form(&self, id: PictureId, form: Form) -> Result<Option<Vec<u8>>, MediaError> {
        read(&self.path(id, form))
    }

    /// Writes a complete picture; returns the stored one if a concurrent write was first.
    pub(super) fn insert(
        &self,
        picture: &Picture,
        original: &[u8],
        forms: &[(Form, Vec<u8>)],
    ) -> Result<Picture, MediaError> {
        let new = self.new_folder(picture.id);
        let written = self.write(&new, picture, original, forms);
        let stored = written.and_then(|()| self.move_into_place(&new, picture));
        if stored.is_err() || new.exists() {
            // If this fails, the next open removes it.
            let _ = fs::remove_dir_all(&new);
        }
        stored
    }

    fn write(
        &self,
        new: &Path,
        picture: &Picture,
        original: &[u8],
        forms: &[(Form, Vec<u8>)],
    ) -> Result<(), MediaError> {
        let description = serde_json::to_vec(picture).map_err(|error| MediaError::damaged(new, error))?;
        let write = || -> io::Result<()> {
            fs::create_dir(new)?;
            write_through(&new.join(Form::Original.to_string()), original)?;
            for (form, bytes) in forms {
                write_through(&new.join(form.to_string()), bytes)?;
            }
            write_through(&new.join(DESCRIPTION), &description)?;
            sync_folder(new)
        };
        write().map_err(|error| MediaError::unavailable(new, error))
    }

    fn move_into_place(&self, new: &Path, picture: &Picture) -> Result<Picture, MediaError> {
        let place = self.folder(picture.id);
        let parent = place.parent().unwrap_or(&self.root);
        let unavailable = |error| MediaError::unavailable(&place, error);
        fs::create_dir_all(parent).and_then(|()| sync_folder(&self.root)).map_err(unavailable)?;
        match fs::rename(new, &place) {
            Err(error) if is_occupied(&error) => {
                if let Ok(Some(stored)) = self.picture(picture.id) {
                    sync_folder(parent).map_err(unavailable)?;
                    return Ok(stored);
                }
                // The folder there is incomplete or damaged.
                self.swap(new, &place, picture.id)?;
            }
            renamed => renamed.map_err(unavailable)?,
        }
        sync_folder(parent).map_err(unavailable)?;
        Ok(picture.clone())
    }

    /// Writes a complete picture in place of the stored one.
    pub(super) fn replace(
        &self,
        picture: &Picture,
        original: &[u8],
        forms: &[(Form, Vec<u8>)],
    ) -> Result<(), MediaError> {
        let incoming = self.incoming();
        fs::create_dir_all(&incoming).map_err(|error| MediaError::unavailable(&incoming, error))?;
        let (new, place) = (self.new_folder(picture.id), self.folder(picture.id));
        let written = self.write(&new, picture, original, forms);
        let replaced = written.and_then(|()| self.swap(&new, &place, picture.id));
        if replaced.is_err() {
            // If this fails, the next open removes it.
            let _ = fs::remove_dir_all(&new);
        }
        replaced?;
        let parent = place.parent().unwrap_or(&self.root);
        sync_folder(parent).map_err(|error| MediaError::unavailable(&place, error))
    }

    /// Deletes the folder and the partial upload of a picture, and flushes that to disk.
    pub(super) fn delete(&self, id: PictureId) -> Result<(), MediaError> {
        let place = self.folder(id);
        let unless_absent = |deleted: io::Result<()>| match deleted {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            deleted => deleted.map(|()| true),
        };
        let delete = || -> io::Result<()> {
            unless_absent(fs::remove_file(self.part(id)))?;
            if unless_absent(fs::remove_dir_all(&place))? {
                sync_folder(place.parent().unwrap_or(&self.root))?;
            }
            Ok(())
        };
        delete().map_err(|error| MediaError::unavailable(&place, error))
    }

    pub(super) fn part(&self, id: PictureId) -> PathBuf {
        self.incoming().join(format!("{id}.part"))
    }

    /// Moves a new folder to the path of an old one, and removes the old one.
    fn swap(&self, new: &Path, place: &Path, id: PictureId) -> Result<(), MediaError> {
        let unavailable = |error| MediaError::unavailable(place, error);
        let old = self.new_folder(id);
        fs::rename(place, &old).and_then(|()| fs::rename(new, place)).map_err(unavailable)?;
        fs::remove_dir_all(&old).map_err(unavailable)
    }

    fn folder(&self, id: PictureId) -> PathBuf {
        let original = self.path(id, Form::Original);
        original.parent().map_or_else(|| original.clone(), Path::to_owned)
    }

    fn new_folder(&self, id: PictureId) -> PathBuf {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        self.incoming().join(format!("{id}.{}.{number}", std::process::id()))
    }
}

/// Returns whether a rename failed because the destination exists; systems report it by either kind.
fn is_occupied(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::DirectoryNotEmpty | io::ErrorKind::AlreadyExists)
}

fn read(path: &Path) -> Result<Option<Vec<u8>>, MediaError> {
    match bounded_file::read(path, MAX_FILE_BYTES) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(match Refusal::of(&error) {
            Some(refusal) => MediaError::damaged(path, refusal),
            None => MediaError::unavailable(path, error),
        }),
    }
}

fn write_through(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = File::create_new(path)?;
    file.write_all(bytes)?;
    file.sync_all()
}

/// Flushes the directory entries: a new file survives a power loss only after that.
fn sync_folder(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}
