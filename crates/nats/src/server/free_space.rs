//! Noticing that a full disk has room again: JetStream stays stuck after ENOSPC until its server is restarted.

use std::io;
use std::path::Path;

/// Why a server that runs must be started anew.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ailment {
    /// The disk was full, or nearly, and has room again.
    WasFull,
    /// The folder of its streams is gone.
    StoreDeleted,
}

/// Remembers whether the disk ran low.
#[derive(Debug)]
pub(super) struct FreeSpace {
    bound: u64,
    was_low: bool,
}

impl FreeSpace {
    /// Watches for less than `bound` bytes.
    pub(super) fn new(bound: u64) -> Self {
        Self { bound, was_low: false }
    }

    /// Takes one look's result, in bytes, and says what it calls for.
    pub(super) fn look(&mut self, free: io::Result<u64>) -> Option<Ailment> {
        match free {
            Ok(free) if free < self.bound => {
                if !std::mem::replace(&mut self.was_low, true) {
                    tracing::warn!(
                        free,
                        "the disk under nats-server is nearly full; it is restarted when there is room"
                    );
                }
                None
            }
            Ok(_) => std::mem::take(&mut self.was_low).then_some(Ailment::WasFull),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Some(Ailment::StoreDeleted),
            Err(error) => {
                tracing::warn!(%error, "the free space under nats-server cannot be read");
                None
            }
        }
    }
}

/// Bytes that an ordinary user may still write to the disk of `folder`.
pub(super) fn free_bytes(folder: &Path) -> io::Result<u64> {
    let disk = rustix::fs::statvfs(folder)?;
    Ok(disk.f_bavail.saturating_mul(disk.f_frsize))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_return_of_space_calls_for_a_restart_and_only_once() {
        let mut space = FreeSpace::new(100);
        let looks = [500, 100, 99, 0, 50, 100, 500, 99, 1_000].map(|free| space.look(Ok(free)));
        let was_full = Some(Ailment::WasFull);
        assert_eq!(looks, [None, None, None, None, None, was_full, None, None, was_full]);
    }

    #[test]
    fn a_deleted_store_calls_for_a_restart_and_another_fault_does_not() {
        let mut space = FreeSpace::new(100);
        assert_eq!(space.look(Err(io::ErrorKind::NotFound.into())), Some(Ailment::StoreDeleted));
        assert_eq!(space.look(Err(io::ErrorKind::PermissionDenied.into())), None);
    }

    #[test]
    fn free_space_is_read_from_the_disk() {
        let folder = tempfile::tempdir().unwrap();
        assert!(free_bytes(folder.path()).unwrap() > 0);
        let absent = free_bytes(&folder.path().join("absent")).unwrap_err();
        assert_eq!(absent.kind(), io::ErrorKind::NotFound);
    }
}
