//! The media store: pictures under the hash of their bytes, each in a folder of its own with its smaller forms. What
//! comes in from strangers is looked at here, and refused in a sentence where it is no picture that can be kept.

mod check;
mod copy;
mod erased;
mod fault;
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
use pictures::thumbnails;
use schemas::picture::{Colour, Form, MAX_PICTURE_BYTES, MAX_SIDE, Picture, PictureFormat, PictureId};
use sha2::{Digest, Sha256};

pub use check::Checked;
pub use fault::PictureFault;
use files::Files;
pub use files::MediaError;
pub use listing::{Difference, Listing};

/// The longer side, in pixels, of what the palette is taken from.
const PALETTE_SIDE: u32 = 64;

const _: () = assert!(pictures::MAX_BYTES == MAX_PICTURE_BYTES && pictures::MAX_SIDE == MAX_SIDE);

/// The smaller forms of a picture, each with its bytes.
type Forms = Vec<(Form, Vec<u8>)>;

/// The kept pictures of a data folder, for the one write side. Everything here waits for the disk, and [`Self::take`]
/// for the processor too, so asynchronous callers ask from a blocking thread.
#[derive(Debug)]
pub struct MediaStore {
    files: Files,
    /// The journal of erased pictures is written by one at a time.
    noting: Mutex<()>,
}

/// Why a picture is not kept.
#[derive(Debug, thiserror::Error)]
pub enum TakeError {
    /// For a fault of its own: it is refused for ever.
    #[error(transparent)]
    Refused(#[from] PictureFault),
    /// For the disk's: later it may be kept.
    #[error(transparent)]
    Store(#[from] MediaError),
}

impl MediaStore {
    /// Opens the store in a folder, which is made where it is absent, and removes what a killed process left half.
    pub fn open(folder: &Path) -> Result<MediaStore, MediaError> {
        let store = MediaStore { files: Files::open(folder)?, noting: Mutex::default() };
        store.finish_erasures()?;
        Ok(store)
    }

    /// Keeps a picture, with its smaller forms, or refuses it. When this returns it is on the disk, whole. A picture
    /// that is kept already is not looked at again; taking one at several places at once keeps it once.
    pub fn take(&self, bytes: &[u8]) -> Result<Picture, TakeError> {
        let id = PictureId(Sha256::digest(bytes).into());
        if let Some(fault) = self.refuse_erased(id)? {
            return Err(fault.into());
        }
        // One whose description is damaged is made anew.
        if let Ok(Some(kept)) = self.get(id) {
            return Ok(kept);
        }
        let (picture, forms) = made(id, bytes).map_err(PictureFault::from)?;
        let kept = self.files.keep(&picture, bytes, &forms)?;
        match self.refuse_erased(id)? {
            Some(fault) => Err(fault.into()),
            None => Ok(kept),
        }
    }

    /// What is kept under a name; nothing where nothing is.
    pub fn get(&self, id: PictureId) -> Result<Option<Picture>, MediaError> {
        self.files.picture(id)
    }

    /// Whether anything is kept under a name, whole or not.
    pub fn holds(&self, id: PictureId) -> bool {
        self.path(id, Form::Original).parent().is_some_and(Path::exists)
    }

    /// The bytes of one form of a picture; nothing where it is not kept, or not in that form.
    pub fn read(&self, id: PictureId, form: Form) -> Result<Option<Vec<u8>>, MediaError> {
        self.files.form(id, form)
    }

    /// The pixels of a kept picture in its smallest width, at most 320 px; nothing where it is not kept.
    pub fn raster(&self, id: PictureId) -> Result<Option<RgbImage>, MediaError> {
        let Some(width) = self.get(id)?.and_then(|picture| picture.widths().next()) else { return Ok(None) };
        let form = Form::Webp(width);
        let damaged = |reason: String| MediaError::damaged(&self.path(id, form), reason);
        let bytes = self.read(id, form)?.ok_or_else(|| damaged("it is not there".to_owned()))?;
        let decoded = pictures::decode(&bytes).map_err(|fault| damaged(fault.to_string()))?;
        Ok(Some(decoded.pixels))
    }

    /// Where one form of a picture stands, or would.
    pub fn path(&self, id: PictureId, form: Form) -> PathBuf {
        self.files.path(id, form)
    }
}

/// Makes the description and the smaller forms of a picture from the bytes that came.
fn made(id: PictureId, bytes: &[u8]) -> Result<(Picture, Forms), pictures::Fault> {
    let decoded = pictures::decode(bytes)?;
    if let Some(reason) = &decoded.unread_profile {
        tracing::warn!(
            picture = %id,
            "the colour profile of a picture cannot be used ({reason}), so its numbers are taken as sRGB; send a copy in sRGB"
        );
    }
    let (format, pixels) = (format(decoded.format), &decoded.pixels);
    let (width, height) = pixels.dimensions();
    let longer = width.max(height);
    let shrunk = |side: u32| (side * PALETTE_SIDE.min(longer) / longer).max(1);
    let small = thumbnails::smaller(pixels, shrunk(width), shrunk(height))?;
    let palette = pictures::palette(&small).into_iter().map(Colour).collect();
    let picture = Picture { id, format, width, height, palette };
    let forms = forms::forms(&picture, pixels)?;
    Ok((picture, forms))
}

const fn format(format: pictures::Format) -> PictureFormat {
    match format {
        pictures::Format::Jpeg => PictureFormat::Jpeg,
        pictures::Format::Png => PictureFormat::Png,
        pictures::Format::Webp => PictureFormat::Webp,
    }
}
