use std::slice::from_ref;

use jiff::SignedDuration;
use proptest::prelude::*;
use schemas::payment::Provider;

use super::super::scenario::*;
use super::super::{Account, record_payment, settle_payments};
use super::*;

fn payments(notices: &[PaymentRecorded]) -> Payments {
    let mut payments = Payments::default();
    notices.iter().for_each(|notice| payments.add(notice.clone()));
    payments
}

fn referring(notice: PaymentRecorded, references: &[&str]) -> PaymentRecorded {
    PaymentRecorded { references: references.iter().map(|id| id.parse().unwrap()).collect(), ..notice }
}

/// The paid periods in short form.
fn periods(notices: &[PaymentRecorded]) -> Vec<(String, Timestamp)> {
    let periods = payments(notices).periods();
    periods.into_iter().map(|period| (period.tier.to_string(), period.until)).collect()
}

#[test]
fn a_checkout_counts_as_a_month_until_its_invoice_arrives() {
    let checkout = PaymentRecorded { tier: Some(tier("studio")), ..notice("evt_1", 3, PaymentKind::Paid) };
    assert_eq!(periods(from_ref(&checkout)), [("studio".into(), at(12, 3))]);
    let invoice = paid("evt_2", 3, "studio", "2027-11-03T12:00:00Z".parse().unwrap());
    let year = [("studio".into(), "2027-11-03T12:00:00Z".parse().unwrap())];
    assert_eq!(periods(&[checkout.clone(), invoice.clone()]), year);
    let refund = referring(notice("evt_3", 4, PaymentKind::Refunded), &["in_1"]);
    let paid = [checkout.clone(), invoice].map(|notice| referring(notice, &["in_1"]));
    assert_eq!(periods(&[paid.to_vec(), vec![refund]].concat()), []);
    let once = PaymentRecorded { subscription: None, ..checkout };
    let again = PaymentRecorded { event_id: "evt_9".parse().unwrap(), created: at(11, 20), ..once.clone() };
    assert_eq!(periods(&[once, again]), [("studio".into(), at(12, 3)), ("studio".into(), at(12, 20))]);
}

#[test]
fn a_refund_ends_only_the_period_of_the_invoice_it_names() {
    let october = referring(paid("evt_1", 1, "studio", at(11, 8)), &["in_1", "pi_1"]);
    let november = referring(paid("evt_2", 8, "studio", at(12, 8)), &["in_2", "pi_2"]);
    let both = [october, november];
    let refund = |ids: &[&str]| referring(notice("evt_3", 9, PaymentKind::Refunded), ids);
    let with = |refund: PaymentRecorded| periods(&[both.to_vec(), vec![refund]].concat());
    assert_eq!(with(refund(&["ch_1", "pi_1"])), [("studio".into(), at(12, 8))]);
    assert_eq!(with(refund(&["ch_2", "pi_2"])), [("studio".into(), at(11, 8))]);
    let other = refund(&["ch_shirt", "pi_shirt"]);
    assert_eq!(with(other.clone()), [("studio".into(), at(12, 8))], "something else was bought");
    assert!(!payments(&[both.to_vec(), vec![other.clone()]].concat()).is_unclear(&other));
}

#[test]
fn a_refund_that_may_be_of_a_payment_without_a_charge_is_unclear_until_the_charge_is_named() {
    let invoice = referring(paid("evt_1", 1, "studio", at(12, 1)), &["in_1"]);
    let refund = referring(notice("evt_2", 9, PaymentKind::Refunded), &["ch_1", "pi_1"]);
    let studio = [("studio".to_owned(), at(12, 1))];
    let unclear = |notices: &[PaymentRecorded]| payments(notices).is_unclear(&refund);
    let two = [invoice.clone(), refund.clone()];
    assert_eq!((periods(&two), unclear(&two)), (studio.into(), true));
    let link = referring(notice("evt_3", 1, PaymentKind::Pending), &["in_1", "pi_1"]);
    let linked = [invoice.clone(), refund.clone(), link];
    assert_eq!((periods(&linked), unclear(&linked)), (vec![], false));
    let past = PaymentRecorded { period_end: Some(at(11, 5)), ..invoice };
    assert!(!unclear(&[past, refund.clone()]), "nothing that was paid for ran at that time");
}

#[test]
fn a_failed_refund_has_no_effect() {
    let invoice = referring(paid("evt_1", 1, "studio", at(12, 1)), &["in_1", "pi_1", "ch_1"]);
    let refund = |event, day| referring(notice(event, day, PaymentKind::Refunded), &["ch_1"]);
    let failed = PaymentRecorded {
        refund_failed: true,
        ..referring(notice("evt_3", 10, PaymentKind::PartlyRefunded), &["ch_1"])
    };
    let studio = [("studio".into(), at(12, 1))];
    let first = [invoice, refund("evt_2", 9)];
    assert_eq!(periods(&first), []);
    let undone = [first.to_vec(), vec![failed]].concat();
    assert_eq!(periods(&undone), studio);
    assert_eq!(periods(&[undone, vec![refund("evt_4", 11)]].concat()), [], "it was made again, and arrived");
}

