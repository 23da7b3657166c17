use super::super::scenario::*;
use super::super::{change_tier, issue, prove};
use super::*;

/// The keys a and b are proven, c is not, and studio is paid until the first of December.
fn paying() -> Vec<(AccountEvent, Timestamp)> {
    let proof = (proven(&["a", "b"]), at(11, 2));
    let references = vec!["in_1".parse().unwrap()];
    let payment = PaymentRecorded { references, ..paid("evt_1", 3, "studio", at(12, 1)) };
    let given = [three(), vec![proof]].concat();
    let events = pay(&replayed(&given), &payment, &tiers(), at(11, 3)).unwrap();
    [given, events.into_iter().map(|event| (event, at(11, 3))).collect()].concat()
}

#[test]
fn proven_keys_rise_with_the_payment_and_others_do_not() {
    let payment = paid("evt_1", 3, "studio", at(12, 1));
    let expected = [recorded(&payment), entitled("studio"), followed(&["a", "b"], "studio")];
    given(&[three(), vec![(proven(&["a", "b"]), at(11, 2))]].concat())
        .when(|account| pay(account, &payment, &tiers(), at(11, 3)))
        .then(&expected);
    given(&[]).when(|account| pay(account, &payment, &tiers(), at(11, 3))).then(&[
        opened(),
        recorded(&payment),
        entitled("studio"),
    ]);
}

#[test]
fn a_notice_is_recorded_once() {
    given(&paying())
        .when(|account| pay(account, &paid("evt_1", 3, "pro", at(12, 9)), &tiers(), at(11, 5)))
        .then_nothing();
    given(&[three(), vec![(erased(), at(11, 2))]].concat())
        .when(|account| pay(account, &paid("evt_1", 3, "pro", at(12, 9)), &tiers(), at(11, 5)))
        .then_rejected(
            "the account was erased; issue the key under the address again, which opens a new account",
        );
}

#[test]
fn a_renewal_moves_nothing_and_a_change_does_at_once() {
    let renewed = paid("evt_2", 30, "studio", at(12, 31));
    given(&paying()).when(|account| pay(account, &renewed, &tiers(), at(11, 30))).then(&[recorded(&renewed)]);
    let changed = PaymentRecorded { tier: Some(tier("pro")), ..notice("evt_3", 10, PaymentKind::Changed) };
    given(&paying()).when(|account| pay(account, &changed, &tiers(), at(11, 10))).then(&[
        recorded(&changed),
        entitled("pro"),
        followed(&["a", "b"], "pro"),
    ]);
}

#[test]
fn what_was_paid_lasts_until_its_end() {
    for kind in [PaymentKind::Failed, PaymentKind::Ended, PaymentKind::PartlyRefunded, PaymentKind::Pending] {
        let told = PaymentRecorded { period_end: Some(at(12, 20)), ..notice("evt_2", 10, kind) };
        given(&paying()).when(|account| pay(account, &told, &tiers(), at(11, 10))).then(&[recorded(&told)]);
    }
    let account = replayed(&paying());
    assert_eq!(next_settling(&account, &tiers(), at(11, 10)), Some(at(12, 1)));
    assert_eq!(settle(&account, &tiers(), at(11, 30)), []);
    let end = [entitled("free"), followed(&["a", "b"], "free")];
    assert_eq!(settle(&account, &tiers(), at(12, 1)), end);
    assert_eq!(next_settling(&account, &tiers(), at(12, 2)), Some(at(12, 2)), "it is late already");
    let ended = account.after(&end, at(12, 1));
    assert_eq!(settle(&ended, &tiers(), at(12, 1)), []);
    assert_eq!(next_settling(&ended, &tiers(), at(12, 1)), None);
}

#[test]
fn a_subscription_whose_end_has_passed_ends_at_once() {
    let ended = PaymentRecorded { period_end: Some(at(11, 9)), ..notice("evt_2", 10, PaymentKind::Ended) };
    given(&paying()).when(|account| pay(account, &ended, &tiers(), at(11, 10))).then(&[
        recorded(&ended),
        entitled("free"),
        followed(&["a", "b"], "free"),
    ]);
}

