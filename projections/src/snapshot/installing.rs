//! Begins a node's models with a snapshot: every file proven, all of them at once or none.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use tokio::time::sleep;

use super::manifest::{FileCopy, Manifest, ModelCopy};
use super::{SnapshotError, at, digest, sync};
use crate::source::{Carried, EventSource, SourceError};
use read::error::ModelError;
use read::models::ModelKind;

/// How long a stream may take to hold what the snapshot has applied: one that lost its tail is filled again.
const PATIENCE: Duration = Duration::from_secs(10);
/// Between two looks at it.
const LOOK: Duration = Duration::from_millis(200);

/// Fills the folder `models`, which is empty or not there yet, from a snapshot that fits what the stream carries. `bring`
/// puts a file where it is told. Nothing stands in `models` before all of it is proven.
pub async fn install<Bring>(
    models: &Path,
    manifest: &Manifest,
    source: &EventSource,
    bring: Bring,
) -> Result<(), SnapshotError>
where
    Bring: AsyncFn(&ModelCopy, &FileCopy, &Path) -> Result<(), SnapshotError>,
{
    carried_by(source, manifest).await?;
    put(models, manifest, bring).await
}

pub(super) async fn put<Bring>(models: &Path, manifest: &Manifest, bring: Bring) -> Result<(), SnapshotError>
where
    Bring: AsyncFn(&ModelCopy, &FileCopy, &Path) -> Result<(), SnapshotError>,
{
    let parent = models.parent().unwrap_or(Path::new("."));
    remove_incoming(models)?;
    let aside = incoming(models);
    fs::create_dir_all(&aside).map_err(at(&aside))?;
    for (model, kind) in manifest.models.iter().zip(ModelKind::ALL) {
        if let Err(error) = fill(&aside, model, kind, &bring).await {
            // What is refused leaves nothing behind.
            let _ = fs::remove_dir_all(&aside);
            return Err(error);
        }
    }
    sync(&aside)?;
    // Takes the place of an empty folder too.
    fs::rename(&aside, models).map_err(at(models))?;
    sync(parent)
}

/// Removes what a process left that was killed while it filled `models`.
pub fn remove_incoming(models: &Path) -> Result<(), SnapshotError> {
    let aside = incoming(models);
    match fs::remove_dir_all(&aside) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(at(&aside)(error)),
        _ => Ok(()),
    }
}

/// Where the models come together: on the disk where they will be.
fn incoming(models: &Path) -> PathBuf {
    models.with_extension("incoming")
}

async fn fill<Bring>(
    aside: &Path,
    model: &ModelCopy,
    kind: ModelKind,
    bring: &Bring,
) -> Result<(), SnapshotError>
where
    Bring: AsyncFn(&ModelCopy, &FileCopy, &Path) -> Result<(), SnapshotError>,
{
    let generations = kind.generations(aside);
    let generation = generations.create_next().map_err(ModelError::from)?;
    for file in &model.files {
        let path = generation.path.join(&file.name);
        if path.exists() {
            return Err(SnapshotError::Damaged(format!(
                "the model {} has two files {}",
                model.name, file.name
            )));
        }
        bring(model, file, &path).await?;
        let (own, wanted) = (path.clone(), file.clone());
        let proven = tokio::task::spawn_blocking(move || prove(&own, &wanted)).await;
        proven.map_err(std::io::Error::other).map_err(at(&path))??;
    }
    sync(&generation.path)?;
    Ok(generations.make_current(&generation).map_err(ModelError::from)?)
}

fn prove(path: &Path, file: &FileCopy) -> Result<(), SnapshotError> {
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
async fn carried_by(source: &EventSource, manifest: &Manifest) -> Result<(), SnapshotError> {
    let began = Instant::now();
    loop {
        let unfetched = |error: SourceError| SnapshotError::Unfetched(error.to_string());
        let carried = source.carried().await.map_err(unfetched)?;
        match unfit(manifest, &carried) {
            None => return continued_by(source, manifest).await,
            Some(Unfit::Behind) if began.elapsed() < PATIENCE => sleep(LOOK).await,
            Some(unfit) => return Err(SnapshotError::Unfit(unfit.told(manifest, &carried))),
        }
    }
}

/// Refuses a snapshot that has applied events of a history which the log no longer has.
async fn continued_by(source: &EventSource, manifest: &Manifest) -> Result<(), SnapshotError> {
    for (position, applied) in manifest.applied() {
        let there = source.event_at(position).await;
        let there = there.map_err(|error| SnapshotError::Unfetched(error.to_string()))?;
        let Some(carried) = there.and_then(|arrived| arrived.hash()) else { continue };
        if carried != applied {
            let reason = format!(
                "it has applied an event at {position} with the hash {applied}, and that of the stream EVENTS has {carried}: \
                 the log was restored from an older backup since"
            );
            return Err(SnapshotError::Unfit(reason));
        }
    }
    Ok(())
}

/// Why a snapshot cannot be gone on with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Unfit {
    Foreign,
    Behind,
}

fn unfit(manifest: &Manifest, carried: &Carried) -> Option<Unfit> {
    match (&manifest.store, &carried.store) {
        (Some(own), Some(stream)) if own != stream => Some(Unfit::Foreign),
        _ => (carried.head < manifest.position()).then_some(Unfit::Behind),
    }
}

impl Unfit {
    fn told(self, manifest: &Manifest, carried: &Carried) -> String {
        let unknown = || "none".to_owned();
        match self {
            Unfit::Foreign => format!(
                "it shows the log of event store {}, and the stream EVENTS carries that of {}",
                manifest.store.clone().unwrap_or_else(unknown),
                carried.store.clone().unwrap_or_else(unknown)
            ),
            Unfit::Behind => format!(
                "it has applied {} events, and the stream EVENTS carries {} only",
                manifest.position(),
                carried.head
            ),
        }
    }
}
