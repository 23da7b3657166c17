//! The opaque text between two pages.

use std::fmt;
use std::str::FromStr;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use super::SearchError;
use super::fnv::Fnv;
use super::query::MatchTier;
use super::ranking::Rank;
use super::weights::{MOST_WEIGHTS, Weights};

/// Another number where a document would be scored or words would be chosen otherwise than before: cursors of before are then
/// refused. Version 1 named the commit that its page was answered from, which another node never had.
const VERSION: u8 = 2;
/// What every cursor has, and how long the longest is.
const HEAD: usize = 38;
const LONGEST: usize = HEAD + 4 * MOST_WEIGHTS;
const LONGEST_TEXT: usize = LONGEST.div_ceil(3) * 4;

/// Where a page ended: the query it belongs to, how far the search reached, the last rank, and the measures by which documents
/// are ranked. A document that did not change has the same rank in every later commit and on every node, so pages behind a cursor
/// hold each of those exactly once. As text it is URL-safe, of at most 144 characters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cursor {
    pub(super) query: u64,
    pub(super) mark: Mark,
    pub(super) last: Rank,
}

/// What a further page needs to know of the first.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Mark {
    pub(super) tier: MatchTier,
    pub(super) weights: Weights,
    /// Stands for the words that were searched for beside those that were typed; 0 for none.
    pub(super) variants: u64,
}

impl fmt::Display for Cursor {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Mark { tier, weights, variants } = &self.mark;
        let mut bytes = [0; LONGEST];
        bytes[4] = VERSION;
        bytes[5] = *tier as u8;
        bytes[6..14].copy_from_slice(&self.query.to_be_bytes());
        bytes[14..18].copy_from_slice(&self.last.score.to_be_bytes());
        bytes[18..26].copy_from_slice(&self.last.tie.to_be_bytes());
        bytes[26..34].copy_from_slice(&variants.to_be_bytes());
        bytes[34..38].copy_from_slice(&weights.mean_length.to_be_bytes());
        let rarities = weights.rarities();
        for (place, rarity) in bytes[HEAD..].chunks_exact_mut(4).zip(rarities) {
            place.copy_from_slice(&rarity.to_be_bytes());
        }
        let length = HEAD + 4 * rarities.len();
        let sum = Fnv::checksum(&bytes[4..length]);
        bytes[..4].copy_from_slice(&sum);
        let mut text = [0; LONGEST_TEXT];
        let written = URL_SAFE_NO_PAD.encode_slice(&bytes[..length], &mut text).map_err(|_| fmt::Error)?;
        formatter.write_str(std::str::from_utf8(&text[..written]).map_err(|_| fmt::Error)?)
    }
}

impl FromStr for Cursor {
    type Err = SearchError;

    /// Reads the text of a cursor; fails on anything that was not written by one of this version.
    fn from_str(text: &str) -> Result<Cursor, SearchError> {
        let garbled =
            || SearchError::InvalidCursor("it was cut or altered on its way, or an earlier version made it");
        let mut bytes = [0; LONGEST_TEXT];
        if text.len() > LONGEST_TEXT {
            return Err(garbled());
        }
        let length = URL_SAFE_NO_PAD.decode_slice(text, &mut bytes).map_err(|_| garbled())?;
        let is_whole = (HEAD..=LONGEST).contains(&length) && (length - HEAD).is_multiple_of(4);
        if !is_whole || bytes[..4] != Fnv::checksum(&bytes[4..length]) || bytes[4] != VERSION {
            return Err(garbled());
        }
        let number = |from: usize| bytes[from..from + 8].iter().fold(0, |n, byte| n << 8 | u64::from(*byte));
        let measure = |from: usize| f32::from_bits((number(from) >> 32) as u32);
        let tier = MatchTier::from_code(bytes[5]).ok_or_else(garbled)?;
        let mut weights = Weights::new(measure(34));
        (HEAD..length).step_by(4).for_each(|from| weights.push(measure(from)));
        let last = Rank { score: measure(14), tie: number(18) };
        let measures = [last.score, weights.mean_length];
        if measures.iter().chain(weights.rarities()).any(|measure| !measure.is_finite() || *measure <= 0.0) {
            return Err(garbled());
        }
        Ok(Cursor { query: number(6), mark: Mark { tier, weights, variants: number(26) }, last })
    }
}
