//! A disk that fills up under the store.

use event_log::*;
use kit::SmallDisk;
use schemas::clock::Clock;
use schemas::ids::Position;

use crate::event_store::{append, assert_whole, everything};

#[tokio::test]
async fn a_full_disk_rejects_appends_until_there_is_space() {
    let place = tempfile::tempdir().unwrap();
    let Some(disk) = SmallDisk::mount(&place.path().join("disk"), 4) else { return };
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
