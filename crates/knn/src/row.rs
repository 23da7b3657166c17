//! Rows, and the score of two of them.

use crate::vector::Side;

/// How the vector of a side was made: vectors are compared only if this is equal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Encoding {
    /// A number for the encoder.
    pub model: usize,
    /// The dimensions of its vectors.
    pub dimensions: usize,
    /// Whether they are [`Side::Bytes`].
    pub is_quantized: bool,
}

/// The sides that a row has, and how the vector of each was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Layout {
    /// The first side.
    pub visual: Option<Encoding>,
    /// The second side.
    pub semantic: Option<Encoding>,
}

/// The vectors of a row.
#[derive(Debug, Clone, Copy)]
pub struct Row<'a> {
    /// The sides that it has.
    pub layout: Layout,
    /// The vector of the first side.
    pub visual: Option<Side<'a>>,
    /// The vector of the second side.
    pub semantic: Option<Side<'a>>,
}

/// The cosines of two rows on the sides that they have in common, from -1 to 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Cosines {
    /// That of the first side.
    pub visual: Option<f32>,
    /// That of the second side.
    pub semantic: Option<f32>,
}

impl Row<'_> {
    /// Returns the cosines with another row, of the same dimensions where the encoding is equal.
    pub fn cosines(self, other: Row<'_>) -> Cosines {
        let side = |is_common: bool, a: Option<Side<'_>>, b: Option<Side<'_>>| {
            if is_common { a?.cosine(b?) } else { None }
        };
        let (left, right) = (self.layout, other.layout);
        Cosines {
            visual: side(left.visual == right.visual, self.visual, other.visual),
            semantic: side(left.semantic == right.semantic, self.semantic, other.semantic),
        }
    }

    /// Returns the score with another row, the mean of the cosines; `None` without a common side.
    pub fn score(self, other: Row<'_>) -> Option<f32> {
        match self.cosines(other) {
            Cosines { visual: Some(visual), semantic: Some(semantic) } => Some((visual + semantic) / 2.0),
            Cosines { visual, semantic } => visual.or(semantic),
        }
    }
}

impl Layout {
    /// Returns the encodings of the sides, `None` for a side that is not in common: both sides in order.
    pub(crate) fn common(self, other: Layout) -> [Option<Encoding>; 2] {
        let common = |a: Option<Encoding>, b: Option<Encoding>| a.filter(|_| a == b);
        [common(self.visual, other.visual), common(self.semantic, other.semantic)]
    }
}
