//! Reads size, animation and completeness of a picture before it is decoded. The crate `imagesize` reads sizes only: it accepts
//! cut-off JPEG and WebP files and animations (ADR 29).

mod jpeg;
mod png;
mod webp;

use super::fault::Fault;
use super::{Format, MAX_SIDE, format};
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
pub(super) fn check(format: Format, bytes: &[u8]) -> Result<(), Fault> {
    let (width, height) = size(format, bytes)?;
    if width == 0 || height == 0 {
        Err(Fault::NoPixels { width, height })
    } else if width > MAX_SIDE || height > MAX_SIDE {
        Err(Fault::TooLong { width, height })
    } else {
        Ok(())
    }
}

/// Returns width and height in pixels as they are stored, where the file goes on to its end.
fn size(format: Format, bytes: &[u8]) -> Result<(u32, u32), Fault> {
    let Header { width, height } = match format {
        Format::Jpeg => jpeg::header(bytes)?,
        Format::Png => png::header(bytes)?,
        Format::Webp => webp::header(bytes)?,
    };
    Ok((width, height))
}

/// Returns the format of a picture and its size as stored, without decoding it.
///
/// # Errors
///
/// Refuses what is not one of the formats, and what is cut off.
pub fn outline(bytes: &[u8]) -> Result<(Format, (u32, u32)), Fault> {
    let format = format::recognise(bytes)?;
    Ok((format, size(format, bytes)?))
}

/// So many bytes from a place on.
fn array<const N: usize>(bytes: &[u8], at: usize) -> Result<[u8; N], Fault> {
    bytes.get(at..).and_then(|rest| rest.first_chunk()).copied().ok_or(Fault::CutOff)
}
