//! A private nats-server: found, started, watched, restarted and stopped by this process.
//!
//! It listens on loopback only, behind a random password, and keeps everything in one folder. It may lose what it
//! has acknowledged in the last moments before a power cut; that is accepted, because the event store is the truth
//! and the relay publishes again what JetStream no longer holds.

mod address;
mod binary;
mod error;
mod folder;
mod free_space;
mod orphan;
mod supervisor;
#[cfg(test)]
mod tests;

use std::path::PathBuf;
use std::process::ExitStatus;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use tokio::process::{Child, Command};
use tokio::time::{Instant, sleep, timeout};

pub use address::Address;
pub use binary::{find, usable};
pub use error::Error;
pub use orphan::end_orphan;

use folder::Folder;

/// How long a server that was asked to end may take before it is killed.
const STOP_WITHIN: Duration = Duration::from_secs(10);

/// How the Go runtime of the server goes about memory: it collects once there is a quarter as much garbage as there is
/// data, where it would wait for as much again. A limit in bytes would hold as well, until a stream grows beyond it;
/// then the server would do little but collect.
const MEMORY: [(&str, &str); 1] = [("GOGC", "25")];

/// When JetStream flushes what it holds to the disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SyncInterval {
    /// Before each acknowledgement: nothing acknowledged is lost at a power cut, at about a tenth of the speed.
    Always,
    /// At this interval: a power cut loses at most about that much.
    Every(Duration),
}

/// What a private nats-server is started with.
#[derive(Debug, Clone)]
pub struct Options {
    /// The folder that is this server's alone: configuration, log, address and streams. Created when absent.
    pub folder: PathBuf,
    /// The program to run; `None` looks for it as [`find`] does.
    pub binary: Option<PathBuf>,
    /// When JetStream flushes to disk; one second unless set.
    pub sync: SyncInterval,
    /// Bytes of free disk space below which JetStream is taken to be stuck once space returns; 64 MiB unless set.
    pub low_space: u64,
    /// How long the server may take to answer after its start; it reads its streams first. One minute unless set.
    pub answer_within: Duration,
}

impl Options {
    /// The defaults, for a server that lives in `folder`.
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self {
            folder: folder.into(),
            binary: None,
            sync: SyncInterval::Every(Duration::from_secs(1)),
            low_space: 64 * 1024 * 1024,
            answer_within: Duration::from_secs(60),
        }
    }
}

/// What can be asked about a server from anywhere while [`NatsServer::supervise`] owns it.
#[derive(Debug, Default)]
pub struct Health {
    pid: AtomicU32,
    restarts: AtomicU64,
}

impl Health {
    /// The process id of the running server; `None` while it is down.
    pub fn pid(&self) -> Option<u32> {
        Some(self.pid.load(Ordering::Relaxed)).filter(|pid| *pid != 0)
    }

    /// How often the server was started anew since [`NatsServer::start`].
    pub fn restarts(&self) -> u64 {
        self.restarts.load(Ordering::Relaxed)
    }
}

/// A running private nats-server. Dropping it kills the process; [`NatsServer::stop`] ends it in order.
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
    /// Starts a server and returns once it answers.
    ///
    /// A server that an earlier, killed owner of the folder left running is ended first. A folder whose owner is
    /// still there is refused with [`Error::InUse`], a server older than
    /// [`OLDEST`](crate::version::OLDEST) with [`Error::TooOld`].
    pub async fn start(options: Options) -> Result<Self, Error> {
        let binary = binary::usable(options.binary.as_deref()).await?;
        let folder = Folder::open(&options.folder).await?;
        orphan::end_left_behind(&folder).await?;
        let mut address = folder.last_address().unwrap_or_else(Address::unset);
        // A port that is free now may be taken before nats-server binds it: then it is tried with another.
        let mut attempts = 3;
        loop {
            if !address.is_free() {
                address = Address::fresh()?;
            }
            match launch(&options, &binary, &folder, &address).await {
                Err(Error::Exited { .. }) if attempts > 1 && !address.is_free() => attempts -= 1,
                Err(refused) => return Err(refused),
                Ok(child) => {
                    let health = Arc::new(Health::default());
                    health.pid.store(child.id().unwrap_or(0), Ordering::Relaxed);
                    return Ok(Self { options, binary, folder, address, child, health });
                }
            }
        }
    }

    /// Where the server listens and how to log in.
    pub fn address(&self) -> &Address {
        &self.address
    }

    /// The address with user and password, as [`crate::url::connect_options`] takes it. A secret: keep it out of logs.
    pub fn url(&self) -> String {
        self.address.url()
    }

    /// The process id; `None` when the server has ended.
    pub fn pid(&self) -> Option<u32> {
        self.child.id()
    }

    /// The view that outlives handing the server to [`NatsServer::supervise`].
    pub fn health(&self) -> Arc<Health> {
        Arc::clone(&self.health)
    }

    /// Kills the server at once, as a crash would, and waits until it is gone.
    pub async fn kill(mut self) {
        let _ = self.child.kill().await;
    }

    /// Asks the server to end, waits up to ten seconds, then kills it.
    pub async fn stop(mut self) {
        self.halt().await;
    }

    async fn halt(&mut self) {
        let asked = self.child.id().and_then(process).map(|pid| kill_process(pid, Signal::TERM));
        if asked.is_some() && timeout(STOP_WITHIN, self.child.wait()).await.is_err() {
            tracing::warn!("nats-server did not end within {STOP_WITHIN:?} of being asked to; killing it");
            let _ = self.child.kill().await;
        }
        self.health.pid.store(0, Ordering::Relaxed);
    }

    async fn relaunch(&mut self) -> Result<(), Error> {
        self.folder.relock_if_deleted().await?;
        self.child = launch(&self.options, &self.binary, &self.folder, &self.address).await?;
        self.health.pid.store(self.child.id().unwrap_or(0), Ordering::Relaxed);
        self.health.restarts.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }
}

/// Starts the process and waits until it takes our password. A process that does not is killed again.
async fn launch(
    options: &Options,
    binary: &std::path::Path,
    folder: &Folder,
    address: &Address,
) -> Result<Child, Error> {
    folder.prepare(address, options.sync)?;
    let mut child = Command::new(binary)
        .arg("--config")
        .arg(folder.config())
        .envs(MEMORY)
        .stdin(std::process::Stdio::null())
        .stdout(std::process::Stdio::null())
        .stderr(folder.first_words()?)
        // A group of its own: Ctrl-C in a terminal must reach us alone, or NATS would end before its users do.
        .process_group(0)
        .kill_on_drop(true)
        .spawn()
        .map_err(|source| Error::Unusable { binary: binary.into(), reason: source.to_string() })?;
    let pid = child.id().unwrap_or(0);
    let deadline = Instant::now() + options.answer_within;
    loop {
        let ended: Option<ExitStatus> =
            child.try_wait().map_err(|source| Error::folder(folder.root(), source))?;
        if let Some(status) = ended {
            return Err(Error::Exited { status, last_words: folder.last_words(pid) });
        }
        if address.answers().await {
            return Ok(child);
        }
        if Instant::now() > deadline {
            let seconds = options.answer_within.as_secs();
            return Err(Error::Silent { seconds, last_words: folder.last_words(pid) });
        }
        sleep(Duration::from_millis(20)).await;
    }
}

fn process(pid: u32) -> Option<Pid> {
    Pid::from_raw(i32::try_from(pid).ok()?)
}