#[test]
fn a_refund_ends_it_at_once_unless_something_newer_is_paid() {
    let references = vec!["in_1".parse().unwrap()];
    let refund = PaymentRecorded { references, ..notice("evt_2", 10, PaymentKind::Refunded) };
    given(&paying()).when(|account| pay(account, &refund, &tiers(), at(11, 10))).then(&[
        recorded(&refund),
        entitled("free"),
        followed(&["a", "b"], "free"),
    ]);
    let newer = (recorded(&paid("evt_3", 11, "studio", at(12, 9))), at(11, 11));
    given(&[paying(), vec![newer]].concat())
        .when(|account| pay(account, &refund, &tiers(), at(11, 12)))
        .then(&[recorded(&refund)]);
}

#[test]
fn a_key_that_an_operator_put_higher_stays_and_one_that_he_put_lower_stays_so_until_something_changes() {
    let put = [(moved(&["a"], "pro"), at(11, 4)), (moved(&["b"], "free"), at(11, 4))];
    let account = replayed(&[paying(), put.to_vec()].concat());
    assert_eq!(settle(&account, &tiers(), at(11, 5)), []);
    assert_eq!(settle(&account, &tiers(), at(12, 1)), [entitled("free")]);
}

#[test]
fn an_operators_word_outlasts_the_payment() {
    given(&paying())
        .when(|account| change_tier(account, &[id("a")], &tier("studio"), &tiers()))
        .then(&[moved(&["a"], "studio")]);
    let account = replayed(&[paying(), vec![(moved(&["a"], "studio"), at(11, 4))]].concat());
    assert_eq!(settle(&account, &tiers(), at(12, 1)), [entitled("free"), followed(&["b"], "free")]);
}

#[test]
fn what_is_proven_rises_at_once() {
    let risen = |decided: Vec<AccountEvent>, now| rise(&replayed(&paying()), decided, &tiers(), now);
    let proof = prove(&replayed(&paying()), &[id("c")]).unwrap();
    assert_eq!(risen(proof.clone(), at(11, 4)), [proven(&["c"]), followed(&["c"], "studio")]);
    assert_eq!(risen(proof, at(12, 1)), [proven(&["c"])], "nothing is paid any more");

    let two = replayed(&[paying(), vec![(revoked("a"), at(10, 1))]].concat());
    let issued =
        issue(&two, &key_in("d", "studio"), &"free=200, studio=5000, pro=6000".parse().unwrap(), at(11, 4));
    let pro = PaymentRecorded { tier: Some(tier("pro")), ..notice("evt_3", 4, PaymentKind::Changed) };
    let two = two.after(&[recorded(&pro), entitled("pro")], at(11, 4));
    let issued = issued.unwrap();
    assert_eq!(
        rise(&two, issued.clone(), &tiers(), at(11, 4)),
        [issued, vec![followed(&["d"], "pro")]].concat()
    );

    let placed = change_tier(&two, &[id("c")], &tier("studio"), &tiers()).unwrap();
    assert_eq!(rise(&two, placed.clone(), &tiers(), at(11, 4)), placed, "an operator's word is the last");
}

#[test]
fn revoked_keys_and_erased_accounts_stay_as_they_are() {
    let revoked = replayed(&[paying(), vec![(revoked("a"), at(11, 4))]].concat());
    assert_eq!(settle(&revoked, &tiers(), at(12, 1)), [entitled("free"), followed(&["b"], "free")]);
    let erased = replayed(&[paying(), vec![(erased(), at(11, 4))]].concat());
    assert_eq!(settle(&erased, &tiers(), at(12, 1)), []);
    assert_eq!(next_settling(&erased, &tiers(), at(12, 1)), None);
}

#[test]
fn a_letter_is_for_those_who_paid_and_have_keys_to_prove_or_none() {
    let payment = paid("evt_1", 3, "studio", at(12, 1));
    let letter = |given: &[(AccountEvent, Timestamp)]| {
        let account = replayed(&[given, &[(recorded(&payment), at(11, 3))]].concat());
        calls_for_letter(&account, &payment, &tiers(), at(11, 3))
    };
    assert!(letter(&[(opened(), at(11, 1))]), "no key");
    assert!(letter(&three()), "none is proven");
    let all = [three(), vec![(proven(&["a", "b", "c"]), at(11, 2))]].concat();
    assert!(!letter(&all));
    assert!(letter(&paying()), "c is not");
    let failed = notice("evt_9", 4, PaymentKind::Failed);
    assert!(!calls_for_letter(&replayed(&paying()), &failed, &tiers(), at(11, 4)));
    assert!(!calls_for_letter(&replayed(&paying()), &payment, &tiers(), at(12, 4)), "it has run out");
}
