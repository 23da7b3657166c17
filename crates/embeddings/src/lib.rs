//! Encoders of pictures and documents: vectors of unit length whose dot product is the similarity.
//!
//! The embedding worker of the write side uses it. An [`Encoder`] is either the built-in one, which needs no model (feature
//! hashing of words; colours, edges and layout of a picture), or reads model files from a folder (feature `models`): a sentence
//! encoder of the BERT family, an image encoder of the ViT, DINOv2 or CLIP family.
//!
//! The same input gives the same bits on one platform, whatever was encoded before. Vectors of different encoders are not
//! comparable, so each encoder has a name, and a change of its output must change the name.
//!
//! - [`Encoder`], [`Document`]: the interface.
//! - `semantic`: the built-in vector of a document. `fold` splits and folds words, `word_weights` weights them, `hash` places them.
//! - `visual`: the built-in vector of a picture. `pixels` scales and converts it, `descriptors` computes histograms and layout.
//! - `model`: encoders from model files. `files` and `weights` read them, `layers` is the transformer, `sentence_encoder` and
//!   `image_encoder` build on it.
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

#[cfg(feature = "models")]
mod model;
mod semantic;
mod visual;

use std::path::PathBuf;

use image::RgbImage;

/// The name of the built-in encoder.
const BUILT_IN: &str = "loggia-1";

/// The most dimensions of a model.
pub const MAX_DIMENSIONS: usize = 4096;

/// Which encoder to open.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EncoderChoice {
    /// The built-in encoder: 191 dimensions for pictures, 256 for texts.
    BuiltIn,
    /// Model files in a folder with `text/`, `image/` or both.
    Folder(PathBuf),
}

/// Why an encoder cannot be opened.
#[derive(Debug, thiserror::Error)]
pub enum EncoderError {
    /// This build has no feature `models`.
    #[error("the models in {} cannot be read: this loggia was built without models; start it with `bin/up --features models`, build it with bin/release, or choose the built-in encoder", .0.display())]
    FeatureDisabled(PathBuf),
    /// The folder does not exist.
    #[error("there is no folder {}; choose one that contains text/, image/ or both, or the built-in encoder", .0.display())]
    NoFolder(PathBuf),
    /// The folder has neither `text/` nor `image/`.
    #[error("{} contains neither text/ nor image/; put a sentence encoder into text/, an image encoder into image/, \
             or both", .0.display())]
    NoModel(PathBuf),
    /// A file of a model is missing or cannot be read.
    #[error("{} cannot be read ({source}); a model needs config.json and model.safetensors, in text/ with tokenizer.json, in image/ with preprocessor_config.json", .file.display())]
    Unreadable {
        /// The file.
        file: PathBuf,
        /// The error of the system.
        source: std::io::Error,
    },
    /// A file has the wrong format, or does not match the other files of the model.
    #[error("{} {reason}", .file.display())]
    Malformed {
        /// The file.
        file: PathBuf,
        /// The problem and its remedy, after the name of the file.
        reason: String,
    },
    /// The model has an unsupported architecture.
    #[error("{} is of a {found} model; {wanted}", .file.display())]
    OtherArchitecture {
        /// Its `config.json`.
        file: PathBuf,
        /// Its architecture.
        found: String,
        /// The supported architectures.
        wanted: &'static str,
    },
}

/// Why a picture or a document has no vector.
#[derive(Debug, thiserror::Error)]
pub enum EncodeError {
    /// A side of the picture is 0.
    #[error("the picture has no pixels; attach another")]
    NoPixels,
    /// The tokenizer of a model failed.
    #[error("the sentence encoder cannot read the text: {reason}")]
    Tokenizer {
        /// The reason.
        reason: String,
    },
}

/// The text of one document.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Document<'a> {
    /// The fields for the built-in encoder. Their order affects rounding, so the last bits of the vector.
    pub fields: Vec<Field<'a>>,
    /// Further fields for the built-in encoder; without a word in `fields` they are ignored.
    pub context: Vec<Field<'a>>,
    /// The passages for a sentence encoder, the most important first: it reads a limited number of tokens.
    pub passages: Vec<&'a str>,
    /// The text for a sentence encoder if no passage has a letter or digit.
    pub title: &'a str,
}

/// A field of a document.
#[derive(Debug, Clone, PartialEq)]
pub struct Field<'a> {
    /// The name. A word has most weight in common with the same word in fields of the same name.
    pub name: &'a str,
    /// The texts.
    pub texts: Vec<&'a str>,
    /// The length of the vector of this field before all are added and normalised.
    pub weight: f32,
    /// Whether adjacent words are hashed as pairs too; in long texts that adds more noise than signal.
    pub has_phrases: bool,
}

/// Encodes pictures and documents as vectors of unit length. Its methods block and compute; call them on a blocking thread.
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
    /// Opens an encoder; the model files of a folder are read into memory.
    ///
    /// # Errors
    ///
    /// If the folder holds no readable model.
    pub fn open(choice: &EncoderChoice) -> Result<Encoder, EncoderError> {
        let kind = match choice {
            EncoderChoice::BuiltIn => Kind::BuiltIn,
            #[cfg(feature = "models")]
            EncoderChoice::Folder(folder) => Kind::Models(Box::new(model::Models::open(folder)?)),
            #[cfg(not(feature = "models"))]
            EncoderChoice::Folder(folder) => return Err(EncoderError::FeatureDisabled(folder.clone())),
        };
        Ok(Encoder { kind })
    }

    /// Returns the name of the encoder; encoders with equal names have equal output.
    pub fn name(&self) -> &str {
        match &self.kind {
            Kind::BuiltIn => BUILT_IN,
            #[cfg(feature = "models")]
            Kind::Models(models) => &models.name,
        }
    }

    /// Returns the vector of a picture; `None` if this encoder reads no pictures. The picture may have any size; more than a few
    /// hundred pixels per side change little.
    ///
    /// # Errors
    ///
    /// If the picture has no pixels.
    pub fn visual(&self, picture: &RgbImage) -> Result<Option<Vec<f32>>, EncodeError> {
        match &self.kind {
            Kind::BuiltIn => visual::vector(picture).map(Some).ok_or(EncodeError::NoPixels),
            #[cfg(feature = "models")]
            Kind::Models(models) => models.visual(picture),
        }
    }

    /// Returns the vector of a document; `None` if it holds no word, or this encoder reads no texts.
    ///
    /// # Errors
    ///
    /// If the tokenizer of a model fails.
    pub fn semantic(&self, document: &Document<'_>) -> Result<Option<Vec<f32>>, EncodeError> {
        match &self.kind {
            Kind::BuiltIn => Ok(semantic::vector(document)),
            #[cfg(feature = "models")]
            Kind::Models(models) => models.semantic(document),
        }
    }
}

/// Scales a vector to this length; a zero vector stays zero.
fn scale_to(vector: &mut [f32], length: f32) {
    let current = vector.iter().map(|n| n * n).sum::<f32>().sqrt();
    if current > 0.0 {
        let scale = length / current;
        vector.iter_mut().for_each(|n| *n *= scale);
    }
}

#[cfg(test)]
mod tests;
