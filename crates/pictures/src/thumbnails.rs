//! Smaller copies of a picture. They are made from pixels alone, so nothing that the original says of its place, its
//! camera or its maker is in them.

use fast_image_resize::images::{Image, ImageRef};
use fast_image_resize::{FilterType, PixelType, ResizeAlg, ResizeOptions, Resizer};
use image::codecs::jpeg::JpegEncoder;
use image::{ExtendedColorType, RgbImage};
use webp::WebPConfig;

use super::fault::Fault;

/// Of 100; photographs show no fault at it.
const WEBP_QUALITY: f32 = 80.0;
/// From 0, fast, to 6, small: an import of thousands waits for this.
const WEBP_METHOD: i32 = 2;
/// Of 100.
const JPEG_QUALITY: u8 = 82;

/// The picture at a smaller size, by a Lanczos filter on the values as they are stored, as browsers do it.
///
/// # Errors
///
/// Fails where a side would have no pixels.
pub fn smaller(image: &RgbImage, width: u32, height: u32) -> Result<RgbImage, Fault> {
    if image.dimensions() == (width, height) {
        return Ok(image.clone());
    }
    let from = ImageRef::new(image.width(), image.height(), image.as_raw(), PixelType::U8x3);
    let from = from.map_err(Fault::damaged)?;
    let mut to = Image::new(width, height, PixelType::U8x3);
    let options = ResizeOptions::new().resize_alg(ResizeAlg::Convolution(FilterType::Lanczos3));
    Resizer::new().resize(&from, &mut to, &options).map_err(Fault::damaged)?;
    RgbImage::from_raw(width, height, to.into_vec())
        .ok_or_else(|| Fault::damaged("it cannot be made smaller"))
}

/// Encodes a picture as WebP.
///
/// # Errors
///
/// Fails where the encoder does.
pub fn webp(image: &RgbImage) -> Result<Vec<u8>, Fault> {
    let mut config = WebPConfig::new().map_err(|()| Fault::damaged("the WebP encoder does not start"))?;
    config.quality = WEBP_QUALITY;
    config.method = WEBP_METHOD;
    let encoder = webp::Encoder::from_rgb(image.as_raw(), image.width(), image.height());
    let encoded = encoder.encode_advanced(&config);
    let encoded = encoded.map_err(|error| Fault::damaged(format!("the WebP encoder says {error:?}")))?;
    Ok(encoded.to_vec())
}

/// Encodes a picture as JPEG.
///
/// # Errors
///
/// Fails where the encoder does.
pub fn jpeg(image: &RgbImage) -> Result<Vec<u8>, Fault> {
    let mut bytes = Vec::new();
    let mut encoder = JpegEncoder::new_with_quality(&mut bytes, JPEG_QUALITY);
    let encoded = encoder.encode(image.as_raw(), image.width(), image.height(), ExtendedColorType::Rgb8);
    encoded.map_err(Fault::damaged)?;
    Ok(bytes)
}
