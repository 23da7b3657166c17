#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeMap;

use jiff::SignedDuration;
use kit::samples::recorded;
use proptest::prelude::*;
use schemas::account::{
    AccountErased, AccountEvent, AccountOpened, EmailProven, KeyIssued, KeyRevoked, TierChanged,
};
use schemas::event::Event;
use schemas::ids::{AccountId, Position, StreamId};
use schemas::key::{Key, KeyHash, SealedName};

use super::*;
use model::checkpoint::Checkpoint;

fn account(number: u64) -> AccountId {
    format!("01ARZ3NDEKTSV4RRFFQ69G{number:04}").parse().unwrap()
}

fn key_id(number: u64) -> KeyId {
    format!("Key{number:05}").parse().unwrap()
}

fn hash(number: u64) -> KeyHash {
    KeyHash::of(&number.to_be_bytes())
}

fn time(position: u64) -> Timestamp {
    "2026-11-20T08:00:00Z".parse::<Timestamp>().unwrap() + SignedDuration::from_secs(position.cast_signed())
}

fn sealed(number: u64) -> SealedName {
    Key::generate(|bytes| bytes.fill(7)).seal_name(&format!("key {number}")).unwrap()
}

fn issued(number: u64) -> AccountEvent {
    AccountEvent::KeyIssued(KeyIssued {
        key_id: key_id(number),
        hash: hash(number),
        hint: format!("{number:04}"),
        // As version 0.1 wrote it, and as it is written today.
        name: (!number.is_multiple_of(2)).then(|| format!("key {number}")),
        sealed_name: number.is_multiple_of(2).then(|| sealed(number)),
        tier: "free".parse().unwrap(),
    })
}

fn revoked(number: u64) -> AccountEvent {
    AccountEvent::KeyRevoked(KeyRevoked { key_id: key_id(number) })
}

fn proven(numbers: &[u64]) -> AccountEvent {
    AccountEvent::EmailProven(EmailProven { key_ids: numbers.iter().copied().map(key_id).collect() })
}

fn tier(numbers: &[u64], tier: &str) -> AccountEvent {
    AccountEvent::TierChanged(TierChanged {
        key_ids: numbers.iter().copied().map(key_id).collect(),
        tier: tier.parse().unwrap(),
        by_payment: false,
    })
}

/// Applies events after the checkpoint in one batch, and returns those that were rejected.
async fn apply(writer: &mut KeysWriter, events: &[(u64, AccountEvent)]) -> Vec<(u64, String)> {
    writer.load(events.iter().map(|(number, event)| (account(*number), event))).await.unwrap();
    let (mut position, mut refused) = (writer.checkpoint().position, Vec::new());
    for (number, event) in events {
        position = position.next();
        let id = account(*number);
        let recorded = recorded(position, StreamId::account(id), &Event::Account(event.clone()));
        if let Err(reason) = writer.apply(&recorded, id, event.clone()) {
            refused.push((position.0, reason));
        }
    }
    writer.commit(Checkpoint { position, ..Checkpoint::default() }).await.unwrap();
    refused
}

fn active(reader: &KeysReader, number: u64) -> Option<(KeyId, String)> {
    reader.find(&hash(number)).map(|known| (known.key_id, known.tier.to_string()))
}

