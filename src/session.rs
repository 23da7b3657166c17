//! How a command of the command line reaches the write side of its data folder: through the process that holds the
//! folder, or by opening it itself.

use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result, bail};
use cli_output::say;
use data_folder::{DataFolder, FolderGuard, Part};
use event_log::EventLog;
use health::Health;
use media::PutError;
use schemas::clock::Clock;
use schemas::command::{Command, CommandFailure, CommandMessage, CommandReply, FailureKind};
use schemas::control::PutAnswer;
use schemas::ids::{Actor, CommandId};
use schemas::picture::PictureId;
use settings::Sources;
use tempfile::TempDir;
use write::command_client::{CommandClient, SendError};
use write::media_client;
use write::service::{CommandDispatcher, PictureService};

use crate::cli::{ActFlags, ActorFlag, IdFlag};
use crate::compose::{self, WriteSide};
use crate::config::{self, Config};
use crate::connection;
use crate::process;
use crate::store;
use crate::store::keeper::KeeperClaim;

/// The error of a reply that answers another command than was sent.
pub const UNEXPECTED_REPLY: &str =
    "the reply of the write side is of an unexpected kind; do both have the same version?";

/// A connection to the write side, or the write side itself.
pub struct Session {
    write_side: Endpoint,
    clock: Clock,
}

enum Endpoint {
    Remote(CommandClient),
    Local {
        commands: Arc<CommandDispatcher>,
        pictures: Option<Arc<PictureService>>,
        store: Arc<EventLog>,
        _guard: FolderGuard,
        /// The data folder, if it exists only for the session.
        _temporary: Option<TempDir>,
    },
}

/// Returns who acts: the name that is given, else the user of this machine. Fails if that is not a name of an actor.
pub fn actor(flag: &ActorFlag) -> Result<Actor> {
    let name = flag.actor.clone().or_else(config::user).unwrap_or_else(|| "operator".into());
    name.parse().context("name who acts with --actor NAME")
}

impl Session {
    /// Opens a session with the process that runs on a data folder, with default settings.
    pub async fn of_folder(data: &Path) -> Result<Session> {
        let flags = [("data".to_owned(), data.display().to_string())].into();
        Session::open(&Config::read(&Sources { flags, ..Sources::default() })?).await
    }

    /// Opens a session for a command that writes nothing. If there is no event store yet, it has an empty one in a temporary
    /// folder.
    pub async fn open_for_dry_run(config: &Config) -> Result<Session> {
        let data = DataFolder::new(&config.server.data);
        let is_running = data.running(Part::Write).is_some() || config.nats.url.is_some();
        if is_running || !store::is_here(config) || store::has_log(config) {
            return Session::open(config).await;
        }
        data.check()?;
        let temporary = tempfile::tempdir().context("a temporary folder cannot be created")?;
        let mut config = config.clone();
        config.server.data = temporary.path().to_owned();
        (config.store.place, config.accounts.secret_file) = (None, None);
        Session::local(&config, Some(temporary)).await
    }

    /// Opens a session with the running process of the folder, else with the NATS server that is set, else with the folder itself.
    pub async fn open(config: &Config) -> Result<Session> {
        let data = DataFolder::new(&config.server.data);
        data.check()?;
        // A service that is starting accepts commands in a moment.
        data.running_or_starting(Part::Write).await;
        match connection::nats_url(config) {
            Some(url) => {
                let client = CommandClient::new(connection::connect_to_nats(config, &url).await?);
                Ok(Session { write_side: Endpoint::Remote(client), clock: process::clock() })
            }
            None => Session::local(config, None).await,
        }
    }

    async fn local(config: &Config, temporary: Option<TempDir>) -> Result<Session> {
        let clock = process::clock();
        let guard = DataFolder::new(&config.server.data).hold(&[Part::Write])?;
        let side = compose::open_write_side(config, &clock, &Health::default(), KeeperClaim::None).await?;
        let WriteSide { store, commands, kept, .. } = side;
        let pictures = kept.map(|kept| kept.pictures);
        let write_side = Endpoint::Local { commands, pictures, store, _guard: guard, _temporary: temporary };
        Ok(Session { write_side, clock })
    }

