//! The data folder: where the files of one node are, which processes run on it, and which version wrote it.
//!
//! The processes on a folder, and the command line, find one another by it; a later version uses the folders of earlier ones. What the
//! files hold is for the packages that write them.

use std::fs;
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use daemon::process_lock::{LockGuard, ProcessLock, write_private};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// The format that this version writes; a folder with a higher number is from a newer version.
const FORMAT: u32 = 1;

/// How long a process that holds a part is given to announce how it is reached.
const START_TIMEOUT: Duration = Duration::from_secs(5);

/// The minimum length of a snapshot token, in characters: too long to be guessed.
const SHORTEST_TOKEN: usize = 24;

/// A data folder, which this process may or may not hold.
#[derive(Debug, Clone)]
pub struct DataFolder {
    root: PathBuf,
}

/// A part of the folder that one process at a time works on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// The event store, the relay and the private NATS server.
    Write,
    /// The read models.
    Project,
}

/// Parts of the folder that this process holds, until it is dropped.
#[derive(Debug)]
pub struct FolderGuard {
    _locks: Vec<LockGuard>,
}

/// The announced address of the API of this process.
#[derive(Debug)]
pub struct ApiAddress {
    lock: ProcessLock,
    _guard: LockGuard,
}

/// How the process that holds a part is reached, for its own command line. Readable by the owner only, since the
/// address may contain a password.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Running {
    /// Its process id.
    pub pid: u32,
    /// The address of its NATS server.
    pub nats_url: String,
    /// Its name in control subjects.
    pub node: String,
}

impl Part {
    /// Returns its name, as files of the folder and answers of the command line have it.
    pub fn name(self) -> &'static str {
        match self {
            Part::Write => "write",
            Part::Project => "project",
        }
    }
}

impl DataFolder {
    /// Returns the folder at this path, which need not exist yet.
    pub fn new(root: &Path) -> DataFolder {
        DataFolder { root: root.to_owned() }
    }

    /// Returns the folder of the event log, and of what is kept beside it.
    pub fn store(&self) -> PathBuf {
        self.root.join("store")
    }

    /// Returns the folder of the read models.
    pub fn models(&self) -> PathBuf {
        self.root.join("models")
    }

    /// Returns the folder of the pictures.
    pub fn media(&self) -> PathBuf {
        self.root.join("media")
    }

    /// Returns the folder of the weights of the encoders, unless the setting `weights` names another.
    pub fn weights(&self) -> PathBuf {
        self.root.join("weights")
    }

    /// Returns the file of vectors that replace those of another encoder once all are computed.
    pub fn vectors_aside(&self) -> PathBuf {
        self.root.join("vectors-aside.ndjson")
    }

    /// Returns the folder of the spool: calls that NATS could not count yet.
    pub fn spool(&self) -> PathBuf {
        self.root.join("spool")
    }

    /// Returns the file with the figures of this node by day, which its page of the state shows.
    pub fn daily_figures(&self) -> PathBuf {
        self.root.join("daily-figures.json")
    }

    /// Returns the folder of the private NATS server.
    pub fn nats(&self) -> PathBuf {
        self.root.join("nats")
    }

    /// Returns the file with the address on which the API listens.
    pub fn api_address(&self) -> PathBuf {
        self.run().join("api.addr")
    }

    /// Returns the folder of a snapshot of the read models, while other nodes fetch it.
    pub fn snapshot(&self) -> PathBuf {
        self.root.join("snapshot")
    }

    /// Returns those paths of this folder that users other than its owner may read or write: the folder itself, and the files
    /// with secrets.
    pub fn open_to_others(&self) -> Vec<PathBuf> {
        let secrets =
            ["store/vault.key", "store/vault.db", "snapshot.token"].map(|name| self.root.join(name));
        [self.root.clone()].into_iter().chain(secrets).filter(|path| is_open(path)).collect()
    }

