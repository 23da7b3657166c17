//! The vectors of a project, and how two of them compare.

use std::ops::Range;

use super::unit::dot;

/// The vectors of one project: of unit length, at least one of them there.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Vectors {
    pub(super) visual: Option<Encoded>,
    pub(super) semantic: Option<Encoded>,
}

/// A vector and the model that made it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Encoded {
    pub(super) model: String,
    pub(super) numbers: Vec<f32>,
}

/// How the vectors of a side were made: the number of their model, and their dimensions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Encoding {
    pub(super) model: usize,
    pub(super) dimensions: usize,
}

/// Which sides a project has, and how each was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Kind {
    pub(super) visual: Option<Encoding>,
    pub(super) semantic: Option<Encoding>,
}

/// The vectors of a project where they stand.
#[derive(Debug, Clone, Copy)]
pub(super) struct Row<'a> {
    pub(super) kind: Kind,
    pub(super) visual: Option<&'a [f32]>,
    pub(super) semantic: Option<&'a [f32]>,
}

/// How alike two projects are on each side that they have in common, from -1 to 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Cosines {
    pub(super) visual: Option<f32>,
    pub(super) semantic: Option<f32>,
}

/// The columns that rows of two kinds have in common; their product times the factor is the score.
#[derive(Debug)]
pub(super) struct Common {
    pub(super) left: Range<usize>,
    pub(super) right: Range<usize>,
    pub(super) factor: f32,
}

impl Encoded {
    pub(super) fn as_slice(&self) -> &[f32] {
        &self.numbers
    }
}

impl Vectors {
    /// The sides as the database counts them: 1 visual, 2 semantic, 3 both.
    pub(super) fn sides(&self) -> u8 {
        u8::from(self.visual.is_some()) + 2 * u8::from(self.semantic.is_some())
    }
}

impl<'a> Row<'a> {
    /// Of numbers that stand side by side, the visual ones first.
    pub(super) fn of(kind: Kind, numbers: &'a [f32]) -> Row<'a> {
        let (visual, semantic) = numbers.split_at(dimensions(kind.visual));
        let side = |encoding: Option<Encoding>, numbers| encoding.map(|_| numbers);
        Row { kind, visual: side(kind.visual, visual), semantic: side(kind.semantic, semantic) }
    }

    pub(super) fn cosines(self, other: Row<'_>) -> Cosines {
        let side = |is_common: bool, a: Option<&[f32]>, b: Option<&[f32]>| {
            if is_common { Some(dot(a?, b?)) } else { None }
        };
        let (kind, others) = (self.kind, other.kind);
        Cosines {
            visual: side(kind.visual == others.visual, self.visual, other.visual),
            semantic: side(kind.semantic == others.semantic, self.semantic, other.semantic),
        }
    }

    /// The score that ranks; none where there is no common side.
    pub(super) fn score(self, other: Row<'_>) -> Option<f32> {
        match self.cosines(other) {
            Cosines { visual: Some(visual), semantic: Some(semantic) } => Some((visual + semantic) / 2.0),
            Cosines { visual, semantic } => visual.or(semantic),
        }
    }
}

impl Kind {
    /// How many numbers a row of this kind has.
    pub(super) fn width(self) -> usize {
        dimensions(self.visual) + dimensions(self.semantic)
    }

    /// None where the kinds have no side in common.
    pub(super) fn common(self, other: Kind) -> Option<Common> {
        let is_common =
            |side: fn(Kind) -> Option<Encoding>| side(self).is_some() && side(self) == side(other);
        let visual = |kind: Kind| 0..dimensions(kind.visual);
        let semantic = |kind: Kind| dimensions(kind.visual)..kind.width();
        match (is_common(|kind| kind.visual), is_common(|kind| kind.semantic)) {
            (true, true) => Some(Common { left: 0..self.width(), right: 0..other.width(), factor: 0.5 }),
            (true, false) => Some(Common { left: visual(self), right: visual(other), factor: 1.0 }),
            (false, true) => Some(Common { left: semantic(self), right: semantic(other), factor: 1.0 }),
            (false, false) => None,
        }
    }
}

/// How many numbers a side has; none where it is not there.
fn dimensions(side: Option<Encoding>) -> usize {
    side.map_or(0, |encoding| encoding.dimensions)
}
