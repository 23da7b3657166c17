use std::slice::from_ref;

use schemas::payment::KeptReason;
use serde_json::json;

use super::*;

fn terms() -> Terms {
    Terms {
        prices: "price_studio=studio, price_pro=pro".parse().unwrap(),
        tiers: "free=200, studio=5000, pro=25000".parse().unwrap(),
        mode: Mode::Live,
    }
}

/// An event as it is sent, around this object.
fn event(kind: &str, object: Value) -> String {
    json!({
        "id": "evt_1RkLoggia0001", "object": "event", "api_version": "2026-09-30", "created": 1_795_163_400,
        "livemode": true, "pending_webhooks": 1, "request": {"id": null, "idempotency_key": null}, "type": kind,
        "data": {"object": object},
    })
    .to_string()
}

/// What is read of an object, in short.
fn parsed(kind: &str, object: Value) -> Value {
    match ParsedEvent::parse(&event(kind, object), &terms()) {
        ParsedEvent::Payment(notice) => {
            let mut short = serde_json::to_value(&notice.payment).unwrap();
            let members = short.as_object_mut().unwrap();
            assert_eq!(members.remove("event_id"), Some(json!("evt_1RkLoggia0001")));
            assert_eq!(members.remove("created"), Some(json!("2026-11-20T08:30:00Z")));
            assert_eq!(members.remove("provider"), Some(json!("stripe")));
            members.insert("email".into(), serde_json::to_value(&notice.email).unwrap());
            short
        }
        ParsedEvent::Kept(kept) => json!(format!("{:?}", kept.reason)),
    }
}

/// Returns an object with other or further members.
fn with(mut object: Value, more: &Value) -> Value {
    object.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    object
}

fn session(more: Value) -> Value {
    let session = json!({
        "id": "cs_live_1", "object": "checkout.session", "mode": "subscription", "status": "complete",
        "payment_status": "paid", "amount_total": 2900, "currency": "eur", "customer": "cus_1",
        "customer_details": {"email": "Ada.Pelt@Example.org", "name": "Ada Pelt", "address": {"country": "NL"}},
        "customer_email": null, "invoice": "in_1", "payment_intent": null, "subscription": "sub_1", "metadata": {},
    });
    with(session, &more)
}

fn of_session(kind: &str, tier: Value) -> Value {
    json!({"kind": kind, "subscription": "sub_1", "customer": "cus_1", "references": ["in_1"], "tier": tier,
        "period_end": null, "email": "Ada.Pelt@example.org"})
}

#[test]
fn a_checkout_names_the_payer() {
    let checkout = |more| parsed("checkout.session.completed", session(more));
    assert_eq!(checkout(json!({})), of_session("paid", Value::Null));
    assert_eq!(checkout(json!({"payment_status": "no_payment_required"})), of_session("paid", Value::Null));
    assert_eq!(checkout(json!({"payment_status": "unpaid"})), of_session("pending", Value::Null));
    assert_eq!(checkout(json!({"metadata": {"tier": " pro "}})), of_session("paid", json!("pro")));
    assert_eq!(checkout(json!({"metadata": {"tier": "gold"}})), of_session("paid", Value::Null));
    let bought =
        json!({"line_items": {"data": [{"price": {"id": "price_studio"}}]}, "metadata": {"tier": "pro"}});
    assert_eq!(checkout(bought), of_session("paid", json!("studio")), "a price says more than a word");
    let expanded = json!({"customer": {"id": "cus_1", "email": "x@example.org"}, "subscription": {"id": "sub_1"},
        "invoice": {"id": "in_1"}});
    assert_eq!(checkout(expanded), of_session("paid", Value::Null));
    assert_eq!(checkout(json!({"mode": "setup", "payment_status": "no_payment_required"})), "Unreadable");
    assert_eq!(checkout(json!({"payment_status": "new"})), "Unreadable");
    let late = session(json!({"payment_status": "unpaid"}));
    assert_eq!(parsed("checkout.session.async_payment_succeeded", late), of_session("paid", Value::Null));
}

