//! What a snapshot holds, as it is written beside it.

use std::collections::BTreeMap;
use std::path::Path;

use jiff::Timestamp;
use schemas::hash::Hash;
use schemas::ids::Position;
use serde::{Deserialize, Serialize};

use super::{SnapshotError, at};
use read::model::Follows;
use read::models::ModelKind;

/// The manifest's file.
pub const MANIFEST: &str = "manifest.json";

/// What this version writes.
const FORMAT: u32 = 1;

/// What a snapshot holds; it stands beside the models as `manifest.json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    /// How the manifest is written; one more with every change that earlier versions cannot read.
    pub format: u32,
    /// The version of Loggia that took it.
    pub version: String,
    /// When it was taken.
    pub created: Timestamp,
    /// The event store whose log it shows.
    pub store: Option<String>,
    /// The models, each with its own position.
    pub models: Vec<ModelCopy>,
}

/// One model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelCopy {
    /// Its name, which is that of its folder.
    pub name: String,
    /// The layout of its files.
    pub layout: u32,
    /// The last event it has applied; of the counters, the number of calls that are counted.
    pub position: Position,
    /// The hash of that event; absent for the counters, and where version 0.1 applied it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hash: Option<Hash>,
    /// Its files.
    pub files: Vec<FileCopy>,
}

/// One file of a model.
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
    /// A manifest of what this version has copied.
    pub(super) fn of(store: Option<String>, models: Vec<ModelCopy>, created: Timestamp) -> Manifest {
        Manifest { format: FORMAT, version: env!("CARGO_PKG_VERSION").to_owned(), created, store, models }
    }

    /// Reads the manifest of a snapshot in a folder.
    pub fn read(folder: &Path) -> Result<Manifest, SnapshotError> {
        let path = folder.join(MANIFEST);
        Manifest::parse(&std::fs::read(&path).map_err(at(&path))?)
    }

    /// Reads a manifest, and refuses what this version cannot begin with.
    pub fn parse(bytes: &[u8]) -> Result<Manifest, SnapshotError> {
        /// What every format has.
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
            return Err(SnapshotError::Unfit(reason));
        }
        let manifest: Manifest = serde_json::from_slice(bytes).map_err(damaged)?;
        manifest.check()?;
        Ok(manifest)
    }

    /// How much it is, in bytes.
    pub fn size(&self) -> u64 {
        self.files().map(|file| file.size).sum()
    }

    /// All its files.
    pub fn files(&self) -> impl Iterator<Item = &FileCopy> {
        self.models.iter().flat_map(|model| &model.files)
    }

    /// The last event that any model of the log has applied.
    pub fn position(&self) -> Position {
        let calls = ModelKind::ALL.into_iter().filter(|kind| kind.follows() == Follows::Calls);
        let calls: Vec<&str> = calls.map(ModelKind::name).collect();
        let of_the_log = self.models.iter().filter(|model| !calls.contains(&model.name.as_str()));
        of_the_log.map(|model| model.position).max().unwrap_or(Position::START)
    }

    /// The last events that the models of the log have applied, with their hashes where they are known.
    pub(super) fn applied(&self) -> BTreeMap<Position, Hash> {
        self.models.iter().filter_map(|model| Some((model.position, model.hash?))).collect()
    }

    fn check(&self) -> Result<(), SnapshotError> {
        let names: Vec<&str> = self.models.iter().map(|model| model.name.as_str()).collect();
        let wanted = ModelKind::ALL.map(ModelKind::name);
        if names != wanted {
            let reason = format!("it holds the models {names:?} and this version has {wanted:?}");
            return Err(SnapshotError::Unfit(reason));
        }
        for (model, kind) in self.models.iter().zip(ModelKind::ALL) {
            let (name, layout) = (&model.name, model.layout);
            if layout != kind.layout() {
                let reason = format!(
                    "its model {name} is in layout {layout} and this version reads {}",
                    kind.layout()
                );
                return Err(SnapshotError::Unfit(reason));
            }
            // A name with a folder in it could lead anywhere.
            let plain = |file: &FileCopy| !file.name.contains(['/', '\\', '\0']) && !is_dots(&file.name);
            if let Some(file) = model.files.iter().find(|file| !plain(file)) {
                let reason = format!("“{}” is no name of a file of the model {name}", file.name);
                return Err(SnapshotError::Damaged(reason));
            }
        }
        Ok(())
    }
}

fn is_dots(name: &str) -> bool {
    name.chars().all(|letter| letter == '.')
}
