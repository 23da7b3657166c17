//! The vectors of a project, and how two of them compare.

use std::ops::Range;

use super::unit::dot;

/// The vectors of one project: of unit length, at least one of them there.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Vectors {
    pub(super) visual: Option<Vec<f32>>,
    pub(super) semantic: Option<Vec<f32>>,
}

/// Which sides a project has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Both,
    Visual,
    Semantic,
}

/// The vectors of a project where they stand.
#[derive(Debug, Clone, Copy)]
pub(super) struct Row<'a> {
    pub(super) visual: Option<&'a [f32]>,
    pub(super) semantic: Option<&'a [f32]>,
}

/// How alike two projects are on each side that they have in common, from -1 to 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Cosines {
    pub(super) visual: Option<f32>,
    pub(super) semantic: Option<f32>,
}

/// How many dimensions each side has under one model; 0 while there is no vector of that side.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Dimensions {
    pub(super) visual: usize,
    pub(super) semantic: usize,
}

/// The columns that rows of two kinds have in common; their product times the factor is the score.
#[derive(Debug)]
pub(super) struct Common {
    pub(super) left: Range<usize>,
    pub(super) right: Range<usize>,
    pub(super) factor: f32,
}

impl Vectors {
    pub(super) fn row(&self) -> Row<'_> {
        Row { visual: self.visual.as_deref(), semantic: self.semantic.as_deref() }
    }

    /// The sides as the database counts them: 1 visual, 2 semantic, 3 both.
    pub(super) fn sides(&self) -> u8 {
        u8::from(self.visual.is_some()) + 2 * u8::from(self.semantic.is_some())
    }
}

impl<'a> Row<'a> {
    /// Of numbers that stand side by side, the visual ones first.
    pub(super) fn of(kind: Kind, dimensions: Dimensions, numbers: &'a [f32]) -> Row<'a> {
        match kind {
            Kind::Both => {
                let (visual, semantic) = numbers.split_at(dimensions.visual);
                Row { visual: Some(visual), semantic: Some(semantic) }
            }
            Kind::Visual => Row { visual: Some(numbers), semantic: None },
            Kind::Semantic => Row { visual: None, semantic: Some(numbers) },
        }
    }

    /// None without any side.
    pub(super) fn kind(self) -> Option<Kind> {
        match (self.visual, self.semantic) {
            (Some(_), Some(_)) => Some(Kind::Both),
            (Some(_), None) => Some(Kind::Visual),
            (None, Some(_)) => Some(Kind::Semantic),
            (None, None) => None,
        }
    }

    pub(super) fn cosines(self, other: Row<'_>) -> Cosines {
        let side = |a: Option<&[f32]>, b: Option<&[f32]>| Some(dot(a?, b?));
        Cosines { visual: side(self.visual, other.visual), semantic: side(self.semantic, other.semantic) }
    }

    /// The score that ranks; none where there is no common side.
    pub(super) fn score(self, other: Row<'_>) -> Option<f32> {
        match self.cosines(other) {
            Cosines { visual: Some(visual), semantic: Some(semantic) } => Some((visual + semantic) / 2.0),
            Cosines { visual, semantic } => visual.or(semantic),
        }
    }
}

impl Dimensions {
    /// How many numbers a row of this kind has.
    pub(super) fn width(self, kind: Kind) -> usize {
        match kind {
            Kind::Both => self.visual + self.semantic,
            Kind::Visual => self.visual,
            Kind::Semantic => self.semantic,
        }
    }

    /// None where the kinds have no side in common.
    pub(super) fn common(self, left: Kind, right: Kind) -> Option<Common> {
        let all = |kind| 0..self.width(kind);
        let side = |kind, wanted| match (kind, wanted) {
            (Kind::Both, Kind::Semantic) => self.visual..self.width(Kind::Both),
            _ => 0..self.width(wanted),
        };
        match (left, right) {
            (Kind::Both, Kind::Both) => Some(Common { left: all(left), right: all(right), factor: 0.5 }),
            (Kind::Visual, Kind::Semantic) | (Kind::Semantic, Kind::Visual) => None,
            (Kind::Both, one) | (one, Kind::Both | Kind::Visual | Kind::Semantic) => {
                Some(Common { left: side(left, one), right: side(right, one), factor: 1.0 })
            }
        }
    }
}
