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
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use schemas::tier::TierName;
use schemas::usage::Call;
use tokio::sync::{mpsc, oneshot};

use super::Budget;
use super::unconfirmed::Reservation;
pub(super) use file::{Page, SpoolFile};
pub(super) use line::Spooled;

/// Calls that may wait for one write.
const QUEUE: usize = 4_096;
/// A file that is longer takes no more lines, in bytes. It is deleted once it is published.
const LONGEST: u64 = 64 << 20;

/// The spool cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("calls cannot be kept in {} while NATS is away: {source}; make the folder writable", .folder.display())]
pub struct SpoolError {
    folder: PathBuf,
    #[source]
    source: io::Error,
}

/// Returns how many calls wait in a folder that no process holds any more. A process that was killed may have published
/// some of them before it could empty its file; the next one finds that out.
///
/// # Errors
///
/// Fails if the folder or a file in it cannot be read. A folder that does not exist holds none.
pub fn abandoned_calls(folder: &Path) -> Result<u64, SpoolError> {
    file::abandoned_lines(folder).map_err(|source| SpoolError { folder: folder.to_owned(), source })
}

/// The calls of processes that are gone, by budget.
pub(super) type Left = HashMap<Budget, u64>;

#[derive(Debug)]
pub(super) struct Spool {
    /// `None` only while it is dropped.
    queue: Option<mpsc::Sender<Entry>>,
    writer: Option<JoinHandle<()>>,
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    folder: PathBuf,
    /// The most bytes that the files may take, but for calls that NATS may have counted.
    limit: u64,
    files: Mutex<Files>,
    /// Where lines go that cannot be published.
    set_aside: Mutex<Option<(PathBuf, File)>>,
    /// Lines that are not published.
    waiting: AtomicU64,
}

