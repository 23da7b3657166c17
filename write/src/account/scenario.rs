//! Short names for events, for tests of the use cases.

use jiff::Timestamp;
use schemas::account::*;
use schemas::key::{KeyHash, KeyId};
use schemas::payment::{PaymentKind, PaymentRecorded, Provider};
use schemas::tier::{TierName, Tiers};

use super::Account;
use crate::scenario::Given;

pub(crate) fn given(events: &[(AccountEvent, Timestamp)]) -> Given<Account> {
    Given(replayed(events))
}

pub(crate) fn replayed(events: &[(AccountEvent, Timestamp)]) -> Account {
    Account::replay(events.iter().map(|(event, time)| (event, *time)))
}

/// Noon of a day of 2026.
pub(crate) fn at(month: i8, day: i8) -> Timestamp {
    format!("2026-{month:02}-{day:02}T12:00:00Z").parse().unwrap()
}

/// The tiers `free`, which is the first, `studio` and `pro`.
pub(crate) fn tiers() -> Tiers {
    "free=200, studio=5000, pro=25000".parse().unwrap()
}

pub(crate) fn tier(name: &str) -> TierName {
    name.parse().unwrap()
}

/// The id that is this letter eight times.
pub(crate) fn id(letter: &str) -> KeyId {
    letter.repeat(8).parse().unwrap()
}

/// The key with this id, in the first tier.
pub(crate) fn key(letter: &str) -> KeyIssued {
    key_in(letter, "free")
}

pub(crate) fn key_in(letter: &str, tier_name: &str) -> KeyIssued {
    KeyIssued {
        key_id: id(letter),
        hash: KeyHash::of(letter.as_bytes()),
        hint: "0a9Z".into(),
        name: None,
        sealed_name: None,
        tier: tier(tier_name),
    }
}

pub(crate) fn opened() -> AccountEvent {
    AccountEvent::AccountOpened(AccountOpened {})
}

pub(crate) fn issued(letter: &str) -> AccountEvent {
    AccountEvent::KeyIssued(key(letter))
}

pub(crate) fn revoked(letter: &str) -> AccountEvent {
    AccountEvent::KeyRevoked(KeyRevoked { key_id: id(letter) })
}

pub(crate) fn proven(letters: &[&str]) -> AccountEvent {
    AccountEvent::EmailProven(EmailProven { key_ids: letters.iter().map(|letter| id(letter)).collect() })
}

pub(crate) fn moved(letters: &[&str], to: &str) -> AccountEvent {
    let key_ids = letters.iter().map(|letter| id(letter)).collect();
    AccountEvent::TierChanged(TierChanged { key_ids, tier: tier(to), by_payment: false })
}

pub(crate) fn erased() -> AccountEvent {
    AccountEvent::AccountErased(AccountErased {})
}

/// An account with the keys a, b and c.
pub(crate) fn three() -> Vec<(AccountEvent, Timestamp)> {
    [opened(), issued("a"), issued("b"), issued("c")].map(|event| (event, at(11, 1))).into()
}

/// A notice of the subscription `s` of the customer `c`, at noon of a day of November.
pub(crate) fn notice(event: &str, day: i8, kind: PaymentKind) -> PaymentRecorded {
    PaymentRecorded {
        provider: Provider::Stripe,
        event_id: event.parse().unwrap(),
        created: at(11, day),
        kind,
        subscription: Some("sub_s".parse().unwrap()),
        customer: Some("cus_c".parse().unwrap()),
        references: Vec::new(),
        tier: None,
        period_end: None,
        refund_failed: false,
        moved_from: None,
    }
}

/// A payment for a tier until noon of a day.
pub(crate) fn paid(event: &str, day: i8, to: &str, until: Timestamp) -> PaymentRecorded {
    PaymentRecorded { tier: Some(tier(to)), period_end: Some(until), ..notice(event, day, PaymentKind::Paid) }
}

pub(crate) fn recorded(payment: &PaymentRecorded) -> AccountEvent {
    AccountEvent::PaymentRecorded(payment.clone())
}

pub(crate) fn entitled(to: &str) -> AccountEvent {
    AccountEvent::EntitlementChanged(EntitlementChanged { tier: tier(to) })
}

/// Tier changes of keys to what is paid for.
pub(crate) fn followed(letters: &[&str], to: &str) -> AccountEvent {
    let key_ids = letters.iter().map(|letter| id(letter)).collect();
    AccountEvent::TierChanged(TierChanged { key_ids, tier: tier(to), by_payment: true })
}
