//! Notices that wait in a vault that is damaged, or of an older version.

use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{ConnectOptions, Connection};

use super::*;

/// Flips a byte of the sealed notice with this name.
async fn damage(folder: &TempDir, name: &str) {
    let file = SqliteConnectOptions::new().filename(folder.path().join("vault.db"));
    let mut connection = file.connect().await.unwrap();
    let sealed: Vec<u8> = sqlx::query_scalar("SELECT sealed FROM notices WHERE name = ?1")
        .bind(name)
        .fetch_one(&mut connection)
        .await
        .unwrap();
    let mut flipped = sealed;
    flipped[40] ^= 1;
    let update = sqlx::query("UPDATE notices SET sealed = ?2 WHERE name = ?1").bind(name).bind(flipped);
    update.execute(&mut connection).await.unwrap();
    connection.close().await.unwrap();
}

#[tokio::test]
async fn a_damaged_notice_stops_neither_recording_nor_erasing_nor_settling() {
    let till = till().await;
    till.key(STUDIO, "a", true).await;
    till.key("bob@example.org", "b", true).await;
    let lost = invoice("evt_lost", 1, "pro");
    assert_eq!(till.told(&lost).await, PaymentOutcome::Waiting);
    assert_eq!(till.told(&invoice("evt_2", 2, "studio")).await, PaymentOutcome::Waiting);
    damage(&till.folder, &lost.payment.event_name()).await;
    // It names what this one does.
    assert_eq!(till.told(&checkout("evt_1", 1)).await, PaymentOutcome::Applied);
    assert_eq!(till.told(&checkout("evt_3", 2)).await, PaymentOutcome::Applied);
    assert_eq!(till.tiers("bob@example.org").await, ["studio"]);
    let till = till.restart().await;
    till.clock.advance(SignedDuration::from_hours(24 * 30));
    till.settlement().settle_due().await;
    assert_eq!(till.tiers("bob@example.org").await, ["free"]);
    let erased = till.send(Command::EraseAccount { email: "bob@example.org".parse().unwrap() }).await;
    assert!(matches!(&erased, CommandReply::Account(done) if done.changed), "{erased:?}");
    assert_eq!(till.vault().waiting().await.unwrap(), []);
    // Told again it counts.
    assert_eq!(till.told(&lost).await, PaymentOutcome::Applied);
}

/// Makes the tables those of version 5 again, which knew no names.
async fn set_back(folder: &TempDir) {
    let file = SqliteConnectOptions::new().filename(folder.path().join("vault.db"));
    let mut connection = file.connect().await.unwrap();
    let older = "DROP TABLE key_names; DROP INDEX notices_received; DROP TABLE notice_names; ALTER TABLE notices DROP COLUMN received_at; \
                 ALTER TABLE notices DROP COLUMN set_aside; PRAGMA user_version = 5;";
    sqlx::raw_sql(older).execute(&mut connection).await.unwrap();
    connection.close().await.unwrap();
}

#[tokio::test]
async fn what_waits_in_a_vault_of_an_older_version_is_found_and_a_damaged_one_is_set_aside() {
    let till = till().await;
    till.key(STUDIO, "a", true).await;
    let late = invoice("evt_late", 1, "studio");
    assert_eq!(till.told(&late).await, PaymentOutcome::Waiting);
    assert_eq!(till.told(&invoice("evt_lost", 9, "studio")).await, PaymentOutcome::Waiting);
    till.vault().close().await;
    damage(&till.folder, "stripe:evt_lost").await;
    set_back(&till.folder).await;
    let till = till.restart().await;
    assert_eq!(till.vault().waiting().await.unwrap(), [late]);
    assert_eq!(till.told(&checkout("evt_1", 1)).await, PaymentOutcome::Applied);
    assert_eq!(till.tiers(STUDIO).await, ["studio"]);
}
