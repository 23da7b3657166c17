//! What a project looks and reads like, as vectors: two projects are near when their vectors point the same way.
//!
//! An encoder of ours needs no model and is always there. Model files of another kind are read from a folder, with the
//! feature `encoders`. Vectors of different encoders are never compared, so each encoder has a name, and every change
//! to the numbers that one gives must change it.

mod length;
mod semantic;
mod visual;
pub mod worker;

use std::path::PathBuf;

use image::RgbImage;
use schemas::record::Record;
use schemas::vector::{Vector, VectorFault};

/// The name of the encoder that needs no model.
const BUILT_IN: &str = "loggia-1";

/// Which encoder to open.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EncoderChoice {
    /// The one that needs no model: 191 dimensions for pictures, 256 for texts.
    BuiltIn,
    /// Model files in a folder with `text/`, `image/` or both.
    Folder(PathBuf),
}

/// Why no encoder could be opened.
#[derive(Debug, thiserror::Error)]
pub enum EncoderError {
    /// Reading model files was left out of this build.
    #[error("the models in {} cannot be read: this build has no feature `encoders`; build with it, or choose the built-in encoder", .0.display())]
    NoSuchFeature(PathBuf),
}

/// Why one project has no vector.
#[derive(Debug, thiserror::Error)]
pub enum EncodeError {
    /// A side of the picture is 0.
    #[error("the picture has no pixels; attach another")]
    NoPixels,
    /// The numbers that came out are no vector.
    #[error("the encoder {model} gave numbers that {fault}; choose another model")]
    Numbers {
        /// The encoder's name.
        model: String,
        /// What is wrong with them.
        fault: VectorFault,
    },
}

/// Makes vectors of unit length from pictures and texts. Its calls block and compute: keep them off async threads.
///
/// The same input gives the same vector, whatever was encoded before it.
#[derive(Debug)]
pub struct Encoder {
    name: String,
}

impl Encoder {
    /// Opens an encoder; for a folder this reads all of its model files into memory.
    pub fn open(choice: &EncoderChoice) -> Result<Encoder, EncoderError> {
        match choice {
            EncoderChoice::BuiltIn => Ok(Encoder { name: BUILT_IN.to_owned() }),
            EncoderChoice::Folder(folder) => Err(EncoderError::NoSuchFeature(folder.clone())),
        }
    }

    /// What `VectorsRecorded.model` says of its vectors.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What a picture looks like; `None` if this encoder reads no pictures.
    ///
    /// The picture may have any size: a few hundred pixels on a side show all that counts.
    pub fn visual(&self, picture: &RgbImage) -> Result<Option<Vector>, EncodeError> {
        let numbers = visual::numbers(picture).ok_or(EncodeError::NoPixels)?;
        self.vector(numbers).map(Some)
    }

    /// What a record reads like; `None` if no field of it holds a word, or this encoder reads no texts.
    pub fn semantic(&self, record: &Record) -> Result<Option<Vector>, EncodeError> {
        semantic::numbers(record).map(|numbers| self.vector(numbers)).transpose()
    }

    fn vector(&self, numbers: Vec<f32>) -> Result<Vector, EncodeError> {
        Vector::new(numbers).map_err(|fault| EncodeError::Numbers { model: self.name.clone(), fault })
    }
}

#[cfg(test)]
mod tests;
