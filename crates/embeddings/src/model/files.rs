//! Reads the files of one model folder and hashes them for the name of the encoder.

use std::path::{Path, PathBuf};

use data_encoding::HEXLOWER;
use serde::de::DeserializeOwned;
use sha2::{Digest as _, Sha256};

use super::super::{EncoderError, MAX_DIMENSIONS};

/// The prefix of the hash. Changing how models are read needs another prefix, so that old and new vectors are not compared.
const HASH_PREFIX: &[u8] = b"loggia reads models, 1";

/// An existing folder of a model; its files may be missing.
pub(super) struct ModelFolder(PathBuf);

/// The SHA-256 of all files that determine the vectors.
pub(super) struct Digest(Sha256);

impl Digest {
    pub(super) fn new() -> Digest {
        Digest(Sha256::new_with_prefix(HASH_PREFIX))
    }

    /// Returns the first eight hexadecimal digits.
    pub(super) fn short(self) -> String {
        HEXLOWER.encode(&self.0.finalize()[..4])
    }
}

impl ModelFolder {
    /// Opens a folder; `None` if it does not exist.
    pub(super) fn at(folder: PathBuf) -> Option<ModelFolder> {
        folder.is_dir().then_some(ModelFolder(folder))
    }

    /// Returns the path of a file of the model.
    pub(super) fn file(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    /// Reads and hashes a file.
    pub(super) fn bytes(&self, name: &str, digest: &mut Digest) -> Result<Vec<u8>, EncoderError> {
        let file = self.file(name);
        match std::fs::read(&file) {
            Ok(bytes) => {
                // With name and length, so that moving bytes from one file to the next changes the hash.
                digest.0.update(name.as_bytes());
                digest.0.update((bytes.len() as u64).to_be_bytes());
                digest.0.update(&bytes);
                Ok(bytes)
            }
            Err(source) => Err(EncoderError::Unreadable { file, source }),
        }
    }

    /// Reads a JSON file; unknown members are ignored.
    pub(super) fn json<T: DeserializeOwned>(
        &self,
        name: &str,
        digest: &mut Digest,
    ) -> Result<T, EncoderError> {
        let bytes = self.bytes(name, digest)?;
        serde_json::from_slice(&bytes).map_err(|error| malformed(&self.file(name), error))
    }

    /// Reads a JSON file; `None` if it is absent.
    pub(super) fn optional_json<T: DeserializeOwned>(
        &self,
        name: &str,
        digest: &mut Digest,
    ) -> Result<Option<T>, EncoderError> {
        if self.file(name).exists() { self.json(name, digest).map(Some) } else { Ok(None) }
    }
}

/// Returns the error for a file with wrong content; `reason` follows its name.
pub(super) fn malformed(file: &Path, reason: impl ToString) -> EncoderError {
    EncoderError::Malformed { file: file.to_owned(), reason: reason.to_string() }
}

/// Checks that the hidden size is a valid vector length and a multiple of the attention heads.
pub(super) fn check_hidden_size(config: &Path, hidden: usize, heads: usize) -> Result<(), EncoderError> {
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
