//! Proves that a live model shows its events: replays them into a temporary folder up to its position, and compares digests.

use std::path::Path;

use read::checkpoint::Checkpoint;
use read::error::ModelError;
use read::generation::Generations;
use read::model::Model;
use schemas::clock::Clock;
use schemas::ids::Position;
use serde::Serialize;
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

use crate::projection::Projection;
use crate::source::EventSource;
use crate::status::Status;
use crate::worker::{ProjectionWorker, ReplayError, Worker};

/// Prefix of the names of temporary folders.
const TEMPORARY_PREFIX: &str = "aside-";

/// Removes what a killed verification left. A verification that is running on the same folder fails with an error.
///
/// # Errors
///
/// Fails when a folder cannot be read or removed.
pub fn remove_leftovers(models: &Path) -> std::io::Result<()> {
    let entries = match std::fs::read_dir(models) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error),
    };
    for entry in entries {
        let entry = entry?;
        if entry.file_name().to_string_lossy().starts_with(TEMPORARY_PREFIX) {
            std::fs::remove_dir_all(entry.path())?;
        }
    }
    Ok(())
}

/// The result for one model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Verified {
    /// The model's name.
    pub model: &'static str,
    /// The position up to which both have applied the log.
    pub position: Position,
    /// Whether the digests are equal.
    pub equal: bool,
    /// The live model's digest, in hexadecimal digits.
    pub live: String,
    /// The replayed model's digest, in hexadecimal digits.
    pub replayed: String,
}

/// Why a model could not be compared.
#[derive(Debug, thiserror::Error)]
pub enum VerifyError {
    /// There is no model to compare with yet.
    #[error("there is no {0} model yet; start `loggia up` or `loggia project` once")]
    NoModel(&'static str),
    /// The temporary folder cannot be used.
    #[error("the folder {folder} for the replay cannot be used: {source}")]
    Folder {
        /// The folder of the read models.
        folder: String,
        /// The error of the system.
        #[source]
        source: std::io::Error,
    },
    /// The replay failed.
    #[error(transparent)]
    Replay(#[from] ReplayError),
}

impl From<ModelError> for VerifyError {
    fn from(error: ModelError) -> Self {
        VerifyError::Replay(error.into())
    }
}

/// Replays the model in a temporary folder, and compares it with the live one.
///
/// # Errors
///
/// Fails when there is no live model, or when the replay does not reach its position.
pub async fn verify<P: Projection>(
    models: &Path,
    source: EventSource,
    clock: Clock,
    progress: &mut (dyn FnMut(Position, Position) + Send),
) -> Result<Verified, VerifyError> {
    let generations = Generations::in_layout(models.join(P::Model::NAME), P::Model::LAYOUT);
    let generation = generations.current().map_err(ModelError::from)?;
    let generation = generation.ok_or(VerifyError::NoModel(P::Model::NAME))?;
    let (live, live_digest) = P::Model::digest(&generation.path).await?;
    let folder = temporary_folder(models)?;
    let (checkpoint, digest) = replay_into::<P>(&live, folder.path(), source, clock, progress).await?;
    Ok(Verified {
        model: P::Model::NAME,
        position: live.position,
        // Parked and skipped events are part of what the model says about the log.
        equal: live_digest == digest && live.agrees_with(&checkpoint),
        live: hexadecimal(live_digest),
        replayed: hexadecimal(digest),
    })
}

/// Creates a folder for a replay, which is removed when the handle is dropped.
pub(crate) fn temporary_folder(models: &Path) -> Result<TempDir, VerifyError> {
    tempfile::Builder::new()
        .prefix(TEMPORARY_PREFIX)
        .tempdir_in(models)
        .map_err(|source| VerifyError::Folder { folder: models.display().to_string(), source })
}

async fn replay_into<P: Projection>(
    live: &Checkpoint,
    temporary_folder: &Path,
    source: EventSource,
    clock: Clock,
    progress: &mut (dyn FnMut(Position, Position) + Send),
) -> Result<(Checkpoint, [u8; 32]), VerifyError> {
    let mut worker =
        ProjectionWorker::<P>::open(temporary_folder, source, Status::new(P::Model::NAME), clock).await?;
    let to = live.position;
    worker
        .replay(to, &CancellationToken::new(), &mut |at| progress(at, to))
        .await
        .map_err(ReplayError::from)?;
    drop(worker);
    Ok(P::Model::digest(temporary_folder).await?)
}

pub(crate) fn hexadecimal(digest: [u8; 32]) -> String {
    schemas::hash::Hash(digest).to_string()
}
