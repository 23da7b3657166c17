//! Calls that NATS could not count yet, on disk: one line a call, in files of one tier each, so that the stream of one
//! tier holds up no call of another. A call is acknowledged once its line is durable; lines of several calls share one
//! write. All writing is done by a thread of its own, which also does the accounting: a request that is dropped while
//! it waits leaves nothing half done.

mod file;
mod line;

use std::collections::{BTreeMap, HashMap};
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use schemas::tier::TierName;
use schemas::usage::Call;
use tokio::sync::{mpsc, oneshot, watch};

use super::Budget;
use super::unconfirmed::Reservation;
pub(super) use file::{Page, SpoolFile};
pub(super) use line::Spooled;

/// The maximum number of calls that wait for a write.
const QUEUE: usize = 4_096;
/// The size in bytes from which a file is full. It is deleted once it is published.
const LONGEST: u64 = 64 << 20;

/// The spool cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("calls cannot be kept in {} while NATS is unreachable: {source}; make the folder writable", .folder.display())]
pub struct SpoolError {
    folder: PathBuf,
    #[source]
    source: io::Error,
}

/// Counts the calls in the files of a folder that no process holds. A killed process may have published some of them before it
/// emptied its file; the process that adopts the file finds out.
///
/// # Errors
///
/// If the folder or a file in it cannot be read. A folder that does not exist has no calls.
pub fn abandoned_calls(folder: &Path) -> Result<u64, SpoolError> {
    file::abandoned_lines(folder).map_err(|source| SpoolError { folder: folder.to_owned(), source })
}

/// The calls of processes that have ended, by budget.
pub(super) type AdoptedCalls = HashMap<Budget, u64>;

#[derive(Debug)]
pub(super) struct Spool {
    /// `None` only during the drop.
    queue: Option<mpsc::Sender<Entry>>,
    writer: Option<JoinHandle<()>>,
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    folder: PathBuf,
    /// The maximum size of the files in bytes; calls of unknown outcome may exceed it.
    limit: u64,
    files: Mutex<Files>,
    /// The file for lines that cannot be published.
    set_aside: Mutex<Option<(PathBuf, File)>>,
    /// The number of unpublished lines.
    waiting: watch::Sender<u64>,
}

#[derive(Debug, Default)]
struct Files {
    /// The files that are appended to.
    own: HashMap<TierName, Arc<SpoolFile>>,
    /// Full files and those of processes that have ended.
    left: Vec<Arc<SpoolFile>>,
}

/// A line that waits to be written.
#[derive(Debug)]
struct Entry {
    tier: TierName,
    line: Vec<u8>,
    reservation: Reservation,
    durable: oneshot::Sender<io::Result<()>>,
}

impl Spool {
    /// Adopts the files of processes that have ended, and counts their calls.
    pub(super) fn open(folder: &Path, limit: u64) -> Result<(Spool, AdoptedCalls), SpoolError> {
        let fail = |source| SpoolError { folder: folder.to_owned(), source };
        std::fs::create_dir_all(folder).and_then(|()| check_writable(folder)).map_err(fail)?;
        let (mut left, mut counts, mut waiting) = (Vec::new(), AdoptedCalls::new(), 0);
        for file in file::adopt(folder).map_err(fail)? {
            match count(&file, &mut counts).map_err(fail)? {
                0 => file.remove().map_err(fail)?,
                lines => {
                    waiting += lines;
                    left.push(Arc::new(file));
                }
            }
        }
        let shared = Arc::new(Shared {
            folder: folder.to_owned(),
            limit,
            files: Mutex::new(Files { left, ..Files::default() }),
            set_aside: Mutex::default(),
            waiting: watch::Sender::new(waiting),
        });
        let (queue, entries) = mpsc::channel(QUEUE);
        let writing = shared.clone();
        let writer = std::thread::Builder::new()
            .name("spool".into())
            .spawn(move || writing.write_all(entries))
            .map_err(fail)?;
        Ok((Spool { queue: Some(queue), writer: Some(writer), shared }, counts))
    }

