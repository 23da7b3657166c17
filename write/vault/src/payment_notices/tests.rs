use schemas::payment::{KeptReason, Provider};

use super::*;
use crate::tests::new_vault;

fn stored(number: u8, raw: &str) -> StoredNotice {
    let kept = KeptNotice {
        provider: Provider::Stripe,
        event_id: format!("evt_{number}").parse().unwrap(),
        kind: "customer.created".into(),
        reason: KeptReason::NotLookedAt,
        raw: raw.into(),
    };
    let received_at = Timestamp::from_second(1_795_000_000 - i64::from(number)).unwrap();
    StoredNotice { received_at, notice: Notice::Kept(kept) }
}

#[tokio::test]
async fn a_notice_is_encrypted_and_erased_with_the_address_that_it_names() {
    let (folder, vault) = new_vault().await;
    let (ada, bob) =
        (stored(1, r#"{"email":"Ada.Pelt@example.org"}"#), stored(2, r#"{"email":"bob@example.org"}"#));
    for notice in [&ada, &bob, &ada] {
        vault.store_notice(notice).await.unwrap();
    }
    assert_eq!(vault.notices().await.unwrap(), [bob.clone(), ada]);
    assert_eq!(vault.waiting_notices().await.unwrap(), []);
    let bytes = std::fs::read(folder.path().join(super::super::FILE)).unwrap();
    assert!(!bytes.windows(8).any(|window| window.eq_ignore_ascii_case(b"ada.pelt")));
    vault.delete_notices_of(&"ada.pelt@EXAMPLE.org".parse().unwrap()).await.unwrap();
    vault.close().await;

    let vault = Vault::open_read_only(folder.path(), None).await.unwrap().unwrap();
    assert_eq!(vault.notices().await.unwrap(), [bob], "a vault with notices alone keeps its secret");
}

#[tokio::test]
async fn a_notice_without_effect_is_deleted_after_ninety_days() {
    let (_folder, vault) = new_vault().await;
    let (old, young) = (stored(2, "{}"), stored(1, "{}"));
    for notice in [&old, &young] {
        vault.store_notice(notice).await.unwrap();
    }
    let end = young.received_at + SignedDuration::from_hours(90 * 24);
    assert_eq!(vault.delete_old_notices(end).await.unwrap(), 1);
    assert_eq!(vault.notices().await.unwrap(), [young]);
}
