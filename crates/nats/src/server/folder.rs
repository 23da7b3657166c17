//! The folder of a private server: who owns it, and the files in it.

use std::fs::{DirBuilder, File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::json;
use tokio::time::sleep;

use super::address::{Address, USER};
use super::{Error, SyncInterval};

const CONFIG: &str = "nats.json";
const PID: &str = "nats.pid";

/// JetStream's own bound would be three quarters of what is free at start, which a nearly full disk makes useless
/// for ever; the disk itself is the bound.
const UNBOUNDED_STORE: u64 = 1 << 53;

/// A server's folder, locked for as long as this value lives.
#[derive(Debug)]
pub(super) struct Folder {
    root: PathBuf,
    lock: File,
}

impl Folder {
    /// Creates the folder where needed and becomes its owner.
    pub(super) async fn open(path: &Path) -> Result<Self, Error> {
        create_private(path)?;
        let root = path.canonicalize().map_err(|source| Error::folder(path, source))?;
        let lock = locked(&root).await?;
        Ok(Self { root, lock })
    }

    /// Becomes the owner again of a folder that was deleted under a running server.
    pub(super) async fn relock_if_deleted(&mut self) -> Result<(), Error> {
        if !self.root.join("lock").exists() {
            create_private(&self.root)?;
            self.lock = locked(&self.root).await?;
        }
        Ok(())
    }

    pub(super) fn root(&self) -> &Path {
        &self.root
    }

    pub(super) fn config(&self) -> PathBuf {
        config_in(&self.root)
    }

    /// Where JetStream keeps its streams.
    pub(super) fn store(&self) -> PathBuf {
        self.root.join("jetstream")
    }

    /// The address that the last server here had.
    pub(super) fn last_address(&self) -> Option<Address> {
        Address::parse(&std::fs::read_to_string(self.root.join("url")).ok()?)
    }

    /// Writes everything that a server needs to start; files with the password are for their owner alone.
    pub(super) fn prepare(&self, address: &Address, sync: SyncInterval) -> Result<(), Error> {
        create_private(&self.store())?;
        let log = self.log();
        let config = json!({
            "server_name": "loggia",
            "host": "127.0.0.1",
            "port": address.port(),
            "max_payload": 8 * 1024 * 1024,
            "pid_file": pid_file_in(&self.root),
            "log_file": log,
            "logfile_size_limit": 8 * 1024 * 1024,
            "logfile_max_num": 3,
            "jetstream": {
                "store_dir": self.root,
                "sync_interval": written(sync),
                "max_file_store": UNBOUNDED_STORE,
                "max_memory_store": 256 * 1024 * 1024,
            },
            "authorization": { "users": [{ "user": USER, "password": address.password() }] },
        });
        write_private(&self.config(), &format!("{config:#}\n"))?;
        write_private(&self.root.join("url"), &format!("{}\n", address.url()))
    }

    /// The file for what the server says before it has opened its log.
    pub(super) fn first_words(&self) -> Result<File, Error> {
        let path = self.stderr();
        File::create(&path).map_err(|source| Error::folder(&path, source))
    }

    /// The last complaint of process `pid`, and where to read on.
    pub(super) fn last_words(&self, pid: u32) -> String {
        let said = tail(&self.stderr()).unwrap_or_default();
        let logged = tail(&self.log()).unwrap_or_default();
        let ours = format!("[{pid}] ");
        let complaint = logged
            .lines()
            .rfind(|line| line.starts_with(&ours) && (line.contains(" [FTL] ") || line.contains(" [ERR] ")))
            .or_else(|| said.lines().rfind(|line| !line.trim().is_empty()))
            .unwrap_or("it gave no reason");
        format!("{}; its log is {}", complaint.trim(), self.log().display())
    }

    fn log(&self) -> PathBuf {
        self.root.join("nats.log")
    }

    fn stderr(&self) -> PathBuf {
        self.root.join("nats.stderr")
    }
}

pub(super) fn config_in(root: &Path) -> PathBuf {
    root.join(CONFIG)
}

pub(super) fn pid_file_in(root: &Path) -> PathBuf {
    root.join(PID)
}

/// Takes the lock, or says that another owner has it. A process that is just being started may hold a copy of the
/// lock's descriptor for a moment, so a taken lock is tried again for a second.
async fn locked(root: &Path) -> Result<File, Error> {
    for _ in 0..50 {
        if let Some(lock) = try_lock(root)? {
            return Ok(lock);
        }
        sleep(Duration::from_millis(20)).await;
    }
    Err(Error::InUse { folder: root.into() })
}

/// The lock of the folder, or `None` while another owner has it.
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
        // The mode above holds for a new file only.
        file.set_permissions(std::fs::Permissions::from_mode(0o600))?;
        file.write_all(text.as_bytes())
    };
    write().map_err(|source| Error::folder(path, source))
}

fn written(sync: SyncInterval) -> String {
    match sync {
        SyncInterval::Always => "always".into(),
        SyncInterval::Every(interval) => format!("{}ms", interval.as_millis().max(1)),
    }
}

/// The last 8 KiB of a text file.
fn tail(path: &Path) -> io::Result<String> {
    let mut file = File::open(path)?;
    let length = file.metadata()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(8 * 1024)))?;
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
