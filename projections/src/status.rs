//! What a worker tells of itself while it works.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use jiff::Timestamp;
use read::checkpoint::Checkpoint;
use schemas::control::ProjectionStatus;
use schemas::ids::Position;

/// Shared between a worker, which writes it, and those who ask.
#[derive(Debug, Clone)]
pub struct Status {
    inner: Arc<Mutex<ProjectionStatus>>,
}

impl Status {
    /// The status of a projection that has not begun.
    pub fn new(name: &str) -> Status {
        Status {
            inner: Arc::new(Mutex::new(ProjectionStatus {
                name: name.to_owned(),
                generation: String::new(),
                position: Position::START,
                lag: 0,
                heartbeat: None,
                parked: Vec::new(),
                parked_beyond: 0,
                quarantined: None,
                skipped: 0,
                bytes: 0,
            })),
        }
    }

    /// As it is now.
    pub fn get(&self) -> ProjectionStatus {
        self.lock().clone()
    }

    /// A worker has committed, or looked and found nothing to do.
    pub fn beat(&self, checkpoint: &Checkpoint, now: Timestamp) {
        let mut status = self.lock();
        status.position = checkpoint.position;
        status.parked.clone_from(&checkpoint.parked);
        status.parked_beyond = checkpoint.parked_beyond;
        status.skipped = checkpoint.skipped;
        status.heartbeat = Some(now);
    }

    /// The log was found to end here.
    pub fn head(&self, head: Position) {
        let mut status = self.lock();
        status.lag = head.0.saturating_sub(status.position.0);
    }

    /// So many messages are not applied yet.
    pub fn lag(&self, lag: u64) {
        self.lock().lag = lag;
    }

    /// Another generation is current.
    pub fn generation(&self, name: &str) {
        let mut status = self.lock();
        name.clone_into(&mut status.generation);
        status.quarantined = None;
    }

    /// No generation is current: the last one was taken away from readers for this reason.
    pub fn quarantined(&self, reason: &str) {
        let mut status = self.lock();
        status.generation = String::new();
        status.quarantined = Some(reason.to_owned());
    }

    /// Looks how large the current generation has become, below the folder of its model.
    pub fn measure(&self, model: &Path) {
        let generation = self.lock().generation.clone();
        let bytes = folder_bytes(&model.join(generation));
        self.lock().bytes = bytes;
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, ProjectionStatus> {
        // A panic while the lock was held leaves plain values, each of them whole.
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The size of a folder's files, in bytes; what cannot be read counts nothing.
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
