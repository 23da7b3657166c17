//! The tensors of a `model.safetensors` file.

use std::path::PathBuf;

use half::{bf16, f16};
use ndarray::{Array1, Array2};
use safetensors::{Dtype, SafeTensors};

use super::super::EncoderError;
use super::files::{Digest, ModelFolder, malformed};

const FILE: &str = "model.safetensors";

/// The bytes of the file, which the tensors are taken from one at a time.
pub(super) struct Bytes {
    file: PathBuf,
    bytes: Vec<u8>,
}

/// The tensors by name, below the prefix that all names of a model may share.
pub(super) struct Weights<'b> {
    file: &'b PathBuf,
    tensors: SafeTensors<'b>,
    prefix: &'static str,
}

impl Bytes {
    pub(super) fn read(folder: &ModelFolder, digest: &mut Digest) -> Result<Bytes, EncoderError> {
        Ok(Bytes { file: folder.file(FILE), bytes: folder.bytes(FILE, digest)? })
    }

    /// Reads the header. `prefixes` are those that the names may have; the one counts under which `known` is found,
    /// none if it is under none, which asking for a tensor then tells.
    pub(super) fn weights(
        &self,
        prefixes: &[&'static str],
        known: &str,
    ) -> Result<Weights<'_>, EncoderError> {
        let tensors = SafeTensors::deserialize(&self.bytes).map_err(|error| {
            malformed(&self.file, format!("is no whole safetensors file ({error}); download it again"))
        })?;
        let held = |prefix: &&&str| tensors.tensor(&format!("{prefix}{known}")).is_ok();
        let prefix = prefixes.iter().find(held).copied().unwrap_or_default();
        Ok(Weights { file: &self.file, tensors, prefix })
    }
}

impl Weights<'_> {
    pub(super) fn has(&self, name: &str) -> bool {
        self.tensors.tensor(&format!("{}{name}", self.prefix)).is_ok()
    }

    /// The numbers of a tensor of exactly this shape, the last axis running fastest.
    pub(super) fn numbers(&self, name: &str, shape: &[usize]) -> Result<Vec<f32>, EncoderError> {
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

    /// A tensor of one axis.
    pub(super) fn row(&self, name: &str, length: usize) -> Result<Array1<f32>, EncoderError> {
        self.numbers(name, &[length]).map(Array1::from_vec)
    }

    /// A tensor of two axes.
    pub(super) fn table(&self, name: &str, rows: usize, columns: usize) -> Result<Array2<f32>, EncoderError> {
        self.table_of(name, &[rows, columns], rows)
    }

    /// A tensor of any shape as a table of so many rows.
    pub(super) fn table_of(
        &self,
        name: &str,
        shape: &[usize],
        rows: usize,
    ) -> Result<Array2<f32>, EncoderError> {
        let numbers = self.numbers(name, shape)?;
        let columns = numbers.len() / rows.max(1);
        Array2::from_shape_vec((rows, columns), numbers)
            .map_err(|error| malformed(self.file, format!("has {name} of another size ({error})")))
    }
}
