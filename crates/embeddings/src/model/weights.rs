//! The tensors of a `model.safetensors` file.

use std::path::PathBuf;

use half::{bf16, f16};
use ndarray::{Array1, Array2};
use safetensors::{Dtype, SafeTensors};

use super::super::EncoderError;
use super::files::{Digest, ModelFolder, malformed};

const FILE: &str = "model.safetensors";

/// The bytes of the file, from which tensors are converted one at a time.
pub(super) struct WeightsFile {
    file: PathBuf,
    bytes: Vec<u8>,
}

/// The tensors by name; a prefix that all names share is left out.
pub(super) struct Weights<'b> {
    file: &'b PathBuf,
    tensors: SafeTensors<'b>,
    prefix: &'static str,
}

impl WeightsFile {
    pub(super) fn read(folder: &ModelFolder, digest: &mut Digest) -> Result<WeightsFile, EncoderError> {
        Ok(WeightsFile { file: folder.file(FILE), bytes: folder.bytes(FILE, digest)? })
    }

    /// Parses the header. Of `prefixes`, the one is used under which the tensor `known` exists; without one, the prefix is empty and
    /// loading a tensor fails.
    pub(super) fn weights(
        &self,
        prefixes: &[&'static str],
        known: &str,
    ) -> Result<Weights<'_>, EncoderError> {
        let tensors = SafeTensors::deserialize(&self.bytes).map_err(|error| {
            malformed(&self.file, format!("is not a complete safetensors file ({error}); download it again"))
        })?;
        let exists = |prefix: &&&str| tensors.tensor(&format!("{prefix}{known}")).is_ok();
        let prefix = prefixes.iter().find(exists).copied().unwrap_or_default();
        Ok(Weights { file: &self.file, tensors, prefix })
    }
}

impl Weights<'_> {
    /// Returns whether a tensor exists.
    pub(super) fn has(&self, name: &str) -> bool {
        self.tensors.tensor(&format!("{}{name}", self.prefix)).is_ok()
    }

    /// Returns a tensor of exactly this shape in row-major order, as `f32`.
    pub(super) fn tensor(&self, name: &str, shape: &[usize]) -> Result<Vec<f32>, EncoderError> {
        let name = format!("{}{name}", self.prefix);
        let fault = |reason: String| {
            malformed(self.file, format!("{reason}; take it and config.json from the same model"))
        };
        let tensor = self.tensors.tensor(&name).map_err(|_| fault(format!("has no tensor {name}")))?;
        if tensor.shape() != shape {
            let found = tensor.shape();
            return Err(fault(format!("has {name} of shape {found:?} where config.json asks for {shape:?}")));
        }
        let data = tensor.data();
        Ok(match tensor.dtype() {
            Dtype::F32 => data.as_chunks().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect(),
            Dtype::F16 => {
                data.as_chunks().0.iter().map(|bytes| f16::from_le_bytes(*bytes).to_f32()).collect()
            }
            Dtype::BF16 => {
                data.as_chunks().0.iter().map(|bytes| bf16::from_le_bytes(*bytes).to_f32()).collect()
            }
            other => {
                return Err(fault(format!("has {name} as {other:?}, where F32, F16 and BF16 can be read")));
            }
        })
    }

    /// Returns a tensor `[length]`.
    pub(super) fn vector(&self, name: &str, length: usize) -> Result<Array1<f32>, EncoderError> {
        self.tensor(name, &[length]).map(Array1::from_vec)
    }

    /// Returns a tensor `[rows x columns]`.
    pub(super) fn matrix(
        &self,
        name: &str,
        rows: usize,
        columns: usize,
    ) -> Result<Array2<f32>, EncoderError> {
        self.matrix_of(name, &[rows, columns], rows)
    }

    /// Returns a tensor of any shape as a matrix with this number of rows.
    pub(super) fn matrix_of(
        &self,
        name: &str,
        shape: &[usize],
        rows: usize,
    ) -> Result<Array2<f32>, EncoderError> {
        let numbers = self.tensor(name, shape)?;
        let columns = numbers.len() / rows.max(1);
        Array2::from_shape_vec((rows, columns), numbers)
            .map_err(|error| malformed(self.file, format!("has {name} of another size ({error})")))
    }
}
