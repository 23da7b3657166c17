//! A file of the spool that this process has locked.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, BufRead, BufReader};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use schemas::tier::TierName;

use super::line::{Spooled, parse};

const ENDING: &str = "spool";
/// The number of bytes read at once.
const CHUNK: u64 = 1024 * 1024;

/// A file with one line a call. Its name contains the tier of its calls; files of version 0.1 contain all tiers.
#[derive(Debug)]
pub(crate) struct SpoolFile {
    pub(crate) path: PathBuf,
    pub(crate) tier: Option<TierName>,
    /// Whether another process wrote it and may have published some of its calls.
    pub(crate) is_adopted: bool,
    file: File,
    /// Held while the end of the file moves.
    moving: Mutex<()>,
    /// The durable length in bytes.
    length: AtomicU64,
    /// The published length in bytes.
    published: AtomicU64,
    /// Whether a failed write may have left bytes after its end.
    is_closed: AtomicBool,
}

/// Consecutive lines of a file, and their end.
#[derive(Debug)]
pub(crate) struct Page {
    /// Calls, or lines that cannot be read.
    pub(crate) lines: Vec<Result<Spooled, Vec<u8>>>,
    pub(crate) end: u64,
}

impl SpoolFile {
    /// Creates a file for the calls of a tier. The file is durable, and no other process holds it.
    pub(super) fn create(folder: &Path, tier: &TierName) -> io::Result<SpoolFile> {
        loop {
            let path = folder.join(format!("{}.{tier}.{ENDING}", uuid::Uuid::new_v4().simple()));
            let file = OpenOptions::new().read(true).write(true).create_new(true).open(&path)?;
            // Another process may adopt, or remove as empty, a file that is not locked yet.
            match file.try_lock() {
                Ok(()) if file.metadata()?.nlink() > 0 => {}
                Ok(()) | Err(TryLockError::WouldBlock) => continue,
                Err(TryLockError::Error(error)) => return Err(error),
            }
            File::open(folder)?.sync_all()?;
            return Ok(SpoolFile::new(path, file, Some(tier.clone()), 0));
        }
    }

    fn new(path: PathBuf, file: File, tier: Option<TierName>, length: u64) -> SpoolFile {
        SpoolFile {
            path,
            tier,
            is_adopted: length > 0,
            file,
            moving: Mutex::default(),
            length: AtomicU64::new(length),
            published: AtomicU64::new(0),
            is_closed: AtomicBool::new(false),
        }
    }

    /// Returns the durable length in bytes.
    pub(super) fn length(&self) -> u64 {
        self.length.load(Ordering::Acquire)
    }

    /// Returns whether it is full.
    pub(super) fn is_closed(&self) -> bool {
        self.is_closed.load(Ordering::Relaxed)
    }

    /// Returns the offset of the first unpublished line.
    pub(crate) fn unpublished(&self) -> u64 {
        self.published.load(Ordering::Relaxed)
    }

    pub(super) fn set_published(&self, end: u64) {
        self.published.store(end, Ordering::Relaxed);
    }

    /// Reads about a megabyte of lines from an offset. A line that a crash cut off was never acknowledged and is skipped with the rest
    /// of the file.
    pub(crate) fn read(&self, from: u64) -> io::Result<Page> {
        let left = self.length().saturating_sub(from);
        let wanted = usize::try_from(left.min(CHUNK)).unwrap_or_default();
        let mut bytes = vec![0; wanted];
        self.file.read_exact_at(&mut bytes, from)?;
        let (mut lines, mut end) = (Vec::new(), from);
        for line in bytes.split_inclusive(|byte| *byte == b'\n') {
            match line.strip_suffix(b"\n") {
                Some(whole) => lines.push(parse(whole)),
                // No line is that long: this part is damaged, and lines after it may be intact.
                None if end == from && left > CHUNK => lines.push(Err(line.to_owned())),
                None => break,
            }
            end += line.len() as u64;
        }
        Ok(Page { lines, end })
    }

    /// Appends whole lines; they are durable when this returns. After an error none of them is in the file.
    pub(super) fn append(&self, lines: &[u8]) -> io::Result<()> {
        let _moving = self.moving.lock().unwrap_or_else(PoisonError::into_inner);
        let length = self.length();
        let written = self.file.write_all_at(lines, length).and_then(|()| self.file.sync_data());
        match written {
            Ok(()) => self.length.store(length + lines.len() as u64, Ordering::Release),
            Err(_) => {
                let is_cut = self.file.set_len(length).and_then(|()| self.file.sync_data()).is_ok();
                self.is_closed.store(!is_cut, Ordering::Relaxed);
            }
        }
        written
    }

    /// Truncates it, unless it is longer than `end` by now; returns whether it did.
    pub(super) fn empty(&self, end: u64) -> io::Result<bool> {
        let _moving = self.moving.lock().unwrap_or_else(PoisonError::into_inner);
        if self.length() != end {
            return Ok(false);
        }
        self.file.set_len(0)?;
        // Empty from here on, even if that is not durable: lines that a crash restores are published again, which is harmless.
        self.length.store(0, Ordering::Release);
        self.set_published(0);
        self.file.sync_data()?;
        Ok(true)
    }

    /// Removes it.
    pub(super) fn remove(&self) -> io::Result<()> {
        remove(&self.path)
    }
}

/// Counts the lines of the files that no process holds.
pub(super) fn abandoned_lines(folder: &Path) -> io::Result<u64> {
    let entries = match std::fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(0),
        Err(error) => return Err(error),
    };
    let mut lines = 0;
    for entry in entries {
        let path = entry?.path();
        if path.extension().is_none_or(|ending| ending != ENDING) {
            continue;
        }
        let file = match File::open(&path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            Err(error) => return Err(error),
        };
        match file.try_lock_shared() {
            // Released at once: a process that starts meanwhile adopts only files that it can lock.
            Ok(()) => file.unlock()?,
            Err(TryLockError::WouldBlock) => continue,
            Err(TryLockError::Error(error)) => return Err(error),
        }
        lines += count_lines(BufReader::with_capacity(1 << 20, file))?;
    }
    Ok(lines)
}

fn count_lines(mut file: impl BufRead) -> io::Result<u64> {
    let mut lines = 0;
    loop {
        let bytes = file.fill_buf()?;
        if bytes.is_empty() {
            return Ok(lines);
        }
        lines += bytes.iter().filter(|byte| **byte == b'\n').count() as u64;
        let read = bytes.len();
        file.consume(read);
    }
}

/// Adopts the files that no process holds.
pub(super) fn adopt(folder: &Path) -> io::Result<Vec<SpoolFile>> {
    let mut adopted = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.extension().is_none_or(|ending| ending != ENDING) {
            continue;
        }
        let file = match OpenOptions::new().read(true).write(true).open(&path) {
            Ok(file) => file,
            // Its owner has just emptied and removed it.
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            Err(error) => return Err(error),
        };
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => continue,
            Err(TryLockError::Error(error)) => return Err(error),
        }
        let metadata = file.metadata()?;
        if metadata.nlink() == 0 {
            continue;
        }
        if metadata.len() == 0 {
            remove(&path)?;
        } else {
            let tier = tier_of(&path);
            adopted.push(SpoolFile::new(path, file, tier, metadata.len()));
        }
    }
    Ok(adopted)
}

/// Returns the tier in a file's name.
fn tier_of(path: &Path) -> Option<TierName> {
    path.file_stem()?.to_str()?.split_once('.')?.1.parse().ok()
}

/// Removes a file that another process may have removed already.
fn remove(path: &Path) -> io::Result<()> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}
