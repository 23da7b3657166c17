//! What a project looks and reads like, as vectors: two projects are near when their vectors point the same way.
//!
//! An encoder of ours needs no model and is always there. Model files of another kind are read from a folder, with the
//! feature `encoders`. Vectors of different encoders are never compared, so each encoder has a name, and every change
//! to the numbers that one gives must change it.

mod length;
#[cfg(feature = "encoders")]
mod model;
mod semantic;
mod visual;
pub mod worker;

use std::path::PathBuf;

use image::RgbImage;
use schemas::record::Record;
use schemas::vector::{Vector, VectorFault};

use crate::computed::BUILT_IN;

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
    /// The chosen folder is not there.
    #[error("there is no folder {}; choose one that holds text/, image/ or both, or the built-in encoder", .0.display())]
    NoFolder(PathBuf),
    /// The chosen folder is there and holds no model.
    #[error("{} holds neither text/ nor image/; put a sentence encoder into text/, an image encoder into image/, or both", .0.display())]
    NoModel(PathBuf),
    /// A file of a model is missing or cannot be read.
    #[error("{} cannot be read ({source}); a model needs config.json and model.safetensors, in text/ with tokenizer.json, in image/ with preprocessor_config.json", .file.display())]
    Unreadable {
        /// The file.
        file: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// A file is there and is not what its name says, or does not fit the others.
    #[error("{} {reason}", .file.display())]
    Malformed {
        /// The file.
        file: PathBuf,
        /// What is wrong with it, and what helps.
        reason: String,
    },
    /// A model of another architecture.
    #[error("{} is of a {found} model; {wanted}", .file.display())]
    OtherArchitecture {
        /// The `config.json` that says so.
        file: PathBuf,
        /// Its architecture.
        found: String,
        /// What can be read instead.
        wanted: &'static str,
    },
}

/// Why one project has no vector.
#[derive(Debug, thiserror::Error)]
pub enum EncodeError {
    /// A side of the picture is 0.
    #[error("the picture has no pixels; attach another")]
    NoPixels,
    /// A model's tokenizer cannot make sense of a text.
    #[error("the sentence encoder cannot read the text: {reason}")]
    Unread {
        /// What it stumbled over.
        reason: String,
    },
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
    kind: Kind,
}

#[derive(Debug)]
enum Kind {
    BuiltIn,
    #[cfg(feature = "encoders")]
    Models(Box<model::Models>),
}

impl Encoder {
    /// Opens an encoder; for a folder this reads all of its model files into memory.
    pub fn open(choice: &EncoderChoice) -> Result<Encoder, EncoderError> {
        let kind = match choice {
            EncoderChoice::BuiltIn => Kind::BuiltIn,
            #[cfg(feature = "encoders")]
            EncoderChoice::Folder(folder) => Kind::Models(Box::new(model::Models::open(folder)?)),
            #[cfg(not(feature = "encoders"))]
            EncoderChoice::Folder(folder) => return Err(EncoderError::NoSuchFeature(folder.clone())),
        };
        Ok(Encoder { kind })
    }

    /// What `VectorsRecorded.model` says of its vectors.
    pub fn name(&self) -> &str {
        match &self.kind {
            Kind::BuiltIn => BUILT_IN,
            #[cfg(feature = "encoders")]
            Kind::Models(models) => &models.name,
        }
    }

    /// What a picture looks like; `None` if this encoder reads no pictures.
    ///
    /// The picture may have any size: a few hundred pixels on a side show all that counts.
    pub fn visual(&self, picture: &RgbImage) -> Result<Option<Vector>, EncodeError> {
        let numbers = match &self.kind {
            Kind::BuiltIn => Some(visual::numbers(picture).ok_or(EncodeError::NoPixels)?),
            #[cfg(feature = "encoders")]
            Kind::Models(models) => models.visual(picture)?,
        };
        numbers.map(|numbers| self.vector(numbers)).transpose()
    }

    /// What a record reads like; `None` if no field of it holds a word, or this encoder reads no texts.
    pub fn semantic(&self, record: &Record) -> Result<Option<Vector>, EncodeError> {
        let numbers = match &self.kind {
            Kind::BuiltIn => semantic::numbers(record),
            #[cfg(feature = "encoders")]
            Kind::Models(models) => models.semantic(record)?,
        };
        numbers.map(|numbers| self.vector(numbers)).transpose()
    }

    fn vector(&self, numbers: Vec<f32>) -> Result<Vector, EncodeError> {
        Vector::new(numbers).map_err(|fault| EncodeError::Numbers { model: self.name().to_owned(), fault })
    }
}

#[cfg(test)]
mod tests;
