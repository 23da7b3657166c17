//! Models from files: a sentence encoder in `text/`, an image encoder in `image/`, or both, in the layout in which
//! model hubs hand them out.

mod files;
mod layers;
mod picture;
mod reading;
mod sentence;
mod weights;

use std::path::Path;

use image::RgbImage;

use self::files::ModelFolder;
use self::picture::PictureModel;
use self::sentence::SentenceModel;
use super::document::Document;
use super::length::weigh;
use super::{EncodeError, EncoderError};

/// The models of one folder; at least one is there.
#[derive(Debug)]
pub(super) struct Models {
    /// The folder's name, a dash, and eight hexadecimal digits that another model would change.
    pub(super) name: String,
    text: Option<SentenceModel>,
    image: Option<PictureModel>,
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
        let text = text.map(|folder| SentenceModel::open(&folder, &mut digest)).transpose()?;
        let image = image.map(|folder| PictureModel::open(&folder, &mut digest)).transpose()?;
        // A path such as `models/..` has no name of its own until it is resolved.
        let folder = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
        let own = folder.file_name().map_or("models".into(), |name| name.to_string_lossy());
        Ok(Models { name: format!("{own}-{}", digest.short()), text, image })
    }

    /// What a picture looks like, of unit length; `None` without an image encoder.
    pub(super) fn visual(&self, picture: &RgbImage) -> Result<Option<Vec<f32>>, EncodeError> {
        let Some(model) = &self.image else { return Ok(None) };
        if picture.width() == 0 || picture.height() == 0 {
            return Err(EncodeError::NoPixels);
        }
        let mut numbers = model.encode(picture);
        weigh(&mut numbers, 1.0);
        Ok(Some(numbers))
    }

    /// What a document reads like, of unit length; `None` without a sentence encoder and without words.
    pub(super) fn semantic(&self, document: &Document<'_>) -> Result<Option<Vec<f32>>, EncodeError> {
        let (Some(model), Some(text)) = (&self.text, reading::text(document)) else { return Ok(None) };
        let mut numbers = model.encode(&text)?;
        weigh(&mut numbers, 1.0);
        Ok(Some(numbers))
    }
}

#[cfg(test)]
mod tests;
