use super::super::scenario::*;
use super::super::{change_tier, issue_key, prove_keys};
use super::*;

/// The keys a and b are proven, c is not, and studio is paid until the first of December.
fn paying_account() -> Vec<(AccountEvent, Timestamp)> {
    let proof = (proven(&["a", "b"]), at(11, 2));
    let references = vec!["in_1".parse().unwrap()];
    let payment = PaymentRecorded { references, ..paid("evt_1", 3, "studio", at(12, 1)) };
    let given = [three(), vec![proof]].concat();
    let events = record_payment(&replayed(&given), &payment, &tiers(), at(11, 3)).unwrap();
    [given, events.into_iter().map(|event| (event, at(11, 3))).collect()].concat()
}

/// Records a payment at noon of a day of November.
fn recording(
    payment: &PaymentRecorded,
    day: i8,
) -> impl FnOnce(&Account) -> Result<Vec<AccountEvent>, Rejection> {
    move |account| record_payment(account, payment, &tiers(), at(11, day))
}

#[test]
fn a_payment_raises_proven_keys_and_no_others() {
    let payment = paid("evt_1", 3, "studio", at(12, 1));
    let expected = [recorded(&payment), entitled("studio"), followed(&["a", "b"], "studio")];
    given(&[three(), vec![(proven(&["a", "b"]), at(11, 2))]].concat())
        .when(recording(&payment, 3))
        .then(&expected);
    given(&[]).when(recording(&payment, 3)).then(&[opened(), recorded(&payment), entitled("studio")]);
}

#[test]
fn a_notice_is_recorded_once() {
    given(&paying_account()).when(recording(&paid("evt_1", 3, "pro", at(12, 9)), 5)).then_nothing();
    given(&[three(), vec![(erased(), at(11, 2))]].concat())
        .when(recording(&paid("evt_1", 3, "pro", at(12, 9)), 5))
        .then_rejected(
            "the account was erased; issue the key under the address again, which opens a new account",
        );
}

#[test]
fn a_renewal_changes_no_tier_and_a_change_of_the_subscription_does_at_once() {
    let renewed = paid("evt_2", 30, "studio", at(12, 31));
    given(&paying_account()).when(recording(&renewed, 30)).then(&[recorded(&renewed)]);
    let changed = PaymentRecorded { tier: Some(tier("pro")), ..notice("evt_3", 10, PaymentKind::Changed) };
    given(&paying_account()).when(recording(&changed, 10)).then(&[
        recorded(&changed),
        entitled("pro"),
        followed(&["a", "b"], "pro"),
    ]);
}

#[test]
fn a_paid_tier_lasts_until_its_period_ends() {
    for kind in [PaymentKind::Failed, PaymentKind::Ended, PaymentKind::PartlyRefunded, PaymentKind::Pending] {
        let changed = PaymentRecorded { period_end: Some(at(12, 20)), ..notice("evt_2", 10, kind) };
        given(&paying_account()).when(recording(&changed, 10)).then(&[recorded(&changed)]);
    }
    let account = replayed(&paying_account());
    assert_eq!(next_settlement(&account, &tiers(), at(11, 10)), Some(at(12, 1)));
    assert_eq!(settle_payments(&account, &tiers(), at(11, 30)), []);
    let end = [entitled("free"), followed(&["a", "b"], "free")];
    assert_eq!(settle_payments(&account, &tiers(), at(12, 1)), end);
    assert_eq!(next_settlement(&account, &tiers(), at(12, 2)), Some(at(12, 2)), "it is late already");
    let ended = account.after(&end, at(12, 1));
    assert_eq!(settle_payments(&ended, &tiers(), at(12, 1)), []);
    assert_eq!(next_settlement(&ended, &tiers(), at(12, 1)), None);
}

#[test]
fn a_subscription_that_has_ended_already_ends_at_once() {
    let ended = PaymentRecorded { period_end: Some(at(11, 9)), ..notice("evt_2", 10, PaymentKind::Ended) };
    given(&paying_account()).when(recording(&ended, 10)).then(&[
        recorded(&ended),
        entitled("free"),
        followed(&["a", "b"], "free"),
    ]);
}

#[test]
fn a_refund_ends_a_period_at_once_unless_a_newer_one_is_paid() {
    let references = vec!["in_1".parse().unwrap()];
    let refund = PaymentRecorded { references, ..notice("evt_2", 10, PaymentKind::Refunded) };
    given(&paying_account()).when(recording(&refund, 10)).then(&[
        recorded(&refund),
        entitled("free"),
        followed(&["a", "b"], "free"),
    ]);
    let newer = (recorded(&paid("evt_3", 11, "studio", at(12, 9))), at(11, 11));
    given(&[paying_account(), vec![newer]].concat()).when(recording(&refund, 12)).then(&[recorded(&refund)]);
}