#[tokio::test]
async fn a_key_follows_its_events() {
    let folder = tempfile::tempdir().unwrap();
    let mut writer = KeysWriter::open(folder.path()).await.unwrap();
    let opened = AccountEvent::AccountOpened(AccountOpened {});
    assert_eq!(apply(&mut writer, &[(1, opened), (1, issued(1)), (2, issued(2))]).await, []);
    let reader = KeysReader::open(folder.path()).await.unwrap();
    assert_eq!(active(&reader, 1), Some((key_id(1), "free".into())));
    assert_eq!(active(&reader, 3), None);
    let story = [(1, issued(3)), (1, proven(&[1, 3])), (1, tier(&[1], "pro")), (2, revoked(2))];
    assert_eq!(apply(&mut writer, &story).await, []);
    assert_eq!(active(&reader, 2), Some((key_id(2), "free".into())), "as of the last refresh");
    reader.refresh().await.unwrap();
    assert_eq!(active(&reader, 1), Some((key_id(1), "pro".into())));
    assert_eq!(active(&reader, 2), None);
    assert_eq!(active(&reader, 3), Some((key_id(3), "free".into())));
    assert_eq!(
        reader.record(key_id(1)).await.unwrap(),
        Some(StoredKey {
            key_id: key_id(1),
            hint: "0001".into(),
            name: Some("key 1".into()),
            sealed_name: None,
            tier: "pro".parse().unwrap(),
            created_at: time(2),
            revoked_at: None,
            proven: true,
        })
    );
    assert_eq!(
        reader.record(key_id(2)).await.unwrap(),
        Some(StoredKey {
            key_id: key_id(2),
            hint: "0002".into(),
            name: None,
            sealed_name: Some(sealed(2)),
            tier: "free".parse().unwrap(),
            created_at: time(3),
            revoked_at: Some(time(7)),
            proven: false,
        })
    );
    assert_eq!(reader.record(key_id(9)).await.unwrap(), None);
    assert_eq!(reader.checkpoint().await.unwrap().position, Position(7));
}

#[tokio::test]
async fn all_keys_of_an_erased_account_are_revoked() {
    let folder = tempfile::tempdir().unwrap();
    let mut writer = KeysWriter::open(folder.path()).await.unwrap();
    apply(&mut writer, &[(1, issued(1)), (1, issued(2)), (1, revoked(1)), (2, issued(3))]).await;
    let reader = KeysReader::open(folder.path()).await.unwrap();
    apply(&mut writer, &[(1, AccountEvent::AccountErased(AccountErased {}))]).await;
    reader.refresh().await.unwrap();
    assert_eq!(
        [active(&reader, 1), active(&reader, 2), active(&reader, 3)],
        [None, None, Some((key_id(3), "free".into()))]
    );
    let ended = async |number| reader.record(key_id(number)).await.unwrap().unwrap().revoked_at;
    assert_eq!((ended(1).await, ended(2).await), (Some(time(3)), Some(time(5))));
}

#[tokio::test]
async fn an_unexpected_event_is_rejected_and_changes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let mut writer = KeysWriter::open(folder.path()).await.unwrap();
    apply(&mut writer, &[(1, issued(1))]).await;
    let AccountEvent::KeyIssued(mut same_hash) = issued(2) else { unreachable!() };
    same_hash.hash = hash(1);
    let twice = "it issues a key that was issued before".to_owned();
    let unknown = "it refers to a key that was not issued to this account before".to_owned();
    let batch = [
        (2, issued(1)),
        (2, AccountEvent::KeyIssued(same_hash)),
        (2, revoked(1)),
        (1, tier(&[1, 7], "pro")),
        (2, issued(2)),
        (1, issued(2)),
    ];
    assert_eq!(
        apply(&mut writer, &batch).await,
        [(2, twice.clone()), (3, twice.clone()), (4, unknown.clone()), (5, unknown), (7, twice)]
    );
    let reader = KeysReader::open(folder.path()).await.unwrap();
    assert_eq!(active(&reader, 1), Some((key_id(1), "free".into())));
    assert_eq!(active(&reader, 2), Some((key_id(2), "free".into())));
}

#[tokio::test]
async fn a_thousand_keys_are_found_and_a_revoked_one_is_gone_after_a_refresh() {
    let folder = tempfile::tempdir().unwrap();
    let mut writer = KeysWriter::open(folder.path()).await.unwrap();
    let all: Vec<(u64, AccountEvent)> = (0..1_000).map(|number| (number, issued(number))).collect();
    assert_eq!(apply(&mut writer, &all).await, []);
    let reader = KeysReader::open(folder.path()).await.unwrap();
    assert!((0..1_000).all(|number| active(&reader, number) == Some((key_id(number), "free".into()))));
    apply(&mut writer, &[(400, revoked(400))]).await;
    reader.refresh().await.unwrap();
    let found: Vec<u64> = (0..1_001).filter(|number| active(&reader, *number).is_none()).collect();
    assert_eq!(found, [400, 1_000]);
}

/// What a naive reading of the events says: tier, whether it is proven, and when it ended.
type Naive = BTreeMap<u64, (u64, String, bool, Option<Timestamp>)>;

