//! The format of a picture, detected by its first bytes, never by a file name.

use super::error::PictureError;

/// A picture format that is accepted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// JPEG.
    Jpeg,
    /// PNG.
    Png,
    /// WebP.
    Webp,
}

/// Returns the format of a picture; an error for any other.
pub(super) fn detect(bytes: &[u8]) -> Result<Format, PictureError> {
    let other = |name| Err(PictureError::OtherFormat { name });
    match bytes {
        [] => Err(PictureError::Empty),
        [0xff, 0xd8, 0xff, ..] => Ok(Format::Jpeg),
        [0x89, b'P', b'N', b'G', b'\r', b'\n', 0x1a, b'\n', ..] => Ok(Format::Png),
        [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => Ok(Format::Webp),
        [b'G', b'I', b'F', b'8', ..] => other("GIF"),
        [b'I', b'I', 42 | 43, 0, ..] | [b'M', b'M', 0, 42 | 43, ..] => other("TIFF"),
        [b'B', b'M', _, _, _, _, 0, 0, 0, 0, ..] => other("BMP"),
        [b'%', b'P', b'D', b'F', b'-', ..] => other("PDF"),
        [_, _, _, _, b'f', b't', b'y', b'p', brands @ ..] => iso_media(brands),
        _ => markup(bytes),
    }
}

/// Detects AVIF and HEIC: brands of one container (ISO base media), which may name several.
fn iso_media(brands: &[u8]) -> Result<Format, PictureError> {
    let among = |names: &[&[u8; 4]]| {
        brands.chunks_exact(4).take(16).any(|brand| names.iter().any(|name| brand == *name))
    };
    let name = if among(&[b"avif", b"avis"]) {
        "AVIF"
    } else if among(&[b"heic", b"heix", b"hevc", b"hevx", b"heim", b"heis", b"mif1", b"msf1"]) {
        "HEIC"
    } else {
        return Err(PictureError::Unrecognised);
    };
    Err(PictureError::OtherFormat { name })
}

/// Detects SVG and HTML by their first tag, after declarations and comments.
fn markup(bytes: &[u8]) -> Result<Format, PictureError> {
    /// The number of bytes that are searched for the tag.
    const SEARCHED: usize = 4096;
    let start = String::from_utf8_lossy(&bytes[..bytes.len().min(SEARCHED)]).to_ascii_lowercase();
    let start = start.trim_start_matches('\u{feff}').trim_start();
    if !start.starts_with('<') {
        return Err(PictureError::Unrecognised);
    }
    // A page may contain an SVG: the tag that comes first decides.
    let position = |tags: &[&str]| tags.iter().filter_map(|tag| start.find(tag)).min();
    let name = match (
        position(&["<svg", "<!doctype svg"]),
        position(&["<html", "<!doctype html", "<head", "<body"]),
    ) {
        (Some(svg), Some(html)) if svg < html => "SVG",
        (Some(_), None) => "SVG",
        (_, Some(_)) => "HTML",
        (None, None) => return Err(PictureError::Unrecognised),
    };
    Err(PictureError::OtherFormat { name })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_formats_that_are_not_accepted_are_named() {
        let mut boxes = Vec::new();
        for (brand, name) in [
            ("avif", "AVIF"),
            ("avis", "AVIF"),
            ("heic", "HEIC"),
            ("mif1", "HEIC"),
            ("mif1\0\0\0\0avif", "AVIF"),
        ] {
            boxes.push((format!("\0\0\0\x1cftyp{brand}\0\0\0\0"), name));
        }
        let texts = [
            ("<svg xmlns=\"http://www.w3.org/2000/svg\"/>", "SVG"),
            ("\u{feff}\n <?xml version=\"1.0\"?>\n<!-- a pear -->\n<!DOCTYPE svg>\n<SVG/>", "SVG"),
            ("<!DOCTYPE html><html><body><svg/></body></html>", "HTML"),
            ("  <html lang=en>", "HTML"),
            ("GIF89a\x01\0\x01\0", "GIF"),
            ("GIF87a", "GIF"),
            ("II*\0", "TIFF"),
            ("MM\0*", "TIFF"),
            ("BM\x10\0\0\0\0\0\0\0", "BMP"),
            ("%PDF-1.7", "PDF"),
        ];
        let texts = texts.map(|(text, name)| (text.to_owned(), name));
        for (text, name) in texts.into_iter().chain(boxes) {
            let error = detect(text.as_bytes()).unwrap_err();
            assert_eq!(error.to_string(), format!("It is {name}; send JPEG, PNG or WebP."), "{text:?}");
        }
    }

    #[test]
    fn unknown_formats_are_refused() {
        assert_eq!(detect(b""), Err(PictureError::Empty));
        for bytes in
            [&b"\xff\xd8"[..], b"\x89PNG\n", b"RIFF\0\0\0\0WAVE", b"\0\0\0\x1cftypisom", b"<x>", b"pear"]
        {
            assert_eq!(detect(bytes), Err(PictureError::Unrecognised), "{bytes:?}");
        }
    }
}
