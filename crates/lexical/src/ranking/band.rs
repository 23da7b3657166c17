//! The integer part of a score: how a document contains what was typed. The fraction compares documents of one band.

/// How a document contains what was typed, the least first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MatchBand {
    /// Approximately.
    Approximate = 0,
    /// Every word, in some form.
    Forms = 1,
    /// Every word exactly, somewhere.
    Words = 2,
    /// In its name, all words next to each other, of which the last goes on.
    UnfinishedInName = 3,
    /// In its name, all words next to each other.
    InName = 4,
    /// As the beginning of its name, in which the last word goes on.
    UnfinishedBeginning = 5,
    /// As the beginning of its name.
    Beginning = 6,
    /// As its whole name.
    WholeName = 7,
}

/// The letters that a name goes on with and that halve the fraction of its score.
const HALF_REST: f32 = 32.0;

impl MatchBand {
    /// Returns the score of a document of the band with this relevance, which is above 0.
    #[inline]
    pub(crate) fn score(self, relevance: f32) -> f32 {
        f32::from(self as u8) + (relevance / (1.0 + relevance)).max(f32::MIN_POSITIVE)
    }

    /// Returns the score of a document whose name goes on with `rest` more bytes after what was typed: the shorter the better,
    /// since the shorter name is more likely to be the one that is typed. The fraction is above a half.
    pub(crate) fn score_of_beginning(self, rest: usize) -> f32 {
        f32::from(self as u8) + 0.5 + 0.5 * HALF_REST / (HALF_REST + rest.max(1) as f32)
    }
}
