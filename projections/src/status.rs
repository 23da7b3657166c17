//! The status of a worker: position, lag, heartbeat and parked events.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use jiff::Timestamp;
use read::checkpoint::Checkpoint;
use read::models::CommitSignal;
use schemas::control::ProjectionStatus;
use schemas::ids::Position;

/// A status that a worker writes and others read; clones share it.
#[derive(Debug, Clone)]
pub struct Status {
    inner: Arc<Mutex<ProjectionStatus>>,
    /// Sent with every commit, heartbeat and change of the current generation.
    committed: CommitSignal,
}

impl Status {
    /// Creates the status of a projection that has not started.
    pub fn new(name: &str) -> Status {
        Status {
            inner: Arc::new(Mutex::new(ProjectionStatus::new(name))),
            committed: CommitSignal::default(),
        }
    }

    /// Returns the status with this signal to the readers of the model.
    pub fn with_signal(self, committed: CommitSignal) -> Status {
        Status { committed, ..self }
    }

    /// Returns a copy of the present status.
    pub fn get(&self) -> ProjectionStatus {
        self.lock().clone()
    }

    /// Records a commit, or that there was nothing to commit.
    pub fn heartbeat(&self, checkpoint: &Checkpoint, now: Timestamp) {
        let mut status = self.lock();
        status.position = checkpoint.position;
        status.parked.clone_from(&checkpoint.parked);
        status.parked_beyond = checkpoint.parked_beyond;
        status.skipped = checkpoint.skipped;
        status.heartbeat = Some(now);
        self.committed.send();
    }

    /// Computes the lag from the last position of the log.
    pub fn set_log_head(&self, head: Position) {
        let mut status = self.lock();
        status.lag = head.0.saturating_sub(status.position.0);
    }

    /// Sets the lag, in messages.
    pub fn set_lag(&self, lag: u64) {
        self.lock().lag = lag;
    }

    /// Sets the current generation, which readers see.
    pub fn set_generation(&self, name: &str) {
        let mut status = self.lock();
        name.clone_into(&mut status.generation);
        status.quarantined = None;
        self.committed.send();
    }

    /// Records that no generation is current, and why the last one was taken from readers.
    pub fn set_quarantined(&self, reason: &str) {
        let mut status = self.lock();
        status.generation = String::new();
        status.quarantined = Some(reason.to_owned());
        self.committed.send();
    }

    /// Measures the files of the current generation in the folder of its model.
    pub fn measure_size(&self, model: &Path) {
        let generation = self.lock().generation.clone();
        let bytes = folder_bytes(&model.join(generation));
        self.lock().bytes = bytes;
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, ProjectionStatus> {
        // The values are plain and complete even if a thread panicked while it held the lock.
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns the size of all files below a folder, in bytes; files that cannot be read count 0.
pub fn folder_bytes(folder: &Path) -> u64 {
    let Ok(entries) = std::fs::read_dir(folder) else { return 0 };
    entries
        .flatten()
        .map(|entry| match entry.metadata() {
            Ok(metadata) if metadata.is_dir() => folder_bytes(&entry.path()),
            Ok(metadata) => metadata.len(),
            Err(_) => 0,
        })
        .sum()
}
