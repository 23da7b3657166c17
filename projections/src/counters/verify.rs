//! Proves that the live counters are what the ledger and the streams say, while calls go on being counted.

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
use crate::verify::{Verified, VerifyError, aside, hexadecimal};
use crate::work::Work;
use crate::worker::ReplayError;

/// How long the live counters may take to come as far as the replay; what they lack then is a difference.
const PATIENCE: Duration = Duration::from_secs(15);
/// Between two looks at them.
const LOOK: Duration = Duration::from_millis(50);

/// Counts everything aside, which is removed afterwards, up to the very message that the live counters have come to, and
/// compares.
pub async fn verify(
    models: &Path,
    source: EventSource,
    clock: Clock,
    progress: &mut (dyn FnMut(Position, Position) + Send),
) -> Result<Verified, VerifyError> {
    let name = ModelKind::Counters.name();
    let generation = ModelKind::Counters.generations(models).current().map_err(ModelError::from)?;
    let generation = generation.ok_or(VerifyError::Nothing(name))?;
    let folder = aside(models)?;
    let mut worker = CountersWorker::open(folder.path(), source, Status::new(name), clock).await?;
    let live = counters::progress(&generation.path).await?;
    worker.replay_all(Some(live.checkpoint.position), &CancellationToken::new(), progress).await?;
    follow_up(&generation.path, &worker.progress.sources).await?;
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

/// Waits until the live counters have come as far in every stream.
async fn follow_up(live: &Path, reached: &BTreeMap<String, Source>) -> Result<(), VerifyError> {
    let began = Instant::now();
    loop {
        let Progress { sources, .. } = counters::progress(live).await?;
        let there = reached.iter().all(|(name, reached)| {
            reached.sequence == 0
                || sources.get(name).is_some_and(|source| {
                    source.created == reached.created && source.sequence >= reached.sequence
                })
        });
        if there || began.elapsed() >= PATIENCE {
            return Ok(());
        }
        tokio::time::sleep(LOOK).await;
    }
}
