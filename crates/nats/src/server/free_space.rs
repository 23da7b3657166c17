//! Detects that a full disk has space again: after ENOSPC, JetStream stays stuck until its server is restarted.

use std::io;
use std::path::Path;

/// Why a running server must be restarted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RestartReason {
    /// The disk was full, or nearly, and has space again.
    SpaceReturned,
    /// The folder of its streams is gone.
    StoreDeleted,
}

/// Tracks whether the disk was nearly full.
#[derive(Debug)]
pub(super) struct DiskMonitor {
    /// In bytes.
    low_space: u64,
    was_low: bool,
}

impl DiskMonitor {
    /// Creates a monitor for less than `low_space` bytes of free space.
    pub(super) fn new(low_space: u64) -> Self {
        Self { low_space, was_low: false }
    }

    /// Evaluates one measurement of the free space, in bytes; returns a reason to restart the server, if there is one.
    pub(super) fn check(&mut self, free: io::Result<u64>) -> Option<RestartReason> {
        match free {
            Ok(free) if free < self.low_space => {
                if !std::mem::replace(&mut self.was_low, true) {
                    tracing::warn!(
                        free,
                        "the disk under nats-server is nearly full; it is restarted when there is space again"
                    );
                }
                None
            }
            Ok(_) => std::mem::take(&mut self.was_low).then_some(RestartReason::SpaceReturned),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Some(RestartReason::StoreDeleted),
            Err(error) => {
                tracing::warn!(%error, "the free space under nats-server cannot be read");
                None
            }
        }
    }
}

/// Returns the bytes that an unprivileged user can still write to the disk of `folder`.
pub(super) fn free_bytes(folder: &Path) -> io::Result<u64> {
    let disk = rustix::fs::statvfs(folder)?;
    Ok(disk.f_bavail.saturating_mul(disk.f_frsize))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_returned_space_is_a_reason_to_restart_and_only_once() {
        let mut disk = DiskMonitor::new(100);
        let reasons = [500, 100, 99, 0, 50, 100, 500, 99, 1_000].map(|free| disk.check(Ok(free)));
        let returned = Some(RestartReason::SpaceReturned);
        assert_eq!(reasons, [None, None, None, None, None, returned, None, None, returned]);
    }

    #[test]
    fn a_deleted_store_is_a_reason_to_restart_and_other_errors_are_not() {
        let mut disk = DiskMonitor::new(100);
        assert_eq!(disk.check(Err(io::ErrorKind::NotFound.into())), Some(RestartReason::StoreDeleted));
        assert_eq!(disk.check(Err(io::ErrorKind::PermissionDenied.into())), None);
    }

    #[test]
    fn free_space_is_read_from_the_disk() {
        let folder = tempfile::tempdir().unwrap();
        assert!(free_bytes(folder.path()).unwrap() > 0);
        let absent = free_bytes(&folder.path().join("absent")).unwrap_err();
        assert_eq!(absent.kind(), io::ErrorKind::NotFound);
    }
}
