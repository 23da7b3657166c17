//! The vectors of a project.

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
