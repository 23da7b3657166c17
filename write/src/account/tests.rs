use jiff::SignedDuration;
use proptest::prelude::*;

use super::scenario::*;
use super::*;

#[test]
fn a_key_tells_what_happened_to_it() {
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
fn all_keys_end_with_the_account_and_nothing_follows() {
    let past = [three(), vec![(revoked("a"), at(11, 2)), (erased(), at(11, 3)), (issued("d"), at(11, 4))]];
    let account = replayed(&past.concat());
    let Account::Erased(keys) = &account else { panic!("{account:?}") };
    let revoked: Vec<_> = keys.iter().map(|key| key.revoked).collect();
    assert_eq!(revoked, [Some(at(11, 2)), Some(at(11, 3)), Some(at(11, 3))]);
}

#[test]
fn only_issuing_claims_a_key() {
    let events = [opened(), issued("a"), revoked("a"), proven(&["a"]), moved(&["a"], "free"), erased()];
    let key =
        |event| event_log::claims::own_name(&schemas::event::Event::Account(event)).map(|claim| claim.name);
    assert_eq!(events.into_iter().filter_map(key).collect::<Vec<_>>(), [id("a").to_string()]);
}

/// A command, and the hours since the last one.
#[derive(Debug, Clone)]
enum Wish {
    Issue,
    Revoke(usize),
    Prove(Vec<usize>),
    Tier(Vec<usize>, bool),
    Claim(Vec<usize>, Vec<usize>, bool),
    Erase,
}

fn wishes() -> impl Strategy<Value = Vec<(Wish, i64)>> {
    let some = proptest::collection::vec(0..12_usize, 0..3);
    let wish = prop_oneof![
        8 => Just(Wish::Issue),
        6 => (0..12_usize).prop_map(Wish::Revoke),
        2 => some.clone().prop_map(Wish::Prove),
        2 => (some.clone(), any::<bool>()).prop_map(|(keys, up)| Wish::Tier(keys, up)),
        3 => (some.clone(), some, any::<bool>()).prop_map(|(keep, revoke, new)| Wish::Claim(keep, revoke, new)),
        1 => Just(Wish::Erase),
    ];
    proptest::collection::vec((wish, 0..400_i64), 1..60)
}

/// Letters for keys in the order in which they are issued.
fn letter(number: usize) -> String {
    char::from(b'a' + u8::try_from(number % 26).unwrap()).to_string()
}

fn decide(account: &Account, wish: &Wish, issued: usize, now: Timestamp) -> Vec<AccountEvent> {
    let ids = |numbers: &[usize]| numbers.iter().map(|n| id(&letter(*n))).collect::<Vec<_>>();
    let decided = match wish {
        Wish::Issue => issue(account, &key(&letter(issued)), &tiers(), now),
        Wish::Revoke(number) => revoke(account, id(&letter(*number))),
        Wish::Prove(numbers) => prove(account, &ids(numbers)),
        Wish::Tier(numbers, up) => {
            change_tier(account, &ids(numbers), &tier(if *up { "studio" } else { "free" }), &tiers())
        }
        Wish::Claim(keep, revoke, new) => {
            let new_key = key(&letter(issued));
            let (keep, revoke) = (ids(keep), ids(revoke));
            let wishes = Wishes { keep: &keep, revoke: &revoke, new_key: new.then_some(&new_key) };
            claim(account, wishes, &tiers(), now)
        }
        Wish::Erase => Ok(erase(account)),
    };
    decided.unwrap_or_default()
}

proptest! {
    #[test]
    fn no_month_has_more_than_three_keys_but_for_the_first_proof(wishes in wishes()) {
        let (mut account, mut log, mut now) = (Account::Absent, Vec::new(), at(1, 1));
        for (wish, hours) in wishes {
            now += SignedDuration::from_hours(hours);
            let events = decide(&account, &wish, account.keys().len(), now);
            for event in events {
                account = account.evolve(&event, now);
                log.push((event, now));
            }
            // The same command at the same time again changes nothing.
            if !matches!(wish, Wish::Issue | Wish::Claim(_, _, true)) {
                prop_assert_eq!(decide(&account, &wish, 0, now), []);
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
            prop_assert!(usable <= MOST_KEYS + 1, "{month:?} of {account:?}");
            fuller += usize::from(usable > MOST_KEYS);
            month = month.next();
        }
        prop_assert!(fuller <= 1, "the first proof gives one place back, once: {:?}", account);
        prop_assert_eq!(replayed(&log), account);
    }
}
