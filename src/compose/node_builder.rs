//! [`NodeBuilder`] starts what a role is made of, task by task. All run under the lifecycle, which ends the process when one
//! of them dies.

mod keeper;
mod ledger;
mod mails;
mod operators;
mod payments;
mod pictures;
mod serving;
mod summary;
mod write_side;

use std::net::SocketAddr;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use api::{Access, ApiState, Metrics, Sources};
use event_log::EventLog;
use health::Health;
use jiff::Timestamp;
use metering::Meter;
use nats::login::{Login, LoginError};
use nats::server::{self, NatsServer};
use projections::node::{Node, NodeSettings, WorkerTask};
use projections::picture_copier::PictureCopier;
use projections::source::EventSource;
use prometheus_client::registry::Registry;
use read::media::MediaReader;
use schemas::clock::Clock;
use schemas::control::LogHead;
use tokio::net::TcpListener;
use tokio::runtime::Handle;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use write::nats_role::NatsRole;
use write::service::CommandDispatcher;

use ::ledger::Ledger;

use super::background::Background;
use super::readiness::{ReadinessProbe, ReadinessSource};
use super::{demo, snapshot, starting};
use crate::clock;
use crate::config::{Auth, Config};
use crate::connection;
use crate::data_folder::{ApiAddress, DataFolder, Held, Part, Running};
use crate::descriptors;
use crate::lifecycle::{Ending, Lifecycle};
use crate::service_manager;
pub use ledger::check_tiers;

/// One process in the making: its settings, its locks on the data folder, and what it has started so far.
pub struct NodeBuilder {
    config: Config,
    lifecycle: Lifecycle,
    data: DataFolder,
    held: Vec<Part>,
    _lock: Held,
    clock: Clock,
    began: Timestamp,
    name: String,
    role: NatsRole,
    /// The login to NATS, once connected.
    login: Option<Login>,
    /// The connection to NATS, once connected.
    client: Option<async_nats::Client>,
    /// Publishes usage; `None` where calls are not counted.
    meter: Option<Meter>,
    /// Whether the write side sends mails, as far as is known.
    mails: Arc<AtomicBool>,
    /// Whether it started without NATS, which was away.
    without_nats: bool,
    /// Ends the private NATS server, after everything that uses it.
    nats: Option<(CancellationToken, tokio::task::JoinHandle<()>)>,
    store: Option<Arc<EventLog>>,
    /// Whether this write side is the keeper; `None` in other roles.
    keeper: Option<bool>,
    ledger: Option<Arc<Ledger>>,
    node: Option<Node>,
    /// The head of the log; `None` in roles without a log.
    announced: Option<watch::Receiver<Option<LogHead>>>,
    background: Option<Background>,
    serves: bool,
    /// The announced address of its API.
    api: Option<ApiAddress>,
    listens_at: Option<SocketAddr>,
    /// The components of this process that fail at present.
    health: Health,
    readiness: ReadinessProbe,
    registry: Registry,
}

impl NodeBuilder {
    /// Locks these parts of the data folder for a role; starts nothing yet.
    pub fn acquire(
        config: &Config,
        lifecycle: &Lifecycle,
        role: NatsRole,
        held: &[Part],
    ) -> Result<NodeBuilder> {
        let data = DataFolder::new(&config.server.data);
        clock::warn_if_off();
        let clock = clock::system();
        let health = Health::default();
        let lock = data.hold(held)?;
        data.warn_if_open();
        Ok(NodeBuilder {
            config: config.clone(),
            lifecycle: lifecycle.clone(),
            _lock: lock,
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
            announced: None,
            background: None,
            serves: false,
            api: None,
            listens_at: None,
            readiness: ReadinessProbe::new(health.clone(), lifecycle.leaving.clone()),
            health,
            registry: Registry::default(),
        })
    }

