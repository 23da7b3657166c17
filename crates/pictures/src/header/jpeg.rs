//! The segments of a JPEG, up to its end marker. Decoders fill missing pixels with grey, so completeness is checked here.

use super::{Header, PictureError, array};

const END: u8 = 0xd9;
const SCAN: u8 = 0xda;

/// Returns the size of a JPEG that has its end marker. Bytes after that are ignored.
pub(super) fn header(bytes: &[u8]) -> Result<Header, PictureError> {
    let (mut header, mut scans) = (None, 0_u32);
    let mut at = 2;
    loop {
        let marker;
        (marker, at) = next_marker(bytes, at)?;
        match marker {
            END => break,
            // Restart markers and 0x01 have no segment.
            0x01 | 0xd0..=0xd8 => continue,
            _ => {}
        }
        let length = usize::from(u16::from_be_bytes(array(bytes, at)?));
        if length < 2 {
            return Err(PictureError::damaged("a JPEG segment is shorter than its own length"));
        }
        // Frame headers of all codings; the three excluded markers are tables.
        if matches!(marker, 0xc0..=0xcf) && !matches!(marker, 0xc4 | 0xc8 | 0xcc) {
            let [height, width] = [at + 3, at + 5].map(|at| array(bytes, at).map(u16::from_be_bytes));
            header = Some(Header { width: width?.into(), height: height?.into() });
        }
        scans += u32::from(marker == SCAN);
        at += length;
    }
    match header {
        Some(header) if scans > 0 => Ok(header),
        _ => Err(PictureError::damaged("the JPEG contains no picture")),
    }
}

/// Returns the next marker and the offset after it. Skips coded pixels, in which 0xff is followed by zero.
fn next_marker(bytes: &[u8], from: usize) -> Result<(u8, usize), PictureError> {
    let mut at = from;
    loop {
        let skipped = bytes.get(at..).and_then(|rest| rest.iter().position(|byte| *byte == 0xff));
        at += skipped.ok_or(PictureError::Truncated)? + 1;
        match *bytes.get(at).ok_or(PictureError::Truncated)? {
            // The second 0xff may begin a marker.
            0xff => {}
            0 => at += 1,
            marker => return Ok((marker, at + 1)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_embedded_picture_does_not_end_the_outer_one() {
        let jpeg = [
            &[0xff, 0xd8][..],
            // A segment with an end marker in it, as of a preview.
            &[0xff, 0xe1, 0, 6, 0xff, 0xd8, 0xff, 0xd9],
            // Padded, as is allowed before a marker.
            &[0xff, 0xff, 0xff, 0xc2, 0, 8, 8, 0x01, 0x02, 0x03, 0x04, 1],
            &[0xff, 0xda, 0, 2, 0x11, 0xff, 0x00, 0xff, 0xd0, 0x22, 0xff, 0xd9],
        ]
        .concat();
        assert_eq!(header(&jpeg), Ok(Header { width: 0x0304, height: 0x0102 }));
        let trailed = [&jpeg[..], b"a film of three seconds"].concat();
        assert_eq!(header(&trailed), header(&jpeg));
        for length in 2..jpeg.len() {
            assert_eq!(header(&jpeg[..length]), Err(PictureError::Truncated), "{length}");
        }
    }

    #[test]
    fn a_jpeg_without_a_scan_is_damaged() {
        let error = header(&[0xff, 0xd8, 0xff, 0xc0, 0, 8, 8, 0, 1, 0, 1, 1, 0xff, 0xd9]).unwrap_err();
        assert_eq!(error, PictureError::damaged("the JPEG contains no picture"));
    }
}
