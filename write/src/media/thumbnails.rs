//! The smaller forms of a picture. They are made from pixels alone, so nothing that the original says of its place, its
//! camera or its maker is in them.

use fast_image_resize::images::{Image, ImageRef};
use fast_image_resize::{FilterType, PixelType, ResizeAlg, ResizeOptions, Resizer};
use image::codecs::jpeg::JpegEncoder;
use image::{ExtendedColorType, RgbImage};
use schemas::picture::{Form, Picture};
use webp::WebPConfig;

use super::fault::PictureFault;

/// Of 100; photographs show no fault at it.
const WEBP_QUALITY: f32 = 80.0;
/// From 0, fast, to 6, small: an import of thousands waits for this.
const WEBP_METHOD: i32 = 2;
/// Of 100.
const JPEG_QUALITY: u8 = 82;

/// Every form but the original, the widest first.
pub(super) fn forms(picture: &Picture, pixels: &RgbImage) -> Result<Vec<(Form, Vec<u8>)>, PictureFault> {
    let mut widths: Vec<u32> = picture.widths().chain([picture.list_width()]).collect();
    widths.sort_unstable();
    widths.dedup();
    let mut forms = Vec::new();
    let mut last: Option<RgbImage> = None;
    for width in widths.into_iter().rev() {
        // Each is made from the one before, which is at least as wide: a small part of the work, and no eye sees it.
        let small = smaller(last.as_ref().unwrap_or(pixels), width, picture.height_at(width))?;
        if picture.widths().any(|kept| kept == width) {
            forms.push((Form::Webp(width), webp(&small)?));
        }
        if width == picture.list_width() {
            forms.push((Form::Jpeg(width), jpeg(&small)?));
        }
        last = Some(small);
    }
    Ok(forms)
}

/// The picture at a smaller size, by a Lanczos filter on the values as they are stored, as browsers do it.
pub(super) fn smaller(image: &RgbImage, width: u32, height: u32) -> Result<RgbImage, PictureFault> {
    if image.dimensions() == (width, height) {
        return Ok(image.clone());
    }
    let from = ImageRef::new(image.width(), image.height(), image.as_raw(), PixelType::U8x3);
    let from = from.map_err(PictureFault::damaged)?;
    let mut to = Image::new(width, height, PixelType::U8x3);
    let options = ResizeOptions::new().resize_alg(ResizeAlg::Convolution(FilterType::Lanczos3));
    Resizer::new().resize(&from, &mut to, &options).map_err(PictureFault::damaged)?;
    RgbImage::from_raw(width, height, to.into_vec())
        .ok_or_else(|| PictureFault::damaged("it cannot be made smaller"))
}

fn webp(image: &RgbImage) -> Result<Vec<u8>, PictureFault> {
    let mut config =
        WebPConfig::new().map_err(|()| PictureFault::damaged("the WebP encoder does not start"))?;
    config.quality = WEBP_QUALITY;
    config.method = WEBP_METHOD;
    let encoder = webp::Encoder::from_rgb(image.as_raw(), image.width(), image.height());
    let encoded = encoder.encode_advanced(&config);
    let encoded =
        encoded.map_err(|error| PictureFault::damaged(format!("the WebP encoder says {error:?}")))?;
    Ok(encoded.to_vec())
}

fn jpeg(image: &RgbImage) -> Result<Vec<u8>, PictureFault> {
    let mut bytes = Vec::new();
    let mut encoder = JpegEncoder::new_with_quality(&mut bytes, JPEG_QUALITY);
    let encoded = encoder.encode(image.as_raw(), image.width(), image.height(), ExtendedColorType::Rgb8);
    encoded.map_err(PictureFault::damaged)?;
    Ok(bytes)
}