#[derive(Debug, Default)]
struct Files {
    /// Those that lines are added to.
    own: HashMap<TierName, Arc<SpoolFile>>,
    /// Those of processes that are gone, and full ones.
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
    /// Takes over the files of processes that are gone, and counts their calls.
    pub(super) fn open(folder: &Path, limit: u64) -> Result<(Spool, Left), SpoolError> {
        let fail = |source| SpoolError { folder: folder.to_owned(), source };
        std::fs::create_dir_all(folder).and_then(|()| check_writable(folder)).map_err(fail)?;
        let (mut left, mut counts, mut waiting) = (Vec::new(), Left::new(), 0);
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
            waiting: AtomicU64::new(waiting),
        });
        let (queue, entries) = mpsc::channel(QUEUE);
        let writing = shared.clone();
        let writer = std::thread::Builder::new()
            .name("spool".into())
            .spawn(move || writing.write_all(entries))
            .map_err(fail)?;
        Ok((Spool { queue: Some(queue), writer: Some(writer), shared }, counts))
    }

    /// Adds a call; it is durable once this returns, and its reservation is kept. A call that was never published
    /// (`is_unsent`) is refused where the spool is full.
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
        let (durable, told) = oneshot::channel();
        let entry = Entry { tier: call.tier.clone(), line, reservation, durable };
        let queue = self.queue.as_ref().ok_or_else(gone)?;
        queue.send(entry).await.map_err(|_| gone())?;
        told.await.unwrap_or_else(|_| Err(gone()))
    }

    /// Waits until the thread that writes is gone, which it is only after a panic while the spool is in use.
    pub(super) async fn writer_ended(&self) -> SpoolError {
        if let Some(queue) = &self.queue {
            queue.closed().await;
        }
        SpoolError { folder: self.shared.folder.clone(), source: io::Error::other("its writer has ended") }
    }

    /// Returns how many calls wait in it.
    pub(super) fn waiting(&self) -> u64 {
        self.shared.waiting.load(Ordering::Relaxed)
    }

    /// Returns how many bytes its files take.
    pub(super) fn bytes(&self) -> u64 {
        self.shared.used()
    }

    /// Returns whether calls of a tier wait in it.
    pub(super) fn holds(&self, tier: &TierName) -> bool {
        let files = self.shared.files();
        let mut all = files.left.iter().chain(files.own.values());
        all.any(|file| file.tier.as_ref().is_none_or(|of| of == tier) && file.unpublished() < file.length())
    }

    /// Returns the files that hold calls by tier, the oldest first; `None` are those with calls of several tiers.
    pub(super) fn lanes(&self) -> BTreeMap<Option<TierName>, Vec<Arc<SpoolFile>>> {
        let files = self.shared.files();
        let mut lanes = BTreeMap::<_, Vec<_>>::new();
        // An empty one of those left is full and was emptied while lines were still added to it: it only has to go.
        for file in files.left.iter().chain(files.own.values().filter(|file| file.length() > 0)) {
            lanes.entry(file.tier.clone()).or_default().push(file.clone());
        }
        lanes
    }

    /// Notes that so many more lines of a file, which reach up to `end`, are published or set aside.
    pub(super) fn published(&self, file: &SpoolFile, end: u64, lines: usize) {
        file.set_published(end);
        self.shared.waiting.fetch_sub(lines as u64, Ordering::Relaxed);
    }

    /// Drops a file that is published up to `end`; returns false where there is more in it by now. Waits for the disk.
    pub(super) fn finished(&self, file: &Arc<SpoolFile>, end: u64) -> io::Result<bool> {
        let is_own = self.shared.files().own.values().any(|own| Arc::ptr_eq(own, file));
        if is_own {
            return file.empty(end);
        }
        // Behind the end of an adopted file is at most what a crash cut off, which was never acknowledged.
        if !file.is_adopted && file.length() != end {
            return Ok(false);
        }
        file.remove()?;
        self.shared.files().left.retain(|left| !Arc::ptr_eq(left, file));
        Ok(true)
    }

    /// Keeps lines that cannot be published in a file beside the spool, which is not read again, and returns its path.
    /// Waits for the disk.
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
    /// Lets the writer finish, so that the files are no longer held afterwards.
    fn drop(&mut self) {
        drop(self.queue.take());
        if let Some(writer) = self.writer.take() {
            // A panic of it was seen by whoever waited for a line.
            let _ = writer.join();
        }
    }
}

impl Shared {
    fn files(&self) -> MutexGuard<'_, Files> {
        self.files.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Bytes that the files take.
    fn used(&self) -> u64 {
        let files = self.files();
        files.left.iter().chain(files.own.values()).map(|file| file.length()).sum()
    }

    /// Writes what waits, in as few writes as there can be, until nothing can be added any more.
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
        // An empty file says nothing to the next process.
        for file in self.files().own.values().filter(|file| file.length() == 0) {
            let _ = file.remove();
        }
    }

    fn write(&self, tier: &TierName, batch: Vec<Entry>) {
        let lines: Vec<u8> = batch.iter().flat_map(|entry| entry.line.iter().copied()).collect();
        // Counted before they can be read, so that the number never falls below what is there.
        self.waiting.fetch_add(batch.len() as u64, Ordering::Relaxed);
        let written = self.file_of(tier).and_then(|file| file.append(&lines));
        if written.is_err() {
            self.waiting.fetch_sub(batch.len() as u64, Ordering::Relaxed);
        }
        for Entry { reservation, durable, .. } in batch {
            // The request may have been dropped; the line stays, and its call counts.
            let _ = match &written {
                Ok(()) => {
                    reservation.keep();
                    durable.send(Ok(()))
                }
                Err(error) => durable.send(Err(io::Error::new(error.kind(), error.to_string()))),
            };
        }
    }

    /// The file that calls of a tier are added to.
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

/// Counts the calls of a file by budget, a piece of it in memory at a time; returns how many lines it has.
fn count(file: &SpoolFile, counts: &mut Left) -> io::Result<u64> {
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
