//! The media store: pictures on disk by the SHA-256 of their bytes, each in a folder of its own with its smaller forms.
//!
//! The write side stores pictures (from imports, uploads and the picture fetcher), read nodes copy them over NATS, the backup
//! copies and verifies whole stores. The store promises: a picture is there complete or not at all, even if the process is
//! killed; the same bytes are stored once, with the same forms; an erased picture is never stored again. Untrusted bytes are
//! decoded under the limits of the crate `pictures`, and rejected with a sentence for editors.
//!
//! - [`MediaStore`]: put, get and read pictures.
//! - `forms`: derives description and smaller forms from an original.
//! - `files`: the layout on disk, and atomic writes.
//! - [`uploads`]: pictures that arrive in chunks; [`server`]: uploads and reads over NATS.
//! - `erasures`: the journal of erased pictures.
//! - `check`, `copy`, `listing`: verify and repair, copy, and list whole stores.

mod check;
mod copy;
mod erasures;
mod files;
mod forms;
mod listing;
pub mod server;
#[cfg(test)]
mod tests;
pub mod uploads;

use std::path::{Path, PathBuf};
use std::sync::Mutex;

use image::RgbImage;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use schemas::picture::{Form, MAX_PICTURE_BYTES, MAX_SIDE, Picture, PictureId};
use sha2::{Digest, Sha256};

pub use check::CheckReport;
pub use erasures::MAX_JOURNAL_BYTES;
use files::Files;
pub use files::MediaError;
pub use listing::{Difference, Listing, ListingError};

const _: () = assert!(pictures::MAX_BYTES == MAX_PICTURE_BYTES && pictures::MAX_SIDE == MAX_SIDE);

/// The pictures of a data folder, owned by one write side. All methods block on the disk, and [`Self::put`] on the processor
/// too; asynchronous callers use a blocking thread.
#[derive(Debug)]
pub struct MediaStore {
    files: Files,
    /// Serialises writes of the journal of erased pictures.
    journal_lock: Mutex<()>,
}

/// Why a picture is not stored.
#[derive(Debug, thiserror::Error)]
pub enum PutError {
    /// The picture is refused permanently.
    #[error(transparent)]
    Refused(#[from] PictureRefusal),
    /// The store failed; a later try may succeed.
    #[error(transparent)]
    Store(#[from] MediaError),
}

/// Why a picture is refused, in a sentence for the editor who sent it. The same bytes are refused again.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PictureRefusal {
    /// The bytes are no usable picture.
    #[error(transparent)]
    Unusable(#[from] pictures::PictureError),
    /// The picture was erased.
    #[error(
        "It was taken down on {} and is not kept again; use another picture.",
        .0.to_zoned(TimeZone::UTC).date()
    )]
    Erased(Timestamp),
}

impl MediaStore {
    /// Opens the store in a folder, which is created if absent. Partial files of a killed process are removed, interrupted
    /// erasures completed.
    ///
    /// # Errors
    ///
    /// If the folder cannot be written or the journal of erased pictures cannot be read.
    pub fn open(folder: &Path) -> Result<MediaStore, MediaError> {
        let store = MediaStore { files: Files::open(folder)?, journal_lock: Mutex::default() };
        store.finish_erasures()?;
        Ok(store)
    }

    /// Stores a picture with its smaller forms; all of it is flushed to disk on return. A picture that is already stored is not
    /// decoded again. Concurrent calls with the same bytes store one picture.
    ///
    /// # Errors
    ///
    /// If the picture is refused or the store fails.
    pub fn put(&self, bytes: &[u8]) -> Result<Picture, PutError> {
        let id = PictureId(Sha256::digest(bytes).into());
        if let Some(error) = self.refuse_erased(id)? {
            return Err(error.into());
        }
        // A damaged description is an error here; storing the picture again replaces it.
        if let Ok(Some(stored)) = self.get(id) {
            return Ok(stored);
        }
        let (picture, forms) = forms::derive(id, bytes).map_err(PictureRefusal::from)?;
        let stored = self.files.insert(&picture, bytes, &forms)?;
        match self.refuse_erased(id)? {
            Some(error) => Err(error.into()),
            None => Ok(stored),
        }
    }

    /// Returns the description of a picture; `None` if it is not stored.
    ///
    /// # Errors
    ///
    /// If the description is damaged or cannot be read.
    pub fn get(&self, id: PictureId) -> Result<Option<Picture>, MediaError> {
        self.files.picture(id)
    }

    /// Returns whether a folder of this picture exists, complete or not.
    pub fn contains(&self, id: PictureId) -> bool {
        self.path(id, Form::Original).parent().is_some_and(Path::exists)
    }

    /// Returns the bytes of one form of a picture; `None` if the picture or this form is not stored.
    ///
    /// # Errors
    ///
    /// If the file cannot be read.
    pub fn read(&self, id: PictureId, form: Form) -> Result<Option<Vec<u8>>, MediaError> {
        self.files.form(id, form)
    }

    /// Returns the pixels of a picture in its smallest width, at most 320 px; `None` if it is not stored.
    ///
    /// # Errors
    ///
    /// If the smallest form is missing, damaged or cannot be read.
    pub fn raster(&self, id: PictureId) -> Result<Option<RgbImage>, MediaError> {
        let Some(width) = self.get(id)?.and_then(|picture| picture.widths().next()) else { return Ok(None) };
        let form = Form::Webp(width);
        let damaged = |reason: String| MediaError::damaged(&self.path(id, form), reason);
        let bytes = self.read(id, form)?.ok_or_else(|| damaged("it is not there".to_owned()))?;
        let decoded = pictures::decode(&bytes).map_err(|fault| damaged(fault.to_string()))?;
        Ok(Some(decoded.pixels))
    }

    /// Returns the path of one form of a picture, stored or not.
    pub fn path(&self, id: PictureId, form: Form) -> PathBuf {
        self.files.path(id, form)
    }
}
