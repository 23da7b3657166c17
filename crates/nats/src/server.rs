//! A private nats-server: found, started, supervised, restarted and stopped by this process.
//!
//! It listens on loopback only, requires a random password, and stores everything in one folder. A power cut may lose the last
//! acknowledged messages, up to [`SyncInterval`]: the application must be able to publish them again.

mod address;
mod binary;
mod environment;
mod error;
mod folder;
mod free_space;
mod orphan;
mod supervisor;
#[cfg(test)]
mod tests;

use std::path::PathBuf;
use std::process::{ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use tokio::process::{Child, Command};
use tokio::time::{Instant, sleep, timeout};

pub use address::Address;
pub use binary::{find, find_supported};
pub use error::Error;
pub use orphan::stop_orphan;

use folder::Folder;

/// How long a server may take to stop after a signal before it is killed.
const STOP_TIMEOUT: Duration = Duration::from_secs(10);

/// The garbage collector of the server's Go runtime runs when there is a tenth as much garbage as live data, instead of as much: what a
/// fast import leaves is not collected while the server is idle. A limit in bytes would save memory too, until a stream grows beyond it:
/// then the server would do little but collect.
const GC_SETTINGS: [(&str, &str); 1] = [("GOGC", "10")];

/// When JetStream flushes messages to the disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SyncInterval {
    /// Before each acknowledgement: a power cut loses no acknowledged message, at about a tenth of the speed.
    Always,
    /// At this interval: a power cut loses at most about that much.
    Every(Duration),
}

/// The options of a private nats-server.
#[derive(Debug, Clone)]
pub struct Options {
    /// The folder of this server alone: configuration, log, address and streams. Created if absent.
    pub folder: PathBuf,
    /// The program to run; `None` looks for it as [`find`] does.
    pub binary: Option<PathBuf>,
    /// When JetStream flushes to disk; one second unless set.
    pub sync: SyncInterval,
    /// The free disk space, in bytes, below which the server is restarted once there is more again; 64 MiB unless set.
    pub low_space: u64,
    /// The time in which the server must answer after its start; it reads its streams first. One minute unless set.
    pub start_timeout: Duration,
}

impl Options {
    /// Creates options with the defaults, for a server in `folder`.
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self {
            folder: folder.into(),
            binary: None,
            sync: SyncInterval::Every(Duration::from_secs(1)),
            low_space: 64 * 1024 * 1024,
            start_timeout: Duration::from_secs(60),
        }
    }
}

/// The state of a server, readable while [`NatsServer::supervise`] owns it.
#[derive(Debug, Default)]
pub struct Health {
    pid: AtomicU32,
    restarts: AtomicU64,
}

impl Health {
    /// Returns the process id of the server; `None` while it is down.
    pub fn pid(&self) -> Option<u32> {
        Some(self.pid.load(Ordering::Relaxed)).filter(|pid| *pid != 0)
    }

    /// Returns the number of restarts since [`NatsServer::start`].
    pub fn restarts(&self) -> u64 {
        self.restarts.load(Ordering::Relaxed)
    }
}

/// A running private nats-server. Dropping it kills the process; [`NatsServer::stop`] shuts it down.
///
/// The address stays the same over restarts, and over a later start on the same folder as long as its port is free.
#[derive(Debug)]
pub struct NatsServer {
    options: Options,
    binary: PathBuf,
    folder: Folder,
    address: Address,
    child: Child,
    health: Arc<Health>,
}

impl NatsServer {
    /// Starts a server and returns once it answers. A server that a killed owner of the folder left running is stopped first.
    ///
    /// # Errors
    ///
    /// Fails with [`Error::InUse`] if the folder has a live owner, with [`Error::TooOld`] if the server is older than
    /// [`MIN_VERSION`](crate::version::MIN_VERSION), and if it cannot be found, started or reached.
    pub async fn start(options: Options) -> Result<Self, Error> {
        let binary = binary::find_supported(options.binary.as_deref()).await?;
        let mut folder = Folder::open(&options.folder).await?;
        orphan::stop_left_behind(&folder).await?;
        let mut address = folder.last_address().unwrap_or_else(Address::unset);
        // A port that is free now may be taken before nats-server binds it: then another one is tried.
        let mut attempts = 3;
        loop {
            if !address.is_free() {
                address = Address::random()?;
            }
            match launch(&options, &binary, &mut folder, &address).await {
                Err(Error::Exited { .. }) if attempts > 1 && !address.is_free() => attempts -= 1,
                Err(error) => return Err(error),
                Ok(child) => {
                    let health = Arc::new(Health::default());
                    health.pid.store(child.id().unwrap_or(0), Ordering::Relaxed);
                    return Ok(Self { options, binary, folder, address, child, health });
                }
            }
        }
    }

