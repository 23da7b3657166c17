//! A cluster of three real nats-servers with TLS and one user per role, configured by `loggia nats config`.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use async_nats::Client;
use async_nats::jetstream::Context;
use async_nats::jetstream::context::{ContextBuilder, GetStreamErrorKind};
use nats::cluster_config::{self, AUTHORITY, CONFIGURATION, ClusterConfig, Server, USERS};
use nats::login::Login;
use process_role::ProcessRole;
use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

use crate::free_port;
use crate::nats::available;
use crate::network::{Network, Place};
use crate::wait::{TIMEOUT, wait_for, wait_until};

/// The client port of a server with its own host.
const PORT: u16 = 4_222;

/// The cluster port of a server with its own host.
const CLUSTER_PORT: u16 = 6_222;

/// The word in a server's log for a denied permission.
const VIOLATION: &str = "Violation";

/// A cluster whose members a test kills, pauses and restarts. Dropping it kills all and deletes their folder.
#[derive(Debug)]
pub struct Cluster {
    members: Vec<Member>,
    // Declared after the servers, so that it is dropped after them.
    network: Option<Network>,
    folder: TempDir,
    binary: PathBuf,
}

/// A server of the cluster.
#[derive(Debug)]
pub struct Member {
    /// The server's name.
    pub name: String,
    server: Server,
    child: Option<Child>,
}

impl Cluster {
    /// Starts three servers; `None` if there is no nats-server, as for [`available`].
    pub async fn start() -> Option<Self> {
        Self::start_of(3).await
    }

    /// Starts `size` servers and returns once they have elected a meta leader.
    pub async fn start_of(size: usize) -> Option<Self> {
        Self::start_named("loggia", size).await
    }

    /// Like [`Cluster::start_of`], with a cluster name.
    pub async fn start_named(cluster: &str, size: usize) -> Option<Self> {
        Self::started(cluster, (1..=size).map(server).collect(), None).await
    }

    /// Like [`Cluster::start`], with each server on its own host of a network.
    pub async fn start_on(network: Network) -> Option<Self> {
        let servers = (0..network.hosts()).map(server_on).collect();
        Self::started("loggia", servers, Some(network)).await
    }

    async fn started(cluster: &str, servers: Vec<Server>, network: Option<Network>) -> Option<Self> {
        let binary = available().await?;
        let folder = tempfile::tempdir().expect("a temporary folder");
        let size = servers.len();
        let now = schemas::clock::Clock::system().now();
        let config = ClusterConfig {
            cluster: cluster.into(),
            servers: servers.clone(),
            users: ProcessRole::users(),
            certificate: None,
            now,
        };
        cluster_config::write(&folder.path().join("nats"), &config).unwrap_or_else(|error| panic!("{error}"));
        let members =
            servers.into_iter().map(|server| Member { name: server.name.clone(), server, child: None });
        let mut cluster = Self { members: members.collect(), network, folder, binary };
        for index in 0..size {
            cluster.launch(index);
        }
        cluster.wait_for_leader().await;
        Some(cluster)
    }

    /// Returns the folder that `loggia nats config` wrote.
    pub fn folder(&self) -> PathBuf {
        self.folder.path().join("nats")
    }

    /// Returns the value of `LOGGIA_NATS_URL`.
    pub fn url(&self) -> String {
        self.members.iter().map(|member| member.server.url()).collect::<Vec<_>>().join(",")
    }

    /// Returns the URL of one member.
    pub fn url_of(&self, index: usize) -> String {
        self.members[index].server.url()
    }

    /// Returns the value of `LOGGIA_NATS_CA`.
    pub fn authority(&self) -> PathBuf {
        self.folder().join(AUTHORITY)
    }

    /// Returns the value of `LOGGIA_NATS_CREDS`.
    pub fn seed(&self, role: ProcessRole) -> PathBuf {
        self.folder().join(USERS).join(format!("{role}.nk"))
    }

    /// Sets the environment of a command for a role, with streams replicated to up to three servers.
    pub fn settings(&self, command: &mut Command, role: ProcessRole) {
        let replicas = if self.members.len() < 3 { 1 } else { 3 };
        command
            .env("LOGGIA_NATS_URL", self.url())
            .env("LOGGIA_NATS_CA", self.authority())
            .env("LOGGIA_NATS_CREDS", self.seed(role))
            .env("LOGGIA_NATS_REPLICAS", replicas.to_string());
    }

    /// Returns the login of a role.
    pub fn login(&self, role: ProcessRole) -> Login {
        Login {
            url: self.url(),
            credentials: Some(self.seed(role)),
            ca: Some(self.authority()),
            user: role.into(),
        }
    }

    /// Returns a connection as a role.
    pub async fn client(&self, role: ProcessRole) -> Client {
        self.login(role).connect().await.unwrap_or_else(|error| panic!("{error}"))
    }

    /// Waits until a stream has a leader and returns its index.
    pub async fn leader(&self, stream: &str) -> usize {
        let client = self.client(ProcessRole::Operator).await;
        wait_for(TIMEOUT, "a leader of the stream", async || self.leader_as(&client, stream).await).await
    }

    /// Returns the index of a stream's leader as this member reports it, or `None` if it knows none.
    pub async fn leader_seen_by(&self, index: usize, stream: &str) -> Option<usize> {
        let login = Login { url: self.url_of(index), ..self.login(ProcessRole::Operator) };
        self.leader_as(&login.connect().await.ok()?, stream).await
    }

