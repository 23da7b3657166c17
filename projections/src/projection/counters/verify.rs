//! Proves that the live counters equal those of the ledger and the streams, while calls continue to be counted.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, Instant};

use read::counters::{self, Progress, Source};
use read::error::ModelError;
use read::models::ModelKind;
use schemas::clock::Clock;
use schemas::ids::Position;
use tokio_util::sync::CancellationToken;

use super::CountersWorker;
use crate::source::EventSource;
use crate::status::Status;
use crate::verify::{Verified, VerifyError, hexadecimal, temporary_folder};
use crate::worker::{ReplayError, Worker};

/// How long the live counters may take to reach the replay; calls that they lack then are a difference.
const CATCH_UP_TIMEOUT: Duration = Duration::from_secs(15);
/// How often to read their progress.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// Counts all calls in a temporary folder, up to the last one that the live counters have counted, and compares both.
///
/// # Errors
///
/// Fails when there are no live counters, or when the replay does not reach them.
pub async fn verify(
    models: &Path,
    source: EventSource,
    clock: Clock,
    progress: &mut (dyn FnMut(Position, Position) + Send),
) -> Result<Verified, VerifyError> {
    let name = ModelKind::Counters.name();
    let generation = ModelKind::Counters.generations(models).current().map_err(ModelError::from)?;
    let generation = generation.ok_or(VerifyError::NoModel(name))?;
    let folder = temporary_folder(models)?;
    let mut worker = CountersWorker::open(folder.path(), source, Status::new(name), clock).await?;
    let live = counters::progress(&generation.path).await?;
    worker.replay_all(Some(live.checkpoint.position), &CancellationToken::new(), progress).await?;
    wait_for_live(&generation.path, &worker.progress.sources).await?;
    let (live, live_digest) = counters::digest(&generation.path).await?;
    let to = live.sources.into_iter().map(|(name, source)| (name, source.sequence)).collect();
    worker.catch_up(&to, progress).await.map_err(ReplayError::from)?;
    drop(worker);
    let (_, digest) = counters::digest(folder.path()).await?;
    Ok(Verified {
        model: name,
        position: live.checkpoint.position,
        equal: live_digest == digest,
        live: hexadecimal(live_digest),
        replayed: hexadecimal(digest),
    })
}

/// Waits until the live counters have reached these sequences in every stream, at most [`CATCH_UP_TIMEOUT`].
async fn wait_for_live(live: &Path, reached: &BTreeMap<String, Source>) -> Result<(), VerifyError> {
    let began = Instant::now();
    loop {
        let Progress { sources, .. } = counters::progress(live).await?;
        let has_reached = reached.iter().all(|(name, reached)| {
            reached.sequence == 0
                || sources.get(name).is_some_and(|source| {
                    source.created == reached.created && source.sequence >= reached.sequence
                })
        });
        if has_reached || began.elapsed() >= CATCH_UP_TIMEOUT {
            return Ok(());
        }
        tokio::time::sleep(POLL_INTERVAL).await;
    }
}
