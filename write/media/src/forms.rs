//! Derives what is stored beside an original: the description with size and palette, and the smaller forms.

use std::cmp::Reverse;

use image::RgbImage;
use pictures::{PictureError, thumbnails};
use schemas::picture::{Colour, Form, Picture, PictureFormat, PictureId};

/// The longer side, in pixels, of the reduced picture that the palette is computed from.
const PALETTE_SIDE: u32 = 64;

/// The smaller forms of a picture, each with its bytes.
pub(super) type Forms = Vec<(Form, Vec<u8>)>;

/// Derives description and smaller forms from the bytes of an original. The same bytes give the same result.
pub(super) fn derive(id: PictureId, bytes: &[u8]) -> Result<(Picture, Forms), PictureError> {
    let decoded = pictures::decode(bytes)?;
    if let Some(reason) = &decoded.unread_profile {
        tracing::warn!(
            picture = %id,
            "the colour profile of a picture cannot be used ({reason}), so its numbers are taken as sRGB; send a copy in sRGB"
        );
    }
    let (format, pixels) = (format(decoded.format), &decoded.pixels);
    let (width, height) = pixels.dimensions();
    let longer = width.max(height);
    let shrunk = |side: u32| (side * PALETTE_SIDE.min(longer) / longer).max(1);
    let small = thumbnails::resize(pixels, shrunk(width), shrunk(height))?;
    let palette = pictures::palette(&small).into_iter().map(Colour).collect();
    let picture = Picture { id, format, width, height, palette };
    let forms = smaller_forms(&picture, pixels)?;
    Ok((picture, forms))
}

/// Encodes every form except the original, the widest first.
fn smaller_forms(picture: &Picture, pixels: &RgbImage) -> Result<Forms, PictureError> {
    let mut wanted: Vec<(u32, Form)> = picture
        .forms()
        .chain(picture.detail_form())
        .filter_map(|form| match form {
            Form::Webp(width) | Form::Jpeg(width) => Some((width, form)),
            Form::Original => None,
        })
        .collect();
    wanted.sort_by_key(|(width, _)| Reverse(*width));
    let mut forms = Vec::new();
    let mut last: Option<RgbImage> = None;
    for of_width in wanted.chunk_by(|(one, _), (other, _)| one == other) {
        let [(width, _), ..] = of_width else { continue };
        // Each is scaled from the previous, wider one: a fraction of the work, without a visible difference.
        let small = thumbnails::resize(last.as_ref().unwrap_or(pixels), *width, picture.height_at(*width))?;
        for (_, form) in of_width {
            let bytes = match form {
                Form::Jpeg(_) => thumbnails::jpeg(&small)?,
                _ => thumbnails::webp(&small)?,
            };
            forms.push((*form, bytes));
        }
        last = Some(small);
    }
    Ok(forms)
}

const fn format(format: pictures::Format) -> PictureFormat {
    match format {
        pictures::Format::Jpeg => PictureFormat::Jpeg,
        pictures::Format::Png => PictureFormat::Png,
        pictures::Format::Webp => PictureFormat::Webp,
    }
}
