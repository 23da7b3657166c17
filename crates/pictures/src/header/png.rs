//! The chunks of a PNG. The decoder checks their sums and sees an end that is missing.

use super::{Fault, Header, array};

/// The length of the signature.
const SIGNATURE: usize = 8;

/// The size; an animation is refused.
pub(super) fn header(bytes: &[u8]) -> Result<Header, Fault> {
    if array(bytes, SIGNATURE + 4)? != *b"IHDR" {
        return Err(Fault::damaged("the PNG does not begin with its header"));
    }
    let [width, height] = [SIGNATURE + 8, SIGNATURE + 12].map(|at| array(bytes, at).map(u32::from_be_bytes));
    let header = Header { width: width?, height: height? };
    let mut at = SIGNATURE;
    // An animation says so before its first pixels.
    while let Ok(name) = array(bytes, at + 4) {
        match &name {
            b"acTL" => return Err(Fault::Animated { name: "APNG" }),
            b"IDAT" | b"IEND" => break,
            _ => {}
        }
        let length = u32::from_be_bytes(array(bytes, at)?);
        let next = usize::try_from(length).ok().and_then(|length| at.checked_add(length)?.checked_add(12));
        at = next.ok_or(Fault::CutOff)?;
    }
    Ok(header)
}

/// What the chunks of a PNG say beside its pixels, wherever they stand.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Png {
    pub(crate) exif: Option<Vec<u8>>,
    /// How its numbers were coded, as 1/2.2, where nothing says more.
    pub(crate) gamma: Option<f32>,
    /// White, red, green and blue, each as x and y.
    pub(crate) primaries: Option<[[f32; 2]; 4]>,
    /// Primaries, curve, matrix and range by the codes of H.273; they say more than a profile.
    pub(crate) codes: Option<[u8; 4]>,
}

/// Reads the chunks; what is cut off or too short says nothing.
pub(crate) fn beside(bytes: &[u8]) -> Png {
    let (mut said, mut more, mut at) = (Png::default(), false, SIGNATURE);
    while let (Ok(length), Ok(name)) = (array(bytes, at), array(bytes, at + 4)) {
        let Ok(length) = usize::try_from(u32::from_be_bytes(length)) else { break };
        let from = at + 8;
        let Some(data) = from.checked_add(length).and_then(|to| bytes.get(from..to)) else { break };
        match &name {
            b"eXIf" => said.exif = Some(data.to_vec()),
            // A profile, or the word that it is sRGB or coded as video is, says more than a gamma.
            b"iCCP" | b"sRGB" => more = true,
            b"cICP" => (more, said.codes) = (true, array(data, 0).ok()),
            b"gAMA" => said.gamma = parts(data).map(|[gamma]| gamma),
            b"cHRM" => {
                said.primaries = parts(data).map(|[wx, wy, rx, ry, gx, gy, bx, by]: [f32; 8]| {
                    [[wx, wy], [rx, ry], [gx, gy], [bx, by]]
                });
            }
            _ => {}
        }
        at = from + length + 4;
    }
    if more { Png { gamma: None, primaries: None, ..said } } else { said }
}

/// So many numbers as PNG writes them, in hundred thousandths.
#[expect(clippy::cast_precision_loss, reason = "they are of a few digits")]
fn parts<const N: usize>(data: &[u8]) -> Option<[f32; N]> {
    let mut parts = [0.0; N];
    for (index, part) in parts.iter_mut().enumerate() {
        *part = u32::from_be_bytes(array(data, index * 4).ok()?) as f32 / 100_000.0;
    }
    Some(parts)
}
