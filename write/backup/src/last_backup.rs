//! The record of the last backup of a data folder, in a file of the folder.

use std::fs;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use schemas::ids::Position;
use serde::{Deserialize, Serialize};

/// The most bytes of the record, which has a time, a position and a path.
const MAX_BYTES: u64 = 64 << 10;

/// The last backup that was made of a data folder.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LastBackup {
    /// When it was made.
    pub created: Timestamp,
    /// The position of its last event.
    pub position: Position,
    /// The folder of the backup.
    pub folder: PathBuf,
}

impl LastBackup {
    /// Records the backup in a data folder, unless the folder cannot be written.
    pub fn record(&self, data: &Path) {
        let path = file(data);
        let text = serde_json::to_vec(self).map_err(Into::into);
        if let Err(error) = text.and_then(|text| fs::write(&path, text)) {
            tracing::debug!(%error, "the backup cannot be recorded in {}", path.display());
        }
    }

    /// Returns the last backup of a data folder; `None` if none is recorded.
    pub fn of(data: &Path) -> Option<LastBackup> {
        serde_json::from_slice(&bounded_file::read(&file(data), MAX_BYTES).ok()?).ok()
    }
}

fn file(data: &Path) -> PathBuf {
    data.join("last_backup.json")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_backup_is_recorded_and_an_unreadable_record_is_none() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(LastBackup::of(folder.path()), None);
        let (created, position) = ("2026-11-23T03:20:00Z".parse().unwrap(), Position(7));
        let last = LastBackup { created, position, folder: "/backups/one".into() };
        last.record(folder.path());
        assert_eq!(LastBackup::of(folder.path()), Some(last));
        fs::write(file(folder.path()), "{").unwrap();
        assert_eq!(LastBackup::of(folder.path()), None);
    }
}
