//! [`NodeBuilder`] wires one process together: it starts the tasks of a role one by one, under the lifecycle, which ends the
//! process when one of them dies.

mod keeper;
mod ledger;
mod operators;
mod serving;
mod workers;
mod write_side;

use std::net::SocketAddr;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use api::{Access, ApiState, Metrics, Sources};
use daemon::lifecycle::{Lifecycle, Phase, ShutdownTrigger};
use daemon::resources::LowPriorityRuntime;
use data_folder::{ApiAddress, DataFolder, FolderGuard, Part, Running};
use embeddings::TextModel;
use event_log::EventLog;
use health::Health;
use jiff::Timestamp;
use metering::Meter;
use nats::login::{Login, LoginError};
use nats::server::{self, NatsServer};
use process_role::ProcessRole;
use projections::node::{Node, NodeSettings, WorkerTask};
use projections::picture_copier::PictureCopier;
use projections::readiness::ReadinessSource;
use projections::source::EventSource;
use prometheus_client::registry::Registry;
use read::media::MediaReader;
use read::models::CommitSignals;
use schemas::clock::Clock;
use schemas::control::LogHead;
use snapshot_transfer::install_first;
use tokio::net::TcpListener;
use tokio::runtime::Handle;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use write::service::CommandDispatcher;

use ::ledger::Ledger;

use super::encoder::open_text_model;
use super::readiness::ReadinessProbe;
use super::summary::SummarySource;
use super::{demo, notify_service_manager, shared_settings, startup};
use crate::command_line;
use crate::config::{Auth, Config};
use crate::connection::{certificate_authorities, nats_login, tls_client};
use crate::process;
pub use ledger::check_tiers;

/// The phase of the tasks that copy counted calls into the ledger: they end once nothing counts calls any more.
const LEDGER_PHASE: Phase = Phase::Second;
/// The phase of the projection workers: they end last, so that the counters see what was counted.
const WORKER_PHASE: Phase = Phase::Third;

/// The number of threads for work in the background. Two projections may block theirs while they commit; the events of the
/// others arrive on the rest.
const BACKGROUND_THREADS: usize = 4;
/// The niceness of these threads: answers and commands have priority when the processor is busy.
const BACKGROUND_NICENESS: i32 = 10;

/// One process in the making: its settings, its locks on the data folder, and what it has started so far.
pub struct NodeBuilder {
    config: Config,
    lifecycle: Lifecycle,
    data: DataFolder,
    held: Vec<Part>,
    _guard: FolderGuard,
    clock: Clock,
    began: Timestamp,
    name: String,
    role: ProcessRole,
    /// The login to NATS, once connected.
    login: Option<Login>,
    /// The connection to NATS, once connected.
    client: Option<async_nats::Client>,
    /// Publishes usage; `None` where calls are not counted.
    meter: Option<Meter>,
    /// Whether the write side sends mails, as far as is known.
    mails: Arc<AtomicBool>,
    /// Whether it started while NATS was unreachable.
    without_nats: bool,
    /// What stops the private NATS server, and its task: it ends after everything that uses it.
    nats: Option<(CancellationToken, tokio::task::JoinHandle<()>)>,
    store: Option<Arc<EventLog>>,
    /// Whether this write side is the keeper; `None` in other roles.
    keeper: Option<bool>,
    ledger: Option<Arc<Ledger>>,
    node: Option<Node>,
    /// The signals from the workers of the read models to their readers.
    signals: CommitSignals,
    /// The head of the log; `None` in roles without a log.
    announced: Option<watch::Receiver<Option<LogHead>>>,
    background: Option<Background>,
    serves: bool,
    /// The announced address of its API.
    api: Option<ApiAddress>,
    /// The address of its API.
    listens_at: Option<SocketAddr>,
    /// The components of this process that fail at present.
    health: Health,
    readiness: ReadinessProbe,
    registry: Registry,
}

/// Threads for work that can wait, that of the relay and the projections, and their own connection to NATS: they read events in
/// bulk, and commands do not queue behind these.
#[derive(Debug)]
struct Background {
    client: async_nats::Client,
    threads: LowPriorityRuntime,
}

