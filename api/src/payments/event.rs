//! What one of Stripe's events says. Only what is needed is read, from wherever the versions of its interface have put
//! it; whatever else is there does not matter.

mod facts;

use data_encoding::HEXLOWER;
use jiff::Timestamp;
use schemas::command::Command;
use schemas::email::Email;
use schemas::payment::{
    KeptNotice, KeptReason, PaymentId, PaymentKind, PaymentNotice, PaymentRecorded, Provider,
};
use schemas::tier::TierName;
use serde_json::Value;
use sha2::{Digest, Sha256};

use super::terms::{Mode, Terms};

/// What stands before the digest that is the id of something without one.
const DIGEST: &str = "sha256-";

/// What an event comes to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Told {
    /// Something about a payment.
    Notice(PaymentNotice),
    /// Nothing that has an effect.
    Kept(KeptNotice),
}

/// The facts of one object.
#[derive(Debug, Default)]
pub(super) struct Facts {
    pub(super) kind: Option<PaymentKind>,
    pub(super) subscription: Option<PaymentId>,
    pub(super) customer: Option<PaymentId>,
    pub(super) references: Vec<PaymentId>,
    pub(super) email: Option<Email>,
    pub(super) tier: Option<TierName>,
    pub(super) period_end: Option<Timestamp>,
    pub(super) refund_failed: bool,
}

/// Reads an event.
pub fn read(raw: &str, terms: &Terms) -> Told {
    let kept = |event: &Value, reason| Told::Kept(kept(raw, event, reason));
    let Ok(event) = serde_json::from_str::<Value>(raw) else {
        return kept(&Value::Null, KeptReason::Unreadable);
    };
    let (Some(event_id), Some(created), Some(kind), Some(live)) = (
        event["id"].as_str().and_then(|id| id.parse::<PaymentId>().ok()),
        facts::time(&event["created"]),
        event["type"].as_str(),
        event["livemode"].as_bool(),
    ) else {
        return kept(&event, KeptReason::Unreadable);
    };
    if live != (terms.mode == Mode::Live) {
        return kept(&event, KeptReason::OtherMode);
    }
    let object = &event["data"]["object"];
    let read = match kind {
        "checkout.session.completed" => facts::checkout(object, terms),
        "checkout.session.async_payment_succeeded" => facts::late_checkout(object, terms),
        "invoice.paid" => facts::invoice(object, created, terms),
        "invoice.payment_failed" => facts::failed_invoice(object),
        "customer.subscription.updated" => facts::subscription(object, terms),
        "customer.subscription.deleted" => facts::ended_subscription(object),
        "invoice_payment.paid" => facts::invoice_payment(object),
        "charge.refunded" => facts::refund(object),
        "charge.dispute.closed" if object["status"] == "lost" => facts::lost_dispute(object),
        "refund.failed" => facts::failed_refund(object),
        "refund.updated" | "charge.refund.updated"
            if matches!(object["status"].as_str(), Some("failed" | "canceled")) =>
        {
            facts::failed_refund(object)
        }
        _ => return kept(&event, KeptReason::NotLookedAt),
    };
    let Facts {
        kind: Some(kind),
        subscription,
        customer,
        references,
        email,
        tier,
        period_end,
        refund_failed,
    } = read
    else {
        return kept(&event, KeptReason::Unreadable);
    };
    if subscription.is_none() && customer.is_none() && references.is_empty() && email.is_none() {
        return kept(&event, KeptReason::Unreadable);
    }
    let payment = PaymentRecorded {
        provider: Provider::Stripe,
        event_id,
        created,
        kind,
        subscription,
        customer,
        references,
        tier,
        period_end,
        refund_failed,
        moved_from: None,
    };
    Told::Notice(PaymentNotice { email, payment })
}

impl Told {
    /// What is asked of the write side.
    pub fn into_command(self) -> Command {
        match self {
            Told::Notice(notice) => Command::RecordPayment { notice },
            Told::Kept(notice) => Command::KeepNotice { notice },
        }
    }

    /// Why it has no effect, if it has none.
    pub fn kept(&self) -> Option<KeptReason> {
        match self {
            Told::Notice(_) => None,
            Told::Kept(notice) => Some(notice.reason),
        }
    }

    /// Whether it has an id of its own.
    pub fn names_itself(&self) -> bool {
        match self {
            Told::Notice(_) => true,
            Told::Kept(notice) => !notice.event_id.to_string().starts_with(DIGEST),
        }
    }

    /// Whether somebody paid or has a subscription, and nothing says for what.
    pub fn is_unpriced(&self) -> bool {
        matches!(self, Told::Notice(PaymentNotice { payment, .. }) if payment.is_unpriced())
    }

    /// Tells the operator of what should not be. Only ids are named.
    pub(super) fn warn(&self) {
        match self {
            Told::Notice(PaymentNotice { payment, .. }) if self.is_unpriced() => tracing::warn!(
                event = %payment.event_id,
                "a payment or an active subscription names no price of the setting stripe_prices and no tier of the setting tiers, so nothing follows from it"
            ),
            Told::Kept(KeptNotice { event_id, kind, reason: KeptReason::Unreadable, .. }) => tracing::warn!(
                event = %event_id,
                kind,
                "an event of Stripe cannot be read; it is kept, and `loggia payments list` shows it"
            ),
            Told::Kept(KeptNotice { event_id, reason: KeptReason::OtherMode, .. }) => tracing::warn!(
                event = %event_id,
                "an event of Stripe's other mode has no effect; the setting stripe_mode says which is meant"
            ),
            Told::Notice(_) | Told::Kept(KeptNotice { reason: KeptReason::NotLookedAt, .. }) => {}
        }
    }
}

fn kept(raw: &str, event: &Value, reason: KeptReason) -> KeptNotice {
    let named = event["id"].as_str().and_then(|id| id.parse().ok());
    let kind = event["type"].as_str().unwrap_or("unknown").chars().filter(|c| c.is_ascii_graphic());
    KeptNotice {
        provider: Provider::Stripe,
        event_id: named.unwrap_or_else(|| digest_id(raw)),
        kind: kind.take(100).collect(),
        reason,
        raw: raw.to_owned(),
    }
}

/// The same bytes have the same id.
fn digest_id(raw: &str) -> PaymentId {
    let digest = HEXLOWER.encode(&Sha256::digest(raw));
    // Letters and digits are always an id.
    PaymentId::try_from(format!("{DIGEST}{digest}")).unwrap_or_else(|_| unreachable!("letters and digits"))
}

#[cfg(test)]
mod tests;
