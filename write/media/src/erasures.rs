//! Erasure of pictures: recorded in a journal first, then deleted, and never stored again.

use std::fs::{self, File};
use std::io::{self, Write};
use std::sync::PoisonError;

use jiff::Timestamp;
use schemas::erased_pictures::{self, ERASED_PICTURES, ErasedPicture};
use schemas::picture::PictureId;

use super::{MediaError, MediaStore, PictureRefusal};

/// The most bytes of the journal that are read: some two million pictures. It is kept in memory while it is read.
pub const MAX_JOURNAL_BYTES: u64 = 256 << 20;

impl MediaStore {
    /// Returns all erased pictures.
    ///
    /// # Errors
    ///
    /// If the journal cannot be read.
    pub fn erased(&self) -> Result<Vec<ErasedPicture>, MediaError> {
        let path = self.files.root().join(ERASED_PICTURES);
        let text = match bounded_file::read_to_string(&path, MAX_JOURNAL_BYTES) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            text => text.map_err(|error| MediaError::unavailable(&path, error))?,
        };
        erased_pictures::parse(&text).map_err(|line| {
            let reason =
                format!("line {line} names no erased picture; correct it, or take the file of a backup");
            MediaError::unavailable(&path, io::Error::new(io::ErrorKind::InvalidData, reason))
        })
    }

    /// Returns when a picture was erased; `None` if it was not.
    ///
    /// # Errors
    ///
    /// If the journal cannot be read.
    pub fn erased_at(&self, id: PictureId) -> Result<Option<Timestamp>, MediaError> {
        Ok(self.erased()?.into_iter().find(|erased| erased.picture == id).map(|erased| erased.erased_at))
    }

    /// Records pictures in the journal, flushed to disk, and then deletes their files. If the process ends in between,
    /// [`MediaStore::open`] deletes them.
    ///
    /// # Errors
    ///
    /// If the journal cannot be read or written, or a file cannot be deleted; journal entries stay.
    pub fn erase(&self, pictures: &[ErasedPicture]) -> Result<(), MediaError> {
        let _guard = self.journal_lock.lock().unwrap_or_else(PoisonError::into_inner);
        let mut all = self.erased()?;
        let is_new = |picture: &&ErasedPicture| all.iter().all(|known| known.picture != picture.picture);
        let new: Vec<ErasedPicture> = pictures.iter().filter(is_new).cloned().collect();
        if !new.is_empty() {
            all.extend(new);
            self.write_journal(&erased_pictures::text(all).1)?;
        }
        pictures.iter().try_for_each(|erased| self.files.delete(erased.picture))
    }

    /// Deletes the remaining files of erased pictures.
    pub(super) fn finish_erasures(&self) -> Result<(), MediaError> {
        self.erased()?.iter().try_for_each(|erased| self.files.delete(erased.picture))
    }

    /// Deletes the files of a picture if it was erased, and returns the refusal. [`MediaStore::put`] calls it before and after it
    /// stores a picture: the erasure may come in between.
    ///
    /// # Errors
    ///
    /// If the journal cannot be read or a file cannot be deleted.
    pub fn refuse_erased(&self, id: PictureId) -> Result<Option<PictureRefusal>, MediaError> {
        let Some(erased_at) = self.erased_at(id)? else { return Ok(None) };
        self.files.delete(id)?;
        Ok(Some(PictureRefusal::Erased(erased_at)))
    }

    fn write_journal(&self, text: &str) -> Result<(), MediaError> {
        let root = self.files.root();
        let (path, new) = (root.join(ERASED_PICTURES), root.join(format!("{ERASED_PICTURES}.new")));
        let write = || -> io::Result<()> {
            fs::create_dir_all(root)?;
            let mut file = File::create(&new)?;
            file.write_all(text.as_bytes())?;
            file.sync_all()?;
            fs::rename(&new, &path)?;
            File::open(root)?.sync_all()
        };
        write().map_err(|error| MediaError::unavailable(&path, error))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use schemas::picture::Form;
    use sha2::{Digest, Sha256};

    use super::super::uploads::{Progress, Uploads};
    use super::super::{CheckReport, PutError};
    use super::*;
    use crate::tests::store;
    use kit::samples::{in_every_format, scene};
    use schemas::clock::Clock;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(second).unwrap()
    }

    fn refused(store: &MediaStore, bytes: &[u8]) -> String {
        let Err(PutError::Refused(error)) = store.put(bytes) else { panic!("it was stored") };
        error.to_string()
    }

    #[test]
    fn an_erased_picture_is_deleted_recorded_once_and_refused() {
        let (folder, store) = store();
        let [(_, bytes), (_, other), ..] = in_every_format(&scene(400, 300));
        let (picture, kept) = (store.put(&bytes).unwrap(), store.put(&other).unwrap());
        let erased = ErasedPicture { picture: picture.id, erased_at: at(86_400) };
        store.erase(std::slice::from_ref(&erased)).unwrap();
        store.erase(&[ErasedPicture { erased_at: at(90_000), ..erased.clone() }]).unwrap();
        assert_eq!(store.erased().unwrap(), [erased]);
        assert!(!store.path(picture.id, Form::Original).parent().unwrap().exists());
        assert_eq!((store.get(picture.id).unwrap(), store.ids().unwrap()), (None, vec![kept.id]));
        let reason = "It was taken down on 1970-01-02 and is not kept again; use another picture.";
        assert_eq!(refused(&store, &bytes), reason);
        let uploads =
            Uploads::open(Arc::new(MediaStore::open(folder.path()).unwrap()), Clock::system()).unwrap();
        let progress = uploads.add_chunk(picture.id, 0, bytes.len() as u64, &[]).unwrap();
        assert_eq!(progress, Progress::Refused(reason.into()));
        assert_eq!(fs::read_dir(folder.path().join("incoming")).unwrap().count(), 0);
    }

    #[test]
    fn an_interrupted_erasure_is_ignored_by_readers_and_completed_at_the_start() {
        let folder = tempfile::tempdir().unwrap();
        let bytes = in_every_format(&scene(90, 90))[0].1.clone();
        let id = PictureId(Sha256::digest(&bytes).into());
        let line = erased_pictures::text([ErasedPicture { picture: id, erased_at: at(1) }]).1;
        let store = MediaStore::open(folder.path()).unwrap();
        store.put(&bytes).unwrap();
        fs::write(folder.path().join(ERASED_PICTURES), line).unwrap();
        let reader = MediaStore::open_read_only(folder.path());
        assert_eq!(reader.check(true, |_| {}).unwrap(), CheckReport::default());
        assert!(reader.is_empty().unwrap());
        let copy = MediaStore::open(&folder.path().join("copy")).unwrap();
        assert_eq!(reader.copy_to(&copy).unwrap(), 0);
        assert!(store.get(id).unwrap().is_some());
        let again = MediaStore::open(folder.path()).unwrap();
        assert_eq!(again.get(id).unwrap(), None);
    }

    #[test]
    fn a_copy_leaves_out_pictures_that_are_erased_at_its_destination() {
        let folder = tempfile::tempdir().unwrap();
        let (from, to) = (folder.path().join("media"), folder.path().join("copy"));
        let store = MediaStore::open(&from).unwrap();
        let [first, second, ..] =
            in_every_format(&scene(90, 90)).map(|(_, bytes)| store.put(&bytes).unwrap());
        let copy = MediaStore::open_read_only(&to);
        copy.erase(&[ErasedPicture { picture: first.id, erased_at: at(1) }]).unwrap();
        let copy = MediaStore::open(&to).unwrap();
        assert_eq!(store.copy_to(&copy).unwrap(), 3);
        assert_eq!((copy.get(first.id).unwrap(), copy.get(second.id).unwrap()), (None, Some(second)));
    }

    #[test]
    fn an_unreadable_journal_refuses_every_picture() {
        let (folder, store) = store();
        fs::write(folder.path().join(ERASED_PICTURES), "{}\n").unwrap();
        let bytes = &in_every_format(&scene(90, 90))[0].1;
        let Err(PutError::Store(error)) = store.put(bytes) else { panic!("it was stored") };
        assert!(error.to_string().contains("line 1 names no erased picture"), "{error}");
    }
}
