//! Smaller copies of a picture. They are made from pixels alone, so they contain no metadata of the original, such as place, camera or
//! author.

use fast_image_resize::images::{TypedImage, TypedImageRef};
use fast_image_resize::pixels::U8x3;
use fast_image_resize::{FilterType, ResizeAlg, ResizeOptions, Resizer};
use image::codecs::jpeg::JpegEncoder;
use image::{ExtendedColorType, RgbImage};
use webp::WebPConfig;

use super::error::PictureError;

/// From 0 to 100; photographs show no artefacts at this quality.
const WEBP_QUALITY: f32 = 80.0;
/// From 0 (fast) to 6 (small): an import of thousands of pictures waits for the encoder.
const WEBP_METHOD: i32 = 2;
/// From 0 to 100.
const JPEG_QUALITY: u8 = 82;

/// Returns the picture at another size in pixels, by a Lanczos filter on the sRGB values, as browsers do it.
///
/// # Errors
///
/// Fails if width or height is 0.
pub fn resize(image: &RgbImage, width: u32, height: u32) -> Result<RgbImage, PictureError> {
    if image.dimensions() == (width, height) {
        return Ok(image.clone());
    }
    // Typed: `Resizer::resize` would compile the filters for every kind of pixel, which takes most of a minute.
    let from = TypedImageRef::<U8x3>::from_buffer(image.width(), image.height(), image.as_raw());
    let from = from.map_err(PictureError::damaged)?;
    let mut pixels = vec![0; width as usize * height as usize * 3];
    let to = TypedImage::<U8x3>::from_buffer(width, height, &mut pixels);
    let mut to = to.map_err(PictureError::damaged)?;
    let options = ResizeOptions::new().resize_alg(ResizeAlg::Convolution(FilterType::Lanczos3));
    Resizer::new().resize_typed(&from, &mut to, &options).map_err(PictureError::damaged)?;
    RgbImage::from_raw(width, height, pixels)
        .ok_or_else(|| PictureError::damaged("it cannot be made smaller"))
}

/// Encodes a picture as WebP.
///
/// # Errors
///
/// Fails if the encoder does.
pub fn webp(image: &RgbImage) -> Result<Vec<u8>, PictureError> {
    let mut config =
        WebPConfig::new().map_err(|()| PictureError::damaged("the WebP encoder does not start"))?;
    config.quality = WEBP_QUALITY;
    config.method = WEBP_METHOD;
    let encoder = webp::Encoder::from_rgb(image.as_raw(), image.width(), image.height());
    let encoded = encoder.encode_advanced(&config);
    let encoded =
        encoded.map_err(|error| PictureError::damaged(format!("the WebP encoder says {error:?}")))?;
    Ok(encoded.to_vec())
}

/// Encodes a picture as JPEG.
///
/// # Errors
///
/// Fails if the encoder does.
pub fn jpeg(image: &RgbImage) -> Result<Vec<u8>, PictureError> {
    let mut bytes = Vec::new();
    let mut encoder = JpegEncoder::new_with_quality(&mut bytes, JPEG_QUALITY);
    let encoded = encoder.encode(image.as_raw(), image.width(), image.height(), ExtendedColorType::Rgb8);
    encoded.map_err(PictureError::damaged)?;
    Ok(bytes)
}
