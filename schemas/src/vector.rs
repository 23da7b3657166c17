//! Vectors, stored exactly: those that records bring as 32-bit floats (base64 of little-endian bytes in events, numbers in import
//! files), those that the service computes as one signed byte a number, since only their direction counts.

use std::borrow::Cow;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The maximum number of dimensions.
pub const MAX_DIMENSIONS: usize = 4096;

/// The model of the vectors that the built-in encoder computes, which needs no model files. The names of all encoders of this service
/// begin with it.
pub const BUILT_IN: &str = "loggia-1";

/// Returns whether vectors of this model are made by an encoder of this service, which need not be installed here.
pub fn is_own_encoder(model: &str) -> bool {
    model.strip_prefix(BUILT_IN).is_some_and(|weights| weights.is_empty() || weights.starts_with('+'))
}

/// What a vector of one byte a number begins with in events; base64 has no colon.
const BYTES: &str = "i8:";

/// The greatest absolute value of a number that is stored as a byte, so that a vector and its opposite are stored alike.
const MAX_BYTE: f32 = 127.0;

/// A finite vector of 1 to 4,096 dimensions that is not all zero.
#[derive(Debug, Clone, PartialEq)]
pub struct Vector(Numbers);

#[derive(Debug, Clone, PartialEq)]
enum Numbers {
    Floats(Vec<f32>),
    Bytes(Vec<i8>),
}

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
        check(&numbers)?;
        Ok(Vector(Numbers::Floats(numbers)))
    }

    /// Returns the vector of nearly the same direction whose numbers are whole, from -127 to 127, the greatest 127 or -127. At 512
    /// dimensions its cosine with the given one is above 0.9998.
    ///
    /// # Errors
    ///
    /// As [`Vector::new`].
    pub fn quantized(numbers: &[f32]) -> Result<Vector, VectorFault> {
        check(numbers)?;
        Ok(Vector(Numbers::Bytes(to_bytes(numbers))))
    }

    /// Returns the quantized vector of these stored bytes.
    fn from_bytes(bytes: &[u8]) -> Result<Vector, VectorFault> {
        let numbers: Vec<i8> = bytes.iter().map(|byte| byte.cast_signed()).collect();
        let vector = Vector(Numbers::Bytes(numbers));
        check(&vector.to_floats())?;
        Ok(vector)
    }

    /// Returns the number of dimensions.
    pub fn dimensions(&self) -> usize {
        match &self.0 {
            Numbers::Floats(numbers) => numbers.len(),
            Numbers::Bytes(numbers) => numbers.len(),
        }
    }

    /// Returns the numbers.
    pub fn to_floats(&self) -> Cow<'_, [f32]> {
        match &self.0 {
            Numbers::Floats(numbers) => Cow::Borrowed(numbers),
            Numbers::Bytes(numbers) => Cow::Owned(numbers.iter().map(|n| f32::from(*n)).collect()),
        }
    }

    /// Returns its numbers in one byte each, as [`Vector::quantized`] does; those of a quantized vector as they are.
    pub fn to_bytes(&self) -> Cow<'_, [i8]> {
        match &self.0 {
            Numbers::Floats(numbers) => Cow::Owned(to_bytes(numbers)),
            Numbers::Bytes(numbers) => Cow::Borrowed(numbers),
        }
    }

    /// Returns the numbers of a quantized vector; `None` for one of floats.
    pub fn as_bytes(&self) -> Option<&[i8]> {
        match &self.0 {
            Numbers::Floats(_) => None,
            Numbers::Bytes(numbers) => Some(numbers),
        }
    }
}

/// Checks length and values of a vector.
fn check(numbers: &[f32]) -> Result<(), VectorFault> {
    if numbers.is_empty() || numbers.len() > MAX_DIMENSIONS {
        return Err(VectorFault::Length(numbers.len()));
    }
    if let Some(index) = numbers.iter().position(|n| !n.is_finite()) {
        return Err(VectorFault::NotFinite(index + 1));
    }
    if numbers.iter().all(|n| *n == 0.0) {
        return Err(VectorFault::Zero);
    }
    Ok(())
}

