//! The chunks of a PNG. The decoder checks their sums and sees an end that is missing.

use super::{Header, PictureFault, array};

/// The length of the signature.
const SIGNATURE: usize = 8;

/// The size; an animation is refused.
pub(super) fn header(bytes: &[u8]) -> Result<Header, PictureFault> {
    if array(bytes, SIGNATURE + 4)? != *b"IHDR" {
        return Err(PictureFault::damaged("the PNG does not begin with its header"));
    }
    let [width, height] = [SIGNATURE + 8, SIGNATURE + 12].map(|at| array(bytes, at).map(u32::from_be_bytes));
    let header = Header { width: width?, height: height? };
    let mut at = SIGNATURE;
    // An animation says so before its first pixels.
    while let Ok(name) = array(bytes, at + 4) {
        match &name {
            b"acTL" => return Err(PictureFault::Animated { name: "APNG" }),
            b"IDAT" | b"IEND" => break,
            _ => {}
        }
        let length = u32::from_be_bytes(array(bytes, at)?);
        let next = usize::try_from(length).ok().and_then(|length| at.checked_add(length)?.checked_add(12));
        at = next.ok_or(PictureFault::CutOff)?;
    }
    Ok(header)
}
