//! The relay into a cluster: events per second to three NATS servers that each keep a copy. Servers and relay are on this
//! machine, with TLS and the files that `loggia nats config` writes.

use std::net::{Ipv4Addr, TcpListener};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use event_log::EventLog;
use nats::cluster_config::{self, AUTHORITY, CONFIGURATION, ClusterConfig, Server, USERS};
use nats::login::Login;
use nats::server;
use process_role::ProcessRole;
use schemas::clock::Clock;
use schemas::command::{Command, CommandMessage, CommandReply, ImportLine, ImportOptions};
use tokio::process::{Child, Command as Process};
use tokio_util::sync::CancellationToken;
use write::relay::{Relay, RelayError};
use write::service::{CommandDispatcher, ProjectService};

use crate::Figure;

/// The number of servers, each with a copy of the stream.
const SERVERS: usize = 3;
/// The number of events, each a whole record of the demo catalog.
const EVENTS: usize = 60_000;
const LINES: usize = 500;
/// How long the servers may take to become available: they elect a leader first.
const TIMEOUT: Duration = Duration::from_secs(30);
/// The pause between two attempts.
const PAUSE: Duration = Duration::from_millis(500);

/// Starts the servers with the program `nats_server`, else with the one that is found, and measures the relay.
///
/// # Errors
///
/// If there is no supported `nats-server`, the servers are not available after 30 seconds, or an event cannot be written or relayed.
pub async fn measure(nats_server: Option<&Path>) -> Result<Vec<Figure>> {
    let folder = tempfile::Builder::new().prefix("loggia-bench-").tempdir()?;
    let store = filled(&folder.path().join("store")).await?;
    let cluster = Cluster::start(nats_server, &folder.path().join("nats")).await?;
    let client = cluster.login.connect().await?;
    let relay = Relay::new(store.clone(), client).replicas(SERVERS);
    retry_temporary(|| relay.check(), RelayError::is_transient).await?;
    let (mut relayed, stop, head) = (relay.watch(), CancellationToken::new(), store.head().await?.position);
    let began = Instant::now();
    #[expect(clippy::disallowed_methods, reason = "it is awaited below")]
    let running = tokio::spawn(relay.run(stop.clone()));
    relayed.wait_for(|relayed| relayed.position == head).await?;
    let seconds = began.elapsed().as_secs_f64();
    stop.cancel();
    running.await?;
    store.close().await;
    let name = format!("events relayed to {SERVERS} NATS servers, each with a copy");
    Ok(vec![Figure::new(name, head.0 as f64 / seconds, "events/s").at_least(20_000.0)])
}

async fn filled(folder: &Path) -> Result<Arc<EventLog>> {
    let clock = Clock::system();
    let store = Arc::new(EventLog::open(folder, &clock).await?);
    let projects = ProjectService::new(store.clone(), clock.clone());
    let commands = CommandDispatcher::new(Arc::new(projects));
    let records: Vec<_> = demo::catalog(demo::DEMO_SEED, EVENTS).collect();
    for chunk in records.chunks(LINES) {
        let id = clock.command_id();
        let lines: Vec<ImportLine> = (1..)
            .zip(chunk)
            .map(|(number, record)| Ok(ImportLine::new(number, serde_json::to_string(record)?)))
            .collect::<Result<_>>()?;
        let command = Command::Import { lines, options: ImportOptions::default() };
        let message = CommandMessage::new(id, "bench".parse()?, command);
        match commands.execute(message).await {
            CommandReply::Imported { .. } => {}
            other => bail!("the records were not imported: {other:?}"),
        }
    }
    Ok(store)
}

/// Three servers on this machine, which are killed when it is dropped.
struct Cluster {
    login: Login,
    _servers: Vec<Child>,
}

impl Cluster {
    async fn start(nats_server: Option<&Path>, folder: &Path) -> Result<Cluster> {
        let binary = server::find_supported(nats_server).await?;
        let wanted = ClusterConfig {
            cluster: "bench".into(),
            servers: servers()?,
            users: ProcessRole::users(),
            certificate: None,
            now: Clock::system().now(),
        };
        cluster_config::write(folder, &wanted)?;
        let start = |server: &Server| {
            Process::new(&binary)
                .args(["--config", CONFIGURATION])
                .current_dir(folder.join(&server.name))
                .stdin(std::process::Stdio::null())
                .stdout(std::process::Stdio::null())
                .stderr(std::process::Stdio::null())
                .kill_on_drop(true)
                .spawn()
                .with_context(|| format!("{} cannot be started", binary.display()))
        };
        let running = wanted.servers.iter().map(start).collect::<Result<_>>()?;
        let urls: Vec<String> = wanted.servers.iter().map(Server::url).collect();
        let login = Login {
            url: urls.join(","),
            credentials: Some(folder.join(USERS).join(format!("{}.nk", ProcessRole::Write))),
            ca: Some(folder.join(AUTHORITY)),
            user: ProcessRole::Write.into(),
        };
        let cluster = Cluster { login, _servers: running };
        let answers = async || cluster.login.connect().await.map(drop);
        retry_temporary(answers, |_| true).await?;
        Ok(cluster)
    }
}

/// Tries again until an attempt succeeds or fails permanently, but not after the timeout. Fails as the last attempt does.
async fn retry_temporary<T, E>(
    attempt: impl AsyncFn() -> Result<T, E>,
    is_temporary: fn(&E) -> bool,
) -> Result<T, E> {
    let began = Instant::now();
    loop {
        match attempt().await {
            Err(error) if is_temporary(&error) && began.elapsed() < TIMEOUT => {
                tokio::time::sleep(PAUSE).await
            }
            outcome => return outcome,
        }
    }
}

/// Returns servers with ports that are free at the moment.
fn servers() -> Result<Vec<Server>> {
    let free = || TcpListener::bind((Ipv4Addr::LOCALHOST, 0));
    // Bound at the same time, so that they differ.
    let held: Vec<TcpListener> = (0..SERVERS * 2).map(|_| free()).collect::<Result<_, _>>()?;
    let ports: Vec<u16> =
        held.iter().map(|listener| Ok(listener.local_addr()?.port())).collect::<Result<_>>()?;
    let server = |(number, ports): (usize, &[u16])| Server {
        name: format!("bench-{number}"),
        host: "127.0.0.1".into(),
        port: ports[0],
        cluster_port: ports[1],
    };
    Ok(ports.chunks(2).enumerate().map(server).collect())
}
