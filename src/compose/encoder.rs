//! The encoder of this process: which weights it has, and what takes their place.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Result;
use data_folder::DataFolder;
use embeddings::{Encoder, EncoderChoice, EncoderError, TextModel};

use crate::config::{Config, Vectors};

/// Where a release has the weights, from the folder above that of the program.
const RELEASED_WEIGHTS: &str = "share/loggia/weights";

/// An encoder, and why it lacks weights that are there.
#[derive(Debug)]
pub struct OpenEncoder {
    pub encoder: Encoder,
    pub fault: Option<EncoderError>,
}

/// Returns the folder of the weights that are read: that of the settings or the data folder, or else the one that came with the program.
pub fn weights_folder(config: &Config) -> PathBuf {
    let program = std::env::current_exe().and_then(|program| program.canonicalize()).unwrap_or_default();
    weights_near(config, &program)
}

fn weights_near(config: &Config, program: &Path) -> PathBuf {
    let own = own_weights_folder(config);
    // An empty folder counts: whoever removes weights from it wants none.
    if config.media.weights.is_some() || own.is_dir() {
        return own;
    }
    let prefix = program.parent().and_then(Path::parent);
    let released = prefix.map(|prefix| prefix.join(RELEASED_WEIGHTS));
    released.filter(|folder| folder.is_dir()).unwrap_or(own)
}

/// Returns the folder into which weights are put.
pub fn own_weights_folder(config: &Config) -> PathBuf {
    config.media.weights.clone().unwrap_or_else(|| DataFolder::new(&config.server.data).weights())
}

/// Opens the encoder that is set; `None` if it is off. Where weights are damaged it is the built-in one: a service that starts
/// is better than one that lacks some meaning.
pub async fn open_encoder(config: &Config) -> Result<Option<OpenEncoder>> {
    let choice = match config.media.vectors {
        Vectors::Off => return Ok(None),
        Vectors::BuiltIn => EncoderChoice::BuiltIn,
        Vectors::Auto => EncoderChoice::Weights(weights_folder(config)),
    };
    let opened = tokio::task::spawn_blocking(move || match Encoder::open(&choice) {
        Ok(encoder) => Ok(OpenEncoder { encoder, fault: None }),
        Err(fault) => {
            let encoder = Encoder::open(&EncoderChoice::BuiltIn)?;
            Ok::<_, EncoderError>(OpenEncoder { encoder, fault: Some(fault) })
        }
    });
    Ok(Some(opened.await??))
}

/// Opens the model of the meaning of texts with which an API answers; `None` if the settings want none, it is not there, or it is damaged,
/// which is logged.
pub async fn open_text_model(config: &Config) -> Result<Option<Arc<TextModel>>> {
    if config.media.vectors != Vectors::Auto {
        return Ok(None);
    }
    let folder = weights_folder(config);
    Ok(match tokio::task::spawn_blocking(move || TextModel::open(&folder)).await? {
        Ok(model) => model.map(Arc::new),
        Err(fault) => {
            tracing::error!("{fault}; until then there is no search by meaning");
            None
        }
    })
}

#[cfg(test)]
mod tests;
