//! Backups of a log and a ledger that are in use.

use backup::BackupError;
use event_log::{EventLog, Namespace};
use ledger::Ledger;
use schemas::ids::Position;

use crate::incremental_backups::BackupSite;
use crate::{append, assert_refused, flip};

#[tokio::test]
async fn a_backup_is_taken_online_and_restored() {
    let site = BackupSite::new().await;
    for name in ["one", "two"] {
        site.event("a", name).await;
    }
    let manifest = site.full("backup").await;
    let head = site.store.head().await.unwrap();
    assert_eq!((manifest.position, manifest.hash), (head.position, head.hash));
    assert_eq!(manifest.store, site.store.store_id().to_string());
    let events = site.store.read_all(Position::START, 100).await.unwrap();
    site.store.append(append(&site.clock, "a", "three")).await.unwrap();

    assert_refused(backup::create(&site.store, &site.at("backup"), None).await, "is there already");
    assert_refused(site.restore(&site.at("backup"), "store").await, "is in the way");

    assert_eq!(site.restore(&site.at("backup"), "target").await.unwrap().manifest, manifest);
    let restored = EventLog::open(&site.at("target"), &site.clock).await.unwrap();
    assert_eq!(restored.read_all(Position::START, 100).await.unwrap(), events);
    assert_eq!(restored.head().await.unwrap(), head);
    assert_eq!(restored.store_id(), site.store.store_id());
    assert!(restored.holder(Namespace::SLUG, "two").await.unwrap().is_some());
}

#[tokio::test]
async fn a_broken_backup_is_not_restored() {
    let site = BackupSite::new().await;
    site.event("a", "one").await;
    site.full("backup").await;
    let backup = site.at("backup");
    flip(&backup.join("events.db"));
    let error = site.restore(&backup, "target").await.unwrap_err();
    assert_eq!(
        error.to_string(),
        format!(
            "{} is not a complete backup: its bytes are not those that were written; use another one",
            backup.display()
        )
    );
    assert!(EventLog::open_read_only(&site.at("target")).await.is_err(), "nothing was put there");
}

#[tokio::test]
async fn a_backup_contains_the_ledger_and_a_damaged_copy_is_not_restored() {
    let mut site = BackupSite::new().await;
    assert_eq!(site.full("none").await.ledger, None);
    site.call("search", 40).await;
    let manifest = site.full("good").await;
    site.full("bad").await;
    let ledger = site.ledger.as_ref().unwrap();
    let head = ledger.head().await.unwrap();
    let entries = ledger.page(Position::START, 100).await.unwrap().entries;
    assert_eq!(entries.len(), 40);
    let noted = manifest.ledger.clone().unwrap();
    assert_eq!((noted.position, noted.hash), (head.position, head.hash));

    assert_eq!(site.restore(&site.at("good"), "target").await.unwrap().manifest, manifest);
    let restored = Ledger::open_read_only(&site.at("target")).await.unwrap().unwrap();
    assert_eq!(restored.page(Position::START, 100).await.unwrap().entries, entries);

    flip(&site.at("bad").join("usage.db"));
    let refused = site.restore(&site.at("bad"), "elsewhere").await.unwrap_err();
    assert!(
        matches!(&refused, BackupError::Broken { reason, .. }
        if reason == "the bytes of its ledger are not those that were written"),
        "{refused}"
    );
    let elsewhere = site.at("elsewhere");
    assert!(!elsewhere.join("usage.db").exists() && !elsewhere.join("events.db").exists());
}
