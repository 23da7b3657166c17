//! Notices that wait in a vault that is damaged, or of an older version.

use sqlx::Connection;

use super::*;

/// Flips a byte of the sealed notice with this name.
async fn damage(side: &WriteSide, name: &str) {
    let mut connection = side.vault_file().await;
    let mut sealed: Vec<u8> = sqlx::query_scalar("SELECT sealed FROM notices WHERE name = ?1")
        .bind(name)
        .fetch_one(&mut connection)
        .await
        .unwrap();
    sealed[40] ^= 1;
    let update = sqlx::query("UPDATE notices SET sealed = ?2 WHERE name = ?1").bind(name).bind(sealed);
    update.execute(&mut connection).await.unwrap();
    connection.close().await.unwrap();
}

#[tokio::test]
async fn a_damaged_notice_stops_neither_recording_nor_erasing_nor_settlement() {
    let side = WriteSide::start().await;
    side.key(STUDIO, "a", true).await;
    side.key("bob@example.org", "b", true).await;
    let lost = invoice("evt_lost", 1, "pro");
    assert_eq!(side.record(&lost).await, PaymentOutcome::Waiting);
    assert_eq!(side.record(&invoice("evt_2", 2, "studio")).await, PaymentOutcome::Waiting);
    damage(&side, &lost.payment.event_name()).await;
    // It names what this one does.
    assert_eq!(side.record(&checkout("evt_1", 1)).await, PaymentOutcome::Applied);
    assert_eq!(side.record(&checkout("evt_3", 2)).await, PaymentOutcome::Applied);
    assert_eq!(side.tiers("bob@example.org").await, ["studio"]);
    let side = side.restart().await;
    side.clock.advance(SignedDuration::from_hours(24 * 30));
    side.settlement().settle_due().await;
    assert_eq!(side.tiers("bob@example.org").await, ["free"]);
    let erased = side.send(Command::EraseAccount { email: "bob@example.org".parse().unwrap() }).await;
    assert!(matches!(&erased, CommandReply::Account(done) if done.changed), "{erased:?}");
    assert_eq!(side.vault().waiting_notices().await.unwrap(), []);
    // Told again it counts.
    assert_eq!(side.record(&lost).await, PaymentOutcome::Applied);
}

/// Makes the tables those of version 5 again, which knew no names.
async fn set_back(side: &WriteSide) {
    let mut connection = side.vault_file().await;
    let older = "DROP TABLE key_names; DROP INDEX notices_received; DROP TABLE notice_names; ALTER TABLE notices DROP COLUMN received_at; \
                 ALTER TABLE notices DROP COLUMN set_aside; PRAGMA user_version = 5;";
    sqlx::raw_sql(older).execute(&mut connection).await.unwrap();
    connection.close().await.unwrap();
}

#[tokio::test]
async fn waiting_notices_of_an_older_vault_are_found_and_damaged_ones_set_aside() {
    let side = WriteSide::start().await;
    side.key(STUDIO, "a", true).await;
    let late = invoice("evt_late", 1, "studio");
    assert_eq!(side.record(&late).await, PaymentOutcome::Waiting);
    assert_eq!(side.record(&invoice("evt_lost", 9, "studio")).await, PaymentOutcome::Waiting);
    side.vault().close().await;
    damage(&side, "stripe:evt_lost").await;
    set_back(&side).await;
    let side = side.restart().await;
    assert_eq!(side.vault().waiting_notices().await.unwrap(), [late]);
    assert_eq!(side.record(&checkout("evt_1", 1)).await, PaymentOutcome::Applied);
    assert_eq!(side.tiers(STUDIO).await, ["studio"]);
}
