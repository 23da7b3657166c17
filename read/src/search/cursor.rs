//! The opaque text between two pages.

use std::fmt;
use std::hash::Hasher;
use std::str::FromStr;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use super::SearchError;
use super::cascade::Reach;
use super::ranking::Rank;

const VERSION: u8 = 1;
const LENGTH: usize = 30;

/// Where a page ended: the query it belongs to, how far the search reached, the last rank, and the commit it was answered from.
/// As text it is URL-safe.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cursor {
    pub(super) query: u64,
    pub(super) reach: Reach,
    pub(super) last: Rank,
    pub(super) snapshot: u64,
}

impl fmt::Display for Cursor {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut bytes = [0; LENGTH];
        bytes[0] = VERSION;
        bytes[1] = self.reach as u8;
        bytes[2..10].copy_from_slice(&self.query.to_be_bytes());
        bytes[10..14].copy_from_slice(&self.last.score.to_bits().to_be_bytes());
        bytes[14..22].copy_from_slice(&self.last.tie.to_be_bytes());
        bytes[22..30].copy_from_slice(&self.snapshot.to_be_bytes());
        let mut text = [0; LENGTH.div_ceil(3) * 4];
        let length = URL_SAFE_NO_PAD.encode_slice(bytes, &mut text).map_err(|_| fmt::Error)?;
        formatter.write_str(std::str::from_utf8(&text[..length]).map_err(|_| fmt::Error)?)
    }
}

impl FromStr for Cursor {
    type Err = SearchError;

    /// Reads the text of a cursor; fails on anything that was not written by one.
    fn from_str(text: &str) -> Result<Cursor, SearchError> {
        let garbled = || SearchError::InvalidCursor("it was cut or altered on its way");
        let mut bytes = [0; LENGTH + 3];
        let length = URL_SAFE_NO_PAD.decode_slice(text, &mut bytes).map_err(|_| garbled())?;
        let number =
            |from: usize| bytes[from..from + 8].iter().fold(0, |number, byte| number << 8 | u64::from(*byte));
        let score = f32::from_bits((number(10) >> 32) as u32);
        let reach = Reach::from_code(bytes[1]).ok_or_else(garbled)?;
        if length != LENGTH || bytes[0] != VERSION || !score.is_finite() || score <= 0.0 {
            return Err(garbled());
        }
        Ok(Cursor { query: number(2), reach, last: Rank { score, tie: number(14) }, snapshot: number(22) })
    }
}

/// The hash that stands for queries and commits in cursors: FNV-1a, which is the same in every process.
pub(crate) struct Fnv(u64);

impl Default for Fnv {
    fn default() -> Fnv {
        Fnv(0xcbf2_9ce4_8422_2325)
    }
}

impl Hasher for Fnv {
    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }

    fn write_u64(&mut self, number: u64) {
        self.write(&number.to_be_bytes());
    }

    fn finish(&self) -> u64 {
        self.0
    }
}