    /// Adds a call; it is durable when this returns, and its reservation is kept. A call that was never published (`is_unsent`) is
    /// refused if the spool is full.
    pub(super) async fn append(
        &self,
        call: &Call,
        is_unsent: bool,
        reservation: Reservation,
    ) -> io::Result<()> {
        if is_unsent {
            let (used, limit) = (self.shared.used(), self.shared.limit);
            if used >= limit {
                let reason = format!("it holds {used} bytes, and the setting spool_limit allows {limit}");
                return Err(io::Error::other(reason));
            }
        }
        let gone = || io::Error::other("its writer has ended");
        let line = line::encode(call, is_unsent)?;
        let (durable, written) = oneshot::channel();
        let entry = Entry { tier: call.tier.clone(), line, reservation, durable };
        let queue = self.queue.as_ref().ok_or_else(gone)?;
        queue.send(entry).await.map_err(|_| gone())?;
        written.await.unwrap_or_else(|_| Err(gone()))
    }

    /// Waits until the writing thread has ended, which happens only after a panic while the spool is in use.
    pub(super) async fn writer_ended(&self) -> SpoolError {
        if let Some(queue) = &self.queue {
            queue.closed().await;
        }
        SpoolError { folder: self.shared.folder.clone(), source: io::Error::other("its writer has ended") }
    }

    /// Returns the number of calls in it.
    pub(super) fn waiting(&self) -> u64 {
        *self.shared.waiting.borrow()
    }

    /// Returns a receiver of that number.
    pub(super) fn watch(&self) -> watch::Receiver<u64> {
        self.shared.waiting.subscribe()
    }

    /// Returns the size of its files in bytes.
    pub(super) fn bytes(&self) -> u64 {
        self.shared.used()
    }

    /// Returns whether it contains calls of a tier.
    pub(super) fn holds(&self, tier: &TierName) -> bool {
        let files = self.shared.files();
        let mut all = files.left.iter().chain(files.own.values());
        all.any(|file| file.tier.as_ref().is_none_or(|of| of == tier) && file.unpublished() < file.length())
    }

    /// Returns the files with calls by tier, oldest first; `None` stands for files with calls of several tiers.
    pub(super) fn lanes(&self) -> BTreeMap<Option<TierName>, Vec<Arc<SpoolFile>>> {
        let files = self.shared.files();
        let mut lanes = BTreeMap::<_, Vec<_>>::new();
        // An empty one of the other files was full and was emptied while lines were still added to it: it is removed.
        for file in files.left.iter().chain(files.own.values().filter(|file| file.length() > 0)) {
            lanes.entry(file.tier.clone()).or_default().push(file.clone());
        }
        lanes
    }

    /// Records that this many further lines of a file, up to `end`, are published or set aside.
    pub(super) fn published(&self, file: &SpoolFile, end: u64, lines: usize) {
        file.set_published(end);
        self.shared.waiting.send_modify(|waiting| *waiting -= lines as u64);
    }

    /// Drops a file that is published up to `end`; returns `false` if it has more lines by now. Blocks on the disk.
    pub(super) fn finished(&self, file: &Arc<SpoolFile>, end: u64) -> io::Result<bool> {
        let is_own = self.shared.files().own.values().any(|own| Arc::ptr_eq(own, file));
        if is_own {
            return file.empty(end);
        }
        // After the end of an adopted file is at most a line that a crash cut off, which was never acknowledged.
        if !file.is_adopted && file.length() != end {
            return Ok(false);
        }
        file.remove()?;
        self.shared.files().left.retain(|left| !Arc::ptr_eq(left, file));
        Ok(true)
    }

