//! The vectors of a project, and their stored form.

use std::collections::HashMap;

use knn::{Quantized, Side, unit};
use schemas::vector::Vector;
use sqlx::SqliteConnection;

use super::corrupt;
use model::error::ModelError;

/// The vectors of one project; at least one is there.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Vectors {
    pub(super) visual: Option<Encoded>,
    pub(super) semantic: Option<Encoded>,
}

/// A vector and the model that made it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Encoded {
    pub(super) model: String,
    pub(super) numbers: Numbers,
}

/// The numbers of a vector, as they are stored and compared.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Numbers {
    /// Of unit length.
    Floats(Vec<f32>),
    /// Of any length.
    Bytes(Vec<i8>),
}

/// The form of one model's vectors on one side: that of the first one.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Form {
    /// 0 while there is no vector.
    pub(super) dimensions: usize,
    /// Whether a number is stored in one byte instead of four.
    pub(super) is_quantized: bool,
}

/// The forms of one model's vectors.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Forms {
    pub(super) visual: Form,
    pub(super) semantic: Form,
}

impl Vectors {
    /// The sides as the database counts them: 1 visual, 2 semantic, 3 both.
    pub(super) fn sides(&self) -> u8 {
        u8::from(self.visual.is_some()) + 2 * u8::from(self.semantic.is_some())
    }
}

impl Form {
    pub(super) fn of(vector: &Vector) -> Form {
        Form { dimensions: vector.dimensions(), is_quantized: vector.as_bytes().is_some() }
    }
}

impl Numbers {
    /// Converts a vector to a form. Only the direction counts, and one that is not in the form of its model already keeps that nearly.
    pub(super) fn of(vector: &Vector, form: Form) -> Numbers {
        match form.is_quantized {
            false => Numbers::Floats(unit(&vector.to_floats())),
            true => Numbers::Bytes(vector.to_bytes().into_owned()),
        }
    }

    /// Returns the numbers for a comparison.
    pub(super) fn side(&self) -> Side<'_> {
        match self {
            Numbers::Floats(numbers) => Side::Floats(numbers),
            Numbers::Bytes(numbers) => Side::Bytes(Quantized::new(numbers)),
        }
    }

    pub(super) fn form(&self) -> Form {
        match self {
            Numbers::Floats(numbers) => Form { dimensions: numbers.len(), is_quantized: false },
            Numbers::Bytes(numbers) => Form { dimensions: numbers.len(), is_quantized: true },
        }
    }

    /// Returns the numbers as they are stored.
    pub(super) fn to_stored(&self) -> Vec<u8> {
        match self {
            Numbers::Floats(numbers) => numbers.iter().flat_map(|n| n.to_le_bytes()).collect(),
            Numbers::Bytes(numbers) => numbers.iter().map(|n| n.cast_unsigned()).collect(),
        }
    }

    /// Reads stored numbers of a form.
    pub(super) fn from_stored(stored: &[u8], form: Form) -> Result<Numbers, ModelError> {
        let numbers = match form.is_quantized {
            false => {
                let numbers = stored.as_chunks::<4>().0;
                Numbers::Floats(numbers.iter().map(|n| f32::from_le_bytes(*n)).collect())
            }
            true => Numbers::Bytes(stored.iter().map(|n| n.cast_signed()).collect()),
        };
        // A length that is no multiple of four is found here too.
        let is_whole = numbers.form() == form && form.dimensions > 0 && numbers.stored_len() == stored.len();
        if is_whole { Ok(numbers) } else { Err(corrupt("a vector of an invalid length")) }
    }

    fn stored_len(&self) -> usize {
        match self {
            Numbers::Floats(numbers) => size_of_val(numbers.as_slice()),
            Numbers::Bytes(numbers) => numbers.len(),
        }
    }
}

/// Loads the forms of every known model.
pub(super) async fn load_models(
    connection: &mut SqliteConnection,
) -> Result<HashMap<String, Forms>, ModelError> {
    let sql = "SELECT model, visual, visual_is_quantized, semantic, semantic_is_quantized FROM models";
    let rows: Vec<(String, i64, bool, i64, bool)> = sqlx::query_as(sql).fetch_all(connection).await?;
    let form = |dimensions: i64, is_quantized| -> Result<Form, ModelError> {
        Ok(Form { dimensions: usize::try_from(dimensions).map_err(corrupt)?, is_quantized })
    };
    let forms =
        rows.into_iter().map(|(model, visual, visual_is_quantized, semantic, semantic_is_quantized)| {
            let visual = form(visual, visual_is_quantized)?;
            Ok((model, Forms { visual, semantic: form(semantic, semantic_is_quantized)? }))
        });
    forms.collect()
}