#[test]
fn a_checkout_without_a_subscription_names_its_payment() {
    let once =
        session(json!({"mode": "payment", "subscription": null, "invoice": null, "payment_intent": "pi_1",
        "customer": null, "customer_details": {"email": "no address"}, "customer_email": "ada@example.org"}));
    assert_eq!(
        parsed("checkout.session.completed", once),
        json!({"kind": "paid", "subscription": null, "customer": null, "references": ["pi_1"], "tier": null,
            "period_end": null, "email": "ada@example.org"})
    );
}

fn line(price: Value, amount: i64, end: i64) -> Value {
    let line = json!({"object": "line_item", "amount": amount, "period": {"start": 1_795_163_000, "end": end},
        "metadata": {}});
    with(line, &price)
}

fn invoice(lines: &[Value], more: Value) -> Value {
    let invoice = json!({
        "id": "in_1", "object": "invoice", "billing_reason": "subscription_cycle", "customer": "cus_1",
        "customer_email": "ada@example.org", "customer_name": "Ada Pelt", "status": "paid", "amount_paid": 2900,
        "period_start": 1_792_485_000, "period_end": 1_795_163_000, "lines": {"object": "list", "data": lines},
    });
    with(invoice, &more)
}

fn of_invoice(references: &[&str], tier: Value, end: Value) -> Value {
    json!({"kind": "paid", "subscription": "sub_1", "customer": "cus_1", "references": references, "tier": tier,
        "period_end": end, "email": "ada@example.org"})
}

const DECEMBER: i64 = 1_797_755_000;

#[test]
fn an_invoice_has_its_tier_and_period_in_old_and_new_versions() {
    let paid = |lines: &[Value], more| parsed("invoice.paid", invoice(lines, more));
    let old = json!({"subscription": "sub_1", "payment_intent": "pi_1", "charge": "ch_1"});
    let end = json!("2026-12-20T08:23:20Z");
    let studio = line(json!({"price": {"id": "price_studio", "product": "prod_1"}}), 2900, DECEMBER);
    assert_eq!(
        paid(from_ref(&studio), old.clone()),
        of_invoice(&["in_1", "pi_1", "ch_1"], json!("studio"), end.clone())
    );
    let new = json!({"parent": {"type": "subscription_details", "subscription_details": {"subscription": "sub_1"}},
        "payments": {"data": [{"payment": {"type": "payment_intent", "payment_intent": "pi_1"}}]}});
    let pro = line(json!({"pricing": {"price_details": {"price": "price_pro"}}}), 9900, DECEMBER);
    assert_eq!(paid(from_ref(&pro), new.clone()), of_invoice(&["in_1", "pi_1"], json!("pro"), end.clone()));
    // An upgrade within the month gives back what is left of the tier before.
    let back = line(json!({"price": {"id": "price_studio"}}), -1400, DECEMBER);
    assert_eq!(paid(&[pro, back], new.clone()), of_invoice(&["in_1", "pi_1"], json!("pro"), end.clone()));
    // What is bought besides, and runs longer, is not a tier.
    let besides = line(json!({"price": {"id": "price_book"}}), 100, DECEMBER + 1_000);
    assert_eq!(
        paid(&[besides.clone(), studio], old.clone()),
        of_invoice(&["in_1", "pi_1", "ch_1"], json!("studio"), end.clone())
    );
    let named =
        json!({"parent": {"subscription_details": {"subscription": "sub_1", "metadata": {"tier": "pro"}}}});
    assert_eq!(paid(&[besides], named)["tier"], "pro");
    let of_line = line(json!({"plan": {"id": "price_pro"}, "subscription": "sub_1"}), 9900, DECEMBER);
    assert_eq!(paid(&[of_line], json!({})), of_invoice(&["in_1"], json!("pro"), end));
    let past = line(json!({"price": "price_pro"}), 9900, 1_795_163_000);
    assert_eq!(paid(&[past], old)["period_end"], Value::Null, "an end that has passed is none");
    assert_eq!(paid(&[], json!({"id": null})), "Unreadable");
}

#[test]
fn an_unpaid_invoice_names_its_subscription() {
    let unpaid =
        invoice(&[line(json!({"price": "price_pro"}), 9900, DECEMBER)], json!({"subscription": "sub_1"}));
    assert_eq!(
        parsed("invoice.payment_failed", unpaid),
        json!({"kind": "failed", "subscription": "sub_1", "customer": "cus_1", "references": ["in_1"], "tier": null,
            "period_end": null, "email": "ada@example.org"})
    );
}

