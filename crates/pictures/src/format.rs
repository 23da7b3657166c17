//! What bytes are, told by their first ones and never by a name.

use super::fault::Fault;

/// A format that is taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// JPEG.
    Jpeg,
    /// PNG.
    Png,
    /// WebP.
    Webp,
}

/// The format, when it is one that is taken.
pub(super) fn recognise(bytes: &[u8]) -> Result<Format, Fault> {
    let other = |name| Err(Fault::OtherFormat { name });
    match bytes {
        [] => Err(Fault::Empty),
        [0xff, 0xd8, 0xff, ..] => Ok(Format::Jpeg),
        [0x89, b'P', b'N', b'G', b'\r', b'\n', 0x1a, b'\n', ..] => Ok(Format::Png),
        [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => Ok(Format::Webp),
        [b'G', b'I', b'F', b'8', ..] => other("GIF"),
        [b'I', b'I', 42 | 43, 0, ..] | [b'M', b'M', 0, 42 | 43, ..] => other("TIFF"),
        [b'B', b'M', _, _, _, _, 0, 0, 0, 0, ..] => other("BMP"),
        [b'%', b'P', b'D', b'F', b'-', ..] => other("PDF"),
        [_, _, _, _, b'f', b't', b'y', b'p', brands @ ..] => boxed(brands),
        _ => text(bytes),
    }
}

/// AVIF and HEIC are brands of one container, which may name several.
fn boxed(brands: &[u8]) -> Result<Format, Fault> {
    let among = |names: &[&[u8; 4]]| {
        brands.chunks_exact(4).take(16).any(|brand| names.iter().any(|name| brand == *name))
    };
    let name = if among(&[b"avif", b"avis"]) {
        "AVIF"
    } else if among(&[b"heic", b"heix", b"hevc", b"hevx", b"heim", b"heis", b"mif1", b"msf1"]) {
        "HEIC"
    } else {
        return Err(Fault::Unrecognised);
    };
    Err(Fault::OtherFormat { name })
}

/// SVG and HTML are texts: the first tag tells, behind whatever may stand before it.
fn text(bytes: &[u8]) -> Result<Format, Fault> {
    /// A longer preamble than this is not worth the reading.
    const LOOK: usize = 4096;
    let start = String::from_utf8_lossy(&bytes[..bytes.len().min(LOOK)]).to_ascii_lowercase();
    let start = start.trim_start_matches('\u{feff}').trim_start();
    if !start.starts_with('<') {
        return Err(Fault::Unrecognised);
    }
    // A page may hold an SVG, an SVG no page: whichever opens first.
    let place = |tags: &[&str]| tags.iter().filter_map(|tag| start.find(tag)).min();
    let name =
        match (place(&["<svg", "<!doctype svg"]), place(&["<html", "<!doctype html", "<head", "<body"])) {
            (Some(svg), Some(html)) if svg < html => "SVG",
            (Some(_), None) => "SVG",
            (_, Some(_)) => "HTML",
            (None, None) => return Err(Fault::Unrecognised),
        };
    Err(Fault::OtherFormat { name })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_other_format_is_refused_by_its_name() {
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
            let fault = recognise(text.as_bytes()).unwrap_err();
            assert_eq!(fault.to_string(), format!("It is {name}; send JPEG, PNG or WebP."), "{text:?}");
        }
    }

    #[test]
    fn what_is_nothing_is_told_as_that() {
        assert_eq!(recognise(b""), Err(Fault::Empty));
        for bytes in
            [&b"\xff\xd8"[..], b"\x89PNG\n", b"RIFF\0\0\0\0WAVE", b"\0\0\0\x1cftypisom", b"<x>", b"pear"]
        {
            assert_eq!(recognise(bytes), Err(Fault::Unrecognised), "{bytes:?}");
        }
    }
}
