//! Starts a node's models from a snapshot: all files are verified, and all models are installed at once or none.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use tokio::time::sleep;

use super::manifest::{FileCopy, Manifest, ModelCopy};
use super::{SnapshotError, at, digest, sync};
use crate::source::{EventSource, SourceError, StreamLog};
use read::error::ModelError;
use read::models::ModelKind;

/// How long to wait until the stream has what the snapshot has applied: a stream that lost its last messages is filled again.
const STREAM_TIMEOUT: Duration = Duration::from_secs(10);
/// How often to read the state of the stream.
const POLL_INTERVAL: Duration = Duration::from_millis(200);

/// Fills the folder `models`, which is empty or does not exist, from a snapshot that agrees with the stream. `fetch` writes a
/// file of the snapshot to a path. Nothing is in `models` before all files are verified.
///
/// # Errors
///
/// Fails when the snapshot is damaged, does not agree with the stream or this version, or cannot be fetched.
pub async fn install<Fetch>(
    models: &Path,
    manifest: &Manifest,
    source: &EventSource,
    fetch: Fetch,
) -> Result<(), SnapshotError>
where
    Fetch: AsyncFn(&ModelCopy, &FileCopy, &Path) -> Result<(), SnapshotError>,
{
    check_stream(source, manifest).await?;
    install_files(models, manifest, fetch).await
}

pub(super) async fn install_files<Fetch>(
    models: &Path,
    manifest: &Manifest,
    fetch: Fetch,
) -> Result<(), SnapshotError>
where
    Fetch: AsyncFn(&ModelCopy, &FileCopy, &Path) -> Result<(), SnapshotError>,
{
    let parent = models.parent().unwrap_or(Path::new("."));
    remove_incoming(models)?;
    let staging = incoming(models);
    fs::create_dir_all(&staging).map_err(at(&staging))?;
    for (model, kind) in manifest.models.iter().zip(ModelKind::ALL) {
        if let Err(error) = fill(&staging, model, kind, &fetch).await {
            // A snapshot that is refused leaves nothing on disk.
            let _ = fs::remove_dir_all(&staging);
            return Err(error);
        }
    }
    sync(&staging)?;
    // Replaces an empty folder too.
    fs::rename(&staging, models).map_err(at(models))?;
    sync(parent)
}

/// Removes what an installation left that was killed.
///
/// # Errors
///
/// Fails when its folder cannot be removed.
pub fn remove_incoming(models: &Path) -> Result<(), SnapshotError> {
    let staging = incoming(models);
    match fs::remove_dir_all(&staging) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(at(&staging)(error)),
        _ => Ok(()),
    }
}

/// Returns the folder in which models are collected, on the same disk as `models`.
fn incoming(models: &Path) -> PathBuf {
    models.with_extension("incoming")
}

async fn fill<Fetch>(
    staging: &Path,
    model: &ModelCopy,
    kind: ModelKind,
    fetch: &Fetch,
) -> Result<(), SnapshotError>
where
    Fetch: AsyncFn(&ModelCopy, &FileCopy, &Path) -> Result<(), SnapshotError>,
{
    let generations = kind.generations(staging);
    let generation = generations.create_next().map_err(ModelError::from)?;
    for file in &model.files {
        let path = generation.path.join(&file.name);
        if path.exists() {
            return Err(SnapshotError::Damaged(format!(
                "the model {} has two files {}",
                model.name, file.name
            )));
        }
        fetch(model, file, &path).await?;
        let (own, wanted) = (path.clone(), file.clone());
        let verified = tokio::task::spawn_blocking(move || verify_file(&own, &wanted)).await;
        verified.map_err(std::io::Error::other).map_err(at(&path))??;
    }
    kind.check_copy(&generation.path).await.map_err(|error| match error {
        ModelError::Corrupt { model, reason } => {
            SnapshotError::Damaged(format!("its model {model} is not what Loggia writes: {reason}"))
        }
        other => other.into(),
    })?;
    sync(&generation.path)?;
    Ok(generations.make_current(&generation).map_err(ModelError::from)?)
}

fn verify_file(path: &Path, file: &FileCopy) -> Result<(), SnapshotError> {
    let (size, sha256) = digest(path)?;
    if (size, sha256) != (file.size, file.sha256) {
        let FileCopy { name, size: wanted, .. } = file;
        let reason =
            format!("{name} is not what its manifest says ({size} of {wanted} bytes, SHA-256 {sha256})");
        return Err(SnapshotError::Damaged(reason));
    }
    sync(path)
}

/// Refuses a snapshot of another event store, or of events that the stream does not have.
async fn check_stream(source: &EventSource, manifest: &Manifest) -> Result<(), SnapshotError> {
    let began = Instant::now();
    let reason = loop {
        let unavailable = |error: SourceError| SnapshotError::Unavailable(error.to_string());
        let StreamLog { store, head } = source.stream_log().await.map_err(unavailable)?;
        match (&manifest.store, &store) {
            (Some(own), Some(stream)) if own != stream => {
                break format!(
                    "it shows the log of event store {own}, and the stream EVENTS carries that of {stream}"
                );
            }
            _ if head >= manifest.position() => return check_history(source, manifest).await,
            _ if began.elapsed() < STREAM_TIMEOUT => sleep(POLL_INTERVAL).await,
            _ => {
                let applied = manifest.position();
                break format!("it has applied {applied} events, and the stream EVENTS carries {head} only");
            }
        }
    };
    Err(SnapshotError::Incompatible(reason))
}

/// Refuses a snapshot that has applied events of a history that the log no longer has.
async fn check_history(source: &EventSource, manifest: &Manifest) -> Result<(), SnapshotError> {
    for (position, applied) in manifest.applied() {
        let delivery = source.event_at(position).await;
        let delivery = delivery.map_err(|error| SnapshotError::Unavailable(error.to_string()))?;
        let Some(carried) = delivery.and_then(|delivery| delivery.hash()) else { continue };
        if carried != applied {
            let reason = format!(
                "it has applied an event at {position} with the hash {applied}, and that of the stream EVENTS has {carried}: \
                 the log was restored from an older backup since"
            );
            return Err(SnapshotError::Incompatible(reason));
        }
    }
    Ok(())
}
