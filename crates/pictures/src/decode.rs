//! Decodes a picture to sRGB pixels, under limits.

use std::io::Cursor;
use std::panic::{AssertUnwindSafe, catch_unwind};

use image::codecs::jpeg::JpegDecoder;
use image::codecs::png::PngDecoder;
use image::codecs::webp::WebPDecoder;
use image::metadata::Orientation;
use image::{ColorType, DynamicImage, ImageDecoder, ImageError, Limits, RgbImage};

use super::error::{MAX_DECODED_BYTES, PictureError};
use super::memory::{BUDGET, Reservation};
use super::{Format, MAX_BYTES, MAX_SIDE, format, header};
use colour::Profile;

mod cmyk;
mod colour;

/// A decoded picture. Until it is dropped, the memory that decoding took counts against the budget of the process.
#[derive(Debug)]
pub struct Decoded {
    /// The format of the bytes.
    pub format: Format,
    /// The pixels in sRGB, upright, opaque.
    pub pixels: RgbImage,
    /// Why the colour profile was ignored; the values are then taken as sRGB. `None` if it was applied, or there is none.
    pub unread_profile: Option<String>,
    _reservation: Reservation,
}

/// Converted pixels, and the memory reserved for them.
struct Converted {
    pixels: RgbImage,
    unread_profile: Option<String>,
    reservation: Reservation,
}

/// Metadata that the decoder does not read itself.
#[derive(Default)]
struct Metadata {
    /// The EXIF data.
    exif: Option<Vec<u8>>,
    profile: Option<Profile>,
    /// The profile of H.273 code points, which takes precedence over any other, or why it cannot be used.
    codes: Option<Result<Option<Profile>, String>>,
}

/// Decodes a picture: applies its orientation, converts it to sRGB, and puts transparent pixels on white. Blocks the thread while
/// other pictures use the memory budget of the process.
///
/// # Errors
///
/// Fails if the bytes are not a complete picture within the limits.
pub fn decode(bytes: &[u8]) -> Result<Decoded, PictureError> {
    if bytes.len() > MAX_BYTES {
        return Err(PictureError::TooManyBytes { bytes: u64::try_from(bytes.len()).unwrap_or(u64::MAX) });
    }
    let format = format::detect(bytes)?;
    header::check(format, bytes)?;
    // The bytes are untrusted: a panic of a decoder must not end the process.
    let decoded = catch_unwind(AssertUnwindSafe(|| pixels(format, bytes)));
    let Converted { pixels, unread_profile, reservation } =
        decoded.map_err(|_| PictureError::damaged("its decoder gave up"))??;
    Ok(Decoded { format, pixels, unread_profile, _reservation: reservation })
}

fn pixels(format: Format, bytes: &[u8]) -> Result<Converted, PictureError> {
    let cursor = Cursor::new(bytes);
    match format {
        Format::Jpeg => match cmyk::with_profile(bytes, |icc| Profile::of_icc(icc).ok().flatten()) {
            Some(inks) => decode_cmyk(&inks, JpegDecoder::new(cursor).map_err(picture_error)?),
            // Progressive: the coefficients, two bytes each, are kept until the last scan.
            None => convert(JpegDecoder::new(cursor).map_err(picture_error)?, 6, Metadata::default()),
        },
        Format::Png => {
            let header::PngMetadata { exif, gamma, primaries, codes } = header::png_metadata(bytes);
            let profile = gamma.and_then(|gamma| Profile::of_gamma(gamma, primaries));
            let metadata = Metadata { exif, profile, codes: codes.map(Profile::of_codes) };
            convert(PngDecoder::with_limits(cursor, limits()).map_err(picture_error)?, 0, metadata)
        }
        // The decoder has a buffer of its own with four bytes per pixel.
        Format::Webp => convert(WebPDecoder::new(cursor).map_err(picture_error)?, 4, Metadata::default()),
    }
}