#[test]
fn a_tier_that_an_operator_set_stays_if_it_is_higher_and_else_until_the_paid_tier_changes() {
    let put = [(moved(&["a"], "pro"), at(11, 4)), (moved(&["b"], "free"), at(11, 4))];
    let account = replayed(&[paying_account(), put.to_vec()].concat());
    assert_eq!(settle_payments(&account, &tiers(), at(11, 5)), []);
    assert_eq!(settle_payments(&account, &tiers(), at(12, 1)), [entitled("free")]);
}

#[test]
fn a_tier_that_an_operator_set_outlasts_the_payment() {
    given(&paying_account())
        .when(|account| change_tier(account, &[id("a")], &tier("studio"), &tiers()))
        .then(&[moved(&["a"], "studio")]);
    let account = replayed(&[paying_account(), vec![(moved(&["a"], "studio"), at(11, 4))]].concat());
    assert_eq!(settle_payments(&account, &tiers(), at(12, 1)), [entitled("free"), followed(&["b"], "free")]);
}

#[test]
fn keys_rise_when_they_are_proven() {
    let risen = |decided: Vec<AccountEvent>, now| {
        raise_proven_keys(&replayed(&paying_account()), decided, &tiers(), now)
    };
    let proof = prove_keys(&replayed(&paying_account()), &[id("c")]).unwrap();
    assert_eq!(risen(proof.clone(), at(11, 4)), [proven(&["c"]), followed(&["c"], "studio")]);
    assert_eq!(risen(proof, at(12, 1)), [proven(&["c"])], "nothing is paid any more");

    let two = replayed(&[paying_account(), vec![(revoked("a"), at(10, 1))]].concat());
    let issued = issue_key(
        &two,
        &key_in("d", "studio"),
        &"free=200, studio=5000, pro=6000".parse().unwrap(),
        at(11, 4),
    );
    let pro = PaymentRecorded { tier: Some(tier("pro")), ..notice("evt_3", 4, PaymentKind::Changed) };
    let two = two.after(&[recorded(&pro), entitled("pro")], at(11, 4));
    let issued = issued.unwrap();
    assert_eq!(
        raise_proven_keys(&two, issued.clone(), &tiers(), at(11, 4)),
        [issued, vec![followed(&["d"], "pro")]].concat()
    );

    let assigned = change_tier(&two, &[id("c")], &tier("studio"), &tiers()).unwrap();
    assert_eq!(
        raise_proven_keys(&two, assigned.clone(), &tiers(), at(11, 4)),
        assigned,
        "an operator's word is the last"
    );
}

#[test]
fn revoked_keys_and_erased_accounts_stay_as_they_are() {
    let revoked = replayed(&[paying_account(), vec![(revoked("a"), at(11, 4))]].concat());
    assert_eq!(settle_payments(&revoked, &tiers(), at(12, 1)), [entitled("free"), followed(&["b"], "free")]);
    let erased = replayed(&[paying_account(), vec![(erased(), at(11, 4))]].concat());
    assert_eq!(settle_payments(&erased, &tiers(), at(12, 1)), []);
    assert_eq!(next_settlement(&erased, &tiers(), at(12, 1)), None);
}

#[test]
fn a_payer_with_unproven_keys_or_none_needs_a_mail() {
    let payment = paid("evt_1", 3, "studio", at(12, 1));
    let letter = |given: &[(AccountEvent, Timestamp)]| {
        let account = replayed(&[given, &[(recorded(&payment), at(11, 3))]].concat());
        needs_mail(&account, &payment, &tiers(), at(11, 3))
    };
    assert!(letter(&[(opened(), at(11, 1))]), "no key");
    assert!(letter(&three()), "none is proven");
    let all = [three(), vec![(proven(&["a", "b", "c"]), at(11, 2))]].concat();
    assert!(!letter(&all));
    assert!(letter(&paying_account()), "c is not");
    let failed = notice("evt_9", 4, PaymentKind::Failed);
    assert!(!needs_mail(&replayed(&paying_account()), &failed, &tiers(), at(11, 4)));
    assert!(!needs_mail(&replayed(&paying_account()), &payment, &tiers(), at(12, 4)), "it has run out");
}