    /// Returns a new id, for a command or a group of commands.
    pub fn command_id(&self) -> CommandId {
        self.clock.command_id()
    }

    /// Returns the id that is given for a command, or else a new one.
    pub fn id(&self, flag: &IdFlag) -> CommandId {
        flag.id.unwrap_or_else(|| self.command_id())
    }

    /// Sends a command under a new id, and waits for the reply.
    pub async fn send(
        &self,
        actor: Actor,
        correlation: Option<CommandId>,
        command: Command,
    ) -> Result<CommandReply> {
        self.send_as(self.clock.command_id(), actor, correlation, command).await
    }

    /// Sends a command under this id, and waits for the reply. A command that was executed under the id is not executed
    /// again.
    pub async fn send_as(
        &self,
        id: CommandId,
        actor: Actor,
        correlation: Option<CommandId>,
        command: Command,
    ) -> Result<CommandReply> {
        let message =
            CommandMessage { id, actor, correlation: correlation.unwrap_or(id), command, not_after: None };
        match &self.write_side {
            Endpoint::Remote(client) => Ok(client.send(&message).await?),
            Endpoint::Local { commands, .. } => Ok(commands.execute(message).await),
        }
    }

    /// Stores a picture in the media store. Returns its id, or why it is refused.
    pub async fn store_picture(&self, bytes: Vec<u8>) -> Result<Result<PictureId, String>> {
        match &self.write_side {
            Endpoint::Remote(client) => match media_client::put(client.connection(), bytes.into()).await? {
                PutAnswer::Kept(picture) => Ok(Ok(picture.id)),
                PutAnswer::Refused { reason } => Ok(Err(reason)),
                PutAnswer::Unavailable { reason } => bail!(reason),
                PutAnswer::More { .. } => {
                    bail!("the write side did not receive the whole picture; try again")
                }
            },
            Endpoint::Local { pictures, .. } => {
                let pictures = pictures.as_ref().context("this write side stores no pictures")?;
                match pictures.store_bytes(bytes).await {
                    Ok(picture) => Ok(Ok(picture.id)),
                    Err(PutError::Refused(fault)) => Ok(Err(fault.to_string())),
                    Err(PutError::Store(error)) => Err(error.into()),
                }
            }
        }
    }

    /// Closes the write side, if it is that of this process.
    pub async fn close(self) {
        if let Endpoint::Local { store, .. } = self.write_side {
            store.close().await;
        }
    }
}

/// Sends one command with the actor and the id that the flags give, and returns the reply, as [`resolved`] does.
pub async fn send_once(config: &Config, act: &ActFlags, command: Command) -> Result<CommandReply> {
    let actor = actor(&act.actor)?;
    let session = Session::open(config).await?;
    let id = session.id(&act.id);
    let reply = session.send_as(id, actor, None, command).await;
    session.close().await;
    resolved(reply, id)
}

/// Returns whether a command that failed with this error was surely not executed, not even in part: no write side received it.
pub fn is_surely_undone(error: &anyhow::Error) -> bool {
    error.downcast_ref::<SendError>().is_some_and(|error| !error.may_have_been_executed())
}

/// Returns the reply to a command. If it leaves unknown whether the command was executed, tells the user under which id to
/// send it again; if no write side received it, that it was not.
pub fn resolved(answer: Result<CommandReply>, id: CommandId) -> Result<CommandReply> {
    let again = || {
        format!("whether the command was executed is not known; to make sure, run it again with --id {id}")
    };
    let answer = answer.map_err(|error| match is_surely_undone(&error) {
        true => error.context("the command was not executed"),
        false => error.context(again()),
    })?;
    if let CommandReply::Failed(CommandFailure { kind: FailureKind::Unavailable, .. }) = &answer {
        say(&again());
    }
    Ok(answer)
}

#[cfg(test)]
mod tests;
