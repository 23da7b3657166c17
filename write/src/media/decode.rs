//! From bytes to pixels, under limits.

use std::io::Cursor;
use std::panic::{AssertUnwindSafe, catch_unwind};

use image::codecs::jpeg::JpegDecoder;
use image::codecs::png::PngDecoder;
use image::codecs::webp::WebPDecoder;
use image::{DynamicImage, ImageDecoder, ImageError, Limits, RgbImage};
use schemas::picture::{MAX_PICTURE_BYTES, MAX_SIDE, PictureFormat};

use super::fault::{MAX_DECODED_BYTES, PictureFault};
use super::{format, header};

/// The pixels as they are seen: turned as the camera says, on white where they let light through.
pub(super) fn decode(bytes: &[u8]) -> Result<(PictureFormat, RgbImage), PictureFault> {
    if bytes.len() > MAX_PICTURE_BYTES {
        return Err(PictureFault::TooManyBytes { bytes: u64::try_from(bytes.len()).unwrap_or(u64::MAX) });
    }
    let format = format::recognise(bytes)?;
    header::check(format, bytes)?;
    // Decoders are written with care, and yet the bytes are a stranger's.
    let decoded = catch_unwind(AssertUnwindSafe(|| pixels(format, bytes)));
    Ok((format, decoded.map_err(|_| PictureFault::damaged("its decoder gave up"))??))
}

fn pixels(format: PictureFormat, bytes: &[u8]) -> Result<RgbImage, PictureFault> {
    let bytes = Cursor::new(bytes);
    match format {
        PictureFormat::Jpeg => seen(JpegDecoder::new(bytes).map_err(fault)?),
        PictureFormat::Png => seen(PngDecoder::with_limits(bytes, limits()).map_err(fault)?),
        PictureFormat::Webp => seen(WebPDecoder::new(bytes).map_err(fault)?),
    }
}

fn seen(mut decoder: impl ImageDecoder) -> Result<RgbImage, PictureFault> {
    let (width, height) = decoder.dimensions();
    let bytes = decoder.total_bytes();
    if bytes > MAX_DECODED_BYTES {
        return Err(PictureFault::TooMuchMemory { width, height, bytes });
    }
    decoder.set_limits(limits()).map_err(fault)?;
    // Metadata that cannot be read turns nothing.
    let orientation = decoder.orientation().unwrap_or(image::metadata::Orientation::NoTransforms);
    let mut image = DynamicImage::from_decoder(decoder).map_err(fault)?;
    image.apply_orientation(orientation);
    Ok(on_white(image))
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