fn naive(events: &[(u64, AccountEvent)]) -> Naive {
    let mut keys = Naive::new();
    let number = |id: &KeyId| id.as_str()[3..].parse::<u64>().unwrap();
    for (position, (owner, event)) in (1..).zip(events) {
        match event {
            AccountEvent::AccountOpened(_)
            | AccountEvent::PaymentRecorded(_)
            | AccountEvent::PaymentsMoved(_)
            | AccountEvent::EntitlementChanged(_) => {}
            AccountEvent::KeyIssued(key) => {
                keys.entry(number(&key.key_id)).or_insert((*owner, key.tier.to_string(), false, None));
            }
            AccountEvent::KeyRevoked(key) => {
                let known = keys.get_mut(&number(&key.key_id)).filter(|known| known.0 == *owner);
                if let Some(known) = known {
                    known.3.get_or_insert(time(position));
                }
            }
            AccountEvent::EmailProven(_) => {
                keys.values_mut().filter(|known| known.0 == *owner).for_each(|known| known.2 = true);
            }
            AccountEvent::TierChanged(changed) => {
                let mine = keys.values_mut().filter(|known| known.0 == *owner);
                mine.for_each(|known| known.1 = changed.tier.to_string());
            }
            AccountEvent::AccountErased(_) => {
                let mine = keys.values_mut().filter(|known| known.0 == *owner);
                mine.for_each(|known| _ = known.3.get_or_insert(time(position)));
            }
        }
    }
    keys
}

/// Events of three accounts; key n belongs to account n % 3, so that some refer to keys of other accounts.
fn events() -> impl Strategy<Value = Vec<(u64, AccountEvent)>> {
    let act = (0..3_u64, 0..12_u64, 0..6_u8);
    proptest::collection::vec(act, 1..40).prop_map(|acts| {
        let mut owned: BTreeMap<u64, Vec<u64>> = BTreeMap::new();
        let mut taken = std::collections::BTreeSet::new();
        let event = |(owner, number, act): (u64, u64, u8)| {
            let mine = owned.entry(owner).or_default();
            let event = match act {
                0 | 1 => {
                    if taken.insert(number) {
                        mine.push(number);
                    }
                    issued(number)
                }
                2 => revoked(number),
                3 => proven(mine),
                4 => tier(mine, if number % 2 == 0 { "studio" } else { "pro" }),
                _ => AccountEvent::AccountErased(AccountErased {}),
            };
            (owner, event)
        };
        acts.into_iter().map(event).collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn any_cut_gives_the_same_keys_and_the_same_digest(
        events in events(),
        cuts in proptest::collection::vec(0..40_usize, 0..5),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let whole = tempfile::tempdir().unwrap();
            let mut writer = KeysWriter::open(whole.path()).await.unwrap();
            let refused = apply(&mut writer, &events).await;
            let expected = KeysReader::digest(whole.path()).await.unwrap();

            let folder = tempfile::tempdir().unwrap();
            KeysWriter::open(folder.path()).await.unwrap();
            let reader = KeysReader::open(folder.path()).await.unwrap();
            let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut % (events.len() + 1)).collect();
            cuts.sort_unstable();
            let (mut start, mut refused_in_parts) = (0, Vec::new());
            for end in cuts.into_iter().chain([events.len()]) {
                // The model is opened again for each batch, so that no state is in memory alone.
                let mut writer = KeysWriter::open(folder.path()).await.unwrap();
                refused_in_parts.extend(apply(&mut writer, &events[start..end]).await);
                reader.refresh().await.unwrap();
                start = end;
            }
            assert_eq!(refused_in_parts, refused);
            assert_eq!(KeysReader::digest(folder.path()).await.unwrap(), expected);
            let naive = naive(&events);
            for number in 0..12 {
                let known = naive.get(&number);
                let record = reader.record(key_id(number)).await.unwrap();
                let found = record.map(|key| (key.tier.to_string(), key.proven, key.revoked_at));
                assert_eq!(found, known.map(|(_, tier, proven, ended)| (tier.clone(), *proven, *ended)));
                let good_now = known.filter(|known| known.3.is_none());
                assert_eq!(active(&reader, number), good_now.map(|known| (key_id(number), known.1.clone())));
            }
        });
    }
}
