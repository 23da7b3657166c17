//! A real nats-server for each test, in its own folder and on its own port.

use std::path::PathBuf;

use async_nats::Client;
use nats::server::{self, Address, NatsServer, Options};
use rustix::process::{Pid, Signal};
use tempfile::TempDir;

pub use crate::cluster::{Cluster, Member};
use crate::environment::absent;

/// Returns the nats-server for tests: `LOGGIA_NATS_SERVER`, or what `bin/setup` installed, or the one in `PATH`.
///
/// Without one, a test fails in continuous integration (`CI` is set); elsewhere this returns `None` after a message on
/// standard error, and the test is skipped.
pub async fn available() -> Option<PathBuf> {
    let set = std::env::var_os("LOGGIA_NATS_SERVER").map(PathBuf::from);
    match server::find_supported(set.as_deref()).await {
        Ok(found) => Some(found),
        Err(why) => {
            absent(why);
            None
        }
    }
}

/// Returns an empty data folder for a service that starts its own server; `None` if there is no nats-server, as for
/// [`available`].
pub async fn data_folder() -> Option<TempDir> {
    available().await?;
    Some(tempfile::tempdir().expect("a temporary folder"))
}

/// A private nats-server that a test kills, restarts and wipes; its address does not change.
///
/// It is not supervised: after a kill it stays down until [`Nats::restart`]. Dropping it kills it and deletes its
/// folder.
#[derive(Debug)]
pub struct Nats {
    server: Option<NatsServer>,
    address: Address,
    options: Options,
    _folder: TempDir,
}

impl Nats {
    /// Starts a server in a new temporary folder; `None` if there is no nats-server, as for [`available`].
    pub async fn start() -> Option<Self> {
        Self::start_with(|_| {}).await
    }

    /// Like [`Nats::start`], with adjusted options.
    pub async fn start_with(adjust: impl FnOnce(&mut Options)) -> Option<Self> {
        let binary = available().await?;
        let folder = tempfile::tempdir().expect("a temporary folder");
        let mut options = Options { binary: Some(binary), ..Options::new(folder.path().join("nats")) };
        adjust(&mut options);
        let server = started(&options).await;
        let address = server.address().clone();
        Some(Self { server: Some(server), address, options, _folder: folder })
    }

    /// Returns the address on which it listens, also while it is down.
    pub fn address(&self) -> &Address {
        &self.address
    }

    /// Returns the URL with user and password, for `LOGGIA_NATS_URL`.
    pub fn url(&self) -> String {
        self.address.url()
    }

    /// Returns a new connection, which reconnects after [`Nats::restart`].
    pub async fn client(&self) -> Client {
        let server = format!("nats://{}", self.address);
        self.address
            .connect_options()
            .connect(server)
            .await
            .expect("the test's nats-server takes connections")
    }

    /// Kills the server with SIGKILL and waits until it has ended. Does nothing while it is down.
    pub async fn kill9(&mut self) {
        if let Some(server) = self.server.take() {
            server.kill().await;
        }
    }

    /// Stops the process with SIGSTOP: connections stay open and nothing is answered.
    pub fn freeze(&self) {
        self.signal(Signal::STOP);
    }

    /// Resumes the process after [`Nats::freeze`].
    pub fn thaw(&self) {
        self.signal(Signal::CONT);
    }

    fn signal(&self, signal: Signal) {
        let pid = self.server.as_ref().and_then(NatsServer::pid).expect("the test's nats-server runs");
        let pid = Pid::from_raw(i32::try_from(pid).expect("a process id")).expect("a process id");
        rustix::process::kill_process(pid, signal).expect("the test's nats-server takes signals");
    }

    /// Starts it again with its data, killing it first if it runs.
    pub async fn restart(&mut self) {
        self.kill9().await;
        let server = started(&self.options).await;
        assert_eq!(
            server.address(),
            &self.address,
            "another program took the port of the killed nats-server"
        );
        self.server = Some(server);
    }

    /// Kills it, deletes all its data, and starts it again, empty.
    pub async fn wipe(&mut self) {
        self.kill9().await;
        std::fs::remove_dir_all(self.options.folder.join("jetstream")).expect("the streams can be deleted");
        self.restart().await;
    }
}

async fn started(options: &Options) -> NatsServer {
    NatsServer::start(options.clone()).await.unwrap_or_else(|error| panic!("{error}"))
}
