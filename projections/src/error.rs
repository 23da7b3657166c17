//! The errors of a worker, and how its host recovers: computed from the error and the number of failures in a row.

use std::time::Duration;

use schemas::ids::Position;

use crate::source::SourceError;
use read::error::ModelError;

/// The longest wait between two attempts.
const LONGEST_WAIT: Duration = Duration::from_secs(10);

/// An error that ended a worker.
#[derive(Debug, thiserror::Error)]
pub enum WorkerError {
    /// The events cannot be read.
    #[error(transparent)]
    Source(#[from] SourceError),
    /// The read model cannot be read or written.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// The calls that NATS no longer has cannot be read from the ledger of the write side.
    #[error(
        "the ledger of calls cannot be read ({0}); start the write side with auth = keys, then do it again"
    )]
    NoLedger(String),
    /// The model shows a history that the log does not have: the log was restored from a backup, or NATS was.
    #[error("the read model {model} shows another history than the log: {reason}")]
    Diverged {
        /// The model's name.
        model: &'static str,
        /// The evidence.
        reason: String,
    },
    /// The next event does not follow the last one that the model has applied.
    #[error("the event at {position} does not follow the one that the read model {model} applied before it")]
    Discontinuous {
        /// The model's name.
        model: &'static str,
        /// The position of the event.
        position: Position,
    },
    /// The stream carries the log of another event store than the model shows.
    #[error(
        "the stream EVENTS carries the log of event store {stream}, but the read model {model} shows that of {own}; \
         point LOGGIA_NATS_URL at the right server, or rebuild the model with `loggia rebuild {model}`"
    )]
    ForeignStore {
        /// The model's name.
        model: &'static str,
        /// The event store whose log the model shows.
        own: String,
        /// The event store whose log the stream carries.
        stream: String,
    },
}

/// How a host recovers from an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Recovery {
    /// Open the model again after a wait, and continue from its checkpoint.
    RetryAfter(Duration),
    /// Take the model from readers and rebuild it from the log.
    Rebuild,
    /// Do nothing: only the operator can act.
    Stop,
}

impl WorkerError {
    /// Returns how to recover after this many failures in a row, from 1. Whatever can pass by itself, as a full disk or an
    /// unreachable server, is retried without end, at growing intervals.
    pub fn recovery(&self, failures: u32) -> Recovery {
        match self {
            WorkerError::ForeignStore { .. } => Recovery::Stop,
            WorkerError::Diverged { .. } => Recovery::Rebuild,
            WorkerError::Model(error) if error.is_corrupt() => Recovery::Rebuild,
            // When the worker opens the model again, it compares it with the log.
            WorkerError::Source(_)
            | WorkerError::Model(_)
            | WorkerError::NoLedger(_)
            | WorkerError::Discontinuous { .. } => Recovery::RetryAfter(retry_after(failures)),
        }
    }
}

/// Returns how long to wait after this many failures in a row, from 1: 50 ms, doubled with each, 10 s at most.
pub(crate) fn retry_after(failures: u32) -> Duration {
    let wait = Duration::from_millis(50).saturating_mul(1 << failures.saturating_sub(1).min(10));
    wait.min(LONGEST_WAIT)
}

#[cfg(test)]
mod tests {
    use read::generation::GenerationError;
    use read::search::SearchError;

    use super::*;

    #[test]
    fn retries_wait_longer_up_to_a_bound_and_never_end() {
        let error = WorkerError::Source(SourceError::Unavailable("gone".into()));
        let waits: Vec<Recovery> = [1, 2, 3, 9, u32::MAX].iter().map(|n| error.recovery(*n)).collect();
        let ms = |n| Recovery::RetryAfter(Duration::from_millis(n));
        assert_eq!(waits, [ms(50), ms(100), ms(200), ms(10_000), ms(10_000)]);
    }

    #[test]
    fn a_model_is_rebuilt_only_for_errors_that_cannot_pass_by_themselves() {
        let full = std::io::Error::from_raw_os_error(28);
        let folder = GenerationError { path: "models".into(), source: full };
        let passes = [
            ModelError::from(folder),
            ModelError::from(SearchError::Busy),
            ModelError::Threads("none left".into()),
        ];
        for error in passes {
            assert!(matches!(WorkerError::from(error).recovery(1), Recovery::RetryAfter(_)));
        }
        let stays = [
            ModelError::Corrupt { model: "catalog", reason: "a slug".into() },
            ModelError::from(SearchError::Corrupt("a segment".into())),
            ModelError::Absent("catalog.db".into()),
        ];
        for error in stays {
            assert_eq!(WorkerError::from(error).recovery(1), Recovery::Rebuild);
        }
        let diverged = WorkerError::Diverged { model: "keys", reason: "another hash".into() };
        assert_eq!(diverged.recovery(9), Recovery::Rebuild);
    }

    #[test]
    fn the_log_of_another_store_stops_the_worker() {
        let error = WorkerError::ForeignStore { model: "search", own: "A".into(), stream: "B".into() };
        assert_eq!(error.recovery(1), Recovery::Stop);
    }
}
