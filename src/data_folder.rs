//! The data folder: where everything of one node is, who holds it, and which version wrote it.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use jiff::Timestamp;
use rustix::fs::Mode;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// What this version writes; a folder with a higher number is from a newer version.
const FORMAT: u32 = 1;

/// How long another process holds a lock that only looks whether it is free; many times what that takes.
const BRIEFLY: Duration = Duration::from_millis(500);
/// How long a process that holds a part is given to say how it is reached.
const STARTING: Duration = Duration::from_secs(5);
/// The shortest token, in characters, that nobody can guess.
const SHORTEST_TOKEN: usize = 24;

/// A data folder, not necessarily held by this process.
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

/// Parts of the folder held by this process; let go when dropped.
#[derive(Debug)]
pub struct Held {
    _locks: Vec<File>,
}

/// The file with the API's address, held by the process that serves there.
#[derive(Debug)]
pub struct ApiAddress {
    path: PathBuf,
    _lock: File,
}

/// How the process that holds a part is reached, for its own command line. Readable by the owner only, since the
/// address may hold a password.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Running {
    /// Its process id.
    pub pid: u32,
    /// The NATS server's address.
    pub nats_url: String,
    /// Its name in control subjects.
    pub node: String,
}

impl Part {
    /// Returns its name in files.
    pub fn name(self) -> &'static str {
        match self {
            Part::Write => "write",
            Part::Project => "project",
        }
    }
}

impl DataFolder {
    /// The folder at this path, which need not exist yet.
    pub fn new(root: &Path) -> DataFolder {
        DataFolder { root: root.to_owned() }
    }

    /// The event store's folder.
    pub fn store(&self) -> PathBuf {
        self.root.join("store")
    }

    /// The read models' folder.
    pub fn models(&self) -> PathBuf {
        self.root.join("models")
    }

    /// The kept pictures.
    pub fn media(&self) -> PathBuf {
        self.root.join("media")
    }

    /// Where calls wait that NATS could not count yet.
    pub fn spool(&self) -> PathBuf {
        self.root.join("spool")
    }

    /// The private NATS server's folder.
    pub fn nats(&self) -> PathBuf {
        self.root.join("nats")
    }

    /// The file with the API's real address.
    pub fn api_address(&self) -> PathBuf {
        self.run().join("api.addr")
    }

    /// Where a snapshot of the read models is kept while other nodes fetch it.
    pub fn snapshot(&self) -> PathBuf {
        self.root.join("snapshot")
    }

    /// Returns the paths of this folder that others than its owner may read or write: the folder itself, and what holds
    /// secrets.
    pub fn open_to_others(&self) -> Vec<PathBuf> {
        let secrets =
            ["store/vault.key", "store/vault.db", "snapshot.token"].map(|name| self.root.join(name));
        [self.root.clone()].into_iter().chain(secrets).filter(|path| is_open(path)).collect()
    }

