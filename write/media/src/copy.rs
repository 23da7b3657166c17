//! Copies whole stores, for backups.

use std::collections::HashSet;
use std::fs;
use std::io;
use std::path::Path;
use std::sync::Mutex;

use schemas::picture::{Form, PictureId};

use super::check::CheckDepth;
use super::files::Files;
use super::{MediaError, MediaStore};

impl MediaStore {
    /// Opens a store for reading, even while another process writes it; the folder may be absent.
    pub fn open_read_only(folder: &Path) -> MediaStore {
        MediaStore { files: Files::read_only(folder), journal_lock: Mutex::default() }
    }

    /// Copies every picture that the other store does not have, except those erased there, and returns the number that both have
    /// afterwards. Damaged smaller forms are derived again in the copy.
    ///
    /// # Errors
    ///
    /// If an original is missing or does not match its id, or a store cannot be read or written.
    pub fn copy_to(&self, other: &MediaStore) -> Result<u64, MediaError> {
        self.copy_selected(other, |_| true, || true)
    }

    /// Copies like [`Self::copy_to`] those pictures for which `is_selected`; stops once `should_continue`, called before each, returns
    /// false.
    ///
    /// # Errors
    ///
    /// As [`Self::copy_to`].
    pub fn copy_selected(
        &self,
        other: &MediaStore,
        is_selected: impl Fn(PictureId) -> bool,
        should_continue: impl Fn() -> bool,
    ) -> Result<u64, MediaError> {
        let mut pictures = 0;
        let erased: HashSet<PictureId> = other.erased()?.into_iter().map(|erased| erased.picture).collect();
        let ids = self.ids()?.into_iter().filter(|id| !erased.contains(id) && is_selected(*id));
        for id in ids.take_while(|_| should_continue()) {
            if other.get(id)?.is_none() {
                let loaded = self.load(id, CheckDepth::Headers)?;
                if let Some(reason) = &loaded.damage {
                    tracing::warn!(
                        "the picture {id} is damaged: {reason}; its copy is made again from its original"
                    );
                }
                other.files.insert(&loaded.picture, &loaded.original, &loaded.forms)?;
            }
            pictures += 1;
        }
        Ok(pictures)
    }

    /// Returns whether a copy has a picture with the same description and files of the same lengths.
    pub fn is_copied_to(&self, copy: &MediaStore, id: PictureId) -> bool {
        let (Ok(Some(picture)), Ok(Some(copied))) = (self.get(id), copy.get(id)) else { return false };
        let mut forms = picture.forms().chain(picture.detail_form()).chain([Form::Original]);
        let length =
            |store: &MediaStore, form| fs::metadata(store.path(id, form)).ok().map(|file| file.len());
        copied == picture && forms.all(|form| length(self, form) == length(copy, form))
    }

    /// Returns whether the store has no picture.
    ///
    /// # Errors
    ///
    /// If the folder cannot be read.
    pub fn is_empty(&self) -> Result<bool, MediaError> {
        Ok(self.ids()?.is_empty())
    }

    /// Returns the ids of all pictures in order, without erased ones that are not deleted yet.
    ///
    /// # Errors
    ///
    /// If the folder cannot be read.
    pub fn ids(&self) -> Result<Vec<PictureId>, MediaError> {
        let mut ids = Vec::new();
        for prefix in names(self.files.root())? {
            if prefix.len() == 2 {
                let subfolder = self.files.root().join(prefix);
                ids.extend(names(&subfolder)?.iter().filter_map(|name| name.parse::<PictureId>().ok()));
            }
        }
        let erased: HashSet<PictureId> = self.erased()?.into_iter().map(|erased| erased.picture).collect();
        ids.retain(|id| !erased.contains(id));
        ids.sort_unstable();
        Ok(ids)
    }
}

/// Returns the names in a folder in order; none if the folder is absent.
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
    fn a_copy_has_every_file_and_a_second_one_adds_new_pictures() {
        let folder = tempfile::tempdir().unwrap();
        let (from, to) = (folder.path().join("media"), folder.path().join("copy"));
        assert_eq!(
            MediaStore::open_read_only(&from).copy_to(&MediaStore::open(&to).unwrap()).unwrap(),
            0,
            "the folder is absent"
        );
        let store = MediaStore::open(&from).unwrap();
        let [first, second, ..] =
            in_every_format(&scene(700, 500)).map(|(_, bytes)| store.put(&bytes).unwrap());
        let copy = MediaStore::open(&to).unwrap();
        let copied = MediaStore::open_read_only(&from).copy_to(&copy).unwrap();
        assert_eq!(copied, 4);
        for picture in [&first, &second] {
            assert_eq!(copy.get(picture.id).unwrap().as_ref(), Some(picture));
            let forms = [Form::Original, Form::Webp(320), Form::Webp(640), Form::Webp(700), Form::Jpeg(640)];
            for form in forms {
                let bytes = store.read(picture.id, form).unwrap();
                assert!(bytes.is_some(), "{form}");
                assert_eq!(copy.read(picture.id, form).unwrap(), bytes, "{form}");
            }
        }
        store.put(&in_every_format(&scene(90, 90))[0].1).unwrap();
        assert_eq!(store.copy_to(&copy).unwrap(), 5);
    }

    #[test]
    fn a_changed_original_is_not_copied() {
        let folder = tempfile::tempdir().unwrap();
        let store = MediaStore::open(&folder.path().join("media")).unwrap();
        let picture = store.put(&in_every_format(&scene(90, 90))[0].1).unwrap();
        let path = store.path(picture.id, Form::Original);
        fs::write(&path, b"other").unwrap();
        let copy = MediaStore::open(&folder.path().join("copy")).unwrap();
        let error = store.copy_to(&copy).unwrap_err().to_string();
        assert!(error.contains("its bytes do not match its id"), "{error}");
        assert_eq!(copy.get(picture.id).unwrap(), None);
    }
}
