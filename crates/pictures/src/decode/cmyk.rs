//! JPEGs of four inks (CMYK), converted by their profile: the decoder's own conversion ignores it.

use image::RgbImage;
use zune_jpeg::JpegDecoder;
use zune_jpeg::zune_core::bytestream::ZCursor;
use zune_jpeg::zune_core::colorspace::ColorSpace;
use zune_jpeg::zune_core::options::DecoderOptions;

use super::super::error::PictureError;
use super::colour::Profile;

/// A JPEG of four inks and the profile for them.
pub(super) struct Inks<'b> {
    bytes: &'b [u8],
    space: ColorSpace,
    profile: Profile,
    pub(super) width: u32,
    pub(super) height: u32,
}

/// Returns the JPEG if it has four inks and a profile for them.
pub(super) fn with_profile(bytes: &[u8], profile: impl FnOnce(&[u8]) -> Option<Profile>) -> Option<Inks<'_>> {
    let mut decoder = JpegDecoder::new_with_options(ZCursor::new(bytes), options());
    decoder.decode_headers().ok()?;
    let space =
        decoder.input_colorspace().filter(|space| matches!(space, ColorSpace::CMYK | ColorSpace::YCCK))?;
    let (width, height) = decoder.dimensions()?;
    let profile = profile(&decoder.icc_profile()?).filter(Profile::is_cmyk)?;
    Some(Inks {
        bytes,
        space,
        profile,
        width: u32::try_from(width).ok()?,
        height: u32::try_from(height).ok()?,
    })
}

impl Inks<'_> {
    /// Returns the pixels in sRGB, or why the profile cannot be applied.
    pub(super) fn to_srgb(&self) -> Result<Result<RgbImage, String>, PictureError> {
        let options = options().jpeg_set_out_colorspace(self.space);
        let mut decoder = JpegDecoder::new_with_options(ZCursor::new(self.bytes), options);
        let mut inks = decoder.decode().map_err(|error| PictureError::damaged(format!("{error:?}")))?;
        // All writers store the values as Adobe's programs do: 255 is no ink.
        for pixel in inks.chunks_exact_mut(4) {
            if self.space == ColorSpace::YCCK {
                let [y, cb, cr] = [pixel[0], pixel[1], pixel[2]].map(f32::from);
                let (cb, cr) = (cb - 128.0, cr - 128.0);
                let parts = [y + 1.402 * cr, y - 0.344_136 * cb - 0.714_136 * cr, y + 1.772 * cb];
                for (ink, part) in pixel.iter_mut().zip(parts) {
                    *ink = rounded(part);
                }
            } else {
                pixel[..3].iter_mut().for_each(|part| *part = 255 - *part);
            }
            pixel[3] = 255 - pixel[3];
        }
        Ok(self.profile.inks_to_srgb(&inks).and_then(|rgb| {
            RgbImage::from_raw(self.width, self.height, rgb)
                .ok_or_else(|| "its pixels cannot be converted".to_owned())
        }))
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the value is from 0 to 255")]
fn rounded(part: f32) -> u8 {
    part.round().clamp(0.0, 255.0) as u8
}

fn options() -> DecoderOptions {
    DecoderOptions::default().set_strict_mode(false).set_max_width(usize::MAX).set_max_height(usize::MAX)
}
