//! A lock file that one process at a time holds, and a second file in which that process announces how it is reached.

use std::fs::{self, File};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

/// How long another process holds a lock only to see whether it is free; many times what that takes.
const PROBE: Duration = Duration::from_millis(500);

/// How often a lock is checked while it is waited for.
const INTERVAL: Duration = Duration::from_millis(50);

/// The lock file and the announcement of a process. Both are in a folder that exists.
#[derive(Debug, Clone)]
pub struct ProcessLock {
    lock: PathBuf,
    announcement: PathBuf,
}

/// The lock, held by this process until it is dropped.
#[derive(Debug)]
pub struct LockGuard {
    _lock: File,
}

impl ProcessLock {
    /// Returns the lock with these two files; nothing is created yet.
    pub fn new(lock: PathBuf, announcement: PathBuf) -> ProcessLock {
        ProcessLock { lock, announcement }
    }

    /// Takes the lock, and removes the announcement of an earlier process that was killed; `None` if another process holds the
    /// lock.
    ///
    /// # Errors
    ///
    /// Fails if the lock file cannot be written.
    pub fn acquire(&self) -> io::Result<Option<LockGuard>> {
        let lock = File::create(&self.lock)?;
        if !locks(&lock) {
            return Ok(None);
        }
        self.withdraw();
        Ok(Some(LockGuard { _lock: lock }))
    }

    /// Returns the path of the lock file.
    pub fn path(&self) -> &Path {
        &self.lock
    }

    /// Returns whether a process holds the lock.
    pub fn is_held(&self) -> bool {
        File::open(&self.lock).is_ok_and(|lock| lock.try_lock_shared().is_err())
    }

    /// Writes the announcement of the process that holds the lock. Others never read half of it, and only the owner can read it.
    ///
    /// # Errors
    ///
    /// Fails if the file cannot be written.
    pub fn announce(&self, text: &str) -> io::Result<()> {
        write_private(&self.announcement, text.as_bytes())
    }

    /// Removes the announcement.
    pub fn withdraw(&self) {
        let _ = fs::remove_file(&self.announcement);
    }

    /// Returns the announcement of the process that holds the lock; `None` if none does, or it has not announced itself yet.
    pub fn announced(&self) -> Option<String> {
        let text = fs::read_to_string(&self.announcement).ok()?;
        // The announcement of a process that was killed is still there, but its lock is free.
        self.is_held().then_some(text)
    }

    /// Returns the announcement as [`ProcessLock::announced`] does; waits for a process that holds the lock and has not announced
    /// itself yet, but at most for `time_limit`.
    pub async fn announced_within(&self, time_limit: Duration) -> Option<String> {
        let begun = Instant::now();
        loop {
            let announced = self.announced();
            if announced.is_some() || !self.is_held() || begun.elapsed() >= time_limit {
                return announced;
            }
            tokio::time::sleep(INTERVAL).await;
        }
    }

    /// Returns when the announcement was written.
    pub fn announced_at(&self) -> Option<SystemTime> {
        fs::metadata(&self.announcement).ok()?.modified().ok()
    }
}

/// Returns whether this process has the lock now. Another process that only checks the lock holds it for a moment, so a lock that
/// is taken is tried again for half a second.
fn locks(lock: &File) -> bool {
    let begun = Instant::now();
    while lock.try_lock().is_err() {
        if begun.elapsed() >= PROBE {
            return false;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    true
}

/// Writes a file that only its owner can read, and replaces the file of this name by a rename.
///
/// # Errors
///
/// Fails if the file cannot be written.
pub fn write_private(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut new = path.as_os_str().to_owned();
    new.push(".new");
    let mut file = File::options().write(true).create(true).truncate(true).mode(0o600).open(&new)?;
    file.write_all(bytes)?;
    fs::rename(&new, path)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lock_in(folder: &tempfile::TempDir) -> ProcessLock {
        ProcessLock::new(folder.path().join("write.lock"), folder.path().join("write.json"))
    }

    #[test]
    fn one_process_holds_the_lock_and_its_announcement_ends_with_it() {
        let folder = tempfile::tempdir().unwrap();
        let lock = lock_in(&folder);
        assert!(!lock.is_held() && lock.announced().is_none());
        let held = lock.acquire().unwrap().unwrap();
        assert_eq!(lock.announced(), None);
        lock.announce("7").unwrap();
        assert!(lock.acquire().unwrap().is_none());
        assert_eq!(lock.announced().as_deref(), Some("7"));
        drop(held);
        assert_eq!(lock.announced(), None, "the announcement of a dead process does not count");
        let _held = lock.acquire().unwrap().unwrap();
        assert_eq!(lock.announced(), None, "it is removed by the next process");
    }

    #[tokio::test]
    async fn a_process_that_starts_is_waited_for() {
        let folder = tempfile::tempdir().unwrap();
        let lock = lock_in(&folder);
        let time_limit = Duration::from_secs(120);
        assert_eq!(lock.announced_within(time_limit).await, None, "no process starts");
        let held = lock.acquire().unwrap().unwrap();
        let starting = async {
            tokio::time::sleep(Duration::from_millis(200)).await;
            lock.announce("7").unwrap();
        };
        let (announced, ()) = tokio::join!(lock.announced_within(time_limit), starting);
        assert_eq!(announced.as_deref(), Some("7"));
        drop(held);
        assert_eq!(lock.announced_within(time_limit).await, None, "it has ended");
    }

    #[test]
    fn a_check_of_the_lock_keeps_no_process_from_starting() {
        let folder = tempfile::tempdir().unwrap();
        let lock = lock_in(&folder);
        drop(lock.acquire().unwrap().unwrap());
        let checking = File::open(lock.path()).unwrap();
        checking.try_lock_shared().unwrap();
        let checked = std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(50));
            drop(checking);
        });
        assert!(lock.acquire().unwrap().is_some());
        checked.join().unwrap();
    }
}
