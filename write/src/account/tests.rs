use jiff::SignedDuration;
use proptest::prelude::*;

use super::scenario::*;
use super::*;

#[test]
fn a_key_has_the_state_of_its_events() {
    let account = replayed(&[
        (opened(), at(10, 1)),
        (issued("a"), at(10, 1)),
        (issued("b"), at(10, 2)),
        (proven(&["b"]), at(10, 3)),
        (moved(&["b"], "studio"), at(10, 4)),
        (revoked("a"), at(10, 5)),
        (revoked("a"), at(10, 6)),
    ]);
    let a = KeyState { revoked: Some(at(10, 5)), ..KeyState::new(key("a"), at(10, 1)) };
    let b = KeyState {
        tier: tier("studio"),
        own: tier("studio"),
        proven: true,
        ..KeyState::new(key("b"), at(10, 2))
    };
    assert_eq!(account, Account::Open(vec![a, b], Payments::default()));
    assert_eq!(account.live().map(|key| key.issued.key_id).collect::<Vec<_>>(), [id("b")]);
}

#[test]
fn an_erasure_revokes_all_keys_and_later_events_have_no_effect() {
    let past = [three(), vec![(revoked("a"), at(11, 2)), (erased(), at(11, 3)), (issued("d"), at(11, 4))]];
    let account = replayed(&past.concat());
    let Account::Erased(keys) = &account else { panic!("{account:?}") };
    let revoked: Vec<_> = keys.iter().map(|key| key.revoked).collect();
    assert_eq!(revoked, [Some(at(11, 2)), Some(at(11, 3)), Some(at(11, 3))]);
}

#[test]
fn only_issuing_claims_a_key() {
    let events = [opened(), issued("a"), revoked("a"), proven(&["a"]), moved(&["a"], "free"), erased()];
    let keys = |event| event_log::claims::own_names(&schemas::event::Event::Account(event));
    let names: Vec<String> = events.into_iter().flat_map(keys).map(|claim| claim.name).collect();
    assert_eq!(names, [id("a").to_string()]);
}

/// A command, and the hours since the last one.
#[derive(Debug, Clone)]
enum Act {
    Issue,
    Revoke(usize),
    Prove(Vec<usize>),
    Tier(Vec<usize>, bool),
    Claim(Vec<usize>, Vec<usize>, bool),
    Erase,
}

fn acts() -> impl Strategy<Value = Vec<(Act, i64)>> {
    let some = proptest::collection::vec(0..12_usize, 0..3);
    let act = prop_oneof![
        8 => Just(Act::Issue),
        6 => (0..12_usize).prop_map(Act::Revoke),
        2 => some.clone().prop_map(Act::Prove),
        2 => (some.clone(), any::<bool>()).prop_map(|(keys, up)| Act::Tier(keys, up)),
        3 => (some.clone(), some, any::<bool>()).prop_map(|(keep, revoke, new)| Act::Claim(keep, revoke, new)),
        1 => Just(Act::Erase),
    ];
    proptest::collection::vec((act, 0..400_i64), 1..60)
}

/// Letters for keys in the order in which they are issued.
fn letter(number: usize) -> String {
    char::from(b'a' + u8::try_from(number % 26).unwrap()).to_string()
}

fn decide(account: &Account, act: &Act, issued: usize, now: Timestamp) -> Vec<AccountEvent> {
    let ids = |numbers: &[usize]| numbers.iter().map(|n| id(&letter(*n))).collect::<Vec<_>>();
    let decided = match act {
        Act::Issue => issue_key(account, &key(&letter(issued)), &tiers(), now),
        Act::Revoke(number) => revoke_key(account, id(&letter(*number))),
        Act::Prove(numbers) => prove_keys(account, &ids(numbers)),
        Act::Tier(numbers, up) => {
            change_tier(account, &ids(numbers), &tier(if *up { "studio" } else { "free" }), &tiers())
        }
        Act::Claim(keep, revoke, new) => {
            let new_key = key(&letter(issued));
            let (keep, revoke) = (ids(keep), ids(revoke));
            let decision = LinkDecision { keep: &keep, revoke: &revoke, new_key: new.then_some(&new_key) };
            use_link(account, decision, &tiers(), now)
        }
        Act::Erase => Ok(erase(account)),
    };
    decided.unwrap_or_default()
}

proptest! {
    #[test]
    fn no_month_has_more_than_three_keys_but_for_the_first_proof(acts in acts()) {
        let (mut account, mut log, mut now) = (Account::Absent, Vec::new(), at(1, 1));
        for (act, hours) in acts {
            now += SignedDuration::from_hours(hours);
            let events = decide(&account, &act, account.keys().len(), now);
            for event in events {
                account = account.evolve(&event, now);
                log.push((event, now));
            }
            // The same command at the same time again changes nothing.
            if !matches!(act, Act::Issue | Act::Claim(_, _, true)) {
                prop_assert_eq!(decide(&account, &act, 0, now), []);
            }
            let mut paid = account.keys().iter().filter(|key| key.tier == tier("studio"));
            prop_assert!(paid.all(|key| key.proven), "a tier without proof: {:?}", account);
        }
        let (mut month, mut fuller) = (Month::of(at(1, 1)), 0);
        while month <= Month::of(now) {
            let usable = account.keys().iter().filter(|key| {
                Month::of(key.issued_at) <= month && key.revoked.is_none_or(|at| Month::of(at) >= month)
            });
            let usable = usable.count();
            prop_assert!(usable <= MAX_KEYS + 1, "{month:?} of {account:?}");
            fuller += usize::from(usable > MAX_KEYS);
            month = month.next();
        }
        prop_assert!(fuller <= 1, "the first proof frees one place, once: {:?}", account);
        prop_assert_eq!(replayed(&log), account);
    }
}
