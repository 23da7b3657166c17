//! Rows, and the score of two of them.

use std::ops::Range;

use crate::vector::dot;

/// How the vector of a side was made: vectors are compared only if this is equal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Encoding {
    /// A number for the encoder.
    pub model: usize,
    /// The dimensions of its vectors.
    pub dimensions: usize,
}

/// The sides that a row has, and how the vector of each was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Layout {
    /// The first side.
    pub visual: Option<Encoding>,
    /// The second side.
    pub semantic: Option<Encoding>,
}

/// The vectors of a row, each of unit length.
#[derive(Debug, Clone, Copy)]
pub struct Row<'a> {
    /// The sides that it has.
    pub layout: Layout,
    /// The vector of the first side.
    pub visual: Option<&'a [f32]>,
    /// The vector of the second side.
    pub semantic: Option<&'a [f32]>,
}

/// The cosines of two rows on the sides that they have in common, from -1 to 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Cosines {
    /// That of the first side.
    pub visual: Option<f32>,
    /// That of the second side.
    pub semantic: Option<f32>,
}

/// The columns of the sides that two layouts have in common; the dot product over them times the factor is the score.
#[derive(Debug)]
pub(crate) struct CommonColumns {
    pub(crate) left: Range<usize>,
    pub(crate) right: Range<usize>,
    pub(crate) factor: f32,
}

impl<'a> Row<'a> {
    /// Returns the row of these values: those of the first side, then those of the second.
    pub(crate) fn of(layout: Layout, values: &'a [f32]) -> Row<'a> {
        let (visual, semantic) = values.split_at(dimensions(layout.visual));
        let side = |encoding: Option<Encoding>, values| encoding.map(|_| values);
        Row { layout, visual: side(layout.visual, visual), semantic: side(layout.semantic, semantic) }
    }

    /// Returns the cosines with another row, of the same dimensions where the encoding is equal.
    pub fn cosines(self, other: Row<'_>) -> Cosines {
        let side = |is_common: bool, a: Option<&[f32]>, b: Option<&[f32]>| {
            if is_common { Some(dot(a?, b?)) } else { None }
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
    /// Returns the number of values in a row.
    pub(crate) fn width(self) -> usize {
        dimensions(self.visual) + dimensions(self.semantic)
    }

    /// Returns the common columns; `None` without a common side.
    pub(crate) fn common(self, other: Layout) -> Option<CommonColumns> {
        let is_common =
            |side: fn(Layout) -> Option<Encoding>| side(self).is_some() && side(self) == side(other);
        let visual = |layout: Layout| 0..dimensions(layout.visual);
        let semantic = |layout: Layout| dimensions(layout.visual)..layout.width();
        match (is_common(|layout| layout.visual), is_common(|layout| layout.semantic)) {
            (true, true) => {
                Some(CommonColumns { left: 0..self.width(), right: 0..other.width(), factor: 0.5 })
            }
            (true, false) => Some(CommonColumns { left: visual(self), right: visual(other), factor: 1.0 }),
            (false, true) => {
                Some(CommonColumns { left: semantic(self), right: semantic(other), factor: 1.0 })
            }
            (false, false) => None,
        }
    }
}

/// Returns the number of values of a side; 0 without it.
fn dimensions(side: Option<Encoding>) -> usize {
    side.map_or(0, |encoding| encoding.dimensions)
}