    /// Returns what other nodes must show to be given a snapshot; it is made when it is first asked for. The file may be
    /// written beforehand, so that several nodes have the same.
    ///
    /// # Errors
    ///
    /// Fails where the file cannot be read or made, or does not hold letters and digits alone.
    pub fn snapshot_token(&self) -> Result<String> {
        let path = self.root.join("snapshot.token");
        let text = match fs::read_to_string(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let made = format!("{}{}", Uuid::new_v4().simple(), Uuid::new_v4().simple());
                write_private(&path, made.as_bytes()).map(|()| made)
            }
            read => read.map_err(Into::into),
        };
        let text = text.with_context(|| format!("{} cannot be read or made", path.display()))?;
        let token = text.trim();
        if token.len() < SHORTEST_TOKEN || !token.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
            bail!(
                "{} must hold at least {SHORTEST_TOKEN} letters and digits and nothing else; remove it, and another is \
                 made",
                path.display()
            );
        }
        Ok(token.to_owned())
    }

    /// Whether the read models had caught up with the log at some time.
    pub fn has_caught_up(&self) -> bool {
        self.caught_up().exists()
    }

    /// Remembers that the read models have caught up, for as long as they are there.
    pub fn note_caught_up(&self) {
        if let Err(error) = fs::write(self.caught_up(), "") {
            tracing::warn!(%error, "that the node has caught up cannot be noted; it looks again at its next start");
        }
    }

    fn caught_up(&self) -> PathBuf {
        self.models().join("caught_up")
    }

    /// Takes parts of the folder for this process: makes it, checks its version, and keeps a second process out.
    pub fn hold(&self, parts: &[Part]) -> Result<Held> {
        let shown = self.root.display();
        self.check()?;
        // Its owner's alone: the log, the ledger and the read models tell who called what.
        fs::DirBuilder::new().recursive(true).mode(0o700).create(self.run()).with_context(|| {
            format!("the data folder {shown} cannot be made; check its place and its owner")
        })?;
        let mut locks = Vec::new();
        for part in parts {
            let path = self.lock_file(*part);
            let lock =
                File::create(&path).with_context(|| format!("{} cannot be written", path.display()))?;
            if !locked(&lock) {
                let by = self.running(*part).map(|r| format!(" (process {})", r.pid)).unwrap_or_default();
                bail!(
                    "another loggia{by} is running on the data folder {shown}; stop it, or choose another folder with \
                     --data or LOGGIA_DATA"
                );
            }
            // What an earlier process left when it was killed is no longer true.
            let _ = fs::remove_file(self.running_file(*part));
            locks.push(lock);
        }
        let format = self.root.join("format");
        if !format.exists() {
            // Written whole and then renamed: another process may be starting beside this one.
            let new = self.root.join(format!("format.{}", std::process::id()));
            fs::write(&new, format!("{FORMAT}\n"))
                .and_then(|()| fs::rename(&new, &format))
                .with_context(|| format!("{} cannot be written", format.display()))?;
        }
        Ok(Held { _locks: locks })
    }

    /// Says that other users of the machine can read the folder. It is not closed: its owner may have opened it for somebody.
    pub fn warn_if_open(&self) {
        if is_open(&self.root) {
            let folder = self.root.display();
            tracing::warn!(
                "the data folder {folder} is open to other users of this machine, who can read who called what and the \
                 hashes of keys; close it with `chmod -R go= {folder}`"
            );
        }
    }

    /// Refuses what is no folder, a folder of another user and one that a newer version wrote, before anything in it is
    /// touched.
    ///
    /// # Errors
    ///
    /// Fails with what to do where the folder cannot be used.
    pub fn check(&self) -> Result<()> {
        if self.root.exists() && !self.root.is_dir() {
            bail!(
                "{} is a file and no data folder; name the folder with --data or LOGGIA_DATA",
                self.root.display()
            );
        }
        self.check_owner(rustix::process::geteuid().as_raw())?;
        self.check_format()
    }

    /// Files that another user makes, root too, could not be written by the service any more; SQLite makes some even where
    /// it only reads. What a process of Loggia has made shows whose folder it is: the folder itself may be a mount.
    fn check_owner(&self, user: u32) -> Result<()> {
        let Ok(made) = fs::metadata(self.run()) else { return Ok(()) };
        let owner = made.uid();
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
                "the data folder {} was written by a newer version of Loggia (format {format}; this one knows \
                 {FORMAT}); nothing was changed, use that version",
                self.root.display()
            ),
            Err(_) => bail!("{} does not hold a number; is this a data folder of Loggia?", path.display()),
        }
    }

    /// The process that holds a part, if one does.
    pub fn running(&self, part: Part) -> Option<Running> {
        let text = fs::read_to_string(self.running_file(part)).ok()?;
        let lock = File::open(self.lock_file(part)).ok()?;
        // Whoever gets the lock finds that nobody runs; what the file says is then a leftover.
        if lock.try_lock_shared().is_ok() { None } else { serde_json::from_str(&text).ok() }
    }

    /// Returns the process that holds a part, as [`DataFolder::running`] does; one that is still starting is waited for.
    pub async fn running_or_starting(&self, part: Part) -> Option<Running> {
        let begun = Instant::now();
        loop {
            let running = self.running(part);
            let is_held =
                || File::open(self.lock_file(part)).is_ok_and(|lock| lock.try_lock_shared().is_err());
            if running.is_some() || !is_held() || begun.elapsed() >= STARTING {
                return running;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }

    /// Returns when the process that holds a part announced it, which it does once it has started.
    pub fn announced(&self, part: Part) -> Option<Timestamp> {
        let file = fs::metadata(self.running_file(part)).ok()?;
        Timestamp::try_from(file.modified().ok()?).ok()
    }

    /// Tells the command line how this process is reached.
    pub fn announce(&self, parts: &[Part], running: &Running) -> Result<()> {
        let text = serde_json::to_string(running)?;
        parts.iter().try_for_each(|part| write_private(&self.running_file(*part), text.as_bytes()))
    }

    /// Tells scripts where the API listens, until that is left. Returns nothing where another process serves on the folder:
    /// the file then keeps that one's address.
    pub fn announce_api(&self, address: std::net::SocketAddr) -> Result<Option<ApiAddress>> {
        let path = self.api_lock();
        let lock = File::create(&path).with_context(|| format!("{} cannot be written", path.display()))?;
        if !locked(&lock) {
            return Ok(None);
        }
        // Written whole and then renamed, so that nobody reads half an address.
        let new = self.run().join("api.addr.new");
        fs::write(&new, format!("{address}\n"))
            .with_context(|| format!("{} cannot be written", new.display()))?;
        fs::rename(&new, self.api_address())?;
        Ok(Some(ApiAddress { path: self.api_address(), _lock: lock }))
    }

    /// Where the API of this folder listens, if a process serves there.
    pub fn serves_at(&self) -> Option<String> {
        let text = fs::read_to_string(self.api_address()).ok()?;
        // A process of an earlier version has no lock.
        let is_left = File::open(self.api_lock()).is_ok_and(|lock| lock.try_lock_shared().is_ok());
        (!is_left).then(|| text.trim().to_owned())
    }

    /// Takes back what was announced of these parts.
    pub fn leave(&self, parts: &[Part]) {
        for part in parts {
            let _ = fs::remove_file(self.running_file(*part));
        }
    }

    fn run(&self) -> PathBuf {
        self.root.join("run")
    }

    fn api_lock(&self) -> PathBuf {
        self.run().join("api.lock")
    }

    fn lock_file(&self, part: Part) -> PathBuf {
        self.run().join(format!("{}.lock", part.name()))
    }

    fn running_file(&self, part: Part) -> PathBuf {
        self.run().join(format!("{}.json", part.name()))
    }
}

impl ApiAddress {
    /// Takes the address back.
    pub fn leave(self) {
        let _ = fs::remove_file(&self.path);
    }
}

/// Whether others than its owner may read or write it.
fn is_open(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|found| found.permissions().mode() & 0o077 != 0)
}

/// Whether this process has the lock now. Commands such as `loggia status` hold it for a moment to see whether it is
/// free, so one that is taken is tried again for half a second.
fn locked(lock: &File) -> bool {
    let begun = Instant::now();
    while lock.try_lock().is_err() {
        if begun.elapsed() >= BRIEFLY {
            return false;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    true
}

/// Lets what this process makes be read by its owner alone, whatever the shell it was started from says.
pub fn make_private() {
    rustix::process::umask(Mode::RWXG | Mode::RWXO);
}

fn write_private(path: &Path, bytes: &[u8]) -> Result<()> {
    use std::io::Write as _;
    use std::os::unix::fs::OpenOptionsExt as _;
    let new = path.with_extension("new");
    let mut file = File::options().write(true).create(true).truncate(true).mode(0o600).open(&new)?;
    file.write_all(bytes)?;
    fs::rename(&new, path)?;
    Ok(())
}

#[cfg(test)]
mod tests;