    /// Returns the token that other nodes need to fetch a snapshot; it is created on the first call. The file may be
    /// written beforehand, so that several nodes have the same. Fails if the file cannot be read or created, or holds
    /// more than letters and digits.
    pub fn snapshot_token(&self) -> Result<String> {
        let path = self.root.join("snapshot.token");
        let text = match fs::read_to_string(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let new = format!("{}{}", Uuid::new_v4().simple(), Uuid::new_v4().simple());
                write_private(&path, new.as_bytes()).map(|()| new)
            }
            read => read,
        };
        let text = text.with_context(|| format!("{} cannot be read or created", path.display()))?;
        let token = text.trim();
        if token.len() < SHORTEST_TOKEN || !token.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
            bail!(
                "{} must hold at least {SHORTEST_TOKEN} letters and digits and nothing else; remove it, and another is \
                 created",
                path.display()
            );
        }
        Ok(token.to_owned())
    }

    /// Returns whether the read models have ever caught up with the log.
    pub fn has_caught_up(&self) -> bool {
        self.caught_up().exists()
    }

    /// Records that the read models have caught up, beside them, so that the record goes with them.
    pub fn note_caught_up(&self) {
        if let Err(error) = fs::write(self.caught_up(), "") {
            tracing::warn!(%error, "that the node has caught up cannot be recorded; its next start checks it again");
        }
    }

    fn caught_up(&self) -> PathBuf {
        self.models().join("caught_up")
    }

    /// Takes parts of the folder for this process, and creates the folder if needed. Fails if another process holds one
    /// of the parts, or [`DataFolder::check`] does.
    pub fn hold(&self, parts: &[Part]) -> Result<FolderGuard> {
        let shown = self.root.display();
        self.check()?;
        // For its owner only: the log, the ledger and the read models show who called what.
        fs::DirBuilder::new().recursive(true).mode(0o700).create(self.run()).with_context(|| {
            format!("the data folder {shown} cannot be created; check its path and its owner")
        })?;
        let mut locks = Vec::new();
        for part in parts {
            let lock = self.lock(*part);
            let guard =
                lock.acquire().with_context(|| format!("{} cannot be written", lock.path().display()))?;
            let Some(guard) = guard else {
                let by = self.running(*part).map(|r| format!(" (process {})", r.pid)).unwrap_or_default();
                bail!(
                    "another loggia{by} is running on the data folder {shown}; stop it, or choose another folder with \
                     --data or LOGGIA_DATA"
                );
            };
            locks.push(guard);
        }
        let format = self.root.join("format");
        if !format.exists() {
            // Written and then renamed: another process may be starting at the same time.
            let new = self.root.join(format!("format.{}", std::process::id()));
            fs::write(&new, format!("{FORMAT}\n"))
                .and_then(|()| fs::rename(&new, &format))
                .with_context(|| format!("{} cannot be written", format.display()))?;
        }
        Ok(FolderGuard { _locks: locks })
    }

    /// Warns if other users of the machine can read the folder. It is not closed: its owner may have opened it on purpose.
    pub fn warn_if_open(&self) {
        if is_open(&self.root) {
            let folder = self.root.display();
            tracing::warn!(
                "the data folder {folder} is open to other users of this machine, who can read who called what and the \
                 hashes of keys; close it with `chmod -R go= {folder}`"
            );
        }
    }

    /// Checks that the folder can be used, without changing anything in it. Fails if it is a file, belongs to another
    /// user, or was written by a newer version; the error says what to do.
    pub fn check(&self) -> Result<()> {
        if self.root.exists() && !self.root.is_dir() {
            bail!(
                "{} is a file, not a data folder; name the folder with --data or LOGGIA_DATA",
                self.root.display()
            );
        }
        self.check_owner(rustix::process::geteuid().as_raw())?;
        self.check_format()
    }

    /// Files that another user creates, such as root, could not be written by the service later; SQLite creates some even when
    /// it only reads. The folder `run`, which a process of Loggia created, shows the owner: the data folder itself may be a mount.
    fn check_owner(&self, user: u32) -> Result<()> {
        let Ok(run) = fs::metadata(self.run()) else { return Ok(()) };
        let owner = run.uid();
        if owner != user {
            bail!(
                "the data folder {} belongs to the user with the id {owner}, and this process runs as {user}; nothing was \
                 changed. Run it as that user, for example with `sudo -u '#{owner}' loggia …`",
                self.root.display()
            );
        }
        Ok(())
    }

    fn check_format(&self) -> Result<()> {
        let path = self.root.join("format");
        let Ok(text) = fs::read_to_string(&path) else { return Ok(()) };
        match text.trim().parse::<u32>() {
            Ok(format) if format <= FORMAT => Ok(()),
            Ok(format) => bail!(
                "the data folder {} was written by a newer version of Loggia (format {format}; this one reads up to \
                 {FORMAT}); nothing was changed, use that version",
                self.root.display()
            ),
            Err(_) => bail!("{} does not hold a number; is this a data folder of Loggia?", path.display()),
        }
    }

    /// Returns the process that holds a part, if one does and has announced itself.
    pub fn running(&self, part: Part) -> Option<Running> {
        serde_json::from_str(&self.lock(part).announced()?).ok()
    }

    /// Returns the process that holds a part, as [`DataFolder::running`] does; waits up to 5 seconds for one that is starting.
    pub async fn running_or_starting(&self, part: Part) -> Option<Running> {
        serde_json::from_str(&self.lock(part).announced_within(START_TIMEOUT).await?).ok()
    }

    /// Returns when the process that holds a part announced itself, which it does once it has started.
    pub fn announced_at(&self, part: Part) -> Option<Timestamp> {
        Timestamp::try_from(self.lock(part).announced_at()?).ok()
    }

    /// Tells the command line how this process is reached. Fails if the files cannot be written.
    pub fn announce(&self, parts: &[Part], running: &Running) -> Result<()> {
        let text = serde_json::to_string(running)?;
        Ok(parts.iter().try_for_each(|part| self.lock(*part).announce(&text))?)
    }

    /// Tells scripts where the API listens, until the address is withdrawn. Returns `None` if another process serves on
    /// the folder: the file keeps the address of that one. Fails if the file cannot be written.
    pub fn announce_api(&self, address: std::net::SocketAddr) -> Result<Option<ApiAddress>> {
        let lock = self.api_lock();
        let guard = lock.acquire().with_context(|| format!("{} cannot be written", lock.path().display()))?;
        let Some(guard) = guard else { return Ok(None) };
        lock.announce(&format!("{address}\n"))
            .with_context(|| format!("{} cannot be written", self.api_address().display()))?;
        Ok(Some(ApiAddress { lock, _guard: guard }))
    }

    /// Returns the address on which the API of this folder listens, if a process serves there.
    pub fn serves_at(&self) -> Option<String> {
        let lock = self.api_lock();
        // A process of version 0.1 has no lock.
        let text =
            if lock.path().exists() { lock.announced() } else { fs::read_to_string(self.api_address()).ok() };
        Some(text?.trim().to_owned())
    }

    /// Withdraws the announcement of this process.
    pub fn withdraw(&self, parts: &[Part]) {
        parts.iter().for_each(|part| self.lock(*part).withdraw());
    }

    fn run(&self) -> PathBuf {
        self.root.join("run")
    }

    fn api_lock(&self) -> ProcessLock {
        ProcessLock::new(self.run().join("api.lock"), self.api_address())
    }

    fn lock(&self, part: Part) -> ProcessLock {
        let file = |ending: &str| self.run().join(format!("{}.{ending}", part.name()));
        ProcessLock::new(file("lock"), file("json"))
    }
}

impl ApiAddress {
    /// Withdraws the address: the API listens no longer.
    pub fn withdraw(self) {
        self.lock.withdraw();
    }
}

/// Returns whether users other than its owner may read or write it.
fn is_open(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|found| found.permissions().mode() & 0o077 != 0)
}

#[cfg(test)]
mod tests;
