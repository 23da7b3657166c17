//! The files of the weights: as they are delivered, and as the encoder reads them.
//!
//! A file is used only if its SHA-256 is the expected one, so neither reading nor converting meets unexpected content.
//! Converting needs no function that differs between platforms and gives the same bytes everywhere.

mod found;
mod half_precision;

use std::io;
use std::path::{Path, PathBuf};

use data_encoding::HEXLOWER;
use sha2::{Digest, Sha256};

use self::found::FoundFiles;
use super::efficientnet::{self, EfficientNet};
use super::static_text::{self, StaticText};

/// The notices and licences of the weights; [`install`] writes them beside them.
const NOTICES: &str = concat!(include_str!("weights/NOTICES.txt"), include_str!("../../../LICENSE-APACHE"));
const NOTICES_FILE: &str = "NOTICES.txt";

/// A file with known content.
#[derive(Debug)]
struct KnownFile {
    name: &'static str,
    sha256: &'static str,
    bytes: u64,
}

/// The weights of one model.
#[derive(Debug)]
pub(super) struct Model {
    /// The name, a part of the name of the encoder.
    pub(super) name: &'static str,
    /// The file that the encoder reads.
    converted: KnownFile,
    /// The files of the authors.
    delivered: &'static [KnownFile],
    /// Converts the delivered files, in their order; `None` if their content is unexpected.
    convert: fn(&[Vec<u8>]) -> Option<Vec<u8>>,
}

pub(super) const EFFICIENTNET_LITE0: Model = Model {
    name: "efficientnet-lite0",
    converted: KnownFile {
        name: "efficientnet-lite0.f16",
        sha256: "8df23e0039025e67cfc3f1759ca922aaff121b9a5779cd60f43d01bb23ff032d",
        bytes: 6_700_000,
    },
    delivered: &[KnownFile {
        name: "efficientnet-lite0-57934424.pth",
        sha256: "579344248a93e23026e6b78f1f6faf0bc1d282386f6c881cdbaacd49cabf77db",
        bytes: 18_826_032,
    }],
    convert: |files| {
        let [file] = files else { return None };
        Some(half_precision::write(&efficientnet::convert(file)?))
    },
};

pub(super) const POTION_BASE_8M: Model = Model {
    name: "potion-base-8m",
    converted: KnownFile {
        name: "potion-base-8m.i8",
        sha256: "f8bc4bd5fd89eb607759827870eb5f3531068e4ba8c1ab2a0c5d9b02fcb935c1",
        bytes: 7_896_970,
    },
    delivered: &[
        KnownFile {
            name: "model.safetensors",
            sha256: "f65d0f325faadc1e121c319e2faa41170d3fa07d8c89abd48ca5358d9a223de2",
            bytes: 30_236_760,
        },
        KnownFile {
            name: "tokenizer.json",
            sha256: "e67e803f624fb4d67dea1c730d06e1067e1b14d830e2c2202569e3ef0f70bb50",
            bytes: 683_666,
        },
    ],
    convert: |files| {
        let [table, tokenizer] = files else { return None };
        static_text::convert(table, tokenizer)
    },
};

const MODELS: [&Model; 2] = [&EFFICIENTNET_LITE0, &POTION_BASE_8M];

