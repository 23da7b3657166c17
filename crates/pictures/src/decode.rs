//! From bytes to pixels, under limits.

use std::io::Cursor;
use std::panic::{AssertUnwindSafe, catch_unwind};

use image::codecs::jpeg::JpegDecoder;
use image::codecs::png::PngDecoder;
use image::codecs::webp::WebPDecoder;
use image::metadata::Orientation;
use image::{ColorType, DynamicImage, ImageDecoder, ImageError, Limits, RgbImage};

use super::fault::{Fault, MAX_DECODED_BYTES};
use super::room::{Held, ROOM};
use super::{Format, MAX_BYTES, MAX_SIDE, format, header};
use colour::Profile;

mod cmyk;
mod colour;

/// The pixels of a picture. As long as they are here, the memory that they took to decode is counted.
#[derive(Debug)]
pub struct Decoded {
    /// What the bytes were.
    pub format: Format,
    /// The pixels as they are seen.
    pub pixels: RgbImage,
    /// Why the colour profile was left out, where it was: the numbers are taken as sRGB then.
    pub unread_profile: Option<String>,
    _held: Held,
}

/// What became of the pixels.
struct Seen {
    pixels: RgbImage,
    unread_profile: Option<String>,
    held: Held,
}

/// What stands in a file beside its pixels.
#[derive(Default)]
struct Beside {
    /// Orientation as in EXIF, where the decoder does not see it.
    exif: Option<Vec<u8>>,
    profile: Option<Profile>,
    /// What codes say that come before a profile, or why they cannot be used.
    codes: Option<Result<Option<Profile>, String>>,
}

/// The pixels as they are seen: turned as the camera says, in sRGB, on white where they let light through. Waits until there is room
/// for them beside those of other pictures.
///
/// # Errors
///
/// Refuses what is not a whole picture within the limits.
pub fn decode(bytes: &[u8]) -> Result<Decoded, Fault> {
    if bytes.len() > MAX_BYTES {
        return Err(Fault::TooManyBytes { bytes: u64::try_from(bytes.len()).unwrap_or(u64::MAX) });
    }
    let format = format::recognise(bytes)?;
    header::check(format, bytes)?;
    // Decoders are written with care, and yet the bytes are a stranger's.
    let decoded = catch_unwind(AssertUnwindSafe(|| pixels(format, bytes)));
    let Seen { pixels, unread_profile, held } =
        decoded.map_err(|_| Fault::damaged("its decoder gave up"))??;
    Ok(Decoded { format, pixels, unread_profile, _held: held })
}

fn pixels(format: Format, bytes: &[u8]) -> Result<Seen, Fault> {
    let cursor = Cursor::new(bytes);
    match format {
        Format::Jpeg => match cmyk::of(bytes, |icc| Profile::of_icc(icc).ok().flatten()) {
            Some(inks) => printed(&inks, JpegDecoder::new(cursor).map_err(fault)?),
            // Those of a picture that comes in several scans are kept as coefficients, two bytes each, until the last.
            None => seen(JpegDecoder::new(cursor).map_err(fault)?, 6, Beside::default()),
        },
        Format::Png => {
            let header::Png { exif, gamma, primaries, codes } = header::png(bytes);
            let profile = gamma.and_then(|gamma| Profile::of_gamma(gamma, primaries));
            let beside = Beside { exif, profile, codes: codes.map(Profile::of_codes) };
            seen(PngDecoder::with_limits(cursor, limits()).map_err(fault)?, 0, beside)
        }
        // It decodes into a buffer of its own with four bytes a pixel.
        Format::Webp => seen(WebPDecoder::new(cursor).map_err(fault)?, 4, Beside::default()),
    }
}

