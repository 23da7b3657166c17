//! The chunks of a WebP: a lossy or lossless picture, alone or after an extended header.

use super::{Header, PictureError, array};

/// The offset of the first chunk.
const CHUNKS: usize = 12;

/// Returns the size of a WebP; refuses an animation, and a file that is shorter than its header states.
pub(super) fn header(bytes: &[u8]) -> Result<Header, PictureError> {
    let length = size(bytes, 4)?.checked_add(8).ok_or(PictureError::Truncated)?;
    let bytes = bytes.get(..length).ok_or(PictureError::Truncated)?;
    match &array(bytes, CHUNKS)? {
        b"VP8X" => extended(bytes),
        name => picture(bytes, *name, CHUNKS + 8),
    }
}

/// Returns the size of the canvas. The picture on it must be as large, since a decoder allocates memory for both.
fn extended(bytes: &[u8]) -> Result<Header, PictureError> {
    let [flags, _, _, _, width @ .., h0, h1, h2] = array::<10>(bytes, CHUNKS + 8)?;
    if flags & 0b10 != 0 {
        return Err(PictureError::Animated { name: "animated WebP" });
    }
    let [w0, w1, w2] = width;
    let side = |bytes: [u8; 3]| u32::from_le_bytes([bytes[0], bytes[1], bytes[2], 0]) + 1;
    let canvas = Header { width: side([w0, w1, w2]), height: side([h0, h1, h2]) };
    let mut at = CHUNKS;
    loop {
        let name = array(bytes, at)?;
        match &name {
            b"ANIM" | b"ANMF" => return Err(PictureError::Animated { name: "animated WebP" }),
            b"VP8 " | b"VP8L" if picture(bytes, name, at + 8)? == canvas => return Ok(canvas),
            b"VP8 " | b"VP8L" => {
                return Err(PictureError::damaged("the WebP's picture is not as large as its canvas"));
            }
            _ => {}
        }
        // Chunks are padded to an even length.
        let next = size(bytes, at + 4)?
            .checked_next_multiple_of(2)
            .and_then(|size| at.checked_add(size)?.checked_add(8));
        at = next.ok_or(PictureError::Truncated)?;
    }
}

/// Returns the size of a coded picture, whose data begins at `at` in a chunk of this name.
fn picture(bytes: &[u8], name: [u8; 4], at: usize) -> Result<Header, PictureError> {
    match &name {
        b"VP8 " => {
            let [width, height] = [at + 6, at + 8].map(|at| array(bytes, at).map(u16::from_le_bytes));
            Ok(Header { width: u32::from(width? & 0x3fff), height: u32::from(height? & 0x3fff) })
        }
        b"VP8L" => {
            let sizes = u32::from_le_bytes(array(bytes, at + 1)?);
            Ok(Header { width: (sizes & 0x3fff) + 1, height: ((sizes >> 14) & 0x3fff) + 1 })
        }
        _ => Err(PictureError::damaged("the WebP does not begin with a picture")),
    }
}

fn size(bytes: &[u8], at: usize) -> Result<usize, PictureError> {
    usize::try_from(u32::from_le_bytes(array(bytes, at)?)).map_err(|_| PictureError::Truncated)
}
