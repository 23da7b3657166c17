//! Copies of the whole store, for backups.

use std::collections::HashSet;
use std::fs;
use std::io;
use std::path::Path;
use std::sync::Mutex;

use schemas::picture::{Form, PictureId};

use super::check::Look;
use super::files::Files;
use super::{MediaError, MediaStore};

impl MediaStore {
    /// The store in a folder that another process may be writing, for reading only; the folder need not be there.
    pub fn open_read_only(folder: &Path) -> MediaStore {
        MediaStore { files: Files::beside(folder), noting: Mutex::default() }
    }

    /// Copies every picture that the other store does not keep yet, and returns how many both keep then. Those that were
    /// erased there are left out. Smaller forms that are not whole are made again in the copy.
    ///
    /// # Errors
    ///
    /// Fails where an original is missing or its bytes are not those of its name.
    pub fn copy_to(&self, other: &MediaStore) -> Result<u64, MediaError> {
        self.copy_chosen(other, |_| true, || true)
    }

    /// Does the same with those pictures that are wanted, for as long as `goes_on` returns true before each.
    ///
    /// # Errors
    ///
    /// Fails where an original is missing or its bytes are not those of its name.
    pub fn copy_chosen(
        &self,
        other: &MediaStore,
        is_wanted: impl Fn(PictureId) -> bool,
        goes_on: impl Fn() -> bool,
    ) -> Result<u64, MediaError> {
        let mut pictures = 0;
        let erased: HashSet<PictureId> = other.erased()?.into_iter().map(|erased| erased.picture).collect();
        let ids = self.ids()?.into_iter().filter(|id| !erased.contains(id) && is_wanted(*id));
        for id in ids.take_while(|_| goes_on()) {
            if other.get(id)?.is_none() {
                let whole = self.whole(id, Look::Outline)?;
                if let Some(reason) = &whole.remade {
                    tracing::warn!(
                        "the picture {id} is damaged: {reason}; its copy is made again from its original"
                    );
                }
                other.files.keep(&whole.picture, &whole.original, &whole.forms)?;
            }
            pictures += 1;
        }
        Ok(pictures)
    }

    /// Returns whether a copy keeps a picture as this store does: with the same description, and files of the same lengths.
    pub fn is_kept_by(&self, copy: &MediaStore, id: PictureId) -> bool {
        let (Ok(Some(picture)), Ok(Some(copied))) = (self.get(id), copy.get(id)) else { return false };
        let mut forms =
            picture.widths().map(Form::Webp).chain([Form::Original, Form::Jpeg(picture.list_width())]);
        let length =
            |store: &MediaStore, form| fs::metadata(store.path(id, form)).ok().map(|file| file.len());
        copied == picture && forms.all(|form| length(self, form) == length(copy, form))
    }

    /// Whether it keeps no picture.
    ///
    /// # Errors
    ///
    /// Fails where the folder cannot be read.
    pub fn is_empty(&self) -> Result<bool, MediaError> {
        Ok(self.ids()?.is_empty())
    }

    /// The names of all pictures, in order; what is left of erased ones is none.
    ///
    /// # Errors
    ///
    /// Fails where the folder cannot be read.
    pub fn ids(&self) -> Result<Vec<PictureId>, MediaError> {
        let mut ids = Vec::new();
        for shelf in names(self.files.root())? {
            if shelf.len() == 2 {
                let shelf = self.files.root().join(shelf);
                ids.extend(names(&shelf)?.iter().filter_map(|name| name.parse::<PictureId>().ok()));
            }
        }
        let erased: HashSet<PictureId> = self.erased()?.into_iter().map(|erased| erased.picture).collect();
        ids.retain(|id| !erased.contains(id));
        ids.sort_unstable();
        Ok(ids)
    }
}

/// The names in a folder, in order; none where there is no folder.
pub(super) fn names(folder: &Path) -> Result<Vec<String>, MediaError> {
    let unavailable = |error| MediaError::unavailable(folder, error);
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.map_err(unavailable)?,
    };
    let name = |entry: io::Result<fs::DirEntry>| Ok(entry?.file_name().into_string().unwrap_or_default());
    let mut names = entries.map(name).collect::<io::Result<Vec<_>>>().map_err(unavailable)?;
    names.sort_unstable();
    Ok(names)
}

#[cfg(test)]
mod tests {
    use super::*;
    use kit::samples::{in_every_format, scene};

    #[test]
    fn a_copy_has_every_file_and_a_second_one_adds_what_is_new() {
        let folder = tempfile::tempdir().unwrap();
        let (from, to) = (folder.path().join("media"), folder.path().join("copy"));
        assert_eq!(
            MediaStore::open_read_only(&from).copy_to(&MediaStore::open(&to).unwrap()).unwrap(),
            0,
            "there is no folder yet"
        );
        let store = MediaStore::open(&from).unwrap();
        let [first, second, ..] =
            in_every_format(&scene(700, 500)).map(|(_, bytes)| store.take(&bytes).unwrap());
        let copy = MediaStore::open(&to).unwrap();
        let kept = MediaStore::open_read_only(&from).copy_to(&copy).unwrap();
        assert_eq!(kept, 4);
        for picture in [&first, &second] {
            assert_eq!(copy.get(picture.id).unwrap().as_ref(), Some(picture));
            let forms = [Form::Original, Form::Webp(320), Form::Webp(640), Form::Webp(700), Form::Jpeg(640)];
            for form in forms {
                let bytes = store.read(picture.id, form).unwrap();
                assert!(bytes.is_some(), "{form}");
                assert_eq!(copy.read(picture.id, form).unwrap(), bytes, "{form}");
            }
        }
        store.take(&in_every_format(&scene(90, 90))[0].1).unwrap();
        assert_eq!(store.copy_to(&copy).unwrap(), 5);
    }

    #[test]
    fn bytes_that_changed_are_not_copied() {
        let folder = tempfile::tempdir().unwrap();
        let store = MediaStore::open(&folder.path().join("media")).unwrap();
        let picture = store.take(&in_every_format(&scene(90, 90))[0].1).unwrap();
        let path = store.path(picture.id, Form::Original);
        fs::write(&path, b"other").unwrap();
        let copy = MediaStore::open(&folder.path().join("copy")).unwrap();
        let error = store.copy_to(&copy).unwrap_err().to_string();
        assert!(error.contains("its bytes are not those that its name is made of"), "{error}");
        assert_eq!(copy.get(picture.id).unwrap(), None);
    }
}
