//! Calls that NATS could not count yet, on disk: one file a process, one line a call. A call is acknowledged once its
//! line is durable; lines of several calls share one write.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use schemas::usage::Call;
use tokio::sync::{mpsc, oneshot};

const ENDING: &str = "spool";
/// Calls that may wait for one write.
const QUEUE: usize = 4_096;
/// How much is read at once, in bytes.
const CHUNK: u64 = 64 * 1024;

/// The spool cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("calls cannot be kept in {} while NATS is away: {source}; make the folder writable", .folder.display())]
pub struct SpoolError {
    folder: PathBuf,
    #[source]
    source: io::Error,
}

/// A file of calls that this process holds.
#[derive(Debug)]
pub(super) struct Held {
    path: PathBuf,
    file: Mutex<File>,
    /// How much of it is durable.
    length: AtomicU64,
    /// How much of that is published.
    published: AtomicU64,
}

#[derive(Debug)]
pub(super) struct Spool {
    queue: mpsc::Sender<Waiting>,
    own: Arc<Held>,
    /// What processes left that are gone.
    left: Mutex<Vec<Arc<Held>>>,
    waiting: AtomicU64,
}

struct Waiting {
    line: Vec<u8>,
    durable: oneshot::Sender<io::Result<()>>,
}

impl Spool {
    /// Opens a file of this process's own in the folder, and takes over those of processes that are gone; gives their
    /// calls.
    pub(super) fn open(folder: &Path) -> Result<(Spool, Vec<Call>), SpoolError> {
        let fail = |source| SpoolError { folder: folder.to_owned(), source };
        let held = adopt(folder).map_err(fail)?;
        let mut calls = Vec::new();
        for held in &held {
            let mut from = 0;
            loop {
                let page = held.read(from).map_err(fail)?;
                if page.end == from {
                    break;
                }
                calls.extend(page.calls);
                from = page.end;
            }
        }
        let name = format!("{}.{ENDING}", uuid::Uuid::new_v4().simple());
        let own = Arc::new(Held::create(folder.join(name)).map_err(fail)?);
        let (queue, waiting) = mpsc::channel(QUEUE);
        // A thread of its own: it waits for the disk most of the time, and ends with the sender.
        let writer = own.clone();
        std::thread::Builder::new()
            .name("spool".into())
            .spawn(move || write_all(&writer, waiting))
            .map_err(fail)?;
        let spool = Spool {
            queue,
            own,
            left: Mutex::new(held.into_iter().map(Arc::new).collect()),
            waiting: AtomicU64::new(calls.len() as u64),
        };
        Ok((spool, calls))
    }

    /// Adds a call; it is durable once this returns.
    pub(super) async fn append(&self, call: &Call) -> io::Result<()> {
        let mut line = serde_json::to_vec(call).map_err(io::Error::other)?;
        line.push(b'\n');
        let (durable, told) = oneshot::channel();
        let gone = || io::Error::other("its writer has ended");
        self.waiting.fetch_add(1, Ordering::Relaxed);
        let written = match self.queue.send(Waiting { line, durable }).await {
            Ok(()) => told.await.unwrap_or_else(|_| Err(gone())),
            Err(_) => Err(gone()),
        };
        if written.is_err() {
            self.waiting.fetch_sub(1, Ordering::Relaxed);
        }
        written
    }

    /// Waits until the thread that writes is gone, which it is only after a panic while the spool is in use.
    pub(super) async fn writer_ended(&self) -> SpoolError {
        self.queue.closed().await;
        let folder = self.own.path.parent().unwrap_or(&self.own.path).to_owned();
        SpoolError { folder, source: io::Error::other("its writer has ended") }
    }

    /// How many calls wait in it.
    pub(super) fn waiting(&self) -> u64 {
        self.waiting.load(Ordering::Relaxed)
    }

    /// So many more calls of a file, which reach up to `end`, have been published.
    pub(super) fn published(&self, held: &Held, end: u64, calls: usize) {
        held.published.store(end, Ordering::Relaxed);
        self.waiting.fetch_sub(calls as u64, Ordering::Relaxed);
    }

    /// The files that may hold calls, those of others first.
    pub(super) fn files(&self) -> Vec<Arc<Held>> {
        let left = self.left.lock().unwrap_or_else(PoisonError::into_inner);
        left.iter().cloned().chain([self.own.clone()]).collect()
    }

    /// Drops what was published to the end: a file of another process goes, the own one is emptied unless there is
    /// more in it by now.
    pub(super) fn finished(&self, held: &Arc<Held>, end: u64) -> io::Result<bool> {
        if Arc::ptr_eq(held, &self.own) {
            return held.empty(end);
        }
        std::fs::remove_file(&held.path)?;
        self.left.lock().unwrap_or_else(PoisonError::into_inner).retain(|left| !Arc::ptr_eq(left, held));
        Ok(true)
    }
}

