use jiff::SignedDuration;
use schemas::ids::AccountId;
use tempfile::TempDir;
use ulid::Ulid;

use super::LetterKind::{Payment, Proof};
use super::*;

const ADA: AccountId = AccountId(Ulid(1));
const BOB: AccountId = AccountId(Ulid(2));

/// The time this many minutes after the start of the test.
fn minute(number: i64) -> Timestamp {
    "2026-11-20T08:30:00.25Z".parse::<Timestamp>().unwrap() + SignedDuration::from_mins(number)
}

fn letter(account: AccountId, kind: LetterKind, queued: i64, attempts: u32) -> Letter {
    Letter { account, kind, queued_at: minute(queued), attempts }
}

async fn vault() -> (TempDir, Vault) {
    let folder = tempfile::tempdir().unwrap();
    let vault = Vault::open(folder.path(), None).await.unwrap();
    vault.enter(&"ada@example.org".parse().unwrap(), ADA).await.unwrap();
    vault.enter(&"bob@example.org".parse().unwrap(), BOB).await.unwrap();
    (folder, vault)
}

#[tokio::test]
async fn one_letter_of_a_kind_waits_and_the_oldest_goes_first() {
    let (folder, vault) = vault().await;
    assert!(vault.queue(BOB, Proof, minute(0)).await.unwrap());
    assert!(vault.queue(ADA, Proof, minute(1)).await.unwrap());
    assert!(!vault.queue(ADA, Proof, minute(2)).await.unwrap());
    assert!(vault.queue(ADA, Payment, minute(3)).await.unwrap());
    assert!(!vault.queue(ADA, Payment, minute(4)).await.unwrap());
    vault.close().await;

    let vault = Vault::open(folder.path(), None).await.unwrap();
    assert_eq!(vault.next_letter().await.unwrap(), Some(minute(0)));
    assert_eq!(vault.due_letter(minute(-1)).await.unwrap(), None);
    for next in [letter(BOB, Proof, 0, 0), letter(ADA, Proof, 1, 0), letter(ADA, Payment, 3, 0)] {
        assert_eq!(vault.due_letter(minute(5)).await.unwrap(), Some(next.clone()));
        vault.drop_letter(&next).await.unwrap();
    }
    assert_eq!(vault.due_letter(minute(5)).await.unwrap(), None);
}

#[tokio::test]
async fn an_account_gets_one_mail_in_ten_minutes() {
    let (_folder, vault) = vault().await;
    vault.queue(ADA, Payment, minute(0)).await.unwrap();
    assert!(!vault.queue(ADA, Proof, minute(0)).await.unwrap(), "the other letter proves the address too");
    vault.letter_mailed(&letter(ADA, Payment, 0, 0), minute(1)).await.unwrap();
    assert_eq!(vault.next_letter().await.unwrap(), None);

    assert!(!vault.queue(ADA, Proof, minute(10)).await.unwrap(), "what anybody may ask for is dropped");
    assert!(vault.queue(ADA, Payment, minute(10)).await.unwrap(), "what was paid for waits");
    assert_eq!(vault.due_letter(minute(10)).await.unwrap(), None);
    assert_eq!(vault.due_letter(minute(11)).await.unwrap(), Some(letter(ADA, Payment, 10, 0)));
    assert!(vault.queue(BOB, Proof, minute(10)).await.unwrap(), "others get theirs");
}

#[tokio::test]
async fn two_letters_that_wait_go_ten_minutes_apart() {
    let (_folder, vault) = vault().await;
    vault.queue(ADA, Proof, minute(0)).await.unwrap();
    vault.queue(ADA, Payment, minute(0)).await.unwrap();
    vault.letter_mailed(&letter(ADA, Proof, 0, 0), minute(1)).await.unwrap();
    assert_eq!(vault.next_letter().await.unwrap(), Some(minute(11)));
    assert!(vault.queue(BOB, Proof, minute(30)).await.unwrap());
}

#[tokio::test]
async fn what_failed_is_tried_later_and_given_up_at_last() {
    let (_folder, vault) = vault().await;
    vault.queue(ADA, Proof, minute(0)).await.unwrap();
    vault.letter_failed(&letter(ADA, Proof, 0, 0), minute(2)).await.unwrap();
    assert_eq!(vault.due_letter(minute(1)).await.unwrap(), None);
    let again = letter(ADA, Proof, 0, 1);
    assert_eq!(vault.due_letter(minute(2)).await.unwrap(), Some(again.clone()));
    vault.drop_letter(&again).await.unwrap();
    assert_eq!(vault.next_letter().await.unwrap(), None);
    assert!(
        vault.queue(ADA, Proof, minute(3)).await.unwrap(),
        "nothing was mailed, so it may be asked for again"
    );
}

#[tokio::test]
async fn who_waits_is_told() {
    let (_folder, vault) = vault().await;
    vault.queue(ADA, Proof, minute(0)).await.unwrap();
    vault.letter_queued().await;
    let none = tokio::time::timeout(std::time::Duration::from_millis(20), vault.letter_queued());
    assert!(none.await.is_err(), "it is told once");
}
