//! The segments of a JPEG, up to its end. Decoders fill up what is missing with grey, so the end is looked for here.

use super::{Fault, Header, array};

const END: u8 = 0xd9;
const SCAN: u8 = 0xda;

/// The size, when the picture goes on to its end marker. What stands behind that is none of the picture.
pub(super) fn header(bytes: &[u8]) -> Result<Header, Fault> {
    let (mut header, mut scans) = (None, 0_u32);
    let mut at = 2;
    loop {
        let marker;
        (marker, at) = next_marker(bytes, at)?;
        match marker {
            END => break,
            // Restart markers and 0x01 stand alone.
            0x01 | 0xd0..=0xd8 => continue,
            _ => {}
        }
        let length = usize::from(u16::from_be_bytes(array(bytes, at)?));
        if length < 2 {
            return Err(Fault::damaged("a JPEG segment is shorter than its own length"));
        }
        // Frame headers of every coding; the three left out are tables.
        if matches!(marker, 0xc0..=0xcf) && !matches!(marker, 0xc4 | 0xc8 | 0xcc) {
            let [height, width] = [at + 3, at + 5].map(|at| array(bytes, at).map(u16::from_be_bytes));
            header = Some(Header { width: width?.into(), height: height?.into() });
        }
        scans += u32::from(marker == SCAN);
        at += length;
    }
    match header {
        Some(header) if scans > 0 => Ok(header),
        _ => Err(Fault::damaged("the JPEG holds no picture")),
    }
}

/// The marker that comes next and the place behind it. Coded pixels are skipped: in them 0xff is followed by zero.
fn next_marker(bytes: &[u8], from: usize) -> Result<(u8, usize), Fault> {
    let mut at = from;
    loop {
        let skipped = bytes.get(at..).and_then(|rest| rest.iter().position(|byte| *byte == 0xff));
        at += skipped.ok_or(Fault::CutOff)? + 1;
        match *bytes.get(at).ok_or(Fault::CutOff)? {
            // The second 0xff may open a marker itself.
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
            // A segment with an end marker in it, as a preview has one.
            &[0xff, 0xe1, 0, 6, 0xff, 0xd8, 0xff, 0xd9],
            // Filled up, as is allowed before a marker.
            &[0xff, 0xff, 0xff, 0xc2, 0, 8, 8, 0x01, 0x02, 0x03, 0x04, 1],
            &[0xff, 0xda, 0, 2, 0x11, 0xff, 0x00, 0xff, 0xd0, 0x22, 0xff, 0xd9],
        ]
        .concat();
        assert_eq!(header(&jpeg), Ok(Header { width: 0x0304, height: 0x0102 }));
        let trailed = [&jpeg[..], b"a film of three seconds"].concat();
        assert_eq!(header(&trailed), header(&jpeg));
        for length in 2..jpeg.len() {
            assert_eq!(header(&jpeg[..length]), Err(Fault::CutOff), "{length}");
        }
    }

    #[test]
    fn one_without_a_scan_is_no_picture() {
        let fault = header(&[0xff, 0xd8, 0xff, 0xc0, 0, 8, 8, 0, 1, 0, 1, 1, 0xff, 0xd9]).unwrap_err();
        assert_eq!(fault, Fault::damaged("the JPEG holds no picture"));
    }
}
