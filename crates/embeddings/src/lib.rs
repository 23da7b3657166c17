//! Encoders: a picture or a document as a vector, so that two are similar where their vectors point the same way.
//!
//! The write side's embedding worker uses it. [`Encoder`] is either the built-in one, which needs no model and is always there
//! (hashed words; colours, edges and layout of a picture), or reads model files from a folder (feature `models`): a sentence
//! encoder of the BERT family, an image encoder of the ViT, DINOv2 or CLIP family.
//!
//! The same input gives the same bits, whatever was encoded before it. Vectors of different encoders are never comparable, so each
//! encoder has a name, and every change to the numbers that one gives must change it.
//!
//! ```
//! use embeddings::{Document, Encoder, EncoderChoice, Field};
//!
//! let encoder = Encoder::open(&EncoderChoice::BuiltIn)?;
//! let material = Field { name: "material", texts: vec!["pale oak"], weight: 1.0, has_phrases: true };
//! let document = Document { fields: vec![material], ..Document::default() };
//! let vector = encoder.semantic(&document)?.expect("it holds words");
//! assert_eq!(vector.len(), 256);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod document;
mod length;
#[cfg(feature = "models")]
mod model;
mod semantic;
mod visual;

use std::path::PathBuf;

use image::RgbImage;

pub use document::{Document, Field};

/// The name of the encoder that needs no model.
pub const BUILT_IN: &str = "loggia-1";

/// The most numbers that a model may give.
pub const MAX_DIMENSIONS: usize = 4096;

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
    #[error("the models in {} cannot be read: this build has no feature `models`; build with it, or choose the built-in encoder", .0.display())]
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

/// Why a picture or a document has no vector.
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
}

/// Makes vectors of unit length from pictures and documents. Its calls block and compute: keep them off async threads.
#[derive(Debug)]
pub struct Encoder {
    kind: Kind,
}

#[derive(Debug)]
enum Kind {
    BuiltIn,
    #[cfg(feature = "models")]
    Models(Box<model::Models>),
}

impl Encoder {
    /// Opens an encoder; for a folder this reads all of its model files into memory.
    pub fn open(choice: &EncoderChoice) -> Result<Encoder, EncoderError> {
        let kind = match choice {
            EncoderChoice::BuiltIn => Kind::BuiltIn,
            #[cfg(feature = "models")]
            EncoderChoice::Folder(folder) => Kind::Models(Box::new(model::Models::open(folder)?)),
            #[cfg(not(feature = "models"))]
            EncoderChoice::Folder(folder) => return Err(EncoderError::NoSuchFeature(folder.clone())),
        };
        Ok(Encoder { kind })
    }

    /// Returns its name, which changes with the numbers that it gives.
    pub fn name(&self) -> &str {
        match &self.kind {
            Kind::BuiltIn => BUILT_IN,
            #[cfg(feature = "models")]
            Kind::Models(models) => &models.name,
        }
    }

    /// Returns what a picture looks like; `None` if this encoder reads no pictures. The picture may have any size: a few
    /// hundred pixels on a side show all that counts.
    ///
    /// # Errors
    ///
    /// Fails on a picture without pixels.
    pub fn visual(&self, picture: &RgbImage) -> Result<Option<Vec<f32>>, EncodeError> {
        match &self.kind {
            Kind::BuiltIn => visual::numbers(picture).map(Some).ok_or(EncodeError::NoPixels),
            #[cfg(feature = "models")]
            Kind::Models(models) => models.visual(picture),
        }
    }

    /// Returns what a document reads like; `None` if it holds no word, or this encoder reads no texts.
    ///
    /// # Errors
    ///
    /// Fails where a model's tokenizer does.
    pub fn semantic(&self, document: &Document<'_>) -> Result<Option<Vec<f32>>, EncodeError> {
        match &self.kind {
            Kind::BuiltIn => Ok(semantic::numbers(document)),
            #[cfg(feature = "models")]
            Kind::Models(models) => models.semantic(document),
        }
    }
}

#[cfg(test)]
mod tests;