/// Returns the numbers in steps of a 127th of the greatest.
fn to_bytes(numbers: &[f32]) -> Vec<i8> {
    let greatest = numbers.iter().fold(0.0_f32, |greatest, n| greatest.max(n.abs()));
    numbers.iter().map(|n| (n / greatest * MAX_BYTE).round() as i8).collect()
}

impl Serialize for Vector {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let text = match &self.0 {
            Numbers::Floats(numbers) => {
                STANDARD.encode(numbers.iter().flat_map(|n| n.to_le_bytes()).collect::<Vec<u8>>())
            }
            Numbers::Bytes(numbers) => {
                let bytes: Vec<u8> = numbers.iter().map(|n| n.cast_unsigned()).collect();
                format!("{BYTES}{}", STANDARD.encode(bytes))
            }
        };
        serializer.serialize_str(&text)
    }
}

impl<'de> Deserialize<'de> for Vector {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        if let Some(text) = text.strip_prefix(BYTES) {
            let bytes = STANDARD.decode(text).map_err(serde::de::Error::custom)?;
            return Vector::from_bytes(&bytes).map_err(serde::de::Error::custom);
        }
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
    fn the_names_of_own_encoders_begin_with_the_built_in_one() {
        let own = ["loggia-1", "loggia-1+efficientnet-lite0", "loggia-1+efficientnet-lite0+potion-base-8m"];
        assert!(own.into_iter().all(is_own_encoder));
        let others = ["loggia-12", "loggia", "clip", "", "+loggia-1"];
        assert!(!others.into_iter().any(is_own_encoder));
    }

    #[test]
    fn a_vector_round_trips_exactly_through_base64() {
        let vector = Vector::new(vec![0.1, -2.5e-30, 3.4e38, 0.0]).unwrap();
        let text = serde_json::to_string(&vector).unwrap();
        assert_eq!(text.len(), 26, "sixteen bytes as quoted base64: {text}");
        assert_eq!(serde_json::from_str::<Vector>(&text).unwrap(), vector);
    }

    #[test]
    fn a_quantized_vector_has_a_byte_a_number_and_nearly_the_same_direction() {
        let vector = Vector::quantized(&[0.5, -1.0, 0.003, 0.0]).unwrap();
        assert_eq!(*vector.to_floats(), [64.0, -127.0, 0.0, 0.0]);
        assert_eq!(vector.as_bytes(), Some(&[64, -127, 0, 0][..]));
        let text = serde_json::to_string(&vector).unwrap();
        assert_eq!(text, "\"i8:QIEAAA==\"");
        assert_eq!(serde_json::from_str::<Vector>(&text).unwrap(), vector);
        assert_eq!(*Vector::quantized(&[f32::MAX, f32::MIN]).unwrap().to_floats(), [127.0, -127.0]);
        assert_eq!(*Vector::quantized(&[f32::from_bits(1), 0.0]).unwrap().to_floats(), [127.0, 0.0]);
    }

    #[test]
    fn quantized_vectors_have_the_bounds_of_others() {
        assert_eq!(Vector::quantized(&[]), Err(VectorFault::Length(0)));
        assert_eq!(Vector::quantized(&[1.0, f32::NAN]), Err(VectorFault::NotFinite(2)));
        assert_eq!(Vector::quantized(&[0.0]), Err(VectorFault::Zero));
        let error = |text: &str| serde_json::from_str::<Vector>(text).unwrap_err().to_string();
        assert_eq!(error("\"i8:\""), "has 0 numbers; a vector has 1 to 4096");
        assert_eq!(error("\"i8:AAAA\""), "is all zero, which points nowhere");
    }

    #[test]
    fn vectors_without_a_direction_are_rejected() {
        assert_eq!(Vector::new(vec![]), Err(VectorFault::Length(0)));
        assert_eq!(Vector::new(vec![1.0; 4097]), Err(VectorFault::Length(4097)));
        assert_eq!(Vector::new(vec![1.0, f32::NAN]), Err(VectorFault::NotFinite(2)));
        assert_eq!(Vector::new(vec![0.0, -0.0]), Err(VectorFault::Zero));
    }
}
