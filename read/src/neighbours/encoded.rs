//! Vectors as bytes.

use super::corrupt;
use crate::error::ModelError;

/// Returns the values as they are stored.
pub(super) fn to_bytes(numbers: &[f32]) -> Vec<u8> {
    numbers.iter().flat_map(|n| n.to_le_bytes()).collect()
}

/// Returns the stored values.
///
/// # Errors
///
/// If there are none, or the last is cut.
pub(super) fn from_bytes(bytes: &[u8]) -> Result<Vec<f32>, ModelError> {
    let (numbers, rest) = bytes.as_chunks::<4>();
    if numbers.is_empty() || !rest.is_empty() {
        return Err(corrupt("a vector of a strange length"));
    }
    Ok(numbers.iter().map(|n| f32::from_le_bytes(*n)).collect())
}
