//! From bytes to pixels, under limits.

use std::io::Cursor;
use std::panic::{AssertUnwindSafe, catch_unwind};

use image::codecs::jpeg::JpegDecoder;
use image::codecs::png::PngDecoder;
use image::codecs::webp::WebPDecoder;
use image::metadata::Orientation;
use image::{ColorType, DynamicImage, ImageDecoder, ImageError, Limits, RgbImage};
use schemas::picture::{MAX_PICTURE_BYTES, MAX_SIDE, PictureFormat};

use super::fault::{MAX_DECODED_BYTES, PictureFault};
use super::room::{Held, ROOM};
use super::{format, header};

/// The pixels of a picture. As long as they are here, the memory that they took to decode is counted.
#[derive(Debug)]
pub(super) struct Decoded {
    pub(super) format: PictureFormat,
    pub(super) pixels: RgbImage,
    _held: Held,
}

/// The pixels as they are seen: turned as the camera says, on white where they let light through. Waits until there is room
/// for them beside those of other pictures.
pub(super) fn decode(bytes: &[u8]) -> Result<Decoded, PictureFault> {
    if bytes.len() > MAX_PICTURE_BYTES {
        return Err(PictureFault::TooManyBytes { bytes: u64::try_from(bytes.len()).unwrap_or(u64::MAX) });
    }
    let format = format::recognise(bytes)?;
    header::check(format, bytes)?;
    // Decoders are written with care, and yet the bytes are a stranger's.
    let decoded = catch_unwind(AssertUnwindSafe(|| pixels(format, bytes)));
    let (pixels, held) = decoded.map_err(|_| PictureFault::damaged("its decoder gave up"))??;
    Ok(Decoded { format, pixels, _held: held })
}

fn pixels(format: PictureFormat, bytes: &[u8]) -> Result<(RgbImage, Held), PictureFault> {
    let bytes = Cursor::new(bytes);
    match format {
        // Those of a picture that comes in several scans are kept as coefficients, two bytes each, until the last.
        PictureFormat::Jpeg => seen(JpegDecoder::new(bytes).map_err(fault)?, 6),
        PictureFormat::Png => seen(PngDecoder::with_limits(bytes, limits()).map_err(fault)?, 0),
        // It decodes into a buffer of its own with four bytes a pixel.
        PictureFormat::Webp => seen(WebPDecoder::new(bytes).map_err(fault)?, 4),
    }
}

/// `working` is how many bytes a pixel the decoder takes besides what it gives.
fn seen(mut decoder: impl ImageDecoder, working: u64) -> Result<(RgbImage, Held), PictureFault> {
    let (width, height) = decoder.dimensions();
    let cost = Cost::of(decoder.color_type(), u64::from(width) * u64::from(height));
    if cost.largest() > MAX_DECODED_BYTES {
        return Err(PictureFault::TooMuchMemory { width, height, bytes: cost.largest() });
    }
    decoder.set_limits(limits()).map_err(fault)?;
    // Metadata that cannot be read turns nothing.
    let orientation = decoder.orientation().unwrap_or(Orientation::NoTransforms);
    let held = ROOM.hold(cost.in_all(working, orientation));
    let image = DynamicImage::from_decoder(decoder).map_err(fault)?;
    let mut image = DynamicImage::ImageRgb8(on_white(image));
    image.apply_orientation(orientation);
    Ok((image.into_rgb8(), held))
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
    fn of(color: ColorType, pixels: u64) -> Cost {
        let coded = pixels.saturating_mul(u64::from(color.bytes_per_pixel()));
        let (with_alpha, flat) = match color {
            ColorType::Rgb8 => (0, 0),
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

fn on_white(image: DynamicImage) -> RgbImage {
    if !image.color().has_alpha() {
        return image.into_rgb8();
    }
    let image = image.into_rgba8();
    let (width, height) = image.dimensions();
    let mut flat = RgbImage::new(width, height);
    for (from, to) in image.pixels().zip(flat.pixels_mut()) {
        let [red, green, blue, alpha] = from.0.map(u16::from);
        // At most 255 in all; half of 255 is added to round.
        to.0 = [red, green, blue]
            .map(|part| u8::try_from((part * alpha + 255 * (255 - alpha) + 127) / 255).unwrap_or(u8::MAX));
    }
    flat
}

fn fault(error: ImageError) -> PictureFault {
    match error {
        ImageError::IoError(error) if error.kind() == std::io::ErrorKind::UnexpectedEof => {
            PictureFault::CutOff
        }
        other => PictureFault::damaged(other),
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
            let cost = Cost::of(color, 1_000);
            assert_eq!(
                (cost.largest(), cost.in_all(0, as_they_are)),
                (largest * 1_000, in_all * 1_000),
                "{color:?}"
            );
        }
        let photograph = Cost::of(ColorType::Rgb8, 1_000);
        assert_eq!(photograph.in_all(6, as_they_are), 9_000);
        assert_eq!(photograph.in_all(0, Orientation::Rotate90), 6_000);
    }

    #[test]
    fn a_small_file_of_many_grey_pixels_is_refused() {
        let mut file = Vec::new();
        let pixels = vec![0; 8_000 * 8_000];
        PngEncoder::new(&mut file).write_image(&pixels, 8_000, 8_000, ExtendedColorType::L8).unwrap();
        assert!(file.len() < 1 << 20, "{}", file.len());
        let refused = decode(&file).unwrap_err();
        assert_eq!(refused, PictureFault::TooMuchMemory { width: 8_000, height: 8_000, bytes: 192_000_000 });
    }
}
