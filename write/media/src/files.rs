//! How pictures lie on the disk. A picture's folder is written elsewhere and renamed whole to its place, so a process
//! that is killed leaves all of it or nothing.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use schemas::picture::{Form, Picture, PictureId};

/// Where everything is written first.
const INCOMING: &str = "incoming";
/// The description of a picture, beside its forms. It is written last.
pub(super) const DESCRIPTION: &str = "picture.json";

/// Why the store cannot do what it is asked.
#[derive(Debug, thiserror::Error)]
pub enum MediaError {
    /// The disk does not do it. Later it may.
    #[error("the media folder cannot be used: {} ({source}); {}", .path.display(), advice(.source))]
    Unavailable {
        /// The file or folder in question.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// What is stored is not what was written.
    #[error(
        "a kept picture is damaged: {}: {reason}; remove its folder and send the picture again",
        .path.display()
    )]
    Damaged {
        /// The file in question.
        path: PathBuf,
        /// What was found.
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
            "something else stands there: move it away, or name another folder"
        }
        _ => "look at the disk, and start Loggia again",
    }
}

/// The folder of the store.
#[derive(Debug)]
pub(super) struct Files {
    root: PathBuf,
    /// Tells apart what is written at the same time.
    next: AtomicU64,
}

impl Files {
    /// Makes the folder where needed. Unfinished pictures are removed; unfinished uploads stay.
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
            // Shows a folder that cannot be written now, and not when the first picture comes.
            let trial = incoming.join("trial");
            File::create(&trial)?;
            fs::remove_file(&trial)
        };
        remove().map_err(|error| MediaError::unavailable(&incoming, error))?;
        Ok(Files { root: root.to_owned(), next: AtomicU64::new(0) })
    }

    /// The files of a folder as they are: nothing is made and nothing removed.
    pub(super) fn beside(root: &Path) -> Files {
        Files { root: root.to_owned(), next: AtomicU64::new(0) }
    }

    pub(super) fn root(&self) -> &Path {
        &self.root
    }

    /// Where things are written first.
    pub(super) fn incoming(&self) -> PathBuf {
        self.root.join(INCOMING)
    }

    pub(super) fn path(&self, id: PictureId, form: Form) -> PathBuf {
        self.root.join(form.path(id))
    }

    /// The description of a picture, where it is kept.
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

    /// The bytes of one form, where it is kept.
    pub(super) fn form(&self, id: PictureId, form: Form) -> Result<Option<Vec<u8>>, MediaError> {
        read(&self.path(id, form))
    }

    /// Writes a picture whole; where another was faster, what that one wrote is the answer.
    pub(super) fn keep(
        &self,
        picture: &Picture,
        original: &[u8],
        forms: &[(Form, Vec<u8>)],
    ) -> Result<Picture, MediaError> {
        let new = self.new_folder(picture.id);
        let written = self.write(&new, picture, original, forms);
        let kept = written.and_then(|()| self.put_in_place(&new, picture));
        if kept.is_err() || new.exists() {
            // What cannot be removed now is removed when the store is opened.
            let _ = fs::remove_dir_all(&new);
        }
        kept
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

    fn put_in_place(&self, new: &Path, picture: &Picture) -> Result<Picture, MediaError> {
        let place = self.folder(picture.id);
        let shelf = place.parent().unwrap_or(&self.root);
        let unavailable = |error| MediaError::unavailable(&place, error);
        fs::create_dir_all(shelf).and_then(|()| sync_folder(&self.root)).map_err(unavailable)?;
        match fs::rename(new, &place) {
            Err(error) if is_taken(&error) => {
                if let Ok(Some(kept)) = self.picture(picture.id) {
                    sync_folder(shelf).map_err(unavailable)?;
                    return Ok(kept);
                }
                // What stands there is no whole picture.
                self.change_places(new, &place, picture.id)?;
            }
            renamed => renamed.map_err(unavailable)?,
        }
        sync_folder(shelf).map_err(unavailable)?;
        Ok(picture.clone())
    }

    /// Writes a picture whole in the place of what is kept under its name.
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
        let replaced = written.and_then(|()| self.change_places(&new, &place, picture.id));
        if replaced.is_err() {
            // What cannot be removed now is removed when the store is opened.
            let _ = fs::remove_dir_all(&new);
        }
        replaced?;
        let shelf = place.parent().unwrap_or(&self.root);
        sync_folder(shelf).map_err(|error| MediaError::unavailable(&place, error))
    }

    /// Deletes all that is kept of a picture, and what has come of it; on the disk when this returns.
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

    /// Where the bytes of a picture come in part by part.
    pub(super) fn part(&self, id: PictureId) -> PathBuf {
        self.incoming().join(format!("{id}.part"))
    }

    /// Puts a new folder in the place of another, and removes that one.
    fn change_places(&self, new: &Path, place: &Path, id: PictureId) -> Result<(), MediaError> {
        let unavailable = |error| MediaError::unavailable(place, error);
        let aside = self.new_folder(id);
        fs::rename(place, &aside).and_then(|()| fs::rename(new, place)).map_err(unavailable)?;
        fs::remove_dir_all(&aside).map_err(unavailable)
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

/// Systems tell a folder that is in the way by either.
fn is_taken(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::DirectoryNotEmpty | io::ErrorKind::AlreadyExists)
}

fn read(path: &Path) -> Result<Option<Vec<u8>>, MediaError> {
    match fs::read(path) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(MediaError::unavailable(path, error)),
    }
}

fn write_through(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = File::create_new(path)?;
    file.write_all(bytes)?;
    file.sync_all()
}

/// Names of files are on the disk only when their folder is.
fn sync_folder(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}
