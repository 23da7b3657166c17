//! A disk that fills up under the store: a small file system in memory. Without root the test is skipped.

use std::path::Path;
use std::process::Command;

use event_log::*;
use schemas::clock::Clock;
use schemas::ids::Position;

use crate::event_store::{append, assert_whole, everything};

/// A file system of four megabytes, unmounted when dropped.
struct SmallDisk(tempfile::TempDir);

impl SmallDisk {
    fn new() -> Option<SmallDisk> {
        let folder = tempfile::tempdir().unwrap();
        let mount =
            Command::new("mount").args(["-t", "tmpfs", "-o", "size=4m", "tmpfs"]).arg(folder.path()).output();
        match mount {
            Ok(output) if output.status.success() => Some(SmallDisk(folder)),
            _ => None,
        }
    }

    fn path(&self) -> &Path {
        self.0.path()
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        Command::new("umount").arg("--lazy").arg(self.0.path()).status().ok();
    }
}

#[tokio::test]
async fn a_full_disk_rejects_appends_until_there_is_space() {
    let Some(disk) = SmallDisk::new() else {
        kit::skipped("no small file system can be mounted here; run the tests as root");
        return;
    };
    let ballast = disk.path().join("ballast");
    std::fs::write(&ballast, vec![1; 1 << 20]).unwrap();
    let (clock, folder) = (Clock::system(), disk.path().join("store"));
    let store = EventLog::open(&folder, &clock).await.unwrap();
    let (reason, mut acknowledged) = ("x".repeat(100_000), 0);
    let refused = loop {
        let command = append(&clock, "a", Expected::Any, &[&reason]);
        match store.append(command.clone()).await {
            Ok(appended) => acknowledged = appended.last.0,
            Err(error) => {
                assert_eq!(
                    error.to_string(),
                    "the event store is not available: the disk is full; make room, then try again"
                );
                break command;
            }
        }
        assert!(acknowledged < 100, "four megabytes are never full");
    };
    let again = store.append(refused.clone()).await.unwrap_err();
    assert!(matches!(again, AppendError::Store(StoreError::Unavailable(_))), "{again}");
    assert_eq!(everything(&store).await.len() as u64, acknowledged, "reading continues");

    std::fs::remove_file(&ballast).unwrap();
    assert_eq!(store.append(refused).await.unwrap().last, Position(acknowledged + 1));
    assert_eq!(assert_whole(&store).await.len() as u64, acknowledged + 1);
    store.close().await;
}

#[tokio::test]
async fn a_backup_onto_a_full_disk_leaves_nothing_and_can_be_repeated() {
    let Some(disk) = SmallDisk::new() else {
        kit::skipped("no small file system can be mounted here; run the tests as root");
        return;
    };
    let (clock, folder) = (Clock::system(), tempfile::tempdir().unwrap());
    let store = EventLog::open(folder.path(), &clock).await.unwrap();
    for _ in 0..20 {
        store.append(append(&clock, "a", Expected::Any, &[&"x".repeat(100_000)])).await.unwrap();
    }
    let ballast = disk.path().join("ballast");
    std::fs::write(&ballast, vec![1; 3 << 20]).unwrap();
    let backup = disk.path().join("backup");
    let error = backup::create(&store, &backup, None).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "the event store is not available: the disk is full; make room, then try again"
    );
    assert!(!backup.exists(), "it gave back the room that it took");
    std::fs::remove_file(&ballast).unwrap();
    backup::create(&store, &backup, None).await.unwrap();
    backup::verify(&backup).await.unwrap();
    store.close().await;
}