#[test]
fn a_subscription_has_its_tier_and_end() {
    let subscription = |status: &str, more: Value| {
        let subscription = json!({"id": "sub_1", "object": "subscription", "customer": "cus_1", "status": status,
            "latest_invoice": "in_1", "cancel_at_period_end": false, "metadata": {}});
        with(subscription, &more)
    };
    let of = |kind: &str, tier: Value| {
        json!({"kind": kind, "subscription": "sub_1", "customer": "cus_1", "references": ["in_1"], "tier": tier,
            "period_end": "2026-12-20T08:23:20Z", "email": null})
    };
    let old = json!({"current_period_end": DECEMBER, "items": {"data": [{"price": {"id": "price_pro"}}]}});
    let new = json!({"items": {"data": [{"current_period_end": DECEMBER, "price": {"id": "price_pro"}}]}});
    for more in [old, new] {
        let changed =
            |status: &str| parsed("customer.subscription.updated", subscription(status, more.clone()));
        assert_eq!(changed("active"), of("changed", json!("pro")));
        assert_eq!(changed("trialing"), of("changed", json!("pro")));
        for waiting in ["past_due", "unpaid", "incomplete", "paused", "something new"] {
            assert_eq!(changed(waiting), of("failed", Value::Null));
        }
        for over in ["canceled", "incomplete_expired"] {
            assert_eq!(changed(over), of("ended", Value::Null));
        }
        let deleted = parsed("customer.subscription.deleted", subscription("canceled", more.clone()));
        assert_eq!(deleted, of("ended", Value::Null));
    }
    assert_eq!(parsed("customer.subscription.deleted", json!({"id": 7})), "Unreadable");
}

#[test]
fn a_refund_is_complete_or_partial() {
    let charge = |more: Value| {
        let charge = json!({"id": "ch_1", "object": "charge", "amount": 2900, "customer": "cus_1",
            "payment_intent": "pi_1", "billing_details": {"email": "ada@example.org"}, "receipt_email": null});
        parsed("charge.refunded", with(charge, &more))
    };
    let of = |kind: &str, references: &[&str]| {
        json!({"kind": kind, "subscription": null, "customer": "cus_1", "references": references, "tier": null,
            "period_end": null, "email": "ada@example.org"})
    };
    assert_eq!(charge(json!({"refunded": true, "amount_refunded": 2900})), of("refunded", &["ch_1", "pi_1"]));
    assert_eq!(
        charge(json!({"refunded": false, "amount_refunded": 900})),
        of("partly_refunded", &["ch_1", "pi_1"])
    );
    assert_eq!(
        charge(json!({"amount_refunded": 2900, "invoice": "in_1"})),
        of("refunded", &["ch_1", "pi_1", "in_1"])
    );
    assert_eq!(charge(json!({})), "Unreadable");
}

#[test]
fn a_lost_dispute_is_a_refund_of_its_charge() {
    let closed = |status: &str, charge: Value| {
        let dispute = json!({"id": "du_1", "object": "dispute", "amount": 2900, "charge": charge,
            "payment_intent": "pi_1", "status": status});
        parsed("charge.dispute.closed", dispute)
    };
    let of = |kind: &str, customer: Value| {
        json!({"kind": kind, "subscription": null, "customer": customer, "references": ["ch_1", "pi_1"], "tier": null,
            "period_end": null, "email": null})
    };
    assert_eq!(closed("lost", json!("ch_1")), of("refunded", Value::Null));
    let whole = json!({"id": "ch_1", "amount": 9900, "customer": "cus_1"});
    assert_eq!(closed("lost", whole), of("partly_refunded", json!("cus_1")));
    for status in ["won", "warning_closed"] {
        assert_eq!(closed(status, json!("ch_1")), "NotLookedAt");
    }
    assert_eq!(
        parsed("charge.dispute.closed", json!({"status": "lost"})),
        "Unreadable",
        "it is of no charge"
    );
}

