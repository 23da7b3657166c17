//! The folder of a private server: its lock and its files.

use std::fs::{DirBuilder, File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use data_encoding::HEXLOWER;
use rand::TryRng;
use rand::rngs::SysRng;
use rustix::fs::OFlags;
use serde_json::json;
use tokio::time::sleep;

use super::address::{Address, USER};
use super::{Error, SyncInterval};

const CONFIG: &str = "nats.json";
const PID: &str = "nats.pid";

/// Practically unlimited. JetStream's own default is three quarters of the free space at its start, which is useless after a start
/// with a nearly full disk.
const UNBOUNDED_STORE: u64 = 1 << 53;

/// A server's folder, locked until this is dropped.
#[derive(Debug)]
pub(super) struct Folder {
    root: PathBuf,
    lock: File,
    /// The name of its server, which no other has: a copy of the folder has the same port and password.
    name: String,
    /// Whether the server logs to its file; otherwise to what catches its standard error.
    has_log: bool,
}

impl Folder {
    /// Creates the folder if absent, and locks it.
    pub(super) async fn open(path: &Path) -> Result<Self, Error> {
        create_private(path)?;
        let root = path.canonicalize().map_err(|source| Error::folder(path, source))?;
        let lock = lock(&root).await?;
        let mut bytes = [0_u8; 4];
        SysRng.try_fill_bytes(&mut bytes).map_err(|error| Error::folder(&root, io::Error::other(error)))?;
        let name = format!("loggia-{}", HEXLOWER.encode(&bytes));
        Ok(Self { root, lock, name, has_log: true })
    }

    /// Creates and locks the folder again if it was deleted while a server was running.
    pub(super) async fn relock_if_deleted(&mut self) -> Result<(), Error> {
        if !self.root.join("lock").exists() {
            create_private(&self.root)?;
            self.lock = lock(&self.root).await?;
        }
        Ok(())
    }

    pub(super) fn root(&self) -> &Path {
        &self.root
    }

    /// Returns the name of its server.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    pub(super) fn config(&self) -> PathBuf {
        config_in(&self.root)
    }

    /// Returns where JetStream stores its streams.
    pub(super) fn store(&self) -> PathBuf {
        self.root.join("jetstream")
    }

    /// Returns the address of the last server in this folder.
    pub(super) fn last_address(&self) -> Option<Address> {
        Address::parse(&std::fs::read_to_string(self.root.join("url")).ok()?)
    }

    /// Writes the files that a server needs to start; those with the password are readable by their owner only.
    pub(super) fn prepare(&self, address: &Address, sync: SyncInterval) -> Result<(), Error> {
        create_private(&self.store())?;
        let mut config = json!({
            "server_name": self.name,
            "host": "127.0.0.1",
            "port": address.port(),
            "max_payload": 8 * 1024 * 1024,
            "pid_file": pid_file_in(&self.root),
            "logfile_size_limit": 8 * 1024 * 1024,
            "logfile_max_num": 3,
            "jetstream": {
                "store_dir": self.root,
                "sync_interval": sync_interval(sync),
                "max_file_store": UNBOUNDED_STORE,
                "max_memory_store": 256 * 1024 * 1024,
            },
            "authorization": { "users": [{ "user": USER, "password": address.password() }] },
        });
        if self.has_log {
            config["log_file"] = json!(self.log());
        }
        write_private(&self.config(), &format!("{config:#}\n"))?;
        write_private(&self.root.join("url"), &format!("{}\n", address.url()))
    }

    /// Chooses where the server logs: not to its file if that cannot be opened, since then it would end.
    pub(super) fn choose_log(&mut self) {
        let opened = open_log(&self.log());
        self.has_log = opened.is_ok();
        if let Err(error) = opened {
            tracing::warn!(
                %error,
                "nats-server cannot write its log {}: until it can, it writes to {}",
                self.log().display(),
                self.stderr().display()
            );
        }
    }

    /// Returns whether the log, which could not be opened, can be opened now; the next configuration names it.
    pub(super) fn finds_log(&mut self) -> bool {
        let is_found = !self.has_log && open_log(&self.log()).is_ok();
        self.has_log |= is_found;
        is_found
    }

    /// Takes back that the log was found.
    pub(super) fn give_up_log(&mut self) {
        self.has_log = false;
    }

    /// Creates the file for what the server prints before it has opened its log. Without one, that is lost.
    pub(super) fn stderr_file(&self) -> Stdio {
        let path = self.stderr();
        File::create(&path).map_or_else(
            |error| {
                tracing::warn!(%error, "what nats-server prints is lost: {} cannot be written", path.display());
                Stdio::null()
            },
            Stdio::from,
        )
    }

    /// Returns the last error message of process `pid`, and the path of its log.
    pub(super) fn last_complaint(&self, pid: u32) -> String {
        let printed = tail(&self.stderr()).unwrap_or_default();
        let logged = tail(&self.log()).unwrap_or_default();
        let prefix = format!("[{pid}] ");
        let complaint = printed
            .lines()
            .chain(logged.lines())
            .rfind(|line| line.starts_with(&prefix) && (line.contains(" [FTL] ") || line.contains(" [ERR] ")))
            .or_else(|| printed.lines().rfind(|line| !line.trim().is_empty()))
            .unwrap_or("it gave no reason");
        let log = if self.has_log { self.log() } else { self.stderr() };
        format!("{}; its log is {}", complaint.trim(), log.display())
    }

    fn log(&self) -> PathBuf {
        self.root.join("nats.log")
    }

    fn stderr(&self) -> PathBuf {
        self.root.join("nats.stderr")
    }
}