/// The pixels of a JPEG of four inks. One whose profile cannot be applied is seen as the decoder has it.
fn printed(inks: &cmyk::Inks<'_>, mut decoder: impl ImageDecoder) -> Result<Seen, Fault> {
    let (width, height) = (inks.width, inks.height);
    let cost = Cost::of(ColorType::Rgba8, u64::from(width) * u64::from(height), true);
    if cost.largest() > MAX_DECODED_BYTES {
        return Err(Fault::TooMuchMemory { width, height, bytes: cost.largest() });
    }
    let orientation = orientation(&mut decoder, None);
    let held = ROOM.hold(cost.in_all(8, orientation));
    match inks.to_srgb()? {
        Ok(pixels) => Ok(Seen { pixels: turned(pixels, orientation), unread_profile: None, held }),
        Err(reason) => {
            drop(held);
            let seen = seen(decoder, 6, Beside::default())?;
            Ok(Seen { unread_profile: Some(reason), ..seen })
        }
    }
}

/// `working` is how many bytes a pixel the decoder takes besides what it gives.
fn seen(mut decoder: impl ImageDecoder, working: u64, beside: Beside) -> Result<Seen, Fault> {
    let (width, height) = decoder.dimensions();
    let named = match (beside.codes, decoder.icc_profile()) {
        (Some(Ok(profile)), _) => Ok(profile),
        (_, Ok(Some(icc))) => Profile::of_icc(&icc),
        (_, Err(error)) => Err(error.to_string()),
        (Some(Err(reason)), Ok(None)) => Err(reason),
        (None, Ok(None)) => Ok(beside.profile),
    };
    let (profile, mut unread_profile) =
        named.map_or_else(|reason| (None, Some(reason)), |profile| (profile, None));
    let cost = Cost::of(decoder.color_type(), u64::from(width) * u64::from(height), profile.is_some());
    if cost.largest() > MAX_DECODED_BYTES {
        return Err(Fault::TooMuchMemory { width, height, bytes: cost.largest() });
    }
    decoder.set_limits(limits()).map_err(fault)?;
    let orientation = orientation(&mut decoder, beside.exif);
    let held = ROOM.hold(cost.in_all(working, orientation));
    let image = DynamicImage::from_decoder(decoder).map_err(fault)?;
    let pixels = match profile.map(|profile| profile.to_srgb(&image)) {
        Some(Ok(pixels)) => pixels,
        Some(Err(reason)) => {
            unread_profile = Some(reason);
            flat(image)
        }
        None => flat(image),
    };
    Ok(Seen { pixels: turned(pixels, orientation), unread_profile, held })
}

/// How the picture is to be turned. Metadata that cannot be read turns nothing; many writers put a name in front of it that
/// belongs into JPEG alone.
fn orientation(decoder: &mut impl ImageDecoder, beside: Option<Vec<u8>>) -> Orientation {
    let exif = decoder.exif_metadata().ok().flatten().or(beside).unwrap_or_default();
    let exif = exif.strip_prefix(b"Exif\0\0").unwrap_or(&exif);
    Orientation::from_exif_chunk(exif).unwrap_or(Orientation::NoTransforms)
}

fn turned(pixels: RgbImage, orientation: Orientation) -> RgbImage {
    let mut image = DynamicImage::ImageRgb8(pixels);
    image.apply_orientation(orientation);
    image.into_rgb8()
}

/// What the pixels of a picture take, in bytes, in each of the forms that they go through.
struct Cost {
    pixels: u64,
    /// As they are coded.
    coded: u64,
    /// A pixel, as red, green, blue and how much light goes through, where that has to be made.
    with_alpha: u64,
    /// A pixel, as red, green and blue, where that is made beside the other form.
    flat: u64,
}

impl Cost {
    /// `managed` tells whether the pixels are converted by a profile.
    fn of(color: ColorType, pixels: u64, managed: bool) -> Cost {
        let coded = pixels.saturating_mul(u64::from(color.bytes_per_pixel()));
        let (with_alpha, flat) = match color {
            ColorType::Rgb8 if !managed => (0, 0),
            ColorType::L8 | ColorType::La8 if managed => (4, 3),
            ColorType::L16 | ColorType::La16 if managed => (8, 3),
            ColorType::Rgba8 => (0, 3),
            other if other.has_alpha() => (4, 3),
            _ => (0, 3),
        };
        Cost { pixels, coded, with_alpha, flat }
    }

