//! Proves that a live model is what its events say: replays them aside up to the same position and compares digests.

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
use crate::worker::{ReplayError, Worker};

/// Begins the name of a folder in which a model is replayed aside.
const ASIDE: &str = "aside-";

/// Removes what a verification left that was killed. One that is under way on the same folder fails and says so.
pub fn remove_leftovers(models: &Path) -> std::io::Result<()> {
    let entries = match std::fs::read_dir(models) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error),
    };
    for entry in entries {
        let entry = entry?;
        if entry.file_name().to_string_lossy().starts_with(ASIDE) {
            std::fs::remove_dir_all(entry.path())?;
        }
    }
    Ok(())
}

/// The outcome for one model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Verified {
    /// The model's name.
    pub model: &'static str,
    /// The position at which both were compared.
    pub position: Position,
    /// Whether they are equal.
    pub equal: bool,
    /// The live model's digest, in hexadecimal digits.
    pub live: String,
    /// The replayed model's digest, in hexadecimal digits.
    pub replayed: String,
}

/// A model could not be compared.
#[derive(Debug, thiserror::Error)]
pub enum VerifyError {
    /// There is nothing to compare with yet.
    #[error("there is no {0} model yet; start `loggia up` or `loggia project` once")]
    Nothing(&'static str),
    /// The folder for the replay cannot be used.
    #[error("the folder {folder} for the replay cannot be used: {source}")]
    Folder {
        /// Which folder.
        folder: String,
        /// What the system said.
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

/// Replays the model in a folder aside, which is removed afterwards, and compares.
pub async fn verify<P: Projection>(
    models: &Path,
    source: EventSource,
    clock: Clock,
    progress: &mut (dyn FnMut(Position, Position) + Send),
) -> Result<Verified, VerifyError> {
    let generations = Generations::in_layout(models.join(P::Model::NAME), P::Model::LAYOUT);
    let generation = generations.current().map_err(ModelError::from)?;
    let generation = generation.ok_or(VerifyError::Nothing(P::Model::NAME))?;
    let (live, live_digest) = P::Model::digest(&generation.path).await?;
    let folder = aside(models)?;
    let (checkpoint, digest) = replay_aside::<P>(&live, folder.path(), source, clock, progress).await?;
    Ok(Verified {
        model: P::Model::NAME,
        position: live.position,
        // What was set aside and passed over belongs to what the model says of the log.
        equal: live_digest == digest && live.agrees_with(&checkpoint),
        live: hexadecimal(live_digest),
        replayed: hexadecimal(digest),
    })
}

/// A folder for a replay, which goes with its handle.
pub(crate) fn aside(models: &Path) -> Result<TempDir, VerifyError> {
    tempfile::Builder::new()
        .prefix(ASIDE)
        .tempdir_in(models)
        .map_err(|source| VerifyError::Folder { folder: models.display().to_string(), source })
}

async fn replay_aside<P: Projection>(
    live: &Checkpoint,
    aside: &Path,
    source: EventSource,
    clock: Clock,
    progress: &mut (dyn FnMut(Position, Position) + Send),
) -> Result<(Checkpoint, [u8; 32]), VerifyError> {
    let mut worker: Worker<P> = Worker::open(aside, source, Status::new(P::Model::NAME), clock).await?;
    let to = live.position;
    worker
        .replay(to, &CancellationToken::new(), &mut |at| progress(at, to))
        .await
        .map_err(ReplayError::from)?;
    drop(worker);
    Ok(P::Model::digest(aside).await?)
}

pub(crate) fn hexadecimal(digest: [u8; 32]) -> String {
    schemas::hash::Hash(digest).to_string()
}
