//! The reasons why a command is not executed, and the reply to its sender.

use event_log::StoreError;
use schemas::command::{Command, CommandFailure, FailureKind};
use vault::VaultError;

use crate::{account, project};

/// A command that was not executed.
#[derive(Debug, thiserror::Error)]
pub enum CommandError {
    /// A rule for projects forbids it.
    #[error(transparent)]
    Project(#[from] project::Rejection),
    /// A rule for accounts forbids it.
    #[error(transparent)]
    Account(#[from] account::Rejection),
    /// This write side has no vault.
    #[error(
        "this write side keeps no addresses; the keeper of the log does, and `loggia store keeper` shows which that is"
    )]
    NoAddresses,
    /// This write side has no media store.
    #[error(
        "this write side keeps no pictures; the keeper of the log does, and `loggia store keeper` shows which that is"
    )]
    NoPictures,
    /// A picture could not be fetched now.
    #[error("the picture could not be fetched: {0}")]
    PictureUnreachable(String),
    /// A link that was used, has expired or never existed; the reply is the same for all three.
    #[error(
        "this link cannot be used any more: it was used before, is older than {} minutes or is incomplete; request a \
         new one and use the latest email",
        schemas::link::VALIDITY.as_mins()
    )]
    UnusableLink,
    /// It arrived after its deadline.
    #[error(
        "the command came after its sender had given up waiting, so nothing was done; if that happens again, set the clocks of \
         both machines"
    )]
    DeadlinePassed,
    /// The log does not accept its events.
    #[error("this cannot be kept: {0}")]
    Invalid(String),
    /// It conflicted with concurrent commands in every attempt.
    #[error("others change the same at this moment; look at it, then send the command again")]
    Contended,
    /// The event log failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The vault failed.
    #[error(transparent)]
    Vault(#[from] VaultError),
}

impl CommandError {
    /// The error of a service that received the command of another.
    pub(super) fn misrouted(command: &Command) -> CommandError {
        CommandError::Invalid(format!("{} is not a command of this service", command.name()))
    }

    /// Returns what the sender can do about it.
    pub fn kind(&self) -> FailureKind {
        match self {
            CommandError::Project(_)
            | CommandError::Account(_)
            | CommandError::NoAddresses
            | CommandError::NoPictures
            | CommandError::UnusableLink
            | CommandError::Invalid(_) => FailureKind::Rejected,
            CommandError::Contended => FailureKind::Conflict,
            CommandError::Store(_)
            | CommandError::Vault(_)
            | CommandError::PictureUnreachable(_)
            | CommandError::DeadlinePassed => FailureKind::Unavailable,
        }
    }
}

impl From<CommandError> for CommandFailure {
    fn from(error: CommandError) -> CommandFailure {
        let (kind, detail) = (error.kind(), error.to_string());
        let faults = match error {
            CommandError::Project(project::Rejection::Invalid(faults)) => faults,
            _ => Vec::new(),
        };
        CommandFailure { kind, detail, faults }
    }
}