/// Decodes a JPEG of four inks by its profile; if that cannot be applied, by the decoder's own conversion.
fn decode_cmyk(inks: &cmyk::Inks<'_>, mut decoder: impl ImageDecoder) -> Result<Converted, PictureError> {
    let (width, height) = (inks.width, inks.height);
    let cost = Cost::of(ColorType::Rgba8, u64::from(width) * u64::from(height), true);
    if cost.largest() > MAX_DECODED_BYTES {
        return Err(PictureError::TooMuchMemory { width, height, bytes: cost.largest() });
    }
    let orientation = orientation(&mut decoder, None);
    let reservation = BUDGET.reserve(cost.peak(8, orientation));
    match inks.to_srgb()? {
        Ok(pixels) => {
            Ok(Converted { pixels: oriented(pixels, orientation), unread_profile: None, reservation })
        }
        Err(reason) => {
            drop(reservation);
            let converted = convert(decoder, 6, Metadata::default())?;
            Ok(Converted { unread_profile: Some(reason), ..converted })
        }
    }
}

/// Decodes a picture and converts it to sRGB. `buffered` is the number of bytes per pixel in buffers of the decoder.
fn convert(
    mut decoder: impl ImageDecoder,
    buffered: u64,
    metadata: Metadata,
) -> Result<Converted, PictureError> {
    let (width, height) = decoder.dimensions();
    let profile = match (metadata.codes, decoder.icc_profile()) {
        (Some(Ok(profile)), _) => Ok(profile),
        (_, Ok(Some(icc))) => Profile::of_icc(&icc),
        (_, Err(error)) => Err(error.to_string()),
        (Some(Err(reason)), Ok(None)) => Err(reason),
        (None, Ok(None)) => Ok(metadata.profile),
    };
    let (profile, mut unread_profile) =
        profile.map_or_else(|reason| (None, Some(reason)), |profile| (profile, None));
    let cost = Cost::of(decoder.color_type(), u64::from(width) * u64::from(height), profile.is_some());
    if cost.largest() > MAX_DECODED_BYTES {
        return Err(PictureError::TooMuchMemory { width, height, bytes: cost.largest() });
    }
    decoder.set_limits(limits()).map_err(picture_error)?;
    let orientation = orientation(&mut decoder, metadata.exif);
    let reservation = BUDGET.reserve(cost.peak(buffered, orientation));
    let image = DynamicImage::from_decoder(decoder).map_err(picture_error)?;
    let pixels = match profile.map(|profile| profile.to_srgb(&image)) {
        Some(Ok(pixels)) => pixels,
        Some(Err(reason)) => {
            unread_profile = Some(reason);
            opaque(image)
        }
        None => opaque(image),
    };
    Ok(Converted { pixels: oriented(pixels, orientation), unread_profile, reservation })
}

/// Returns the orientation of a picture; none if its EXIF data cannot be read. Many writers put a prefix before the data that belongs
/// into JPEG only.
fn orientation(decoder: &mut impl ImageDecoder, exif: Option<Vec<u8>>) -> Orientation {
    let exif = decoder.exif_metadata().ok().flatten().or(exif).unwrap_or_default();
    let exif = exif.strip_prefix(b"Exif\0\0").unwrap_or(&exif);
    Orientation::from_exif_chunk(exif).unwrap_or(Orientation::NoTransforms)
}

fn oriented(pixels: RgbImage, orientation: Orientation) -> RgbImage {
    let mut image = DynamicImage::ImageRgb8(pixels);
    image.apply_orientation(orientation);
    image.into_rgb8()
}

/// The memory that the pixels of a picture take, in each of the forms that they go through.
struct Cost {
    /// The number of pixels.
    pixels: u64,
    /// The bytes of all pixels as the decoder returns them.
    decoded: u64,
    /// The bytes of a pixel as RGBA; 0 if it is not converted to that.
    with_alpha: u64,
    /// The bytes of a pixel as RGB; 0 if it is not converted to that.
    opaque: u64,
}

impl Cost {
    /// `has_profile` states whether the pixels are converted by a profile.
    fn of(color: ColorType, pixels: u64, has_profile: bool) -> Cost {
        let decoded = pixels.saturating_mul(u64::from(color.bytes_per_pixel()));
        let (with_alpha, opaque) = match color {
            ColorType::Rgb8 if !has_profile => (0, 0),
            ColorType::L8 | ColorType::La8 if has_profile => (4, 3),
            ColorType::L16 | ColorType::La16 if has_profile => (8, 3),
            ColorType::Rgba8 => (0, 3),
            other if other.has_alpha() => (4, 3),
            _ => (0, 3),
        };
        Cost { pixels, decoded, with_alpha, opaque }
    }

