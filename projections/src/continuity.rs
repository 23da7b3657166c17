//! Whether what was applied is still the history of the log. A write side that was restored from an older backup, or a
//! NATS that was set back, goes on from an earlier event: what was applied after it happened in no log that there is.
//!
//! Every checkpoint holds the hash of its event in the log's chain. Each event that comes is compared with it by the
//! worker; here the event at the checkpoint is, whenever the stream may be another one than before.

use std::sync::atomic::Ordering;
use std::time::Duration;

use read::checkpoint::Checkpoint;
use schemas::envelope::Recorded;
use schemas::hash::Hash;
use schemas::ids::Position;
use tokio::time::Instant;

use crate::failure::Failure;
use crate::source::{EventSource, StreamState};

/// How long the write side's log must have been shorter than what was applied of it: a replica of EventStoreDB may be
/// some hundred milliseconds behind.
const PATIENCE: Duration = Duration::from_secs(5);

/// Compares one checkpoint with the log.
#[derive(Debug)]
pub(crate) struct Continuity {
    source: EventSource,
    /// The connection and the stream that the checkpoint was last compared with.
    compared: Option<(u64, i128)>,
    shorter_since: Option<Instant>,
}

impl Continuity {
    /// Compares with what this source reads.
    pub(crate) fn new(source: EventSource) -> Continuity {
        Continuity { source, compared: None, shorter_since: None }
    }

    /// Looks whether the log has the event of the checkpoint. Where that cannot be known at present there is no error.
    ///
    /// # Errors
    ///
    /// [`Failure::Diverged`] where the log has another event there, or has been shorter for some seconds;
    /// [`Failure::ForeignStore`] where the stream is that of another log.
    pub(crate) async fn look(&mut self, model: &'static str, checkpoint: &Checkpoint) -> Result<(), Failure> {
        let Some(hash) = checkpoint.hash.filter(|_| checkpoint.position > Position::START) else {
            return Ok(());
        };
        let Ok(Some(stream)) = self.source.stream().await else { return Ok(()) };
        if stream.head < checkpoint.position {
            self.compared = None;
            return self.look_beyond(model, checkpoint, hash).await;
        }
        self.shorter_since = None;
        let seen = (self.connects(), stream.created);
        if self.compared == Some(seen) {
            return Ok(());
        }
        self.compare(model, checkpoint, hash, stream).await
    }

    /// Compares the event of the checkpoint with the one that the stream has in its place.
    async fn compare(
        &mut self,
        model: &'static str,
        checkpoint: &Checkpoint,
        hash: Hash,
        stream: StreamState,
    ) -> Result<(), Failure> {
        let seen = (self.connects(), stream.created);
        let Ok(Some(arrived)) = self.source.event_at(checkpoint.position).await else { return Ok(()) };
        if let Ok(found) = &arrived.found {
            if let Some(store) = found.store.filter(|store| !checkpoint.belongs_to(*store)) {
                return Err(foreign(model, checkpoint, store.to_string()));
            }
            same(model, checkpoint.position, hash, &found.recorded)?;
        }
        self.compared = Some(seen);
        Ok(())
    }

    /// The stream ends before the checkpoint: it is being filled again, or the log itself is shorter. The write side
    /// knows.
    async fn look_beyond(
        &mut self,
        model: &'static str,
        checkpoint: &Checkpoint,
        hash: Hash,
    ) -> Result<(), Failure> {
        // An empty stream does not say whose log it is: it may be that of a server which was set by mistake.
        let Ok(carried) = self.source.carried().await else { return Ok(()) };
        let Some(store) = carried.store else { return Ok(()) };
        if checkpoint.store.as_ref().is_some_and(|own| *own != store) {
            return Err(foreign(model, checkpoint, store));
        }
        match self.source.logged_at(checkpoint.position).await {
            None => Ok(()),
            Some((Some(event), _)) => {
                self.shorter_since = None;
                same(model, checkpoint.position, hash, &event)
            }
            Some((None, head)) if head < checkpoint.position => {
                let since = *self.shorter_since.get_or_insert_with(Instant::now);
                if since.elapsed() < PATIENCE {
                    return Ok(());
                }
                let reason = format!(
                    "the log ends at {head}, and {} was applied: the log was restored from an older backup",
                    checkpoint.position
                );
                Err(Failure::Diverged { model, reason })
            }
            Some((None, _)) => Ok(()),
        }
    }

    fn connects(&self) -> u64 {
        self.source.client().statistics().connects.load(Ordering::Relaxed)
    }
}

/// Whether the event of the log is the one that was applied.
fn same(model: &'static str, position: Position, applied: Hash, event: &Recorded) -> Result<(), Failure> {
    if event.hash == applied {
        return Ok(());
    }
    let reason = format!(
        "at {position} the log has the event with the hash {}, and that with {applied} was applied: the log was restored \
         from an older backup",
        event.hash
    );
    Err(Failure::Diverged { model, reason })
}

fn foreign(model: &'static str, checkpoint: &Checkpoint, stream: String) -> Failure {
    Failure::ForeignStore { model, own: checkpoint.store.clone().unwrap_or_default(), stream }
}
