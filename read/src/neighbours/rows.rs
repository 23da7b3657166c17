//! The vectors of a project, and their stored form.

use super::corrupt;
use model::error::ModelError;

/// The vectors of one project, of unit length; at least one is there.
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

/// Returns the values as they are stored.
pub(super) fn to_bytes(numbers: &[f32]) -> Vec<u8> {
    numbers.iter().flat_map(|n| n.to_le_bytes()).collect()
}

/// Returns the stored values.
pub(super) fn from_bytes(bytes: &[u8]) -> Result<Vec<f32>, ModelError> {
    let (numbers, rest) = bytes.as_chunks::<4>();
    if numbers.is_empty() || !rest.is_empty() {
        return Err(corrupt("a vector of an invalid length"));
    }
    Ok(numbers.iter().map(|n| f32::from_le_bytes(*n)).collect())
}
