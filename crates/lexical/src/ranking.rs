//! The order of results: a score for each document (its band, and within the band mostly BM25), then a tie-breaker that is unique
//! in the index.

pub(crate) mod band;
pub(crate) mod bm25;
pub(crate) mod top_k;

/// The tie-breaker holds the day of publication, newest first, in its upper 24 bits: days since 1970-01-01, subtracted from this
/// middle. The years from about -21,000 to 24,900 fit.
const MIDDLE_DAY: i64 = 1 << 23;
const UNKNOWN_DAY: u64 = (1 << 24) - 1;
/// The tie-breaker holds the ordinal, which is below this bound, in its lower 40 bits.
pub(crate) const ORDINAL_BOUND: u64 = 1 << 40;

/// Returns the tie-breaker of a document: the newest day first, an unknown one last, then the lower ordinal.
#[cfg_attr(not(feature = "writer"), expect(dead_code, reason = "only the writer makes tie-breakers"))]
pub(crate) fn tie_breaker(published: Option<i32>, ordinal: u64) -> u64 {
    let day = published
        .map_or(UNKNOWN_DAY, |day| (MIDDLE_DAY - i64::from(day)).clamp(0, UNKNOWN_DAY as i64 - 1) as u64);
    day << 40 | ordinal
}

/// Returns the ordinal of the document with this tie-breaker.
pub(crate) fn ordinal_of(tie_breaker: u64) -> u64 {
    tie_breaker % ORDINAL_BOUND
}

/// What results are sorted by: the higher score first, then the lower tie-breaker.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Rank {
    /// Finite and positive.
    pub(crate) score: f32,
    /// Unique in an index, since ordinals are.
    pub(crate) tie_breaker: u64,
}

impl Rank {
    /// Returns whether a document of this rank is listed before one of the `other`.
    pub(crate) fn is_before(&self, other: &Rank) -> bool {
        self.score > other.score || (self.score == other.score && self.tie_breaker < other.tie_breaker)
    }
}