    async fn leader_as(&self, client: &Client, stream: &str) -> Option<usize> {
        let stream = with_timeout(client.clone()).get_stream(stream).await.ok()?;
        let leader = stream.cached_info().cluster.as_ref()?.leader.clone()?;
        self.members.iter().position(|member| member.name == leader)
    }

    /// Waits until all running servers have an up-to-date replica of a stream.
    pub async fn in_sync(&self, stream: &str) {
        let context = with_timeout(self.client(ProcessRole::Operator).await);
        wait_until(TIMEOUT, "all copies of the stream", async || {
            let Ok(stream) = context.get_stream(stream).await else { return false };
            let Some(cluster) = stream.cached_info().cluster.clone() else { return false };
            cluster.leader.is_some() && cluster.replicas.iter().all(|peer| peer.current && !peer.offline)
        })
        .await;
    }

    /// Kills a member with SIGKILL.
    pub fn kill9(&mut self, index: usize) {
        if let Some(mut child) = self.members[index].child.take() {
            child.kill().expect("the server can be killed");
            child.wait().expect("the server can be waited for");
        }
    }

    /// Starts a member again on its data, killing it first if it runs.
    pub fn restart(&mut self, index: usize) {
        self.kill9(index);
        self.launch(index);
    }

    /// Stops a member with SIGSTOP, like a machine that hangs.
    pub fn pause(&self, index: usize) {
        self.signal(index, Signal::STOP);
    }

    /// Resumes a paused member with SIGCONT.
    pub fn resume(&self, index: usize) {
        self.signal(index, Signal::CONT);
    }

    /// Returns the network of the servers.
    pub fn network(&mut self) -> &mut Network {
        self.network.as_mut().expect("a cluster that was started on a network")
    }

    /// Returns whether a member accepts connections from a place.
    pub fn reaches(&self, from: Place, index: usize) -> bool {
        let network = self.network.as_ref().expect("a cluster that was started on a network");
        network.reaches(from, Place::Host(index), PORT)
    }

    /// Returns the permission violations in all logs, one per line.
    pub fn violations(&self) -> Vec<String> {
        let refused = |log: String| -> Vec<String> {
            log.lines().filter(|line| line.contains(VIOLATION)).map(str::to_owned).collect()
        };
        self.logs().into_iter().flat_map(refused).collect()
    }

    /// Waits until every server accepts connections and a meta leader answers. Panics with the logs.
    async fn wait_for_leader(&self) {
        let began = std::time::Instant::now();
        while !self.answers().await {
            let logs = || self.logs().join("\n");
            assert!(began.elapsed() < TIMEOUT, "no leader of the cluster within {TIMEOUT:?}:\n{}", logs());
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    }

    async fn answers(&self) -> bool {
        if !self.logs().iter().all(|log| log.contains("[INF] Server is ready")) {
            return false;
        }
        let Ok(client) = self.login(ProcessRole::Operator).connect().await else { return false };
        // The stream does not exist; only a leader can report that.
        with_timeout(client)
            .get_stream("EVENTS")
            .await
            .is_err_and(|error| matches!(error.kind(), GetStreamErrorKind::JetStream(_)))
    }

    fn logs(&self) -> Vec<String> {
        let read = |member: &Member| std::fs::read_to_string(self.log(&member.name)).unwrap_or_default();
        self.members.iter().map(read).collect()
    }

    fn launch(&mut self, index: usize) {
        let name = self.members[index].name.clone();
        let log =
            File::options().create(true).append(true).open(self.log(&name)).expect("a file for the log");
        let mut command = match &self.network {
            Some(network) => network.command(Place::Host(index), &self.binary),
            None => Command::new(&self.binary),
        };
        let child = command
            .args(["--config", CONFIGURATION])
            .current_dir(self.folder().join(&name))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(log)
            .spawn()
            .unwrap_or_else(|error| panic!("nats-server cannot be started: {error}"));
        self.members[index].child = Some(child);
    }

    fn log(&self, name: &str) -> PathBuf {
        Path::new(self.folder.path()).join(format!("{name}.log"))
    }

    fn signal(&self, index: usize, signal: Signal) {
        let child = self.members[index].child.as_ref().expect("the server runs");
        let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw).expect("a process id");
        kill_process(pid, signal).expect("the server takes signals");
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        for index in 0..self.members.len() {
            if let Some(mut child) = self.members[index].child.take() {
                let _ = child.kill();
                let _ = child.wait();
            }
        }
    }
}

/// Returns a context with a short timeout: a server without a leader does not answer.
fn with_timeout(client: Client) -> Context {
    ContextBuilder::new().timeout(Duration::from_secs(1)).build(client)
}

/// Returns a server on two free ports.
fn server(number: usize) -> Server {
    let (port, cluster_port) = (free_port(), free_port());
    Server { name: format!("n{number}"), host: "127.0.0.1".into(), port, cluster_port }
}

/// Returns a server on a host of a network.
fn server_on(host: usize) -> Server {
    let (port, cluster_port) = (PORT, CLUSTER_PORT);
    Server { name: format!("n{}", host + 1), host: Place::Host(host).to_string(), port, cluster_port }
}
