//! Why the copying of counted calls starts over.

use event_log::StoreError;

use crate::usage_streams::UsageStreamError;

/// Why copying was interrupted.
#[derive(Debug, thiserror::Error)]
pub(super) enum Interruption {
    /// The stream was deleted, created again, or lost messages.
    #[error("the stream {0} is not where it was left")]
    Moved(String),
    /// There is no connection.
    #[error("the connection to NATS is away, so calls are not copied into the ledger; it is tried again")]
    Disconnected,
    /// NATS refused, or has a stream that must not be used for metering.
    #[error(transparent)]
    Stream(#[from] UsageStreamError),
    /// The ledger cannot be written or read.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl Interruption {
    pub(super) fn nats(error: impl std::fmt::Display) -> Interruption {
        UsageStreamError::nats(error).into()
    }
}
