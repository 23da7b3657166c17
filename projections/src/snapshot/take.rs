//! Takes a snapshot of a node's models while the node works.

use std::fs;
use std::path::Path;

use jiff::Timestamp;
use read::checkpoint::Checkpoint;
use read::generation::Generation;

use super::manifest::{FileCopy, MANIFEST, Manifest, ModelCopy};
use super::{SnapshotError, at, digest, sync};
use read::error::ModelError;
use read::models::ModelKind;

/// How often to copy a model that a rebuild swaps meanwhile.
const ATTEMPTS: u32 = 3;

/// Copies the current generation of every model below `models` into a folder that is empty or does not exist. It is written
/// into a temporary folder and renamed, so that the target is complete; what an interrupted snapshot left is removed by the
/// next one.
///
/// # Errors
///
/// Fails when the folder is not empty, a model is missing, or a file cannot be copied.
pub async fn take(models: &Path, folder: &Path, now: Timestamp) -> Result<Manifest, SnapshotError> {
    if fs::read_dir(folder).is_ok_and(|mut entries| entries.next().is_some()) {
        return Err(SnapshotError::NotEmpty(folder.to_owned()));
    }
    let folder = std::path::absolute(folder).map_err(at(folder))?;
    let (Some(parent), Some(name)) = (folder.parent(), folder.file_name()) else {
        return Err(SnapshotError::NotEmpty(folder));
    };
    fs::create_dir_all(parent).map_err(at(parent))?;
    let staging = parent.join(format!(".{}.taking", name.to_string_lossy()));
    if staging.exists() {
        fs::remove_dir_all(&staging).map_err(at(&staging))?;
    }
    fs::create_dir(&staging).map_err(at(&staging))?;
    let taken = take_into(models, &staging, now).await;
    let taken = taken.and_then(|manifest| {
        fs::rename(&staging, &folder).map_err(at(&folder))?;
        sync(parent)?;
        Ok(manifest)
    });
    if taken.is_err() {
        let _ = fs::remove_dir_all(&staging);
    }
    taken
}

async fn take_into(models: &Path, staging: &Path, now: Timestamp) -> Result<Manifest, SnapshotError> {
    let manifest = copy_all(models, staging, now).await?;
    let path = staging.join(MANIFEST);
    let text = serde_json::to_vec_pretty(&manifest).map_err(std::io::Error::other).map_err(at(&path))?;
    fs::write(&path, text).map_err(at(&path))?;
    sync(&path)?;
    sync(staging)?;
    Ok(manifest)
}

async fn copy_all(models: &Path, staging: &Path, now: Timestamp) -> Result<Manifest, SnapshotError> {
    let (mut copies, mut store): (Vec<ModelCopy>, Option<String>) = (Vec::new(), None);
    for kind in ModelKind::ALL {
        let folder = staging.join(kind.name());
        let Checkpoint { position, hash, store: own, .. } = copy_current(kind, models, &folder).await?;
        match (&store, own) {
            (Some(known), Some(own)) if *known != own => {
                let reason = format!(
                    "the model {} shows the log of event store {own}, the others that of {known}",
                    kind.name()
                );
                return Err(SnapshotError::Damaged(reason));
            }
            (None, own) => store = own,
            _ => {}
        }
        let files = tokio::task::spawn_blocking(move || list_files(&folder)).await;
        let files = files.map_err(std::io::Error::other).map_err(at(models))??;
        copies.push(ModelCopy { name: kind.name().to_owned(), layout: kind.layout(), position, hash, files });
    }
    Ok(Manifest::of(store, copies, now))
}

/// Copies the current generation, and returns the checkpoint of the copy.
async fn copy_current(kind: ModelKind, models: &Path, folder: &Path) -> Result<Checkpoint, SnapshotError> {
    let generations = kind.generations(models);
    let current = || generations.current().map_err(ModelError::from);
    for attempt in 1.. {
        let generation: Generation = current()?.ok_or(SnapshotError::NoModel(kind.name()))?;
        fs::create_dir(folder).map_err(at(folder))?;
        match kind.copy(&generation.path, folder).await {
            Ok(checkpoint) => return Ok(checkpoint),
            // A rebuild may have swapped it and removed it.
            Err(_) if attempt < ATTEMPTS && current()?.as_ref() != Some(&generation) => {
                fs::remove_dir_all(folder).map_err(at(folder))?;
            }
            Err(error) => return Err(error.into()),
        }
    }
    Err(SnapshotError::NoModel(kind.name()))
}

/// Flushes the files of a copied model, and lists them by name.
fn list_files(folder: &Path) -> Result<Vec<FileCopy>, SnapshotError> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).map_err(at(folder))? {
        let entry = entry.map_err(at(folder))?;
        let path = entry.path();
        sync(&path)?;
        let (size, sha256) = digest(&path)?;
        files.push(FileCopy { name: entry.file_name().to_string_lossy().into_owned(), size, sha256 });
    }
    files.sort_by(|one, other| one.name.cmp(&other.name));
    sync(folder)?;
    Ok(files)
}