#[test]
fn a_payment_without_a_tier_has_the_tier_of_its_subscription() {
    let plain = PaymentRecorded { tier: None, ..paid("evt_2", 4, "pro", at(12, 4)) };
    assert_eq!(periods(from_ref(&plain)), []);
    let changed = PaymentRecorded { tier: Some(tier("pro")), ..notice("evt_3", 4, PaymentKind::Changed) };
    assert_eq!(periods(&[plain, changed.clone()]), [("pro".into(), at(12, 4))]);
    assert_eq!(periods(&[changed]), [], "an update alone pays nothing");
}

#[test]
fn the_largest_of_several_subscriptions_counts() {
    let other =
        |notice: PaymentRecorded| PaymentRecorded { subscription: Some("sub_t".parse().unwrap()), ..notice };
    let both = payments(&[paid("evt_1", 1, "studio", at(12, 1)), other(paid("evt_2", 2, "pro", at(11, 20)))]);
    let tier_at = |now| both.entitlement(&tiers(), now).to_string();
    assert_eq!([tier_at(at(11, 5)), tier_at(at(11, 20)), tier_at(at(12, 1))], ["pro", "studio", "free"]);
    assert_eq!(both.next_end(at(11, 5)), Some(at(11, 20)));
    assert_eq!(both.next_end(at(11, 20)), Some(at(12, 1)));
    assert_eq!(both.next_end(at(12, 1)), None);
    let gone = payments(&[paid("evt_1", 1, "gold", at(12, 1))]);
    assert_eq!(gone.entitlement(&tiers(), at(11, 5)), tier("free"), "a tier that is no longer configured");
}

fn notices() -> impl Strategy<Value = Vec<PaymentRecorded>> {
    use PaymentKind::*;
    let kind = prop_oneof![
        4 => Just(Paid), 2 => Just(Changed), 1 => Just(Pending), 1 => Just(Failed), 1 => Just(PartlyRefunded), 1 => Just(Ended),
        1 => Just(Refunded)
    ];
    let ids = |prefix: &'static str| {
        prop_oneof![Just(None), (0..2_u8).prop_map(move |n| Some(format!("{prefix}_{n}")))]
    };
    let tier_name = prop_oneof![Just(None), Just(Some("studio")), Just(Some("pro"))];
    let end = prop_oneof![Just(None), (1..40_i64).prop_map(Some)];
    let one =
        (kind, 0..6_i64, ids("sub"), ids("cus"), proptest::collection::vec(0..4_u8, 0..2), tier_name, end);
    proptest::collection::vec(one, 1..9).prop_map(|all| {
        let numbered = (0..).zip(all);
        let notice = |(number, (kind, day, subscription, customer, references, tier_name, end)): (u32, _)| {
            let created = at(11, 1) + SignedDuration::from_hours(24 * day);
            let (subscription, customer): (Option<String>, Option<String>) = (subscription, customer);
            let references: Vec<u8> = references;
            let end: Option<i64> = end;
            PaymentRecorded {
                provider: Provider::Stripe,
                event_id: format!("evt_{number}").parse().unwrap(),
                created,
                kind,
                subscription: subscription.map(|id| id.parse().unwrap()),
                customer: customer.map(|id| id.parse().unwrap()),
                references: references.iter().map(|id| format!("in_{id}").parse().unwrap()).collect(),
                tier: Option::<&str>::map(tier_name, tier),
                period_end: end.map(|days| created + SignedDuration::from_hours(24 * days)),
                refund_failed: false,
                moved_from: None,
            }
        };
        numbered.map(notice).collect()
    })
}

/// The account after notices that arrive one an hour, with the end of each period.
fn account_of(notices: &[PaymentRecorded]) -> Account {
    let proof = (proven(&["a", "b"]), at(11, 2));
    let put = (moved(&["b"], "studio"), at(11, 2));
    let mut account = replayed(&[three(), vec![proof, put]].concat());
    let mut now = at(11, 3);
    for notice in notices {
        now += SignedDuration::from_hours(1);
        let events = record_payment(&account, notice, &tiers(), now).unwrap();
        account = account.after(&events, now);
    }
    let events = settle_payments(&account, &tiers(), at(11, 12));
    account.after(&events, at(11, 12))
}

proptest! {
    #[test]
    fn neither_order_nor_repetition_matters(
        (notices, shuffled) in notices().prop_flat_map(|notices| {
            let twice = [notices.clone(), notices.clone()].concat();
            (Just(notices), Just(twice).prop_shuffle())
        }),
    ) {
        let account = account_of(&notices);
        let other = account_of(&shuffled);
        prop_assert_eq!(other.keys(), account.keys());
        prop_assert_eq!(other.payments().unwrap().recorded(), account.payments().unwrap().recorded());
        let paid = account.payments().unwrap().entitlement(&tiers(), at(11, 12));
        let larger = if paid == tier("pro") { tier("pro") } else { tier("studio") };
        let keys: Vec<_> = account.keys().iter().map(|key| key.tier.clone()).collect();
        prop_assert_eq!(keys, [paid, larger, tier("free")]);
    }
}
