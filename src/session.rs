//! How a command of the command line reaches the write side and the event store of its data folder: through the
//! process that holds the folder, or by holding it itself.

mod keeper;

use std::convert::Infallible;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use health::Health;
use jiff::Timestamp;
use pictures::fetch::FetchRules;
use schemas::command::{Answer, Command, CommandMessage, Refusal, RefusalKind};
use schemas::control::PutAnswer;
use schemas::envelope::Recorded;
use schemas::ids::{Actor, CommandId, Position};
use schemas::nats_role::NatsRole;
use schemas::picture::PictureId;
use schemas::slug::Slug;
use tempfile::TempDir;
use write::clock::Clock;
use write::command_client::CommandClient;
#[cfg(feature = "eventstore")]
use write::event_store::kurrent;
use write::event_store::{Damage, LogPlace, SqliteStore, Verified};
use write::media::{MediaStore, TakeError};
use write::media_client;
use write::nats::Login;
use write::service::{Accounts, CommandService, Pictures};
use write::vault::Vault;

use crate::cli::{ActorFlag, IdFlag};
use crate::clock;
use crate::config::{self, Config, Hosts, PictureAddresses, Sources};
use crate::data_folder::{DataFolder, Held, Part};
use crate::lifecycle::Lifecycle;
use crate::output::say;
use crate::roles::{self, ServiceSettings};
use crate::signals::{Interrupted, Signals};
pub use keeper::{Keeper, Naming, look as keeper, move_here as move_keeper};

/// The file of a log in SQLite.
const LOG: &str = "events.db";

/// How often a command that follows a log elsewhere brings the replica up to date.
const FRESH: Duration = Duration::from_secs(1);

/// What carries out commands, opened for writing.
pub struct WriteSide {
    /// The event store.
    pub store: Arc<SqliteStore>,
    /// What decides.
    pub service: CommandService,
    /// Who keeps what is not in the log.
    pub keeper: Keeper,
}

/// The way to the write side.
pub struct Session {
    way: Way,
    clock: Clock,
}

enum Way {
    Remote(CommandClient),
    Local {
        service: CommandService,
        store: Arc<SqliteStore>,
        _held: Held,
        /// Where the folder is only for as long as the session.
        _aside: Option<TempDir>,
    },
}