    /// The largest of the forms. In the end there are three bytes a pixel, whatever was coded.
    fn largest(&self) -> u64 {
        self.coded.max(self.pixels.saturating_mul(self.with_alpha.max(3)))
    }

    /// The most that is held at any moment.
    fn in_all(&self, working: u64, orientation: Orientation) -> u64 {
        let decoding = self.coded + self.pixels * working;
        // One form is gone before the next but one is made.
        let converting = match self.with_alpha {
            0 => self.coded + self.pixels * self.flat,
            alpha => (self.coded + self.pixels * alpha).max(self.pixels * (alpha + self.flat)),
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

fn flat(image: DynamicImage) -> RgbImage {
    if !image.color().has_alpha() {
        return image.into_rgb8();
    }
    let image = image.into_rgba8();
    let (width, height) = image.dimensions();
    let mut flat = RgbImage::new(width, height);
    for (from, to) in image.pixels().zip(flat.pixels_mut()) {
        let [red, green, blue, alpha] = from.0;
        to.0 = [red, green, blue].map(|part| on_white(part, alpha));
    }
    flat
}

/// A part of a colour that lets light through, on white.
fn on_white(part: u8, alpha: u8) -> u8 {
    let (part, alpha) = (u16::from(part), u16::from(alpha));
    // At most 255 in all; half of 255 is added to round.
    u8::try_from((part * alpha + 255 * (255 - alpha) + 127) / 255).unwrap_or(u8::MAX)
}

fn fault(error: ImageError) -> Fault {
    match error {
        ImageError::IoError(error) if error.kind() == std::io::ErrorKind::UnexpectedEof => Fault::CutOff,
        other => Fault::damaged(other),
    }
}

#[cfg(test)]
mod tests {
    use image::codecs::png::PngEncoder;
    use image::{ExtendedColorType, ImageEncoder};

    use super::*;

    #[test]
    fn every_form_that_the_pixels_go_through_is_counted() {
        let as_they_are = Orientation::NoTransforms;
        for (color, largest, in_all) in [
            (ColorType::Rgb8, 3, 3),
            (ColorType::L8, 3, 4),
            (ColorType::La8, 4, 7),
            (ColorType::Rgba8, 4, 7),
            (ColorType::L16, 3, 5),
            (ColorType::Rgb16, 6, 9),
            (ColorType::Rgba16, 8, 12),
        ] {
            let cost = Cost::of(color, 1_000, false);
            assert_eq!(
                (cost.largest(), cost.in_all(0, as_they_are)),
                (largest * 1_000, in_all * 1_000),
                "{color:?}"
            );
        }
        let photograph = Cost::of(ColorType::Rgb8, 1_000, false);
        assert_eq!(photograph.in_all(6, as_they_are), 9_000);
        assert_eq!(photograph.in_all(0, Orientation::Rotate90), 6_000);
        assert_eq!(Cost::of(ColorType::Rgb8, 1_000, true).in_all(0, as_they_are), 6_000);
    }

    #[test]
    fn a_small_file_of_many_grey_pixels_is_refused() {
        let mut file = Vec::new();
        let pixels = vec![0; 8_000 * 8_000];
        PngEncoder::new(&mut file).write_image(&pixels, 8_000, 8_000, ExtendedColorType::L8).unwrap();
        assert!(file.len() < 1 << 20, "{}", file.len());
        let refused = decode(&file).unwrap_err();
        assert_eq!(refused, Fault::TooMuchMemory { width: 8_000, height: 8_000, bytes: 192_000_000 });
    }
}