    /// The node's name in control subjects.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Connects to the NATS server that is set, or starts a private one.
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
        let supervising = async move {
            supervising.await;
            Ok(())
        };
        let task = self.lifecycle.spawn_lasting("the private NATS server", supervising, &stop);
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
        let login = connection::login(&self.config, &url, self.role);
        let client = match login.connect().await {
            Err(error) if error.is_transient() && self.answers_without_nats() => {
                tracing::warn!("{error}; this node has its models and goes on without, until it does");
                self.without_nats = true;
                let (client, checks) = login.connect_in_background().await?;
                let stop = self.lifecycle.stop.clone();
                self.lifecycle.spawn_finite("the login to NATS", async move {
                    stop.run_until_cancelled(checks).await.unwrap_or(Ok(())).map_err(Into::into)
                });
                client
            }
            Err(error) if error.is_transient() => {
                starting::settled(async || login.connect().await, LoginError::is_transient).await?
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

    /// Whether this is a read node that had caught up with the log before.
    fn answers_without_nats(&self) -> bool {
        let is_read_node = matches!(self.role, NatsRole::Read | NatsRole::Project | NatsRole::Serve);
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

    /// Starts the projection workers. A model that only an operator can mend may wait for a rebuild; otherwise it ends them.
    pub async fn projections(&mut self, waits_for_rebuild: bool) -> Result<Node> {
        let settings = NodeSettings {
            models: self.data.models(),
            name: self.name.clone(),
            clock: clock::system(),
            health: self.health.clone(),
            waits_for_rebuild,
        };
        let lifecycle = self.lifecycle.clone();
        let step = &lifecycle.projecting;
        let (is_write_side, media) = (self.held.contains(&Part::Write), self.data.media());
        let (from, models) = (self.config.process.snapshot.clone(), self.data.models());
        let failing = self.health.component("pictures").patience(Duration::MAX);
        let background = self.background().await?;
        let client = background.client().clone();
        snapshot::begin(&models, from.as_ref(), &EventSource::new(client)).await?;
        let spawn = |model: &'static str, work: WorkerTask| {
            let work = async move { Ok(work.await?) };
            lifecycle.spawn_in(step, format!("the {model} worker"), work, background.handle());
        };
        let node = Node::start(&settings, background.client(), &spawn, &step.stop);
        if !is_write_side {
            // In a folder shared with the write side, all files are there already.
            let copier =
                PictureCopier::new(node.source().clone(), &media, failing).run(lifecycle.stop.clone());
            let copying = async move {
                copier.await;
                Ok(())
            };
            lifecycle.spawn_on("the picture copier", copying, background.handle());
        }
        let control = node.clone().serve_control(settings.name, step.stop.clone());
        let control = async move { Ok(control.await?) };
        lifecycle.spawn_in(step, "the control service", control, &Handle::current());
        self.node = Some(node.clone());
        Ok(node)
    }

    /// Starts the API on the listener.
    pub async fn serve(&mut self, listener: TcpListener, client: &async_nats::Client) -> Result<()> {
        let address = listener.local_addr()?;
        let limits = descriptors::limits(self.config.http.trusted_proxies.clone())?;
        let site = self.site()?;
        let access = self.access(client, address).await?;
        if let Access::Keys(keys) = &access {
            self.meter = Some(keys.meter.clone());
        }
        self.compare_settings(client).await;
        let models = self.readers();
        // One machine's users see the pages from the first start on, while the catalog is being filled; a node that had
        // caught up before answers as it did then.
        if self.held.contains(&Part::Write) || self.data.has_caught_up() {
            self.readiness.answers();
        }
        let source = EventSource::new(client.clone());
        let (counted, workers) = (self.config.access.auth == Auth::Keys, self.node.is_some());
        let had_caught_up = self.data.has_caught_up();
        let looked = ReadinessSource::Models { models: models.clone(), counted, workers, had_caught_up };
        self.readiness_of(self.readiness.clone().models(looked, source, self.data.clone()));
        let metrics = Metrics::new(&mut self.registry);
        let readiness = self.readiness.subscribe();
        let media = MediaReader::new(self.data.media());
        let (clock, origins) = (clock::system(), self.config.http.mcp_origins.clone());
        let payments = self.payment_webhook(client);
        let offers = self.offers();
        let node = self.node.clone();
        let projections = Arc::new(move || node.as_ref().map(Node::sized_status).unwrap_or_default());
        let state = ApiState::new(Sources {
            models,
            media,
            site,
            readiness,
            leaving: self.lifecycle.is_leaving(),
            metrics,
            access,
            origins,
            offers,
            payments,
            projections,
            clock,
        });
        let stop = self.lifecycle.stop.clone();
        self.lifecycle.spawn("the API", async move {
            let drained = api::serve(listener, state, limits, stop).await;
            if drained.cut > 0 {
                tracing::warn!(connections = drained.cut, "requests that took too long were cut off");
            }
            Ok(())
        });
        self.serves = true;
        self.announce_api(address)?;
        tracing::info!("serving on http://{address}");
        Ok(())
    }

    /// Publishes the address and the state of this process for the command line.
    pub fn announce(&self) -> Result<()> {
        self.answer_with_summary();
        let nats_url = self.login.as_ref().map(|login| login.url.clone()).unwrap_or_default();
        let running = Running { pid: std::process::id(), nats_url, node: self.name.clone() };
        self.data.announce(&self.held, &running)
    }

    /// Fills the demo catalog in beside everything else.
    pub fn demo(&self, commands: Arc<CommandDispatcher>) {
        let (stop, clock) = (self.lifecycle.stop.clone(), self.clock.clone());
        self.lifecycle.spawn_finite("the demo catalog", async move {
            if let Err(error) = demo::fill(&commands, &clock, &stop).await {
                tracing::error!(
                    "the demo catalog is not whole: {error:#}; start again with --demo to complete it"
                );
            }
            Ok(())
        });
    }

    /// Runs until a signal asks the process to end or a task dies, then shuts everything down.
    pub async fn run_until_shutdown(
        self,
        lifecycle: Lifecycle,
        ending: Ending,
        drain: Duration,
    ) -> Result<ExitCode> {
        service_manager::notify("READY=1");
        let ended = lifecycle.wait(ending, drain).await;
        self.leave().await;
        tracing::info!("stopped");
        ended
    }

    /// Ends what must outlive the tracked tasks: the event store and the ledger, then the private NATS server.
    pub async fn leave(self) {
        if let Some(store) = self.store {
            store.close().await;
        }
        if let Some(ledger) = self.ledger {
            ledger.close().await;
        }
        // Its connection ends before the server does.
        drop(self.background);
        if let Some((stop, task)) = self.nats {
            stop.cancel();
            let _ = task.await;
        }
        self.data.leave(&self.held);
        if let Some(api) = self.api {
            api.leave();
        }
    }
}
