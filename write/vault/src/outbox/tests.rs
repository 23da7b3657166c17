use schemas::ids::AccountId;
use tempfile::TempDir;
use ulid::Ulid;

use super::MessageKind::{Payment, Proof};
use super::*;
use crate::tests::{minute, new_vault};

const ADA: AccountId = AccountId(Ulid(1));
const BOB: AccountId = AccountId(Ulid(2));

fn message(account: AccountId, kind: MessageKind, queued: i64, attempts: u32) -> OutboxMessage {
    OutboxMessage { account, kind, queued_at: minute(queued), attempts }
}

async fn vault() -> (TempDir, Vault) {
    let (folder, vault) = new_vault().await;
    vault.add_address(&"ada@example.org".parse().unwrap(), ADA).await.unwrap();
    vault.add_address(&"bob@example.org".parse().unwrap(), BOB).await.unwrap();
    (folder, vault)
}

#[tokio::test]
async fn an_account_has_one_queued_message_of_a_kind_and_the_oldest_is_sent_first() {
    let (folder, vault) = vault().await;
    assert!(vault.queue_message(BOB, Proof, minute(0)).await.unwrap());
    assert!(vault.queue_message(ADA, Proof, minute(1)).await.unwrap());
    assert!(!vault.queue_message(ADA, Proof, minute(2)).await.unwrap());
    assert!(vault.queue_message(ADA, Payment, minute(3)).await.unwrap());
    assert!(!vault.queue_message(ADA, Payment, minute(4)).await.unwrap());
    vault.close().await;

    let vault = Vault::open(folder.path(), None).await.unwrap();
    assert_eq!(vault.next_message_due().await.unwrap(), Some(minute(0)));
    assert_eq!(vault.due_message(minute(-1)).await.unwrap(), None);
    for next in [message(BOB, Proof, 0, 0), message(ADA, Proof, 1, 0), message(ADA, Payment, 3, 0)] {
        assert_eq!(vault.due_message(minute(5)).await.unwrap(), Some(next.clone()));
        vault.drop_message(&next).await.unwrap();
    }
    assert_eq!(vault.due_message(minute(5)).await.unwrap(), None);
}

#[tokio::test]
async fn an_account_gets_one_mail_in_ten_minutes() {
    let (_folder, vault) = vault().await;
    vault.queue_message(ADA, Payment, minute(0)).await.unwrap();
    assert!(
        !vault.queue_message(ADA, Proof, minute(0)).await.unwrap(),
        "the other message proves the address too"
    );
    vault.message_sent(&message(ADA, Payment, 0, 0), minute(1)).await.unwrap();
    assert_eq!(vault.next_message_due().await.unwrap(), None);

    assert!(
        !vault.queue_message(ADA, Proof, minute(10)).await.unwrap(),
        "anyone can request a link, so it is dropped"
    );
    assert!(vault.queue_message(ADA, Payment, minute(10)).await.unwrap(), "a message about a payment waits");
    assert_eq!(vault.due_message(minute(10)).await.unwrap(), None);
    assert_eq!(vault.due_message(minute(11)).await.unwrap(), Some(message(ADA, Payment, 10, 0)));
    assert!(vault.queue_message(BOB, Proof, minute(10)).await.unwrap(), "other accounts are not affected");
}

#[tokio::test]
async fn two_queued_messages_are_sent_ten_minutes_apart() {
    let (_folder, vault) = vault().await;
    vault.queue_message(ADA, Proof, minute(0)).await.unwrap();
    vault.queue_message(ADA, Payment, minute(0)).await.unwrap();
    vault.message_sent(&message(ADA, Proof, 0, 0), minute(1)).await.unwrap();
    assert_eq!(vault.next_message_due().await.unwrap(), Some(minute(11)));
    assert!(vault.queue_message(BOB, Proof, minute(30)).await.unwrap());
}

#[tokio::test]
async fn a_failed_message_is_retried_later_and_can_be_dropped() {
    let (_folder, vault) = vault().await;
    vault.queue_message(ADA, Proof, minute(0)).await.unwrap();
    vault.message_failed(&message(ADA, Proof, 0, 0), minute(2)).await.unwrap();
    assert_eq!(vault.due_message(minute(1)).await.unwrap(), None);
    let again = message(ADA, Proof, 0, 1);
    assert_eq!(vault.due_message(minute(2)).await.unwrap(), Some(again.clone()));
    vault.drop_message(&again).await.unwrap();
    assert_eq!(vault.next_message_due().await.unwrap(), None);
    assert!(
        vault.queue_message(ADA, Proof, minute(3)).await.unwrap(),
        "nothing was sent, so a link may be requested again"
    );
}

#[tokio::test]
async fn a_waiting_worker_is_notified_once() {
    let (_folder, vault) = vault().await;
    vault.queue_message(ADA, Proof, minute(0)).await.unwrap();
    vault.message_queued().await;
    let none = tokio::time::timeout(std::time::Duration::from_millis(20), vault.message_queued());
    assert!(none.await.is_err(), "the notification is consumed");
}
