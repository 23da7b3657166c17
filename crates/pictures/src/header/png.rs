//! The chunks of a PNG. The decoder checks their checksums, and that the picture is complete.

use super::{Header, PictureError, array};

/// The length of the signature.
const SIGNATURE: usize = 8;

/// Returns the size of a PNG; refuses an animation.
pub(super) fn header(bytes: &[u8]) -> Result<Header, PictureError> {
    if array(bytes, SIGNATURE + 4)? != *b"IHDR" {
        return Err(PictureError::damaged("the PNG does not begin with its header"));
    }
    let [width, height] = [SIGNATURE + 8, SIGNATURE + 12].map(|at| array(bytes, at).map(u32::from_be_bytes));
    let header = Header { width: width?, height: height? };
    let mut at = SIGNATURE;
    // The chunk of an animation comes before the pixels.
    while let Ok(name) = array(bytes, at + 4) {
        match &name {
            b"acTL" => return Err(PictureError::Animated { name: "APNG" }),
            b"IDAT" | b"IEND" => break,
            _ => {}
        }
        let length = u32::from_be_bytes(array(bytes, at)?);
        let next = usize::try_from(length).ok().and_then(|length| at.checked_add(length)?.checked_add(12));
        at = next.ok_or(PictureError::Truncated)?;
    }
    Ok(header)
}

/// The metadata of a PNG, whether it comes before or after the pixels.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct PngMetadata {
    pub(crate) exif: Option<Vec<u8>>,
    /// The gamma of its values, such as 1/2.2; `None` if a profile takes precedence.
    pub(crate) gamma: Option<f32>,
    /// The chromaticities of white, red, green and blue, each x and y.
    pub(crate) primaries: Option<[[f32; 2]; 4]>,
    /// Primaries, transfer function, matrix and range by the code points of H.273; they take precedence over a profile.
    pub(crate) codes: Option<[u8; 4]>,
}

/// Reads the metadata; truncated chunks are ignored.
pub(crate) fn metadata(bytes: &[u8]) -> PngMetadata {
    let (mut metadata, mut has_profile, mut at) = (PngMetadata::default(), false, SIGNATURE);
    while let (Ok(length), Ok(name)) = (array(bytes, at), array(bytes, at + 4)) {
        let Ok(length) = usize::try_from(u32::from_be_bytes(length)) else { break };
        let from = at + 8;
        let Some(data) = from.checked_add(length).and_then(|to| bytes.get(from..to)) else { break };
        match &name {
            b"eXIf" => metadata.exif = Some(data.to_vec()),
            // A profile, and the chunks for sRGB and for H.273 code points, take precedence over a gamma.
            b"iCCP" | b"sRGB" => has_profile = true,
            b"cICP" => (has_profile, metadata.codes) = (true, array(data, 0).ok()),
            b"gAMA" => metadata.gamma = numbers(data).map(|[gamma]| gamma),
            b"cHRM" => {
                metadata.primaries = numbers(data).map(|[wx, wy, rx, ry, gx, gy, bx, by]: [f32; 8]| {
                    [[wx, wy], [rx, ry], [gx, gy], [bx, by]]
                });
            }
            _ => {}
        }
        at = from + length + 4;
    }
    if has_profile { PngMetadata { gamma: None, primaries: None, ..metadata } } else { metadata }
}

/// Returns `N` numbers as PNG stores them, in units of 1/100,000.
#[expect(clippy::cast_precision_loss, reason = "they have few digits")]
fn numbers<const N: usize>(data: &[u8]) -> Option<[f32; N]> {
    let mut numbers = [0.0; N];
    for (index, number) in numbers.iter_mut().enumerate() {
        *number = u32::from_be_bytes(array(data, index * 4).ok()?) as f32 / 100_000.0;
    }
    Some(numbers)
}