    /// Moves lines that cannot be published to a file beside the spool, which is not read again, and returns its path. Blocks on
    /// the disk.
    pub(super) fn set_aside(&self, lines: &[u8]) -> io::Result<PathBuf> {
        let mut set_aside = self.shared.set_aside.lock().unwrap_or_else(PoisonError::into_inner);
        let (path, file) = match &mut *set_aside {
            Some(there) => there,
            none => {
                let name = format!("{}.stuck", uuid::Uuid::new_v4().simple());
                let path = self.shared.folder.join(name);
                let file = OpenOptions::new().append(true).create_new(true).open(&path)?;
                File::open(&self.shared.folder)?.sync_all()?;
                none.insert((path, file))
            }
        };
        file.write_all(lines)?;
        file.sync_data()?;
        Ok(path.clone())
    }
}

impl Drop for Spool {
    /// Waits for the writer, so that the files are released.
    fn drop(&mut self) {
        drop(self.queue.take());
        if let Some(writer) = self.writer.take() {
            // The caller that waited for a line has seen its panic.
            let _ = writer.join();
        }
    }
}

impl Shared {
    fn files(&self) -> MutexGuard<'_, Files> {
        self.files.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The size of the files in bytes.
    fn used(&self) -> u64 {
        let files = self.files();
        files.left.iter().chain(files.own.values()).map(|file| file.length()).sum()
    }

    /// Writes waiting lines in as few writes as possible, until the queue is closed.
    fn write_all(&self, mut queue: mpsc::Receiver<Entry>) {
        while let Some(first) = queue.blocking_recv() {
            let more = std::iter::from_fn(|| queue.try_recv().ok()).take(QUEUE);
            let mut batches = BTreeMap::<TierName, Vec<Entry>>::new();
            for entry in std::iter::once(first).chain(more) {
                batches.entry(entry.tier.clone()).or_default().push(entry);
            }
            for (tier, batch) in batches {
                self.write(&tier, batch);
            }
        }
        // The next process would ignore an empty file.
        for file in self.files().own.values().filter(|file| file.length() == 0) {
            let _ = file.remove();
        }
    }

    fn write(&self, tier: &TierName, batch: Vec<Entry>) {
        let lines: Vec<u8> = batch.iter().flat_map(|entry| entry.line.iter().copied()).collect();
        // Counted before they can be read, so that the number is never too low.
        self.waiting.send_modify(|waiting| *waiting += batch.len() as u64);
        let written = self.file_of(tier).and_then(|file| file.append(&lines));
        if written.is_err() {
            self.waiting.send_modify(|waiting| *waiting -= batch.len() as u64);
        }
        for Entry { reservation, durable, .. } in batch {
            // The request may have been dropped; its line stays and its call counts.
            let _ = match &written {
                Ok(()) => {
                    reservation.keep();
                    durable.send(Ok(()))
                }
                Err(error) => durable.send(Err(io::Error::new(error.kind(), error.to_string()))),
            };
        }
    }

    /// Returns the file to which calls of a tier are appended.
    fn file_of(&self, tier: &TierName) -> io::Result<Arc<SpoolFile>> {
        let mut files = self.files();
        if let Some(file) = files.own.get(tier) {
            if file.length() < LONGEST && !file.is_closed() {
                return Ok(file.clone());
            }
            let full = file.clone();
            files.left.push(full);
            files.own.remove(tier);
        }
        let file = Arc::new(SpoolFile::create(&self.folder, tier)?);
        files.own.insert(tier.clone(), file.clone());
        Ok(file)
    }
}

/// Counts the calls of a file by budget, reading it in pieces; returns the number of lines.
fn count(file: &SpoolFile, counts: &mut AdoptedCalls) -> io::Result<u64> {
    let (mut lines, mut from) = (0, 0);
    loop {
        let page = file.read(from)?;
        if page.end == from {
            return Ok(lines);
        }
        lines += page.lines.len() as u64;
        from = page.end;
        for spooled in page.lines.iter().flatten() {
            *counts.entry(Budget::of(&spooled.call)).or_default() += 1;
        }
    }
}

fn check_writable(folder: &Path) -> io::Result<()> {
    let path = folder.join(format!("{}.probe", uuid::Uuid::new_v4().simple()));
    File::create_new(&path)?;
    std::fs::remove_file(&path)
}

#[cfg(test)]
mod tests;
