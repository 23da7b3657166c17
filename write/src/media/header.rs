//! What a picture says of itself before it is decoded: how large it is, whether it moves, and whether it is all there.

mod jpeg;
mod png;
mod webp;

use schemas::picture::{MAX_SIDE, PictureFormat};

use super::fault::PictureFault;
pub(super) use png::{Png, beside as png};

/// What a header tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Header {
    /// In pixels, as stored: not turned yet.
    width: u32,
    /// In pixels, as stored.
    height: u32,
}

/// Refuses a picture whose header or outline is not in order. Nothing is decoded, and no memory is taken for it.
pub(super) fn check(format: PictureFormat, bytes: &[u8]) -> Result<(), PictureFault> {
    let (width, height) = size(format, bytes)?;
    if width == 0 || height == 0 {
        Err(PictureFault::NoPixels { width, height })
    } else if width > MAX_SIDE || height > MAX_SIDE {
        Err(PictureFault::TooLong { width, height })
    } else {
        Ok(())
    }
}

/// Returns width and height in pixels as they are stored, where the file goes on to its end.
pub(super) fn size(format: PictureFormat, bytes: &[u8]) -> Result<(u32, u32), PictureFault> {
    let Header { width, height } = match format {
        PictureFormat::Jpeg => jpeg::header(bytes)?,
        PictureFormat::Png => png::header(bytes)?,
        PictureFormat::Webp => webp::header(bytes)?,
    };
    Ok((width, height))
}

/// So many bytes from a place on.
fn array<const N: usize>(bytes: &[u8], at: usize) -> Result<[u8; N], PictureFault> {
    bytes.get(at..).and_then(|rest| rest.first_chunk()).copied().ok_or(PictureFault::CutOff)
}
