//! Checks that the applied events are still the history of the log. After the write side was restored from an older backup, or
//! NATS was reset to an earlier state, the log continues from an earlier event: events applied after that one are in no log.
//!
//! Every checkpoint holds the hash of its event in the hash chain. The worker compares each event with it; here the event at
//! the checkpoint is compared, whenever the stream may not be the one of the last check.

use std::time::Duration;

use nats::connection;
use read::checkpoint::Checkpoint;
use schemas::envelope::Recorded;
use schemas::hash::Hash;
use schemas::ids::Position;
use tokio::time::Instant;

use crate::error::WorkerError;
use crate::source::EventSource;

/// How long the write side's log must have been shorter than the checkpoint: a replica of EventStoreDB may lag by some
/// hundred milliseconds.
const TIMEOUT: Duration = Duration::from_secs(5);

/// Compares one checkpoint with the log.
#[derive(Debug)]
pub(crate) struct HistoryCheck {
    source: EventSource,
    /// The connection and the creation time of the stream at the last comparison.
    last_compared: Option<(u64, i128)>,
    shorter_since: Option<Instant>,
}

impl HistoryCheck {
    /// Creates a check against what this source reads.
    pub(crate) fn new(source: EventSource) -> HistoryCheck {
        HistoryCheck { source, last_compared: None, shorter_since: None }
    }

    /// Checks that the log has the event of the checkpoint. Returns `Ok` if this cannot be known at present.
    /// [`WorkerError::Diverged`] if the log has another event there, or has been shorter for 5 seconds;
    /// [`WorkerError::ForeignStore`] if the stream carries another log.
    pub(crate) async fn check(
        &mut self,
        model: &'static str,
        checkpoint: &Checkpoint,
    ) -> Result<(), WorkerError> {
        let Some(hash) = checkpoint.hash.filter(|_| checkpoint.position > Position::START) else {
            return Ok(());
        };
        let Ok(Some(stream)) = self.source.stream().await else { return Ok(()) };
        if stream.head < checkpoint.position {
            self.last_compared = None;
            return self.check_beyond_stream(model, checkpoint, hash).await;
        }
        self.shorter_since = None;
        let seen = (connection::count(self.source.client()), stream.created);
        if self.last_compared == Some(seen) {
            return Ok(());
        }
        let Ok(Some(delivery)) = self.source.event_at(checkpoint.position).await else { return Ok(()) };
        if let Ok(decoded) = &delivery.decoded {
            if let Some(store) = decoded.store.filter(|store| !checkpoint.belongs_to(*store)) {
                return Err(foreign(model, checkpoint, store.to_string()));
            }
            expect_equal(model, checkpoint.position, hash, &decoded.recorded)?;
        }
        self.last_compared = Some(seen);
        Ok(())
    }

    /// Asks the write side, because the stream ends before the checkpoint: it is being filled again, or the log is shorter.
    async fn check_beyond_stream(
        &mut self,
        model: &'static str,
        checkpoint: &Checkpoint,
        hash: Hash,
    ) -> Result<(), WorkerError> {
        // An empty stream does not show whose log it carries: LOGGIA_NATS_URL may name the wrong server.
        let Ok(stream_log) = self.source.stream_log().await else { return Ok(()) };
        let Some(store) = stream_log.store else { return Ok(()) };
        if checkpoint.store.as_ref().is_some_and(|own| *own != store) {
            return Err(foreign(model, checkpoint, store));
        }
        match self.source.logged_at(checkpoint.position).await {
            None => Ok(()),
            Some((Some(event), _)) => {
                self.shorter_since = None;
                expect_equal(model, checkpoint.position, hash, &event)
            }
            Some((None, head)) if head < checkpoint.position => {
                let since = *self.shorter_since.get_or_insert_with(Instant::now);
                if since.elapsed() < TIMEOUT {
                    return Ok(());
                }
                let reason = format!(
                    "the log ends at {head}, and {} was applied: the log was restored from an older backup",
                    checkpoint.position
                );
                Err(WorkerError::Diverged { model, reason })
            }
            Some((None, _)) => Ok(()),
        }
    }
}

/// Fails if the event of the log is not the one that was applied.
fn expect_equal(
    model: &'static str,
    position: Position,
    applied: Hash,
    event: &Recorded,
) -> Result<(), WorkerError> {
    if event.hash == applied {
        return Ok(());
    }
    let reason = format!(
        "at {position} the log has the event with the hash {}, and that with {applied} was applied: the log was restored \
         from an older backup",
        event.hash
    );
    Err(WorkerError::Diverged { model, reason })
}

fn foreign(model: &'static str, checkpoint: &Checkpoint, stream: String) -> WorkerError {
    WorkerError::ForeignStore { model, own: checkpoint.store.clone().unwrap_or_default(), stream }
}