#[test]
fn a_failed_refund_is_recognised() {
    let refund = |status: &str| json!({"id": "re_1", "object": "refund", "amount": 2900, "charge": "ch_1", "payment_intent": "pi_1", "status": status});
    let failed = json!({"kind": "partly_refunded", "subscription": null, "customer": null, "references": ["ch_1", "pi_1"],
        "tier": null, "period_end": null, "email": null, "refund_failed": true});
    assert_eq!(parsed("refund.failed", refund("failed")), failed);
    for kind in ["refund.updated", "charge.refund.updated"] {
        assert_eq!(
            [parsed(kind, refund("failed")), parsed(kind, refund("canceled"))],
            [failed.clone(), failed.clone()]
        );
        assert_eq!(parsed(kind, refund("succeeded")), "NotLookedAt");
    }
}

#[test]
fn a_payment_of_an_invoice_connects_a_refund_with_it() {
    let paid = json!({"id": "inpay_1", "object": "invoice_payment", "invoice": "in_1", "status": "paid",
        "amount_paid": 2900, "payment": {"type": "payment_intent", "payment_intent": "pi_1"}});
    assert_eq!(
        parsed("invoice_payment.paid", paid),
        json!({"kind": "pending", "subscription": null, "customer": null, "references": ["in_1", "pi_1"], "tier": null,
            "period_end": null, "email": null})
    );
    assert_eq!(parsed("invoice_payment.paid", json!({"id": "inpay_1"})), "Unreadable");
}

#[test]
fn irrelevant_and_unreadable_events_are_kept_whole() {
    assert_eq!(parsed("customer.created", json!({"id": "cus_1", "email": "ada@example.org"})), "NotLookedAt");
    assert_eq!(parsed("invoice.paid", json!("in_1")), "Unreadable");
    let charge = json!({"refunded": true});
    assert_eq!(parsed("charge.refunded", charge), "Unreadable", "it names no account");
    let test =
        event("invoice.paid", invoice(&[], json!({}))).replace("\"livemode\":true", "\"livemode\":false");
    assert_eq!(ParsedEvent::parse(&test, &terms()).kept_reason(), Some(KeptReason::OtherMode));
    assert_eq!(ParsedEvent::parse(&test, &Terms { mode: Mode::Test, ..terms() }).kept_reason(), None);
    for (raw, id, kind) in [
        ("no JSON", "sha256-29ecbeb830e3244605e5a88493e4088424a71780e5cf59bb3475f278f294335b", "unknown"),
        ("[]", "sha256-4f53cda18c2baa0c0354bb5f9a3ecbe5ed12ab4d8e11ba873c2f11161202b945", "unknown"),
        (r#"{"id":"evt_9","type":"invoice.paid","livemode":true}"#, "evt_9", "invoice.paid"),
        (r#"{"id":"evt_9","type":"in voice","livemode":true,"created":1e99}"#, "evt_9", "invoice"),
    ] {
        let ParsedEvent::Kept(kept) = ParsedEvent::parse(raw, &terms()) else { panic!("{raw}") };
        assert_eq!((kept.reason, kept.raw.as_str(), kept.kind.as_str()), (KeptReason::Unreadable, raw, kind));
        assert_eq!(kept.event_id.to_string(), id, "{raw}");
    }
}

#[test]
fn a_payment_that_names_no_price_is_noticed() {
    let unpriced =
        |kind: &str, object: Value| ParsedEvent::parse(&event(kind, object), &terms()).is_unpriced();
    let book = line(json!({"price": {"id": "price_book"}}), 100, DECEMBER);
    assert!(unpriced("invoice.paid", invoice(&[book], json!({"subscription": "sub_1"}))));
    assert!(!unpriced("checkout.session.completed", session(json!({}))));
    assert!(unpriced("checkout.session.completed", session(json!({"subscription": null}))));
    assert!(!unpriced("checkout.session.completed", session(json!({"payment_status": "unpaid"}))));
    let running = |status: &str, price: &str| json!({"id": "sub_1", "customer": "cus_1", "status": status, "items": {"data": [{"price": {"id": price}}]}});
    let changed = "customer.subscription.updated";
    assert!(unpriced(changed, running("active", "price_gold")));
    assert!(!unpriced(changed, running("active", "price_pro")));
    assert!(!unpriced(changed, running("past_due", "price_gold")));
}
