//! Detects that a database was written since it was last read: two system calls instead of a query, for readers that poll
//! many times a second a file that rarely changes.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use crate::journal_files;

/// Files are read again for this long after their stamps last changed: some file systems have coarse timestamps, and two
/// commits may share one.
const COARSEST_TIMESTAMP: Duration = Duration::from_millis(200);

/// Size and time of a file; `None` if it is absent.
type FileStamp = Option<(u64, SystemTime)>;

/// Keeps the stamps that the files of a database had when they were last read.
#[derive(Debug)]
pub struct ChangeDetector {
    files: [PathBuf; 2],
    last_read: Mutex<Option<FileStamps>>,
}

/// The stamps of a database's files before they are read.
#[derive(Debug, Clone, Copy)]
pub struct FileStamps {
    stamps: [FileStamp; 2],
    /// When the files were first seen with these stamps.
    since: Instant,
}

impl ChangeDetector {
    /// Returns the detector of a database in WAL mode: every commit appends to the write-ahead log or begins it again.
    pub fn new(database: &Path) -> ChangeDetector {
        let [_, log, _] = journal_files(database);
        ChangeDetector { files: [database.to_owned(), log], last_read: Mutex::default() }
    }

    /// Returns the stamps of the files, to be passed to [`ChangeDetector::mark_read`]; `None` if all that the files hold was
    /// read before.
    pub fn check(&self) -> Option<FileStamps> {
        let stamps = self.files.each_ref().map(|file| {
            let metadata = std::fs::metadata(file).ok()?;
            Some((metadata.len(), metadata.modified().ok()?))
        });
        let last_read = self.last_read.lock().unwrap_or_else(PoisonError::into_inner);
        match *last_read {
            Some(last) if last.stamps == stamps && stamps.iter().any(Option::is_some) => {
                (last.since.elapsed() < COARSEST_TIMESTAMP).then_some(last)
            }
            _ => Some(FileStamps { stamps, since: Instant::now() }),
        }
    }

    /// Records that everything was read that the files held when they had these stamps.
    pub fn mark_read(&self, stamps: FileStamps) {
        *self.last_read.lock().unwrap_or_else(PoisonError::into_inner) = Some(stamps);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_database_is_read_again_only_after_it_changed() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a.db");
        std::fs::write(&file, "one").unwrap();
        let detector = ChangeDetector::new(&file);
        let first = detector.check().unwrap();
        assert!(detector.check().is_some(), "it was not read yet");
        detector.mark_read(first);
        let again = detector.check().expect("its time may be that of another commit");
        detector.mark_read(again);
        std::thread::sleep(COARSEST_TIMESTAMP);
        assert!(detector.check().is_none());
        std::fs::write(folder.path().join("a.db-wal"), "commit").unwrap();
        let changed = detector.check().unwrap();
        detector.mark_read(changed);
        std::thread::sleep(COARSEST_TIMESTAMP);
        assert!(detector.check().is_none());
        std::fs::write(folder.path().join("a.db-wal"), "commit").unwrap();
        assert!(detector.check().is_some(), "the same size, and a later time");
    }

    #[test]
    fn an_absent_database_is_looked_for_each_time() {
        let detector = ChangeDetector::new(Path::new("/nowhere/a.db"));
        let stamps = detector.check().unwrap();
        detector.mark_read(stamps);
        std::thread::sleep(COARSEST_TIMESTAMP);
        assert!(detector.check().is_some());
    }
}
