//! The cursor between two pages: an opaque text that holds all that the next page needs, so that any node can answer it.

use std::fmt;
use std::str::FromStr;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use super::MatchTier;
use crate::SearchError;
use crate::fnv::Fnv;
use crate::ranking::Rank;
use crate::ranking::bm25::{Bm25Weights, MAX_IDFS};

/// To be incremented whenever a document is scored, or variants are chosen, in another way: older cursors are then refused.
/// (Version 1 named the commit that its page was answered from, which other nodes never had; version 2 did not rank by names; version 3
/// knew no forms of words.)
const VERSION: u8 = 4;
/// The length in bytes without idfs, and the greatest length.
const HEADER: usize = 38;
const MAX_LENGTH: usize = HEADER + 4 * MAX_IDFS;
const MAX_TEXT_LENGTH: usize = MAX_LENGTH.div_ceil(3) * 4;

/// Where a page ended: the query, the match tier, the rank of the last result, and the weights of scores. A document that
/// did not change has the same rank in every later commit and on every node, so the pages after a cursor contain each such document
/// exactly once. The text is URL-safe, of at most 144 characters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cursor {
    /// The fingerprint of the query and its category.
    pub(crate) query: u64,
    pub(crate) state: CursorState,
    /// The rank of the last result.
    pub(crate) last: Rank,
}

/// What the pages of one search have in common.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct CursorState {
    pub(crate) tier: MatchTier,
    pub(crate) weights: Bm25Weights,
    /// A hash of the variants that were searched for in place of typed words; in the prefix tier a bit for each word that may be two;
    /// 0 if there was no choice of variants.
    pub(crate) variants: u64,
}

impl Cursor {
    /// Returns how the search of this cursor matches. Pages after cursors of one query and stage have the same results in all, as of one
    /// commit.
    pub fn stage(&self) -> (u8, u64) {
        (self.state.tier as u8, self.state.variants)
    }
}

impl fmt::Display for Cursor {
    /// Writes base64url of: checksum of the rest (4 bytes), version, tier, query (8), score (4), tie-breaker (8), variants (8), mean
    /// length (4), and 4 for each idf; all big-endian.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let CursorState { tier, weights, variants } = &self.state;
        let mut bytes = [0; MAX_LENGTH];
        bytes[4] = VERSION;
        bytes[5] = *tier as u8;
        bytes[6..14].copy_from_slice(&self.query.to_be_bytes());
        bytes[14..18].copy_from_slice(&self.last.score.to_be_bytes());
        bytes[18..26].copy_from_slice(&self.last.tie_breaker.to_be_bytes());
        bytes[26..34].copy_from_slice(&variants.to_be_bytes());
        bytes[34..38].copy_from_slice(&weights.mean_length.to_be_bytes());
        let idfs = weights.idfs();
        for (slot, idf) in bytes[HEADER..].chunks_exact_mut(4).zip(idfs) {
            slot.copy_from_slice(&idf.to_be_bytes());
        }
        let length = HEADER + 4 * idfs.len();
        let checksum = Fnv::checksum(&bytes[4..length]);
        bytes[..4].copy_from_slice(&checksum);
        let mut text = [0; MAX_TEXT_LENGTH];
        let written = URL_SAFE_NO_PAD.encode_slice(&bytes[..length], &mut text).map_err(|_| fmt::Error)?;
        formatter.write_str(std::str::from_utf8(&text[..written]).map_err(|_| fmt::Error)?)
    }
}

impl FromStr for Cursor {
    type Err = SearchError;

    /// Parses the text of a cursor; fails on anything that [`Cursor`] of this version did not write.
    fn from_str(text: &str) -> Result<Cursor, SearchError> {
        let garbled =
            || SearchError::InvalidCursor("it was cut or altered on its way, or an earlier version made it");
        let mut bytes = [0; MAX_TEXT_LENGTH];
        if text.len() > MAX_TEXT_LENGTH {
            return Err(garbled());
        }
        let length = URL_SAFE_NO_PAD.decode_slice(text, &mut bytes).map_err(|_| garbled())?;
        let is_whole = (HEADER..=MAX_LENGTH).contains(&length) && (length - HEADER).is_multiple_of(4);
        if !is_whole || bytes[..4] != Fnv::checksum(&bytes[4..length]) || bytes[4] != VERSION {
            return Err(garbled());
        }
        let u64_at = |from: usize| bytes[from..from + 8].iter().fold(0, |n, byte| n << 8 | u64::from(*byte));
        let f32_at = |from: usize| f32::from_bits((u64_at(from) >> 32) as u32);
        let tier = MatchTier::from_code(bytes[5]).ok_or_else(garbled)?;
        let mut weights = Bm25Weights::new(f32_at(34));
        (HEADER..length).step_by(4).for_each(|from| weights.push(f32_at(from)));
        let last = Rank { score: f32_at(14), tie_breaker: u64_at(18) };
        let numbers = [last.score, weights.mean_length];
        if numbers.iter().chain(weights.idfs()).any(|number| !number.is_finite() || *number <= 0.0) {
            return Err(garbled());
        }
        Ok(Cursor { query: u64_at(6), state: CursorState { tier, weights, variants: u64_at(26) }, last })
    }
}