impl NodeBuilder {
    /// Locks the parts of the data folder that a role works on; starts nothing yet.
    pub fn acquire(config: &Config, lifecycle: &Lifecycle, role: ProcessRole) -> Result<NodeBuilder> {
        let held: &[Part] = match role {
            ProcessRole::Up => &[Part::Write, Part::Project],
            ProcessRole::Write => &[Part::Write],
            ProcessRole::Project | ProcessRole::Read => &[Part::Project],
            ProcessRole::Serve | ProcessRole::Operator => &[],
        };
        let data = DataFolder::new(&config.server.data);
        process::warn_of_clock_offset();
        let clock = process::clock();
        let health = Health::default();
        let guard = data.hold(held)?;
        data.warn_if_open();
        Ok(NodeBuilder {
            config: config.clone(),
            lifecycle: lifecycle.clone(),
            _guard: guard,
            began: clock.now(),
            data,
            held: held.to_vec(),
            name: clock.project_id().to_string(),
            clock,
            role,
            login: None,
            client: None,
            meter: None,
            mails: Arc::new(AtomicBool::new(held.contains(&Part::Write) && config.accounts.mail.delivers())),
            without_nats: false,
            nats: None,
            store: None,
            keeper: None,
            ledger: None,
            node: None,
            signals: CommitSignals::default(),
            announced: None,
            background: None,
            serves: false,
            api: None,
            listens_at: None,
            readiness: ReadinessProbe::new(health.clone(), lifecycle.draining.clone()),
            health,
            registry: Registry::default(),
        })
    }

    /// Returns the node's name in control subjects.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Connects to the NATS server that is set, or starts a private one and connects to it.
    pub async fn nats(&mut self) -> Result<async_nats::Client> {
        if self.config.nats.url.is_some() {
            return self.given_nats().await;
        }
        let mut options = server::Options::new(self.data.nats());
        options.binary.clone_from(&self.config.nats.server);
        let server = NatsServer::start(options).await?;
        let url = server.url();
        let stop = CancellationToken::new();
        let supervising = server.supervise(stop.clone());
        let task = self.lifecycle.spawn_outliving("the private NATS server", supervising, &stop);
        self.nats = Some((stop, task));
        self.connect(url).await
    }

    /// Connects to the NATS server that is set, or to the one of the write side on this folder.
    pub async fn given_nats(&mut self) -> Result<async_nats::Client> {
        let url = self
            .config
            .nats
            .url
            .clone()
            .or_else(|| self.data.running(Part::Write).map(|write| write.nats_url));
        match url {
            Some(url) => self.connect(url).await,
            None => bail!("nats_url is not set; give the NATS server of the write side with LOGGIA_NATS_URL"),
        }
    }

    async fn connect(&mut self, url: String) -> Result<async_nats::Client> {
        let login = nats_login(&self.config, &url, self.role);
        let client = match login.connect().await {
            Err(error) if error.is_transient() && self.answers_without_nats() => {
                tracing::warn!("{error}; this node answers from its models until it is connected");
                self.without_nats = true;
                let (client, checks) = login.connect_in_background().await?;
                let stop = self.lifecycle.stop.clone();
                self.lifecycle.spawn_finite("the login to NATS", async move {
                    stop.run_until_cancelled(checks).await.unwrap_or(Ok(()))
                });
                client
            }
            Err(error) if error.is_transient() => {
                startup::retry_temporary(async || login.connect().await, LoginError::is_transient).await?
            }
            connected => connected?,
        };
        if !self.without_nats {
            login.check_cluster().await?;
        }
        self.login = Some(login);
        self.client = Some(client.clone());
        Ok(client)
    }

    /// Returns whether this is a read node that had caught up with the log before.
    fn answers_without_nats(&self) -> bool {
        let is_read_node = matches!(self.role, ProcessRole::Read | ProcessRole::Project | ProcessRole::Serve);
        is_read_node && self.data.has_caught_up()
    }

