//! Encoders from model files: a sentence encoder in `text/`, an image encoder in `image/`, or both, in the file layout of the
//! Hugging Face hub.

mod files;
mod image_encoder;
mod layers;
mod sentence_encoder;
mod weights;

use std::path::Path;

use image::RgbImage;

use self::files::ModelFolder;
use self::image_encoder::ImageEncoder;
use self::sentence_encoder::SentenceEncoder;
use super::{Document, EncodeError, EncoderError, scale_to};

/// The models of one folder; at least one exists.
#[derive(Debug)]
pub(super) struct Models {
    /// The name of the folder, a hyphen, and the first eight hexadecimal digits of the hash of all model files.
    pub(super) name: String,
    text: Option<SentenceEncoder>,
    image: Option<ImageEncoder>,
}

impl Models {
    pub(super) fn open(folder: &Path) -> Result<Models, EncoderError> {
        if !folder.is_dir() {
            return Err(EncoderError::NoFolder(folder.to_owned()));
        }
        let mut digest = files::Digest::new();
        let text = ModelFolder::at(folder.join("text"));
        let image = ModelFolder::at(folder.join("image"));
        if text.is_none() && image.is_none() {
            return Err(EncoderError::NoModel(folder.to_owned()));
        }
        let text = text.map(|folder| SentenceEncoder::open(&folder, &mut digest)).transpose()?;
        let image = image.map(|folder| ImageEncoder::open(&folder, &mut digest)).transpose()?;
        // A path such as `models/..` has no file name until it is resolved.
        let folder = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
        let folder_name = folder.file_name().map_or("models".into(), |name| name.to_string_lossy());
        Ok(Models { name: format!("{folder_name}-{}", digest.short()), text, image })
    }

    /// Returns the vector of a picture, of unit length; `None` without an image encoder.
    pub(super) fn visual(&self, picture: &RgbImage) -> Result<Option<Vec<f32>>, EncodeError> {
        let Some(model) = &self.image else { return Ok(None) };
        if picture.width() == 0 || picture.height() == 0 {
            return Err(EncodeError::NoPixels);
        }
        let mut vector = model.encode(picture);
        scale_to(&mut vector, 1.0);
        Ok(Some(vector))
    }

    /// Returns the vector of a document, of unit length; `None` without a sentence encoder or without words.
    pub(super) fn semantic(&self, document: &Document<'_>) -> Result<Option<Vec<f32>>, EncodeError> {
        let (Some(model), Some(text)) = (&self.text, sentences(document)) else { return Ok(None) };
        let mut vector = model.encode(&text)?;
        scale_to(&mut vector, 1.0);
        Ok(Some(vector))
    }
}

/// Joins the passages as sentences; the title if no passage has a letter or digit, `None` if the title has none either.
fn sentences(document: &Document<'_>) -> Option<String> {
    let has_words = |text: &str| text.chars().any(char::is_alphanumeric);
    let mut text = String::new();
    for passage in document.passages.iter().map(|passage| passage.trim()).filter(|text| has_words(text)) {
        if !text.is_empty() {
            text.push_str(if text.ends_with(['.', '!', '?', '。']) { " " } else { ". " });
        }
        text.push_str(passage);
    }
    if text.is_empty() {
        text.push_str(document.title.trim());
    }
    has_words(&text).then_some(text)
}

#[cfg(test)]
mod tests;
