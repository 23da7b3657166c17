//! Vectors of 32-bit floats, stored exactly: base64 of little-endian bytes in events, numbers in import files.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The maximum number of dimensions.
pub const MAX_DIMENSIONS: usize = 4096;

/// The model of the vectors that the built-in encoder computes, which needs no model files.
pub const BUILT_IN: &str = "loggia-1";

/// A finite vector of 1 to 4,096 dimensions that is not all zero.
#[derive(Debug, Clone, PartialEq)]
pub struct Vector(Vec<f32>);

/// Why numbers are not a vector.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum VectorFault {
    /// No numbers, or too many.
    #[error("has {0} numbers; a vector has 1 to {MAX_DIMENSIONS}")]
    Length(usize),
    /// A number that is not finite, counted from 1.
    #[error("number {0} is not finite as a 32-bit float")]
    NotFinite(usize),
    /// Zero in all dimensions, which has no direction.
    #[error("is all zero, which points nowhere")]
    Zero,
}

impl Vector {
    /// Validates the numbers.
    ///
    /// # Errors
    ///
    /// Returns an error for an invalid length, a number that is not finite, or zero in all dimensions.
    pub fn new(numbers: Vec<f32>) -> Result<Vector, VectorFault> {
        if numbers.is_empty() || numbers.len() > MAX_DIMENSIONS {
            return Err(VectorFault::Length(numbers.len()));
        }
        if let Some(index) = numbers.iter().position(|n| !n.is_finite()) {
            return Err(VectorFault::NotFinite(index + 1));
        }
        if numbers.iter().all(|n| *n == 0.0) {
            return Err(VectorFault::Zero);
        }
        Ok(Vector(numbers))
    }

    /// Returns the numbers.
    pub fn as_slice(&self) -> &[f32] {
        &self.0
    }
}

impl Serialize for Vector {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let bytes: Vec<u8> = self.0.iter().flat_map(|n| n.to_le_bytes()).collect();
        serializer.serialize_str(&STANDARD.encode(bytes))
    }
}

impl<'de> Deserialize<'de> for Vector {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let bytes = STANDARD.decode(text).map_err(serde::de::Error::custom)?;
        let (numbers, rest) = bytes.as_chunks::<4>();
        if !rest.is_empty() {
            return Err(serde::de::Error::custom("a vector's bytes come in fours"));
        }
        Vector::new(numbers.iter().map(|b| f32::from_le_bytes(*b)).collect())
            .map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_vector_round_trips_exactly_through_base64() {
        let vector = Vector::new(vec![0.1, -2.5e-30, 3.4e38, 0.0]).unwrap();
        let text = serde_json::to_string(&vector).unwrap();
        assert_eq!(text.len(), 26, "sixteen bytes as quoted base64: {text}");
        assert_eq!(serde_json::from_str::<Vector>(&text).unwrap(), vector);
    }

    #[test]
    fn vectors_without_a_direction_are_rejected() {
        assert_eq!(Vector::new(vec![]), Err(VectorFault::Length(0)));
        assert_eq!(Vector::new(vec![1.0; 4097]), Err(VectorFault::Length(4097)));
        assert_eq!(Vector::new(vec![1.0, f32::NAN]), Err(VectorFault::NotFinite(2)));
        assert_eq!(Vector::new(vec![0.0, -0.0]), Err(VectorFault::Zero));
    }
}