    async fn background(&mut self) -> Result<&Background> {
        match &mut self.background {
            Some(background) => Ok(background),
            none => {
                let login = self.login.as_ref().context("there is no connection to NATS yet")?;
                Ok(none.insert(Background::start(login, self.without_nats).await?))
            }
        }
    }

    /// Starts the projection workers. With `waits_for_rebuild`, a model that only an operator can repair waits for its rebuild;
    /// otherwise it ends the process.
    pub async fn projections(&mut self, waits_for_rebuild: bool) -> Result<Node> {
        let settings = NodeSettings {
            models: self.data.models(),
            name: self.name.clone(),
            clock: process::clock(),
            health: self.health.clone(),
            signals: self.signals.clone(),
            waits_for_rebuild,
        };
        let lifecycle = self.lifecycle.clone();
        let (is_write_side, media) = (self.held.contains(&Part::Write), self.data.media());
        let (from, models) = (self.config.process.snapshot.clone(), self.data.models());
        let failing = self.health.component("pictures").grace_period(Duration::MAX);
        let background = self.background().await?;
        let client = background.client().clone();
        let tls = || tls_client(certificate_authorities());
        install_first(&models, from.as_ref(), &EventSource::new(client), tls).await?;
        let spawn = |model: &'static str, work: WorkerTask| {
            lifecycle.spawn_in(WORKER_PHASE, format!("the {model} worker"), work, background.handle());
        };
        let stop = lifecycle.stop_of(WORKER_PHASE);
        let node = Node::start(&settings, background.client(), &spawn, stop);
        if !is_write_side {
            // In a folder shared with the write side, all files are there already.
            let copier =
                PictureCopier::new(node.source().clone(), &media, failing).run(lifecycle.stop.clone());
            lifecycle.spawn_on("the picture copier", copier, background.handle());
        }
        let control = node.clone().serve_control(settings.name, stop.clone());
        lifecycle.spawn_in(WORKER_PHASE, "the control service", control, &Handle::current());
        self.node = Some(node.clone());
        Ok(node)
    }

    /// Starts the API on the listener.
    pub async fn serve(&mut self, listener: TcpListener, client: &async_nats::Client) -> Result<()> {
        let address = listener.local_addr()?;
        let limits = process::connection_limits(self.config.http.trusted_proxies.clone())?;
        let site = self.site()?;
        let access = self.access(client, address).await?;
        if let Access::Keys(keys) = &access {
            self.meter = Some(keys.meter.clone());
        }
        self.compare_settings(client).await;
        let text_model = open_text_model(&self.config).await?;
        let models = self.readers(text_model.is_some().then(|| TextModel::NAME.into()));
        // A write side shows its pages from the first start on, while the catalog is being filled; a node that had caught up
        // before answers as it did then.
        if self.held.contains(&Part::Write) || self.data.has_caught_up() {
            self.readiness.answers();
        }
        let source = EventSource::new(client.clone());
        let (counted, workers) = (self.config.access.auth == Auth::Keys, self.node.is_some());
        let had_caught_up = self.data.has_caught_up();
        let checked = ReadinessSource::Models { models: models.clone(), counted, workers, had_caught_up };
        self.follow_readiness(self.readiness.clone().models(checked, source, self.data.clone()));
        let metrics = Metrics::new(&mut self.registry);
        let readiness = self.readiness.subscribe();
        let media = MediaReader::new(self.data.media());
        let (clock, origins) = (process::clock(), self.config.http.mcp_origins.clone());
        self.announce_api(address)?;
        let daily_figures = self.daily_figures(metrics.clone());
        let payments = self.payment_webhook(client);
        let offers = self.offers();
        let node = self.node.clone();
        let projections = Arc::new(move || node.as_ref().map(Node::sized_status).unwrap_or_default());
        let state = ApiState::new(Sources {
            models,
            text_model,
            media,
            site,
            readiness,
            shutting_down: self.lifecycle.draining_flag(),
            metrics,
            access,
            origins,
            offers,
            payments,
            projections,
            clock,
        })
        .with_daily_figures(daily_figures);
        let state = match self.is_for_this_machine(address) {
            true => state.with_command_line(command_line::of(&self.config)),
            false => state,
        };
        let stop = self.lifecycle.stop.clone();
        self.lifecycle.spawn("the API", async move {
            let drained = api::serve(listener, state, limits, stop).await;
            if drained.cut > 0 {
                tracing::warn!(connections = drained.cut, "requests that took too long were cut off");
            }
        });
        self.serves = true;
        tracing::info!("serving on http://{address}");
        Ok(())
    }

    /// Publishes the address and the state of this process for the command line.
    pub fn announce(&self) -> Result<()> {
        self.answer_with_summaries();
        let nats_url = self.login.as_ref().map(|login| login.url.clone()).unwrap_or_default();
        let running = Running { pid: std::process::id(), nats_url, node: self.name.clone() };
        self.data.announce(&self.held, &running)
    }

    /// Imports the demo catalog in the background.
    pub fn demo(&self, commands: Arc<CommandDispatcher>) {
        let (stop, clock) = (self.lifecycle.stop.clone(), self.clock.clone());
        self.lifecycle.spawn_finite("the demo catalog", async move {
            if let Err(error) = demo::import(&commands, &clock, &stop).await {
                tracing::error!(
                    "the demo catalog is incomplete: {error:#}; start again with --demo to complete it"
                );
            }
        });
    }

    /// Runs until a signal asks the process to end or a task dies, then shuts everything down; an API is drained first.
    pub async fn run_until_shutdown(
        self,
        lifecycle: Lifecycle,
        trigger: ShutdownTrigger,
    ) -> Result<ExitCode> {
        let drain = match self.role {
            ProcessRole::Up | ProcessRole::Read | ProcessRole::Serve => self.config.process.drain.0,
            ProcessRole::Write | ProcessRole::Project | ProcessRole::Operator => Duration::ZERO,
        };
        notify_service_manager("READY=1");
        let status = lifecycle.run_until_shutdown(trigger, drain).await;
        self.close().await;
        tracing::info!("stopped");
        Ok(status?)
    }

    /// Closes what must outlive the tasks: the event store and the ledger, then the private NATS server.
    pub async fn close(self) {
        if let Some(store) = self.store {
            store.close().await;
        }
        if let Some(ledger) = self.ledger {
            ledger.close().await;
        }
        // Its connection to NATS ends before the server does.
        drop(self.background);
        if let Some((stop, task)) = self.nats {
            stop.cancel();
            let _ = task.await;
        }
        self.data.withdraw(&self.held);
        if let Some(api) = self.api {
            api.withdraw();
        }
    }

    fn answer_with_summaries(&self) {
        let Some(client) = self.client.clone() else { return };
        let source = SummarySource {
            node: self.name.clone(),
            role: self.role,
            settings: shared_settings::digest(&self.config),
            readiness: self.readiness.subscribe(),
            health: self.health.clone(),
            workers: self.node.clone(),
            meter: self.meter.clone(),
        };
        let stop = self.lifecycle.stop.clone();
        self.lifecycle.spawn("the summary of this process", async move {
            stop.run_until_cancelled(source.answer(client)).await.unwrap_or(Ok(()))
        });
    }
}

impl Background {
    /// Starts the threads and connects; if the process starts `without_nats`, as soon as a server answers.
    async fn start(login: &Login, without_nats: bool) -> Result<Background> {
        let threads = LowPriorityRuntime::start(BACKGROUND_THREADS, BACKGROUND_NICENESS)
            .context("the threads for work in the background cannot be started")?;
        let login = login.clone();
        let connecting = async move {
            match without_nats {
                true => login.connect_in_background().await.map(|(client, _)| client),
                false => login.connect().await,
            }
        };
        let client = threads.handle().spawn(connecting).await??;
        Ok(Background { client, threads })
    }

    fn client(&self) -> &async_nats::Client {
        &self.client
    }

    /// Returns the handle on which tasks are spawned.
    fn handle(&self) -> &Handle {
        self.threads.handle()
    }
}
