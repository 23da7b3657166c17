//! The chunks of a WebP: a lossy or a lossless picture, alone or behind a header for everything else.

use super::{Fault, Header, array};

/// Where the first chunk begins.
const CHUNKS: usize = 12;

/// The size; an animation is refused, and so is a file that is shorter than it says.
pub(super) fn header(bytes: &[u8]) -> Result<Header, Fault> {
    let length = size(bytes, 4)?.checked_add(8).ok_or(Fault::CutOff)?;
    let bytes = bytes.get(..length).ok_or(Fault::CutOff)?;
    match &array(bytes, CHUNKS)? {
        b"VP8X" => extended(bytes),
        name => picture(bytes, *name, CHUNKS + 8),
    }
}

/// The canvas, when the picture on it is as large: a decoder takes memory for both.
fn extended(bytes: &[u8]) -> Result<Header, Fault> {
    let [flags, _, _, _, width @ .., h0, h1, h2] = array::<10>(bytes, CHUNKS + 8)?;
    if flags & 0b10 != 0 {
        return Err(Fault::Animated { name: "animated WebP" });
    }
    let [w0, w1, w2] = width;
    let side = |bytes: [u8; 3]| u32::from_le_bytes([bytes[0], bytes[1], bytes[2], 0]) + 1;
    let canvas = Header { width: side([w0, w1, w2]), height: side([h0, h1, h2]) };
    let mut at = CHUNKS;
    loop {
        let name = array(bytes, at)?;
        match &name {
            b"ANIM" | b"ANMF" => return Err(Fault::Animated { name: "animated WebP" }),
            b"VP8 " | b"VP8L" if picture(bytes, name, at + 8)? == canvas => return Ok(canvas),
            b"VP8 " | b"VP8L" => {
                return Err(Fault::damaged("the WebP's picture is not as large as its canvas"));
            }
            _ => {}
        }
        // Chunks are filled up to an even length.
        let next = size(bytes, at + 4)?
            .checked_next_multiple_of(2)
            .and_then(|size| at.checked_add(size)?.checked_add(8));
        at = next.ok_or(Fault::CutOff)?;
    }
}

/// The size that the coded picture tells, whose chunk holds it from `at` on.
fn picture(bytes: &[u8], name: [u8; 4], at: usize) -> Result<Header, Fault> {
    match &name {
        b"VP8 " => {
            let [width, height] = [at + 6, at + 8].map(|at| array(bytes, at).map(u16::from_le_bytes));
            Ok(Header { width: u32::from(width? & 0x3fff), height: u32::from(height? & 0x3fff) })
        }
        b"VP8L" => {
            let sizes = u32::from_le_bytes(array(bytes, at + 1)?);
            Ok(Header { width: (sizes & 0x3fff) + 1, height: ((sizes >> 14) & 0x3fff) + 1 })
        }
        _ => Err(Fault::damaged("the WebP does not begin with a picture")),
    }
}

fn size(bytes: &[u8], at: usize) -> Result<usize, Fault> {
    usize::try_from(u32::from_le_bytes(array(bytes, at)?)).map_err(|_| Fault::CutOff)
}
