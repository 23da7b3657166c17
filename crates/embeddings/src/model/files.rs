//! The files of one model folder, read whole and counted into a digest.

use std::path::{Path, PathBuf};

use data_encoding::HEXLOWER;
use serde::de::DeserializeOwned;
use sha2::{Digest as _, Sha256};

use super::super::{EncoderError, MAX_DIMENSIONS};

/// Changes with how these models are read, so that vectors which were made otherwise are not compared.
const READING: &[u8] = b"loggia reads models, 1";

/// A folder of a model that is there; its files need not be.
pub(super) struct ModelFolder(PathBuf);

/// SHA-256 over every file that shapes the vectors.
pub(super) struct Digest(Sha256);

impl Digest {
    pub(super) fn new() -> Digest {
        Digest(Sha256::new_with_prefix(READING))
    }

    /// The first eight hexadecimal digits.
    pub(super) fn short(self) -> String {
        HEXLOWER.encode(&self.0.finalize()[..4])
    }
}

impl ModelFolder {
    /// `None` if there is no such folder.
    pub(super) fn at(folder: PathBuf) -> Option<ModelFolder> {
        folder.is_dir().then_some(ModelFolder(folder))
    }

    /// Where a file of the model stands.
    pub(super) fn file(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    /// Reads a file whole.
    pub(super) fn bytes(&self, name: &str, digest: &mut Digest) -> Result<Vec<u8>, EncoderError> {
        let file = self.file(name);
        match std::fs::read(&file) {
            Ok(bytes) => {
                // With its name and length, so that no byte can move from one file to the next unseen.
                digest.0.update(name.as_bytes());
                digest.0.update((bytes.len() as u64).to_be_bytes());
                digest.0.update(&bytes);
                Ok(bytes)
            }
            Err(source) => Err(EncoderError::Unreadable { file, source }),
        }
    }

    /// Reads a JSON file of members that we know; what else it holds does not matter.
    pub(super) fn json<T: DeserializeOwned>(
        &self,
        name: &str,
        digest: &mut Digest,
    ) -> Result<T, EncoderError> {
        let bytes = self.bytes(name, digest)?;
        serde_json::from_slice(&bytes).map_err(|error| malformed(&self.file(name), error))
    }

    /// Like [`ModelFolder::json`], for a file that may be absent.
    pub(super) fn json_if_there<T: DeserializeOwned>(
        &self,
        name: &str,
        digest: &mut Digest,
    ) -> Result<Option<T>, EncoderError> {
        if self.file(name).exists() { self.json(name, digest).map(Some) } else { Ok(None) }
    }
}

/// A file that is there and is not what its name says.
pub(super) fn malformed(file: &Path, reason: impl ToString) -> EncoderError {
    EncoderError::Malformed { file: file.to_owned(), reason: reason.to_string() }
}

/// Checks that a hidden size makes a vector and divides into attention heads.
pub(super) fn divided(config: &Path, hidden: usize, heads: usize) -> Result<(), EncoderError> {
    if hidden == 0 || hidden > MAX_DIMENSIONS {
        return Err(malformed(
            config,
            format!("has hidden_size {hidden}; a vector has 1 to {MAX_DIMENSIONS} numbers"),
        ));
    }
    if heads == 0 || !hidden.is_multiple_of(heads) {
        return Err(malformed(
            config,
            format!("has hidden_size {hidden} for {heads} attention heads, which do not divide it"),
        ));
    }
    Ok(())
}
