//! Reads the facts of an event from its object. A reference is an id or the whole object with that id; members that moved between
//! versions of Stripe's interface are read from the old and the new location.

use jiff::Timestamp;
use schemas::email::Email;
use schemas::payment::{PaymentId, PaymentKind};
use schemas::tier::TierName;
use serde_json::Value;

use super::super::terms::Terms;
use super::Facts;

/// A completed checkout. One in which nothing had to be paid, as in a trial or with a voucher, counts as paid; one that only
/// stores a card has no kind.
pub(super) fn checkout(session: &Value, terms: &Terms) -> Facts {
    let kind = match (session["mode"].as_str(), session["payment_status"].as_str()) {
        (Some("setup"), _) => None,
        (_, Some("paid" | "no_payment_required")) => Some(PaymentKind::Paid),
        (_, Some("unpaid")) => Some(PaymentKind::Pending),
        _ => None,
    };
    Facts {
        kind,
        subscription: id(&session["subscription"]),
        customer: id(&session["customer"]),
        references: ids(&[&session["invoice"], &session["payment_intent"]]),
        email: email(&[
            &session["customer_details"]["email"],
            &session["customer_email"],
            &session["customer"]["email"],
        ]),
        tier: priced(elements(&session["line_items"]["data"]), terms)
            .or_else(|| named(&[&session["metadata"], &session["subscription"]["metadata"]], terms)),
        ..Facts::default()
    }
}

/// A checkout that was paid after its completion.
pub(super) fn late_checkout(session: &Value, terms: &Terms) -> Facts {
    Facts { kind: Some(PaymentKind::Paid), ..checkout(session, terms) }
}

/// A paid invoice. Its tier and period are those of its line that costs something and ends last: the period of the invoice itself
/// is the previous one.
pub(super) fn invoice(invoice: &Value, created: Timestamp, terms: &Terms) -> Facts {
    let details = &invoice["parent"]["subscription_details"];
    let line = relevant_line(invoice, created, terms).unwrap_or(&Value::Null);
    let metadata = [
        &line["metadata"],
        &invoice["metadata"],
        &details["metadata"],
        &invoice["subscription_details"]["metadata"],
        &invoice["subscription"]["metadata"],
    ];
    Facts {
        kind: id(&invoice["id"]).map(|_| PaymentKind::Paid),
        tier: priced(vec![line], terms).or_else(|| named(&metadata, terms)),
        period_end: end_of(line, created),
        ..failed_invoice(invoice)
    }
}

/// Returns the line with the price of a tier, or else one that costs something; of several the one that ends last.
fn relevant_line<'v>(invoice: &'v Value, created: Timestamp, terms: &Terms) -> Option<&'v Value> {
    let lines = elements(&invoice["lines"]["data"]).into_iter();
    let charged = lines.filter(|line| line["amount"].as_i64().is_none_or(|amount| amount >= 0));
    let (priced, others): (Vec<&Value>, Vec<&Value>) =
        charged.partition(|line| price_of(line).is_some_and(|price| terms.prices.tier(price).is_some()));
    let last = |lines: Vec<&'v Value>| lines.into_iter().max_by_key(|line| end_of(line, created));
    last(priced).or_else(|| last(others))
}

/// Returns the end of a line's period, if it is after the event.
fn end_of(line: &Value, created: Timestamp) -> Option<Timestamp> {
    time(&line["period"]["end"]).filter(|end| *end > created)
}

/// An invoice whose payment failed.
pub(super) fn failed_invoice(invoice: &Value) -> Facts {
    let lines = elements(&invoice["lines"]["data"]);
    let payments = elements(&invoice["payments"]["data"]);
    let of_lines = lines.iter().flat_map(|line| {
        [&line["subscription"], &line["parent"]["subscription_item_details"]["subscription"]]
    });
    let mut subscriptions =
        [&invoice["subscription"], &invoice["parent"]["subscription_details"]["subscription"]]
            .into_iter()
            .chain(of_lines);
    let mut referring = vec![&invoice["id"], &invoice["payment_intent"], &invoice["charge"]];
    referring.extend(
        payments
            .iter()
            .flat_map(|payment| [&payment["payment"]["payment_intent"], &payment["payment"]["charge"]]),
    );
    Facts {
        kind: id(&invoice["id"]).map(|_| PaymentKind::Failed),
        subscription: subscriptions.find_map(id),
        customer: id(&invoice["customer"]),
        references: ids(&referring),
        email: email(&[&invoice["customer_email"], &invoice["customer"]["email"]]),
        ..Facts::default()
    }
}

/// A changed subscription. One that waits for a payment changes nothing: what was paid remains valid.
pub(super) fn subscription(subscription: &Value, terms: &Terms) -> Facts {
    let kind = match subscription["status"].as_str() {
        Some("active" | "trialing") => Some(PaymentKind::Changed),
        Some("canceled" | "incomplete_expired") => Some(PaymentKind::Ended),
        Some(_) => Some(PaymentKind::Failed),
        None => None,
    };
    let items = elements(&subscription["items"]["data"]);
    let tier = priced(items, terms)
        .or_else(|| priced(vec![subscription], terms))
        .or_else(|| named(&[&subscription["metadata"]], terms));
    let tier = tier.filter(|_| kind == Some(PaymentKind::Changed));
    Facts { kind, tier, ..ended_subscription(subscription) }
}