/// The time, for what only shows it.
pub fn now() -> Timestamp {
    clock::now()
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

/// The folder of the event store; where that is elsewhere, of its replica, the vault and the ledger.
pub fn store_folder(config: &Config) -> PathBuf {
    match &config.store {
        Some(LogPlace::Sqlite(folder)) => folder.clone(),
        _ => DataFolder::new(&config.data).store(),
    }
}

/// How NATS is reached: as the process that runs on the folder reaches it, or as it is set; nothing where neither is.
fn nats_url(config: &Config) -> Option<String> {
    let running = DataFolder::new(&config.data).running(Part::Write);
    running.map(|running| running.nats_url).or_else(|| config.nats_url.clone())
}

/// Returns what the write side says of its settings; nothing where no service runs, or one of an earlier version.
///
/// # Errors
///
/// Fails where the service cannot be asked.
pub async fn service_settings(config: &Config) -> Result<Option<ServiceSettings>> {
    DataFolder::new(&config.data).check()?;
    match nats_url(config) {
        Some(url) => roles::service_settings(&connect(config, &url).await?).await,
        None => Ok(None),
    }
}

/// Opens the event store beside whoever writes it; one that is elsewhere by its replica, with all that it has now.
pub async fn open_store_read_only(config: &Config) -> Result<SqliteStore> {
    DataFolder::new(&config.data).check()?;
    refuse_other_folders(config)?;
    let folder = store_folder(config);
    Ok(match &config.store {
        #[cfg(feature = "eventstore")]
        Some(LogPlace::EventStoreDb(address)) => kurrent::open_read_only(&folder, address).await?,
        Some(LogPlace::Sqlite(_)) | None => SqliteStore::open_read_only(&folder).await?,
    })
}

/// Refuses a folder without a log where the write side is elsewhere, and has it in its own.
///
/// # Errors
///
/// Fails with where to run the command.
pub fn refuse_other_folders(config: &Config) -> Result<()> {
    let data = DataFolder::new(&config.data);
    let is_elsewhere = data.running(Part::Write).is_none()
        && (config.nats_url.is_some() || data.running(Part::Project).is_some());
    if is_elsewhere && store_is_here(config) && !has_log(config) {
        bail!(
            "this command reads the data folder of the write side, and {} has no log of events: run it there, or name that \
             folder with --data or LOGGIA_DATA",
            config.data.display()
        );
    }
    Ok(())
}

/// Brings the replica of a store that is elsewhere up to date again and again, where no process does that; ends only
/// with an error.
pub async fn keep_fresh(config: &Config) -> Result<Infallible> {
    if store_is_here(config) {
        std::future::pending::<()>().await;
    }
    loop {
        tokio::time::sleep(FRESH).await;
        open_store_read_only(config).await?.close().await;
    }
}

/// Whether the log that is elsewhere holds what its replica in this folder does.
///
/// # Errors
///
/// Where it cannot be asked, or was set back.
pub async fn check_replica(config: &Config) -> Result<()> {
    match &config.store {
        #[cfg(feature = "eventstore")]
        Some(LogPlace::EventStoreDb(address)) => {
            Ok(kurrent::check_replica(&store_folder(config), address).await?)
        }
        Some(LogPlace::Sqlite(_)) | None => Ok(()),
    }
}

/// Returns whether there is a log in SQLite in its folder.
pub fn has_log(config: &Config) -> bool {
    store_folder(config).join(LOG).exists()
}

/// Whether the log itself is on this machine.
pub fn store_is_here(config: &Config) -> bool {
    matches!(config.store, Some(LogPlace::Sqlite(_)) | None)
}

/// Checks the whole log, where it is. `progress` is told the last position that was found right.
pub async fn verify_store(
    config: &Config,
    progress: impl FnMut(Position) + Send,
) -> Result<Result<Verified, Damage>> {
    match &config.store {
        #[cfg(feature = "eventstore")]
        Some(LogPlace::EventStoreDb(address)) => Ok(kurrent::verify(address, progress).await?),
        Some(LogPlace::Sqlite(_)) | None => Ok(open_store_read_only(config).await?.verify(progress).await?),
    }
}

async fn open_store(config: &Config, clock: &Clock, health: &Health) -> Result<SqliteStore> {
    let folder = store_folder(config);
    Ok(match &config.store {
        #[cfg(feature = "eventstore")]
        Some(LogPlace::EventStoreDb(address)) => kurrent::open(&folder, address, clock, health).await?,
        Some(LogPlace::Sqlite(_)) | None => {
            let component = health.component("event store").patience(Duration::ZERO);
            SqliteStore::open_reporting(&folder, clock, component).await?
        }
    })
}

/// Opens the event store and the vault for writing, and gives the service that carries out commands on them. What is not
/// in the log, such as addresses, pictures and the ledger, is kept by one write side of a log, its keeper; the service of
/// another has no accounts. A log elsewhere that cannot be reached shows in `health`.
pub async fn open_write_side(
    config: &Config,
    clock: &Clock,
    health: &Health,
    naming: Naming,
) -> Result<WriteSide> {
    // The store first: it keeps a second writer away from the vault too.
    let store = Arc::new(open_store(config, clock, health).await?);
    let (vault, keeper) = keeper::open(config, naming).await?;
    let service = CommandService::new(store.clone(), clock.clone());
    let Some(vault) = vault else { return Ok(WriteSide { store, service, keeper }) };
    let accounts = Accounts::new(vault, config.tiers.clone());
    let media = MediaStore::open(&DataFolder::new(&config.data).media())?;
    let pictures = Pictures::new(Arc::new(media), write::media::fetcher(fetch_rules(config)));
    let service = service.with_accounts(accounts).with_pictures(pictures);
    Ok(WriteSide { store, service, keeper })
}

fn fetch_rules(config: &Config) -> FetchRules {
    FetchRules {
        allowed_hosts: config.picture_hosts.clone().map(|Hosts(hosts)| hosts),
        allow_private: config.picture_addresses == PictureAddresses::Any,
    }
}

/// Opens the vault beside whoever writes it; nothing where no address was ever entered.
pub async fn open_vault_read_only(config: &Config) -> Result<Option<Vault>> {
    Ok(Vault::open_read_only(&store_folder(config), config.secret_file.as_deref()).await?)
}

/// How a process of this role comes to the NATS at this address, or these addresses with commas.
pub fn login(config: &Config, url: &str, role: NatsRole) -> Login {
    Login { url: url.to_owned(), credentials: config.nats_creds.clone(), ca: config.nats_ca.clone(), role }
}

/// Connects a command of the command line to NATS.
pub async fn connect(config: &Config, url: &str) -> Result<async_nats::Client> {
    Ok(login(config, url, NatsRole::Operator).connect().await?)
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
        let data = DataFolder::new(&config.data);
        let is_running = data.running(Part::Write).is_some() || config.nats_url.is_some();
        if is_running || !store_is_here(config) || has_log(config) {
            return Session::open(config).await;
        }
        data.check()?;
        let aside = tempfile::tempdir().context("a temporary folder cannot be made")?;
        let place = aside.path().to_owned();
        Session::local(&Config { data: place, store: None, secret_file: None, ..config.clone() }, Some(aside))
            .await
    }

    /// Takes the way that is open: a running process, a NATS server that is set, or the folder itself.
    pub async fn open(config: &Config) -> Result<Session> {
        let data = DataFolder::new(&config.data);
        data.check()?;
        // A service that starts takes commands in a moment.
        data.running_or_starting(Part::Write).await;
        match nats_url(config) {
            Some(url) => {
                let way = Way::Remote(CommandClient::new(connect(config, &url).await?));
                Ok(Session { way, clock: clock::system() })
            }
            None => Session::local(config, None).await,
        }
    }

    async fn local(config: &Config, aside: Option<TempDir>) -> Result<Session> {
        let clock = clock::system();
        let held = DataFolder::new(&config.data).hold(&[Part::Write])?;
        let side = open_write_side(config, &clock, &Health::default(), Naming::None).await?;
        let WriteSide { store, service, .. } = side;
        Ok(Session { way: Way::Local { service, store, _held: held, _aside: aside }, clock })
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
    ) -> Result<Answer> {
        self.send_as(self.clock.command_id(), actor, correlation, command).await
    }

    /// The same under a given id: what that command did already is not done twice.
    pub async fn send_as(
        &self,
        id: CommandId,
        actor: Actor,
        correlation: Option<CommandId>,
        command: Command,
    ) -> Result<Answer> {
        let message =
            CommandMessage { id, actor, correlation: correlation.unwrap_or(id), command, not_after: None };
        match &self.way {
            Way::Remote(client) => Ok(client.send(&message).await?),
            Way::Local { service, .. } => Ok(service.handle(message).await),
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
            Way::Local { service, .. } => {
                let pictures = service.pictures().context("this write side keeps no pictures")?;
                match pictures.take(bytes).await {
                    Ok(picture) => Ok(Ok(picture.id)),
                    Err(TakeError::Refused(fault)) => Ok(Err(fault.to_string())),
                    Err(TakeError::Store(error)) => Err(error.into()),
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
pub fn settled(answer: Result<Answer>, id: CommandId) -> Result<Answer> {
    let again = || {
        format!(
            "whether the command was carried out is not known; to settle it, run the same again with --id {id}"
        )
    };
    let answer = answer.with_context(again)?;
    if let Answer::Refused(Refusal { kind: RefusalKind::Unavailable, .. }) = &answer {
        say(&again());
    }
    Ok(answer)
}

/// Every event of the project that has or had this slug.
pub async fn history(config: &Config, slug: &Slug) -> Result<Option<Vec<Recorded>>> {
    let store = open_store_read_only(config).await?;
    Ok(CommandService::history(&store, slug).await?)
}

/// Gives the connection and the name of this folder's running node; where none runs, starts the write side, NATS and
/// the projection workers for as long as `work` takes, and before it waits for the models if it needs them. A signal ends
/// the work, and the node in order.
pub async fn with_node(
    config: &Config,
    needs_models: bool,
    mut signals: Signals,
    work: impl AsyncFnOnce(&async_nats::Client, &str) -> Result<ExitCode>,
) -> Result<ExitCode> {
    let data = DataFolder::new(&config.data);
    data.check()?;
    if let Some(running) = data.running_or_starting(Part::Project).await {
        let asking = async { work(&connect(config, &running.nats_url).await?, &running.node).await };
        return signals.unless_asked(asking).await;
    }
    refuse_without_models(config, &data)?;
    if !store_folder(config).exists() && config.nats_url.is_none() {
        bail!(
            "there is nothing in the data folder {} yet; import something or run `loggia up`",
            config.data.display()
        );
    }
    let (lifecycle, mut failures) = Lifecycle::new(None);
    // A node that is given up while it starts goes with the runtime, and its NATS server too.
    let starting = roles::start_node_for_a_while(config, &lifecycle, needs_models);
    let node = signals.clone().unless_asked(starting).await?;
    let outcome = tokio::select! {
        outcome = work(&node.client, &node.name) => outcome,
        failed = failures.next() => Err(failed),
        asked = signals.next() => Err(Interrupted(asked).into()),
    };
    lifecycle.end().await;
    node.leave().await;
    outcome
}

/// Refuses a folder that has no read models of its own, since those of the service are on its read nodes.
fn refuse_without_models(config: &Config, data: &DataFolder) -> Result<()> {
    let run_it = "run it in the data folder of a read node, while its `loggia read` or `loggia project` runs";
    let shown = config.data.display();
    if let Some(write) = data.running(Part::Write) {
        bail!(
            "this command works on the read models of a node, and the write side (process {}) on the data folder {shown} has \
             none: {run_it}",
            write.pid
        );
    }
    let is_elsewhere = config.nats_url.is_some() && store_is_here(config);
    if is_elsewhere && !has_log(config) {
        bail!(
            "this command works on the read models of a node, and none runs on the data folder {shown}: {run_it}"
        );
    }
    if is_elsewhere && !data.models().exists() {
        bail!(
            "this command works on the read models of a node, and the data folder {shown} is that of a write side, which has \
             none: {run_it}"
        );
    }
    Ok(())
}