    /// Returns the bytes of the largest form. The last form has three bytes per pixel in any case.
    fn largest(&self) -> u64 {
        self.decoded.max(self.pixels.saturating_mul(self.with_alpha.max(3)))
    }

    /// Returns the bytes of all forms that exist at once, at most.
    fn peak(&self, buffered: u64, orientation: Orientation) -> u64 {
        let decoding = self.decoded + self.pixels * buffered;
        // At most two forms exist at once.
        let converting = match self.with_alpha {
            0 => self.decoded + self.pixels * self.opaque,
            alpha => (self.decoded + self.pixels * alpha).max(self.pixels * (alpha + self.opaque)),
        };
        let copies = match orientation {
            Orientation::NoTransforms | Orientation::FlipHorizontal | Orientation::FlipVertical => 1,
            _ => 2,
        };
        decoding.max(converting).max(self.pixels * 3 * copies)
    }
}

fn limits() -> Limits {
    let mut limits = Limits::default();
    limits.max_image_width = Some(MAX_SIDE);
    limits.max_image_height = Some(MAX_SIDE);
    limits.max_alloc = Some(MAX_DECODED_BYTES);
    limits
}

/// Returns the pixels without alpha, on white.
fn opaque(image: DynamicImage) -> RgbImage {
    if !image.color().has_alpha() {
        return image.into_rgb8();
    }
    let image = image.into_rgba8();
    let (width, height) = image.dimensions();
    let mut opaque = RgbImage::new(width, height);
    for (from, to) in image.pixels().zip(opaque.pixels_mut()) {
        let [red, green, blue, alpha] = from.0;
        to.0 = [red, green, blue].map(|part| on_white(part, alpha));
    }
    opaque
}

/// Returns a colour component of a transparent pixel on white.
fn on_white(part: u8, alpha: u8) -> u8 {
    let (part, alpha) = (u16::from(part), u16::from(alpha));
    // At most 255; adding half of 255 rounds.
    u8::try_from((part * alpha + 255 * (255 - alpha) + 127) / 255).unwrap_or(u8::MAX)
}

fn picture_error(error: ImageError) -> PictureError {
    match error {
        ImageError::IoError(error) if error.kind() == std::io::ErrorKind::UnexpectedEof => {
            PictureError::Truncated
        }
        other => PictureError::damaged(other),
    }
}

#[cfg(test)]
mod tests {
    use image::codecs::png::PngEncoder;
    use image::{ExtendedColorType, ImageEncoder};

    use super::*;

    #[test]
    fn the_memory_of_every_form_of_the_pixels_is_counted() {
        let upright = Orientation::NoTransforms;
        for (color, largest, peak) in [
            (ColorType::Rgb8, 3, 3),
            (ColorType::L8, 3, 4),
            (ColorType::La8, 4, 7),
            (ColorType::Rgba8, 4, 7),
            (ColorType::L16, 3, 5),
            (ColorType::Rgb16, 6, 9),
            (ColorType::Rgba16, 8, 12),
        ] {
            let cost = Cost::of(color, 1_000, false);
            assert_eq!((cost.largest(), cost.peak(0, upright)), (largest * 1_000, peak * 1_000), "{color:?}");
        }
        let photograph = Cost::of(ColorType::Rgb8, 1_000, false);
        assert_eq!(photograph.peak(6, upright), 9_000);
        assert_eq!(photograph.peak(0, Orientation::Rotate90), 6_000);
        assert_eq!(Cost::of(ColorType::Rgb8, 1_000, true).peak(0, upright), 6_000);
    }

    #[test]
    fn a_small_file_with_many_grey_pixels_is_refused() {
        let mut file = Vec::new();
        let pixels = vec![0; 8_000 * 8_000];
        PngEncoder::new(&mut file).write_image(&pixels, 8_000, 8_000, ExtendedColorType::L8).unwrap();
        assert!(file.len() < 1 << 20, "{}", file.len());
        let refused = decode(&file).unwrap_err();
        assert_eq!(refused, PictureError::TooMuchMemory { width: 8_000, height: 8_000, bytes: 192_000_000 });
    }
}