/// An ended subscription.
pub(super) fn ended_subscription(subscription: &Value) -> Facts {
    let items = elements(&subscription["items"]["data"]);
    let of_items = items.iter().filter_map(|item| time(&item["current_period_end"])).max();
    let subscription_id = id(&subscription["id"]);
    Facts {
        kind: subscription_id.is_some().then_some(PaymentKind::Ended),
        subscription: subscription_id,
        customer: id(&subscription["customer"]),
        references: ids(&[&subscription["latest_invoice"]]),
        email: email(&[&subscription["customer"]["email"]]),
        period_end: time(&subscription["current_period_end"]).or(of_items),
        ..Facts::default()
    }
}

/// A charge that was refunded, completely or partly.
pub(super) fn refund(charge: &Value) -> Facts {
    let (amount, refunded) = (charge["amount"].as_i64(), charge["amount_refunded"].as_i64());
    let is_all = match (charge["refunded"].as_bool(), amount, refunded) {
        (Some(is_all), _, _) => Some(is_all),
        (None, Some(amount), Some(refunded)) => Some(refunded >= amount),
        (None, _, _) => None,
    };
    Facts {
        kind: is_all.map(|all| if all { PaymentKind::Refunded } else { PaymentKind::PartlyRefunded }),
        customer: id(&charge["customer"]),
        references: ids(&[&charge["id"], &charge["payment_intent"], &charge["invoice"]]),
        email: email(&[
            &charge["receipt_email"],
            &charge["billing_details"]["email"],
            &charge["customer"]["email"],
        ]),
        ..Facts::default()
    }
}

/// A payment of an invoice: in newer versions of Stripe's interface nothing else names the invoice together with the
/// payment intent that a refund names.
pub(super) fn invoice_payment(of_invoice: &Value) -> Facts {
    let payment = &of_invoice["payment"];
    let invoice = id(&of_invoice["invoice"]);
    Facts {
        kind: invoice.map(|_| PaymentKind::Pending),
        references: ids(&[&of_invoice["invoice"], &payment["payment_intent"], &payment["charge"]]),
        ..Facts::default()
    }
}

/// A lost dispute: the provider refunded the charge. If the event contains the whole charge, a smaller amount is a partial refund.
pub(super) fn lost_dispute(dispute: &Value) -> Facts {
    let (disputed, charged) = (dispute["amount"].as_i64(), dispute["charge"]["amount"].as_i64());
    let is_part = disputed.zip(charged).is_some_and(|(disputed, charged)| disputed < charged);
    Facts {
        kind: Some(if is_part { PaymentKind::PartlyRefunded } else { PaymentKind::Refunded }),
        customer: id(&dispute["charge"]["customer"]),
        references: ids(&[&dispute["charge"], &dispute["payment_intent"], &dispute["charge"]["invoice"]]),
        ..Facts::default()
    }
}

/// A refund that failed: the money came back.
pub(super) fn failed_refund(refund: &Value) -> Facts {
    Facts {
        kind: Some(PaymentKind::PartlyRefunded),
        references: ids(&[&refund["charge"], &refund["payment_intent"]]),
        refund_failed: true,
        ..Facts::default()
    }
}

/// Parses a time in Unix seconds.
pub(super) fn time(value: &Value) -> Option<Timestamp> {
    Timestamp::from_second(value.as_i64()?).ok()
}

fn id(value: &Value) -> Option<PaymentId> {
    value.as_str().or_else(|| value["id"].as_str())?.parse().ok()
}

fn ids(values: &[&Value]) -> Vec<PaymentId> {
    let mut ids: Vec<PaymentId> = Vec::new();
    for id in values.iter().copied().filter_map(id) {
        if !ids.contains(&id) {
            ids.push(id);
        }
    }
    ids
}

/// Returns the first value that is an email address.
fn email(values: &[&Value]) -> Option<Email> {
    values.iter().find_map(|value| value.as_str()?.parse().ok())
}

fn elements(value: &Value) -> Vec<&Value> {
    value.as_array().map(|elements| elements.iter().collect()).unwrap_or_default()
}

/// Returns the id of the price of an item or line; in old versions a price is called a plan.
fn price_of(item: &Value) -> Option<&str> {
    let places = [&item["price"], &item["pricing"]["price_details"]["price"], &item["plan"]];
    places.into_iter().find_map(|place| place.as_str().or_else(|| place["id"].as_str()))
}

/// Returns the tier of the last item whose price has one.
fn priced(items: Vec<&Value>, terms: &Terms) -> Option<TierName> {
    let tier = |item: &Value| terms.prices.tier(price_of(item)?).cloned();
    items.into_iter().rev().find_map(tier)
}

/// Returns the tier named by the first of these that has an existing tier as its member `tier`.
fn named(metadata: &[&Value], terms: &Terms) -> Option<TierName> {
    let tier = |metadata: &&Value| terms.tiers.get(&metadata["tier"].as_str()?.trim().parse().ok()?);
    metadata.iter().find_map(tier).map(|tier| tier.name.clone())
}
