//! Whether a database was written since it was last looked at: two calls of the system instead of a query, since models are
//! polled many times a second and rarely change.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime};

/// For so long after a file was first seen as it is, it is read all the same: times of files are coarse, and two commits may
/// share one.
const COARSE: Duration = Duration::from_millis(200);

/// The length and the time of a file.
type Stamp = Option<(u64, SystemTime)>;

/// Remembers what the files of a database were like.
#[derive(Debug)]
pub(crate) struct Written {
    files: [PathBuf; 2],
    seen: Mutex<Option<Look>>,
}

/// How the files were before they were read.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Look {
    stamps: [Stamp; 2],
    first: Instant,
}

impl Written {
    /// Looks at a database in WAL mode: every commit appends to, or begins, the file beside it.
    pub(crate) fn new(file: &Path) -> Written {
        let mut log = file.as_os_str().to_owned();
        log.push("-wal");
        Written { files: [file.to_owned(), log.into()], seen: Mutex::default() }
    }

    /// How the files are; none where everything in them was seen before.
    pub(crate) fn look(&self) -> Option<Look> {
        let stamps = self.files.each_ref().map(|file| {
            let metadata = std::fs::metadata(file).ok()?;
            Some((metadata.len(), metadata.modified().ok()?))
        });
        let seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        match *seen {
            Some(seen) if seen.stamps == stamps && stamps.iter().any(Option::is_some) => {
                (seen.first.elapsed() < COARSE).then_some(seen)
            }
            _ => Some(Look { stamps, first: Instant::now() }),
        }
    }

    /// Everything that the files held at that look, or more, has been read.
    pub(crate) fn saw(&self, look: Look) {
        *self.seen.lock().unwrap_or_else(PoisonError::into_inner) = Some(look);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_seen_is_not_looked_at_again_until_it_changes() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a.db");
        std::fs::write(&file, "one").unwrap();
        let written = Written::new(&file);
        let first = written.look().unwrap();
        assert!(written.look().is_some(), "it was not read yet");
        written.saw(first);
        let again = written.look().expect("its time may be that of another commit");
        written.saw(again);
        std::thread::sleep(COARSE);
        assert!(written.look().is_none());
        std::fs::write(folder.path().join("a.db-wal"), "commit").unwrap();
        let changed = written.look().unwrap();
        written.saw(changed);
        std::thread::sleep(COARSE);
        assert!(written.look().is_none());
        std::fs::write(folder.path().join("a.db-wal"), "commit").unwrap();
        assert!(written.look().is_some(), "as long as before, and later");
    }

    #[test]
    fn a_database_that_is_not_there_is_looked_for_each_time() {
        let written = Written::new(Path::new("/nowhere/a.db"));
        let look = written.look().unwrap();
        written.saw(look);
        std::thread::sleep(COARSE);
        assert!(written.look().is_some());
    }
}