    /// Returns where the server listens, with the credentials.
    pub fn address(&self) -> &Address {
        &self.address
    }

    /// Returns the address with user and password, for [`crate::url::connect_options`]. A secret: keep it out of logs.
    pub fn url(&self) -> String {
        self.address.url()
    }

    /// Returns the process id; `None` if the server has ended.
    pub fn pid(&self) -> Option<u32> {
        self.child.id()
    }

    /// Returns the state of the server, which stays readable while [`NatsServer::supervise`] owns it.
    pub fn health(&self) -> Arc<Health> {
        Arc::clone(&self.health)
    }

    /// Kills the server, as a crash would, and waits until it has ended.
    pub async fn kill(mut self) {
        let _ = self.child.kill().await;
    }

    /// Shuts the server down, and kills it if that takes more than ten seconds.
    pub async fn stop(mut self) {
        self.shut_down().await;
    }

    async fn shut_down(&mut self) {
        let signalled = self.child.id().and_then(process).map(|pid| kill_process(pid, Signal::TERM));
        if signalled.is_some() && timeout(STOP_TIMEOUT, self.child.wait()).await.is_err() {
            tracing::warn!("nats-server did not stop within {STOP_TIMEOUT:?}; killing it");
            let _ = self.child.kill().await;
        }
        self.health.pid.store(0, Ordering::Relaxed);
    }

    /// Lets a server that was started without its log write it, as soon as it can be opened.
    fn log_again(&mut self) {
        if !self.folder.finds_log() {
            return;
        }
        // The server reads its configuration again; connections and streams stay.
        let prepared = self.folder.prepare(&self.address, self.options.sync);
        let reload = || kill_process(self.child.id().and_then(process)?, Signal::HUP).ok();
        match prepared.map(|()| reload()) {
            Ok(Some(())) => tracing::warn!("nats-server writes its log again"),
            // It has ended, and chooses its log when it starts again.
            Ok(None) => {}
            Err(error) => {
                self.folder.give_up_log();
                tracing::warn!(%error, "nats-server cannot be told to write its log again");
            }
        }
    }

    async fn relaunch(&mut self) -> Result<(), Error> {
        self.folder.relock_if_deleted().await?;
        self.child = launch(&self.options, &self.binary, &mut self.folder, &self.address).await?;
        self.health.pid.store(self.child.id().unwrap_or(0), Ordering::Relaxed);
        self.health.restarts.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }
}

/// Starts the process and waits until it accepts the password. A process that does not is killed.
async fn launch(
    options: &Options,
    binary: &std::path::Path,
    folder: &mut Folder,
    address: &Address,
) -> Result<Child, Error> {
    folder.choose_log();
    folder.prepare(address, options.sync)?;
    let mut child = Command::from(environment::command(binary))
        .arg("--config")
        .arg(folder.config())
        .envs(GC_SETTINGS)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(folder.stderr_file())
        // A process group of its own: Ctrl-C in a terminal must not stop NATS before its users.
        .process_group(0)
        .kill_on_drop(true)
        .spawn()
        .map_err(|source| Error::Unusable { binary: binary.into(), reason: source.to_string() })?;
    let pid = child.id().unwrap_or(0);
    let deadline = Instant::now() + options.start_timeout;
    loop {
        let ended: Option<ExitStatus> =
            child.try_wait().map_err(|source| Error::folder(folder.root(), source))?;
        if let Some(status) = ended {
            return Err(Error::Exited { status, complaint: folder.last_complaint(pid) });
        }
        if address.answers(folder.name()).await {
            return Ok(child);
        }
        if Instant::now() > deadline {
            let seconds = options.start_timeout.as_secs();
            return Err(Error::Silent { seconds, complaint: folder.last_complaint(pid) });
        }
        sleep(Duration::from_millis(20)).await;
    }
}

fn process(pid: u32) -> Option<Pid> {
    Pid::from_raw(i32::try_from(pid).ok()?)
}
