//! How a command of the command line reaches the write side of its data folder: through the process that holds the
//! folder, or by holding it itself.

use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result, bail};
use event_log::EventLog;
use health::Health;
use media::PutError;
use schemas::clock::Clock;
use schemas::command::{Command, CommandFailure, CommandMessage, CommandReply, FailureKind};
use schemas::control::PutAnswer;
use schemas::ids::{Actor, CommandId};
use schemas::picture::PictureId;
use tempfile::TempDir;
use write::command_client::CommandClient;
use write::media_client;
use write::service::{CommandDispatcher, PictureService};

use crate::cli::{ActorFlag, IdFlag};
use crate::clock;
use crate::compose::{self, WriteSide};
use crate::config::{self, Config, Sources};
use crate::connection;
use crate::data_folder::{DataFolder, Held, Part};
use crate::output::say;
use crate::store;
use crate::store::keeper::Naming;

/// The way to the write side.
pub struct Session {
    way: Way,
    clock: Clock,
}

enum Way {
    Remote(CommandClient),
    Local {
        commands: Arc<CommandDispatcher>,
        pictures: Option<Arc<PictureService>>,
        store: Arc<EventLog>,
        _held: Held,
        /// Where the folder is only for as long as the session.
        _aside: Option<TempDir>,
    },
}

/// Returns who acts: as it is given, else the user of this machine.
///
/// # Errors
///
/// Fails where that is no name.
pub fn actor(flag: &ActorFlag) -> Result<Actor> {
    let name = flag.actor.clone().or_else(config::user).unwrap_or_else(|| "operator".into());
    name.parse().context("say who acts with --actor NAME")
}

impl Session {
    /// The way to the process that runs on a data folder.
    pub async fn of_folder(data: &Path) -> Result<Session> {
        let flags = [("data".to_owned(), data.display().to_string())].into();
        Session::open(&Config::read(&Sources { flags, ..Sources::default() })?).await
    }

    /// Takes the way that is open, for a command that writes nothing: where there is no event store yet, an empty one
    /// that goes with the session takes its place.
    pub async fn trying(config: &Config) -> Result<Session> {
        let data = DataFolder::new(&config.server.data);
        let is_running = data.running(Part::Write).is_some() || config.nats.url.is_some();
        if is_running || !store::is_here(config) || store::has_log(config) {
            return Session::open(config).await;
        }
        data.check()?;
        let aside = tempfile::tempdir().context("a temporary folder cannot be made")?;
        let place = aside.path().to_owned();
        let mut config = config.clone();
        (config.server.data, config.store.place, config.accounts.secret_file) = (place, None, None);
        Session::local(&config, Some(aside)).await
    }

    /// Takes the way that is open: a running process, a NATS server that is set, or the folder itself.
    pub async fn open(config: &Config) -> Result<Session> {
        let data = DataFolder::new(&config.server.data);
        data.check()?;
        // A service that starts takes commands in a moment.
        data.running_or_starting(Part::Write).await;
        match connection::url(config) {
            Some(url) => {
                let way = Way::Remote(CommandClient::new(connection::connect(config, &url).await?));
                Ok(Session { way, clock: clock::system() })
            }
            None => Session::local(config, None).await,
        }
    }

    async fn local(config: &Config, aside: Option<TempDir>) -> Result<Session> {
        let clock = clock::system();
        let held = DataFolder::new(&config.server.data).hold(&[Part::Write])?;
        let side = compose::open_write_side(config, &clock, &Health::default(), Naming::None).await?;
        let WriteSide { store, commands, kept, .. } = side;
        let pictures = kept.map(|kept| kept.pictures);
        Ok(Session { way: Way::Local { commands, pictures, store, _held: held, _aside: aside }, clock })
    }

    /// A new id, for what groups commands.
    pub fn command_id(&self) -> CommandId {
        self.clock.command_id()
    }

    /// The id that is given for a command, or else a new one.
    pub fn id(&self, flag: &IdFlag) -> CommandId {
        flag.id.unwrap_or_else(|| self.command_id())
    }

    /// Sends a command and waits for its answer.
    pub async fn send(
        &self,
        actor: Actor,
        correlation: Option<CommandId>,
        command: Command,
    ) -> Result<CommandReply> {
        self.send_as(self.clock.command_id(), actor, correlation, command).await
    }

    /// The same under a given id: what that command did already is not done twice.
    pub async fn send_as(
        &self,
        id: CommandId,
        actor: Actor,
        correlation: Option<CommandId>,
        command: Command,
    ) -> Result<CommandReply> {
        let message =
            CommandMessage { id, actor, correlation: correlation.unwrap_or(id), command, not_after: None };
        match &self.way {
            Way::Remote(client) => Ok(client.send(&message).await?),
            Way::Local { commands, .. } => Ok(commands.execute(message).await),
        }
    }

    /// Brings the bytes of a picture to the media store, and gives its name there; or why it cannot be kept.
    pub async fn keep_picture(&self, bytes: Vec<u8>) -> Result<Result<PictureId, String>> {
        match &self.way {
            Way::Remote(client) => match media_client::put(client.connection(), bytes.into()).await? {
                PutAnswer::Kept(picture) => Ok(Ok(picture.id)),
                PutAnswer::Refused { reason } => Ok(Err(reason)),
                PutAnswer::Unavailable { reason } => bail!(reason),
                PutAnswer::More { .. } => bail!("the write side did not take the whole picture; try again"),
            },
            Way::Local { pictures, .. } => {
                let pictures = pictures.as_ref().context("this write side keeps no pictures")?;
                match pictures.take(bytes).await {
                    Ok(picture) => Ok(Ok(picture.id)),
                    Err(PutError::Refused(fault)) => Ok(Err(fault.to_string())),
                    Err(PutError::Store(error)) => Err(error.into()),
                }
            }
        }
    }

    /// Lets everything go.
    pub async fn close(self) {
        if let Way::Local { store, .. } = self.way {
            store.close().await;
        }
    }
}

/// Passes an answer on. Where it leaves unknown what became of the command, it says under which id to send it again.
pub fn settled(answer: Result<CommandReply>, id: CommandId) -> Result<CommandReply> {
    let again = || {
        format!(
            "whether the command was carried out is not known; to settle it, run the same again with --id {id}"
        )
    };
    let answer = answer.with_context(again)?;
    if let CommandReply::Failed(CommandFailure { kind: FailureKind::Unavailable, .. }) = &answer {
        say(&again());
    }
    Ok(answer)
}
