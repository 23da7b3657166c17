//! Why the service does not carry out a command, and what the sender is told.

use event_log::StoreError;
use schemas::command::{Refusal, RefusalKind};
use vault::VaultError;

use crate::account;
use crate::project::Rejection;

/// Why a command is not carried out.
#[derive(Debug, thiserror::Error)]
pub(super) enum Refused {
    /// The catalog's rules speak against it.
    #[error(transparent)]
    Rejected(#[from] Rejection),
    /// The rules for keys speak against it.
    #[error(transparent)]
    Account(#[from] account::Rejection),
    /// The service was made without accounts.
    #[error(
        "this write side keeps no addresses; the keeper of the log does, and `loggia store keeper` shows which that is"
    )]
    NoVault,
    /// The service was made without pictures.
    #[error(
        "this write side keeps no pictures; the keeper of the log does, and `loggia store keeper` shows which that is"
    )]
    NoPictures,
    /// A picture could not be fetched, and may be another time.
    #[error("the picture could not be fetched: {0}")]
    Unreachable(String),
    /// A link that was used, is too old, or never was; nobody is told which.
    #[error(
        "this link cannot be used any more: it was used before, is older than {} minutes or is not whole; ask for a new \
         one, and use the newest mail",
        schemas::link::GOOD_FOR.as_mins()
    )]
    DeadLink,
    /// It came when its sender had given up.
    #[error(
        "the command came after its sender had given up waiting, so nothing was done; if that goes on, set the clocks of \
         both machines"
    )]
    TooLate,
    /// What would be written cannot be kept.
    #[error("this cannot be kept: {0}")]
    Impossible(String),
    /// Others were faster every time.
    #[error("others change the same at this moment; look at it, then send the command again")]
    Contended,
    /// The store cannot do it.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The vault cannot do it.
    #[error(transparent)]
    Vault(#[from] VaultError),
}

impl From<Refused> for Refusal {
    fn from(refused: Refused) -> Refusal {
        let detail = refused.to_string();
        let (kind, faults) = match refused {
            Refused::Rejected(Rejection::Faulty(faults)) => (RefusalKind::Rejected, faults),
            Refused::Rejected(_)
            | Refused::Account(_)
            | Refused::NoVault
            | Refused::DeadLink
            | Refused::NoPictures
            | Refused::Impossible(_) => (RefusalKind::Rejected, Vec::new()),
            Refused::Contended => (RefusalKind::Conflict, Vec::new()),
            Refused::Store(_) | Refused::Vault(_) | Refused::Unreachable(_) | Refused::TooLate => {
                (RefusalKind::Unavailable, Vec::new())
            }
        };
        Refusal { kind, detail, faults }
    }
}