/// Opens a log as a server does, which creates it. A pipe without a reader is an error rather than a wait.
fn open_log(path: &Path) -> io::Result<File> {
    let flags = OFlags::NONBLOCK.bits().cast_signed();
    OpenOptions::new().create(true).append(true).mode(0o640).custom_flags(flags).open(path)
}

pub(super) fn config_in(root: &Path) -> PathBuf {
    root.join(CONFIG)
}

pub(super) fn pid_file_in(root: &Path) -> PathBuf {
    root.join(PID)
}

/// Locks the folder. A process that is just being started may have a copy of the lock's file descriptor for a moment, so the lock is
/// retried for a second.
async fn lock(root: &Path) -> Result<File, Error> {
    for _ in 0..50 {
        if let Some(lock) = try_lock(root)? {
            return Ok(lock);
        }
        sleep(Duration::from_millis(20)).await;
    }
    Err(Error::InUse { folder: root.into() })
}

/// Locks the folder; `None` if another owner has the lock.
pub(super) fn try_lock(root: &Path) -> Result<Option<File>, Error> {
    let path = root.join("lock");
    let file = OpenOptions::new().create(true).truncate(false).write(true).mode(0o600).open(&path);
    let file = file.map_err(|source| Error::folder(&path, source))?;
    match file.try_lock() {
        Ok(()) => Ok(Some(file)),
        Err(TryLockError::WouldBlock) => Ok(None),
        Err(TryLockError::Error(source)) => Err(Error::folder(&path, source)),
    }
}

fn create_private(path: &Path) -> Result<(), Error> {
    let created = DirBuilder::new().recursive(true).mode(0o700).create(path);
    created.map_err(|source| Error::folder(path, source))
}

fn write_private(path: &Path, text: &str) -> Result<(), Error> {
    let write = || -> io::Result<()> {
        let mut file = OpenOptions::new().create(true).truncate(true).write(true).mode(0o600).open(path)?;
        // The mode above applies to a new file only.
        file.set_permissions(std::fs::Permissions::from_mode(0o600))?;
        file.write_all(text.as_bytes())
    };
    write().map_err(|source| Error::folder(path, source))
}

fn sync_interval(sync: SyncInterval) -> String {
    match sync {
        SyncInterval::Always => "always".into(),
        SyncInterval::Every(interval) => format!("{}ms", interval.as_millis().max(1)),
    }
}

/// Returns the last 8 KiB of a text file.
fn tail(path: &Path) -> io::Result<String> {
    let mut file = File::open(path)?;
    let length = file.metadata()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(8 * 1024)))?;
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
