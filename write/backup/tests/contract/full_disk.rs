//! A disk that fills up under a backup.

use event_log::EventLog;
use kit::SmallDisk;
use schemas::clock::Clock;

use crate::append;

#[tokio::test]
async fn a_backup_onto_a_full_disk_leaves_nothing_and_can_be_repeated() {
    let place = tempfile::tempdir().unwrap();
    let Some(disk) = SmallDisk::mount(&place.path().join("disk"), 4) else { return };
    let (clock, folder) = (Clock::system(), tempfile::tempdir().unwrap());
    let store = EventLog::open(folder.path(), &clock).await.unwrap();
    for _ in 0..20 {
        store.append(append(&clock, "a", &"x".repeat(100_000))).await.unwrap();
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
