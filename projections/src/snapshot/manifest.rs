//! The manifest of a snapshot.

use std::collections::BTreeMap;
use std::path::Path;

use jiff::Timestamp;
use schemas::hash::Hash;
use schemas::ids::Position;
use serde::{Deserialize, Serialize};

use super::{SnapshotError, at};
use read::model::ModelInput;
use read::models::ModelKind;

/// The name of the manifest's file.
pub const MANIFEST: &str = "manifest.json";

/// The most bytes of a manifest: names, sizes and digests of some ten thousand files.
pub const MAX_MANIFEST_BYTES: u64 = 4 << 20;

/// The most bytes of a file of JSON in the search index, which is read as a whole when the index is opened.
const MAX_JSON_BYTES: u64 = 64 << 20;

/// The format that this version writes.
const FORMAT: u32 = 1;

/// The content of a snapshot; stored beside the models as `manifest.json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    /// The format; incremented with every change that earlier versions cannot read.
    pub format: u32,
    /// The version of Loggia that took the snapshot.
    pub version: String,
    /// When it was taken.
    pub created: Timestamp,
    /// The event store of the log that was applied.
    pub store: Option<String>,
    /// The models, each at its own position.
    pub models: Vec<ModelCopy>,
}

/// A model in a snapshot.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelCopy {
    /// Its name and folder.
    pub name: String,
    /// The layout of its files.
    pub layout: u32,
    /// The last event that it has applied; of the counters, the number of calls counted.
    pub position: Position,
    /// The hash of that event; absent for the counters, and if version 0.1 applied it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hash: Option<Hash>,
    /// Its files.
    pub files: Vec<FileCopy>,
}

/// A file in a snapshot.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileCopy {
    /// Its name in the model's folder.
    pub name: String,
    /// Its size in bytes.
    pub size: u64,
    /// SHA-256 of its bytes.
    pub sha256: Hash,
}

impl Manifest {
    /// Creates the manifest of a snapshot taken by this version.
    pub(super) fn of(store: Option<String>, models: Vec<ModelCopy>, created: Timestamp) -> Manifest {
        Manifest { format: FORMAT, version: env!("CARGO_PKG_VERSION").to_owned(), created, store, models }
    }

    /// Reads the manifest of a snapshot in a folder.
    ///
    /// # Errors
    ///
    /// Fails when the file cannot be read, or as [`Manifest::parse`] does.
    pub fn read(folder: &Path) -> Result<Manifest, SnapshotError> {
        let path = folder.join(MANIFEST);
        let bytes = bounded_file::read(&path, MAX_MANIFEST_BYTES).map_err(at(&path))?;
        Manifest::parse(&bytes)
    }

    /// Parses a manifest.
    ///
    /// # Errors
    ///
    /// Fails when it is damaged, or of a format, models or layouts that this version does not read.
    pub fn parse(bytes: &[u8]) -> Result<Manifest, SnapshotError> {
        /// The member that every format has.
        #[derive(Deserialize)]
        struct Any {
            format: u32,
        }
        let damaged = |error: serde_json::Error| {
            SnapshotError::Damaged(format!("its {MANIFEST} is unreadable ({error})"))
        };
        let Any { format } = serde_json::from_slice(bytes).map_err(damaged)?;
        if format != FORMAT {
            let reason = format!("it is written in format {format} and this version reads {FORMAT}");
            return Err(SnapshotError::Incompatible(reason));
        }
        let manifest: Manifest = serde_json::from_slice(bytes).map_err(damaged)?;
        manifest.check()?;
        Ok(manifest)
    }

    /// Returns the size of all files, in bytes.
    pub fn size(&self) -> u64 {
        self.files().fold(0, |sum, file| sum.saturating_add(file.size))
    }

    /// Returns all files.
    pub fn files(&self) -> impl Iterator<Item = &FileCopy> {
        self.models.iter().flat_map(|model| &model.files)
    }

    /// Returns the last event that a model of the log has applied.
    pub fn position(&self) -> Position {
        let calls = ModelKind::ALL.into_iter().filter(|kind| kind.input() == ModelInput::Calls);
        let calls: Vec<&str> = calls.map(ModelKind::name).collect();
        let of_the_log = self.models.iter().filter(|model| !calls.contains(&model.name.as_str()));
        of_the_log.map(|model| model.position).max().unwrap_or(Position::START)
    }

    /// Returns the last events that the models of the log have applied, with their hashes where known.
    pub(super) fn applied(&self) -> BTreeMap<Position, Hash> {
        self.models.iter().filter_map(|model| Some((model.position, model.hash?))).collect()
    }

    fn check(&self) -> Result<(), SnapshotError> {
        let names: Vec<&str> = self.models.iter().map(|model| model.name.as_str()).collect();
        let wanted = ModelKind::ALL.map(ModelKind::name);
        if names != wanted {
            let reason = format!("it contains the models {names:?} and this version has {wanted:?}");
            return Err(SnapshotError::Incompatible(reason));
        }
        for (model, kind) in self.models.iter().zip(ModelKind::ALL) {
            let (name, layout) = (&model.name, model.layout);
            if layout != kind.layout() {
                let reason = format!(
                    "its model {name} is in layout {layout} and this version reads {}",
                    kind.layout()
                );
                return Err(SnapshotError::Incompatible(reason));
            }
            // A name with a path separator could point outside the folder.
            let plain = |file: &FileCopy| !file.name.contains(['/', '\\', '\0']) && !is_dots(&file.name);
            let is_own = |file: &FileCopy| plain(file) && kind.may_have(&file.name);
            if let Some(file) = model.files.iter().find(|file| !is_own(file)) {
                let reason = format!("“{}” is not a file of the model {name}", file.name);
                return Err(SnapshotError::Damaged(reason));
            }
            let is_large = |file: &&FileCopy| file.name.ends_with(".json") && file.size > MAX_JSON_BYTES;
            if let Some(FileCopy { name: file, size, .. }) = model.files.iter().find(is_large) {
                let reason = format!(
                    "{file} of the model {name} has {size} bytes, and at most {MAX_JSON_BYTES} are read"
                );
                return Err(SnapshotError::Damaged(reason));
            }
        }
        Ok(())
    }
}

fn is_dots(name: &str) -> bool {
    name.chars().all(|letter| letter == '.')
}
