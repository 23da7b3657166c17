//! Encoders of pictures and documents: vectors of unit length whose dot product is the similarity.
//!
//! The embedding worker of the write side uses it. An [`Encoder`] always has a built-in part that needs no files (feature hashing
//! of words; colours, edges and layout of a picture). With the [`weights`] of EfficientNet-Lite0, features learned from
//! photographs are the main part of a picture; with those of potion-base-8M, the meaning of words is a part of a document, and a
//! [`Query`] in other words finds it.
//!
//! The same input gives the same bits on one platform, whatever was encoded before. Vectors of different encoders are not
//! comparable, so each encoder has a name, and a change of its output must change the name.
//!
//! - [`Encoder`], [`Document`], [`Query`]: the interface.
//! - `semantic`: the built-in vector of a document. `fold` splits and folds words, `word_weights` weights them, `hash` places them.
//! - `visual`: the built-in vector of a picture. `pixels` scales and converts it, `descriptors` computes histograms and layout.
//! - `efficientnet`: the network for pictures. `delivered` converts the file of its authors.
//! - `static_text`: the table of word pieces for texts. `wordpiece` splits words, `delivered` converts the files of its authors.
//! - [`TextModel`]: the table alone, for questions.
//! - [`weights`]: the files of both, by their hashes. `found` looks for them in a folder, `half_precision` stores numbers in two bytes.
//!
//! ```
//! use embeddings::{Document, Encoder, EncoderChoice, Field};
//!
//! let encoder = Encoder::open(&EncoderChoice::BuiltIn)?;
//! let material = Field { name: "material", texts: vec!["pale oak"], weight: 1.0, has_phrases: true };
//! let document = Document { fields: vec![material], ..Document::default() };
//! let vector = encoder.semantic(&document).expect("it holds words");
//! assert_eq!(vector.len(), 256);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod efficientnet;
mod semantic;
mod static_text;
mod text_model;
mod visual;
pub mod weights;

use std::path::PathBuf;

use image::RgbImage;

use self::efficientnet::EfficientNet;
use self::static_text::StaticText;
pub use self::text_model::TextModel;
pub use self::weights::EncoderError;

/// The name of the built-in encoder; names with weights begin with it.
const BUILT_IN: &str = "loggia-1";

/// The share of colours and layout in the similarity of pictures, beside the features of EfficientNet-Lite0.
const COLOURS_AND_LAYOUT: f32 = 0.15;
/// The share of the meaning of words in the similarity of documents, beside the words themselves.
const MEANING: f32 = 0.4;

/// Which encoder to open.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EncoderChoice {
    /// The built-in encoder: 191 dimensions for pictures, 256 for texts.
    BuiltIn,
    /// The built-in encoder with the weights in a folder: 1,371 dimensions for pictures, 512 for texts. Either may be missing, and
    /// the folder too.
    Weights(PathBuf),
}

/// A picture has no vector: a side of it is 0.
#[derive(Debug, thiserror::Error)]
#[error("the picture has no pixels; attach another")]
pub struct NoPixels;

/// The text of one document.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Document<'a> {
    /// The fields for the words. Their order affects rounding, so the last bits of the vector.
    pub fields: Vec<Field<'a>>,
    /// Further fields for the words; without a word in `fields` they are ignored.
    pub context: Vec<Field<'a>>,
    /// The passages whose meaning is encoded.
    pub passages: Vec<&'a str>,
    /// The title; its meaning is encoded too.
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

/// The meaning of a question.
#[derive(Debug, Clone, PartialEq)]
pub struct Query {
    /// 256 numbers of unit length, to compare with the second half of the vectors of documents.
    pub vector: Vec<f32>,
    /// The share of its words that the model knows well, 0 to 1. Below [`UNDERSTOOD`] it is probably not English, and the vector
    /// says little.
    pub known: f32,
}

/// The share of known words from which a question is understood: 40 of 42 English ones reach it, and 10 of 81 in other languages,
/// most of them a word or two that English has too.
pub const UNDERSTOOD: f32 = 0.65;

/// Encodes pictures and documents as vectors of unit length. Its methods block and compute; call them on a blocking thread.
#[derive(Debug)]
pub struct Encoder {
    name: String,
    pictures: Option<EfficientNet>,
    texts: Option<StaticText>,
}

impl Encoder {
    /// Opens an encoder; weights are read into memory, 21 MB of them.
    ///
    /// # Errors
    ///
    /// If a file of weights cannot be read or has another hash.
    pub fn open(choice: &EncoderChoice) -> Result<Encoder, EncoderError> {
        let (pictures, texts) = match choice {
            EncoderChoice::BuiltIn => (None, None),
            EncoderChoice::Weights(folder) => (weights::efficientnet(folder)?, weights::static_text(folder)?),
        };
        let pictures_name = pictures.as_ref().map(|_| weights::EFFICIENTNET_LITE0.name);
        let texts_name = texts.as_ref().map(|_| weights::POTION_BASE_8M.name);
        let names: Vec<&str> = [Some(BUILT_IN), pictures_name, texts_name].into_iter().flatten().collect();
        Ok(Encoder { name: names.join("+"), pictures, texts })
    }

    /// Returns the name of the encoder; encoders with equal names have equal output.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the vector of a picture. The picture may have any size; more than a few hundred pixels per side change little.
    ///
    /// # Errors
    ///
    /// If the picture has no pixels.
    pub fn visual(&self, picture: &RgbImage) -> Result<Vec<f32>, NoPixels> {
        let Some(network) = &self.pictures else { return visual::vector(picture).ok_or(NoPixels) };
        let colours_and_layout = visual::colours_and_layout(picture).ok_or(NoPixels)?;
        Ok(mix(network.features(picture), colours_and_layout, COLOURS_AND_LAYOUT))
    }

    /// Returns the vector of a document; `None` if it holds no word. With a text model its second half is the meaning, as long as the root
    /// of its share, or 0 for a document without known words.
    pub fn semantic(&self, document: &Document<'_>) -> Option<Vec<f32>> {
        let words = semantic::vector(document)?;
        let Some(texts) = &self.texts else { return Some(words) };
        let passages = document.passages.iter().copied().chain([document.title]);
        let meaning = texts.vector(passages).map(|text| text.vector);
        Some(mix(words, meaning.unwrap_or_else(|| vec![0.0; static_text::DIMENSIONS]), MEANING))
    }
}

/// Concatenates two vectors of unit length so that the dot product of two results is the weighted mean of those of both parts;
/// `share` is the weight of the second part.
fn mix(mut first: Vec<f32>, mut second: Vec<f32>, share: f32) -> Vec<f32> {
    scale_to(&mut first, (1.0 - share).sqrt());
    scale_to(&mut second, share.sqrt());
    first.append(&mut second);
    scale_to(&mut first, 1.0);
    first
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