/// Why weights cannot be read or installed.
#[derive(Debug, thiserror::Error)]
pub enum EncoderError {
    /// A file cannot be read.
    #[error("{} cannot be read ({source}); make it readable, or remove it", .file.display())]
    Unreadable {
        /// The file.
        file: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// A file has other content than expected.
    #[error("{} {found}, where the file with the SHA-256 {wanted} belongs; remove it, and bring the weights again with bin/setup, \
             or from a folder with `loggia models fetch DIR`", .file.display())]
    Unexpected {
        /// The file.
        file: PathBuf,
        /// What is wrong with it, after its name.
        found: String,
        /// The hash of the file that belongs there.
        wanted: &'static str,
    },
    /// The folder to install from has no weights.
    #[error("{} holds no weights; put efficientnet-lite0-57934424.pth there for pictures, model.safetensors and \
             tokenizer.json of potion-base-8M for texts, or the converted files of another Loggia", .0.display())]
    Nothing(PathBuf),
    /// Installed weights cannot be written.
    #[error("{} cannot be written ({source}); free space, or choose another folder for the weights", .file.display())]
    Unwritable {
        /// The file.
        file: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
}

/// The weights of a model in a folder.
#[derive(Debug)]
pub struct Status {
    /// The name of the model, as in the name of the encoder.
    pub model: &'static str,
    /// The file that the encoder reads.
    pub file: PathBuf,
    /// Whether it is there and can be used.
    pub state: State,
}

/// Whether weights can be used.
#[derive(Debug)]
pub enum State {
    /// There is no file: the built-in encoder takes the place of the model.
    Missing,
    /// The file has the expected hash.
    Ready {
        /// Its size in bytes.
        bytes: u64,
    },
    /// The file cannot be used.
    Unusable(EncoderError),
}

/// Checks the weights in a folder, of pictures and then of texts. A folder that does not exist has none.
pub fn status(folder: &Path) -> Vec<Status> {
    let state = |model: &Model| match model.converted.read(folder) {
        Ok(None) => State::Missing,
        Ok(Some(file)) => State::Ready { bytes: file.len() as u64 },
        Err(error) => State::Unusable(error),
    };
    MODELS
        .map(|model| Status {
            model: model.name,
            file: folder.join(model.converted.name),
            state: state(model),
        })
        .into()
}

/// Installs the weights that are in the folder `from` into the folder `to`, which is created, with their notices; returns the
/// status of those. `from` or folders in it hold the files of the authors, converted files, or both, under any names; other files
/// are ignored. Files in `to` are replaced, each at once.
///
/// # Errors
///
/// If `from` holds no weights, or under the name of a missing file another one, then nothing is changed; if `to` cannot be written.
pub fn install(from: &Path, to: &Path) -> Result<Vec<Status>, EncoderError> {
    let known = MODELS.iter().flat_map(|model| model.delivered.iter().chain([&model.converted]));
    let mut files = FoundFiles::below(from, &known.collect::<Vec<_>>())?;
    let mut found = Vec::new();
    for model in MODELS {
        found.extend(model.converted_from(&mut files)?.map(|bytes| (model, bytes)));
    }
    if found.is_empty() {
        return Err(EncoderError::Nothing(from.to_owned()));
    }
    std::fs::create_dir_all(to).map_err(|source| EncoderError::Unwritable { file: to.to_owned(), source })?;
    write(&to.join(NOTICES_FILE), NOTICES.as_bytes())?;
    let installed = found.into_iter().map(|(model, bytes)| {
        let file = to.join(model.converted.name);
        write(&file, &bytes)?;
        Ok(Status { model: model.name, file, state: State::Ready { bytes: bytes.len() as u64 } })
    });
    installed.collect()
}

/// Reads the weights for pictures; `None` if there are none.
pub(super) fn efficientnet(folder: &Path) -> Result<Option<EfficientNet>, EncoderError> {
    let read = |file: Vec<u8>| EfficientNet::new(half_precision::read(&file));
    EFFICIENTNET_LITE0.open(folder, read)
}

/// Reads the weights for texts; `None` if there are none.
pub(super) fn static_text(folder: &Path) -> Result<Option<StaticText>, EncoderError> {
    POTION_BASE_8M.open(folder, StaticText::new)
}

impl Model {
    fn open<T>(
        &self,
        folder: &Path,
        read: impl FnOnce(Vec<u8>) -> Option<T>,
    ) -> Result<Option<T>, EncoderError> {
        let Some(bytes) = self.converted.read(folder)? else { return Ok(None) };
        let model = read(bytes);
        model.map(Some).ok_or_else(|| {
            self.converted.unexpected(folder.join(self.converted.name), "cannot be read".to_owned())
        })
    }

    /// Returns the content of the converted file, which is made from the delivered ones if it was not found; `None` if one of
    /// these is missing.
    fn converted_from(&self, files: &mut FoundFiles) -> Result<Option<Vec<u8>>, EncoderError> {
        let found = files.take(std::slice::from_ref(&self.converted));
        if let Ok(Some(converted)) = found {
            return Ok(converted.into_iter().next());
        }
        let Some(delivered) = files.take(self.delivered)? else { return found.map(|_| None) };
        let converted = (self.convert)(&delivered).unwrap_or_default();
        match self.converted.fault(&converted) {
            None => Ok(Some(converted)),
            Some(fault) => Err(self
                .converted
                .unexpected(self.converted.name.into(), format!("{fault} after converting"))),
        }
    }
}

impl KnownFile {
    /// Reads and checks the file; `None` if it does not exist.
    fn read(&self, folder: &Path) -> Result<Option<Vec<u8>>, EncoderError> {
        let file = folder.join(self.name);
        let bytes = match std::fs::read(&file) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(source) => return Err(EncoderError::Unreadable { file, source }),
        };
        match self.fault(&bytes) {
            None => Ok(Some(bytes)),
            Some(fault) => Err(self.unexpected(file, fault)),
        }
    }

    /// Returns what is wrong with the content.
    fn fault(&self, bytes: &[u8]) -> Option<String> {
        let length = bytes.len() as u64;
        let found = HEXLOWER.encode(&Sha256::digest(bytes));
        match length {
            0 => Some("is empty".to_owned()),
            _ if found == self.sha256 => None,
            _ if length < self.bytes => {
                Some(format!("has {length} of {} bytes and the SHA-256 {found}", self.bytes))
            }
            _ => Some(format!("has the SHA-256 {found}")),
        }
    }

    fn unexpected(&self, file: PathBuf, found: String) -> EncoderError {
        EncoderError::Unexpected { file, found, wanted: self.sha256 }
    }
}

/// Replaces a file at once: a reader, or a crash, leaves the old one or the new one.
fn write(file: &Path, bytes: &[u8]) -> Result<(), EncoderError> {
    let new = file.with_extension("new");
    let written = std::fs::write(&new, bytes).and_then(|()| std::fs::rename(&new, file));
    written.map_err(|source| EncoderError::Unwritable { file: file.to_owned(), source })
}

#[cfg(test)]
mod tests;