impl Drop for Spool {
    /// An empty file says nothing to the next process.
    fn drop(&mut self) {
        let _file = self.own.lock();
        if self.own.length.load(Ordering::Acquire) == 0 {
            let _ = std::fs::remove_file(&self.own.path);
        }
    }
}

/// Calls that stand side by side in a file, and where they end.
pub(super) struct Page {
    pub(super) calls: Vec<Call>,
    pub(super) end: u64,
}

impl Held {
    fn create(path: PathBuf) -> io::Result<Held> {
        let file = OpenOptions::new().read(true).write(true).create_new(true).open(&path)?;
        file.try_lock().map_err(io::Error::from)?;
        Ok(Held { path, file: Mutex::new(file), length: AtomicU64::new(0), published: AtomicU64::new(0) })
    }

    /// Where what is not published begins.
    pub(super) fn unpublished(&self) -> u64 {
        self.published.load(Ordering::Relaxed)
    }

    /// Calls from an offset on, of which some kilobytes are read. A line that was cut off by a crash was never
    /// acknowledged and is passed over with the rest of the file.
    pub(super) fn read(&self, from: u64) -> io::Result<Page> {
        let durable = self.length.load(Ordering::Acquire);
        let mut bytes = Vec::new();
        if from < durable {
            let mut file = self.lock();
            file.seek(SeekFrom::Start(from))?;
            (&mut *file).take(CHUNK.min(durable - from)).read_to_end(&mut bytes)?;
        }
        let (mut calls, mut end) = (Vec::new(), from);
        for line in bytes.split_inclusive(|byte| *byte == b'\n') {
            if line.last() != Some(&b'\n') {
                break;
            }
            end += line.len() as u64;
            match serde_json::from_slice(line) {
                Ok(call) => calls.push(call),
                Err(error) => {
                    tracing::error!(%error, file = %self.path.display(), "a line of the spool is unreadable");
                }
            }
        }
        Ok(Page { calls, end })
    }

    fn append(&self, lines: &[u8]) -> io::Result<()> {
        let mut file = self.lock();
        let length = self.length.load(Ordering::Acquire);
        file.seek(SeekFrom::Start(length))?;
        let written = file.write_all(lines).and_then(|()| file.sync_data());
        match written {
            Ok(()) => self.length.store(length + lines.len() as u64, Ordering::Release),
            // Half a batch must not stand before the next one.
            Err(_) => file.set_len(length)?,
        }
        written
    }

    fn empty(&self, end: u64) -> io::Result<bool> {
        let file = self.lock();
        if self.length.load(Ordering::Acquire) != end {
            return Ok(false);
        }
        file.set_len(0)?;
        file.sync_data()?;
        self.length.store(0, Ordering::Release);
        self.published.store(0, Ordering::Relaxed);
        Ok(true)
    }

    fn lock(&self) -> MutexGuard<'_, File> {
        self.file.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Takes the files over that no process holds.
fn adopt(folder: &Path) -> io::Result<Vec<Held>> {
    std::fs::create_dir_all(folder)?;
    let mut held = Vec::new();
    for there in std::fs::read_dir(folder)? {
        let path = there?.path();
        if path.extension().is_none_or(|ending| ending != ENDING) {
            continue;
        }
        let file = match OpenOptions::new().read(true).write(true).open(&path) {
            Ok(file) => file,
            // Its process has just emptied and removed it.
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            Err(error) => return Err(error),
        };
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => continue,
            Err(TryLockError::Error(error)) => return Err(error),
        }
        let length = file.metadata()?.len();
        if length == 0 {
            std::fs::remove_file(&path)?;
        } else {
            held.push(Held {
                path,
                file: Mutex::new(file),
                length: AtomicU64::new(length),
                published: AtomicU64::new(0),
            });
        }
    }
    Ok(held)
}

/// Writes what waits, in as few writes as there can be, until nobody can add any more.
fn write_all(held: &Held, mut queue: mpsc::Receiver<Waiting>) {
    while let Some(first) = queue.blocking_recv() {
        let (mut lines, mut told) = (first.line, vec![first.durable]);
        while let Ok(next) = queue.try_recv() {
            lines.extend(next.line);
            told.push(next.durable);
        }
        let written = held.append(&lines);
        for durable in told {
            let outcome = match &written {
                Ok(()) => Ok(()),
                Err(error) => Err(io::Error::new(error.kind(), error.to_string())),
            };
            // Who asked may have gone; the line stays.
            let _ = durable.send(outcome);
        }
    }
}

#[cfg(test)]
mod tests;
