//! Reads size, animation and completeness of a picture before it is decoded. The crate `imagesize` reads sizes only: it accepts
//! truncated JPEG and WebP files, and animations (ADR 29).

mod jpeg;
mod png;
mod webp;

use super::error::PictureError;
use super::{Format, MAX_SIDE, format};
pub(super) use png::{PngMetadata, metadata as png_metadata};

/// The size of a picture.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Header {
    /// In pixels, before the orientation is applied.
    width: u32,
    /// In pixels, before the orientation is applied.
    height: u32,
}

/// Checks the header of a picture, and that it is complete, without decoding it or allocating memory.
pub(super) fn check(format: Format, bytes: &[u8]) -> Result<(), PictureError> {
    let (width, height) = size(format, bytes)?;
    if width == 0 || height == 0 {
        Err(PictureError::NoPixels { width, height })
    } else if width > MAX_SIDE || height > MAX_SIDE {
        Err(PictureError::TooLarge { width, height })
    } else {
        Ok(())
    }
}

/// Returns width and height of a complete picture, in pixels, before the orientation is applied.
fn size(format: Format, bytes: &[u8]) -> Result<(u32, u32), PictureError> {
    let Header { width, height } = match format {
        Format::Jpeg => jpeg::header(bytes)?,
        Format::Png => png::header(bytes)?,
        Format::Webp => webp::header(bytes)?,
    };
    Ok((width, height))
}

/// Returns the format of a picture and its width and height before the orientation is applied, without decoding it.
///
/// # Errors
///
/// Fails if it has another format, is animated, or is truncated.
pub fn probe(bytes: &[u8]) -> Result<(Format, (u32, u32)), PictureError> {
    let format = format::detect(bytes)?;
    Ok((format, size(format, bytes)?))
}

/// Returns the `N` bytes from offset `at` on.
fn array<const N: usize>(bytes: &[u8], at: usize) -> Result<[u8; N], PictureError> {
    bytes.get(at..).and_then(|rest| rest.first_chunk()).copied().ok_or(PictureError::Truncated)
}
