//! What to do when a projection cannot go on: a value, computed from what failed and how often.

use std::time::Duration;

use schemas::ids::Position;

use crate::source::SourceError;
use read::error::ModelError;

/// The longest wait between two attempts.
const LONGEST_WAIT: Duration = Duration::from_secs(10);

/// Why a worker stopped following.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// The events could not be had.
    #[error(transparent)]
    Source(#[from] SourceError),
    /// The read model could not be read or written.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// What NATS does not have of the calls could not be had from the write side.
    #[error(
        "the ledger of calls cannot be read ({0}); start the write side with auth = keys, then do it again"
    )]
    NoLedger(String),
    /// The model shows a history that the log does not have: it was restored from a backup, or NATS was.
    #[error("the read model {model} shows another history than the log: {reason}")]
    Diverged {
        /// The model's name.
        model: &'static str,
        /// How that is known.
        reason: String,
    },
    /// An event that came next does not follow the last one that the model has applied.
    #[error("the event at {position} does not follow the one that the read model {model} applied before it")]
    Discontinuous {
        /// The model's name.
        model: &'static str,
        /// Where the event stands.
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
        /// The store whose log the model shows.
        own: String,
        /// The store whose log the stream carries.
        stream: String,
    },
}

/// What to do about a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// Open the model again and go on from its checkpoint after a wait.
    RetryAfter(Duration),
    /// Take the model away from readers and make it again from the log.
    Rebuild,
    /// Nothing here will mend it; the operator must act.
    Stop,
}

impl Failure {
    /// What to do after so many failures in a row, counted from 1. Everything that can pass by itself is tried for
    /// ever, at growing intervals: a full disk gets room, a server comes back.
    pub fn verdict(&self, failures: u32) -> Verdict {
        match self {
            Failure::ForeignStore { .. } => Verdict::Stop,
            Failure::Diverged { .. } => Verdict::Rebuild,
            Failure::Model(error) if error.is_corrupt() => Verdict::Rebuild,
            // The next start of the worker compares the model with the log.
            Failure::Source(_) | Failure::Model(_) | Failure::NoLedger(_) | Failure::Discontinuous { .. } => {
                Verdict::RetryAfter(retry_after(failures))
            }
        }
    }
}

/// How long to wait after so many failures in a row, counted from 1.
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
    fn waits_grow_to_a_bound_and_never_end() {
        let failure = Failure::Source(SourceError::Unavailable("gone".into()));
        let waits: Vec<Verdict> = [1, 2, 3, 9, u32::MAX].iter().map(|n| failure.verdict(*n)).collect();
        let ms = |n| Verdict::RetryAfter(Duration::from_millis(n));
        assert_eq!(waits, [ms(50), ms(100), ms(200), ms(10_000), ms(10_000)]);
    }

    #[test]
    fn only_what_cannot_pass_by_itself_has_a_model_rebuilt() {
        let full = std::io::Error::from_raw_os_error(28);
        let folder = GenerationError { path: "models".into(), source: full };
        let passes = [
            ModelError::from(folder),
            ModelError::from(SearchError::Busy),
            ModelError::Threads("none left".into()),
        ];
        for error in passes {
            assert!(matches!(Failure::from(error).verdict(1), Verdict::RetryAfter(_)));
        }
        let stays = [
            ModelError::Corrupt { model: "catalog", reason: "a slug".into() },
            ModelError::from(SearchError::Corrupt("a segment".into())),
            ModelError::Absent("catalog.db".into()),
        ];
        for error in stays {
            assert_eq!(Failure::from(error).verdict(1), Verdict::Rebuild);
        }
        let diverged = Failure::Diverged { model: "keys", reason: "another hash".into() };
        assert_eq!(diverged.verdict(9), Verdict::Rebuild);
    }

    #[test]
    fn another_stores_log_is_never_mixed_in() {
        let failure = Failure::ForeignStore { model: "search", own: "A".into(), stream: "B".into() };
        assert_eq!(failure.verdict(1), Verdict::Stop);
    }
}
