//! The smaller forms of a picture.

use image::RgbImage;
use pictures::{Fault, thumbnails};
use schemas::picture::{Form, Picture};

/// Every form but the original, the widest first.
pub(super) fn forms(picture: &Picture, pixels: &RgbImage) -> Result<Vec<(Form, Vec<u8>)>, Fault> {
    let mut widths: Vec<u32> = picture.widths().chain([picture.list_width()]).collect();
    widths.sort_unstable();
    widths.dedup();
    let mut forms = Vec::new();
    let mut last: Option<RgbImage> = None;
    for width in widths.into_iter().rev() {
        // Each is made from the one before, which is at least as wide: a small part of the work, and no eye sees it.
        let small = thumbnails::smaller(last.as_ref().unwrap_or(pixels), width, picture.height_at(width))?;
        if picture.widths().any(|kept| kept == width) {
            forms.push((Form::Webp(width), thumbnails::webp(&small)?));
        }
        if width == picture.list_width() {
            forms.push((Form::Jpeg(width), thumbnails::jpeg(&small)?));
        }
        last = Some(small);
    }
    Ok(forms)
}
