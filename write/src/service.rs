//! Executes commands: loads the history of an aggregate, decides, appends the events, and repeats that on a conflict.
//!
//! - [`CommandDispatcher`]: receives every command and passes it to the service of its subject, with span, metrics and the
//!   rules for replicas.
//! - [`ProjectService`]: what editors and imports send. [`export`], [`project_history`] and
//!   [`listed_projects`] read projects without a service.
//! - [`PictureService`]: attaching and erasing pictures, on top of the projects.
//! - [`AccountService`]: keys and links, and the vault with the addresses. [`read_account`] and [`read_accounts`] read
//!   accounts without a service.
//! - [`PaymentService`] and [`Settlement`]: payment notices and the end of what they pay for, on top of the accounts.
//!
//! Every write side has the projects. The keeper of a log registers the others too.

mod accounts;
mod dispatcher;
mod error;
mod event_writer;
pub mod metrics;
mod payments;
mod pictures;
mod projects;
#[cfg(test)]
mod tests;

use event_log::StoreError;
use futures::future::BoxFuture;
use schemas::command::{CommandMessage, CommandReply};
use schemas::envelope::Recorded;
use schemas::event::Event;
use schemas::versioned::Decoded;

pub use accounts::{AccountService, read_account, read_accounts};
pub use dispatcher::CommandDispatcher;
pub use error::CommandError;
pub use payments::{Payer, PaymentService, Settlement, read_payers};
pub use pictures::PictureService;
pub use projects::{
    ExportedProject, ExportedVectors, Observed, ProjectService, SourceProject, export, listed_projects,
    named_pictures, project_history, projects_of_source,
};

/// How often a command is decided again after a conflict before it is given up.
const ATTEMPTS: usize = 10;

/// Executes the commands of one subject.
pub trait CommandService: Send + Sync {
    /// Returns its commands.
    fn lanes(&self) -> &'static [Lane];

    /// Executes one of its commands. The same command again is executed once and gets the same reply, as far as it appended
    /// anything.
    ///
    /// # Errors
    ///
    /// Fails if the command is rejected, loses to concurrent ones, or cannot be executed now. Nothing was appended then, or
    /// it is not known whether it was.
    fn execute(&self, message: CommandMessage) -> BoxFuture<'_, Result<CommandReply, CommandError>>;
}

/// Commands that share slots, so that many of one kind do not delay the others.
#[derive(Debug)]
pub struct Lane {
    /// The number of commands that are executed at once; more wait.
    pub slots: usize,
    /// The commands.
    pub commands: &'static [CommandSpec],
}

/// A command of a service.
#[derive(Debug)]
pub struct CommandSpec {
    /// Its name: the last token of its subject.
    pub name: &'static str,
    /// How it is decided on a replica.
    on_replica: OnReplica,
}

/// How a command is decided on a replica, which may lag behind the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum OnReplica {
    /// As the replica is. The log accepts an append only at the expected version; a reply without an append is decided again
    /// at the head of the log.
    Optimistic,
    /// After the replica has caught up with the log.
    CaughtUp,
}

impl CommandSpec {
    const fn optimistic(name: &'static str) -> CommandSpec {
        CommandSpec { name, on_replica: OnReplica::Optimistic }
    }

    const fn caught_up(name: &'static str) -> CommandSpec {
        CommandSpec { name, on_replica: OnReplica::CaughtUp }
    }
}

/// Decodes an event. Fails for an event of a newer version, and for one that cannot be decoded.
fn decode_known(recorded: &Recorded) -> Result<Event, StoreError> {
    match recorded.decode() {
        Ok(Decoded::Known(event)) => Ok(*event),
        Ok(Decoded::Unknown) => Err(StoreError::unavailable(format!(
            "{} has events of a newer Loggia ({}); use that one to change it",
            recorded.stream, recorded.kind
        ))),
        Err(error) => Err(StoreError::corrupt(error.to_string())),
    }
}
