use schemas::payment::{KeptReason, Provider};

use super::*;

fn held(number: u8, raw: &str) -> Held {
    let kept = KeptNotice {
        provider: Provider::Stripe,
        event_id: format!("evt_{number}").parse().unwrap(),
        kind: "customer.created".into(),
        reason: KeptReason::NotLookedAt,
        raw: raw.into(),
    };
    let received_at = Timestamp::from_second(1_795_000_000 - i64::from(number)).unwrap();
    Held { received_at, notice: HeldNotice::Kept(kept) }
}

#[tokio::test]
async fn what_is_held_is_encrypted_and_goes_with_the_address() {
    let folder = tempfile::tempdir().unwrap();
    let vault = Vault::open(folder.path(), None).await.unwrap();
    let (ada, bob) =
        (held(1, r#"{"email":"Ada.Pelt@example.org"}"#), held(2, r#"{"email":"bob@example.org"}"#));
    for held in [&ada, &bob, &ada] {
        vault.hold(held).await.unwrap();
    }
    assert_eq!(vault.held().await.unwrap(), [bob.clone(), ada]);
    assert_eq!(vault.waiting().await.unwrap(), []);
    let bytes = std::fs::read(folder.path().join(super::super::FILE)).unwrap();
    assert!(!bytes.windows(8).any(|window| window.eq_ignore_ascii_case(b"ada.pelt")));
    vault.let_go_of(&"ada.pelt@EXAMPLE.org".parse().unwrap()).await.unwrap();
    vault.close().await;

    let vault = Vault::open_read_only(folder.path(), None).await.unwrap().unwrap();
    assert_eq!(vault.held().await.unwrap(), [bob], "a vault with notices alone keeps its secret");
}

#[tokio::test]
async fn a_notice_without_effect_goes_after_ninety_days() {
    let folder = tempfile::tempdir().unwrap();
    let vault = Vault::open(folder.path(), None).await.unwrap();
    let (old, young) = (held(2, "{}"), held(1, "{}"));
    for held in [&old, &young] {
        vault.hold(held).await.unwrap();
    }
    let end = young.received_at + SignedDuration::from_hours(90 * 24);
    assert_eq!(vault.expire_notices(end).await.unwrap(), 1);
    assert_eq!(vault.held().await.unwrap(), [young]);
}
