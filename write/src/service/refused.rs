//! Why the service does not carry out a command, and what the sender is told.

use schemas::command::{Refusal, RefusalKind};

use crate::event_store::StoreError;
use crate::project::Rejection;

/// Why a command is not carried out.
#[derive(Debug, thiserror::Error)]
pub(super) enum Refused {
    /// The catalog's rules speak against it.
    #[error(transparent)]
    Rejected(#[from] Rejection),
    /// What would be written cannot be kept.
    #[error("this cannot be kept: {0}")]
    Impossible(String),
    /// Others were faster every time.
    #[error("others change this project at the same time; look at it, then send the command again")]
    Contended,
    /// The store cannot do it.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl From<Refused> for Refusal {
    fn from(refused: Refused) -> Refusal {
        let detail = refused.to_string();
        let (kind, faults) = match refused {
            Refused::Rejected(Rejection::Faulty(faults)) => (RefusalKind::Rejected, faults),
            Refused::Rejected(_) | Refused::Impossible(_) => (RefusalKind::Rejected, Vec::new()),
            Refused::Contended => (RefusalKind::Conflict, Vec::new()),
            Refused::Store(_) => (RefusalKind::Unavailable, Vec::new()),
        };
        Refusal { kind, detail, faults }
    }
}
