//! Parses an event of Stripe. Only the members that are needed are read, wherever the versions of Stripe's interface have put
//! them; all others are ignored.

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

/// The prefix of the id of an event that has none of its own; the digest of its bytes follows.
const DIGEST: &str = "sha256-";

/// An event, parsed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ParsedEvent {
    /// It says something about a payment.
    Payment(PaymentNotice),
    /// It has no effect and is kept as received.
    Kept(KeptNotice),
}

/// The facts in the object of an event.
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

impl ParsedEvent {
    /// Parses the JSON of an event. One that cannot be parsed, or has no effect, is to be kept.
    pub fn parse(raw: &str, terms: &Terms) -> ParsedEvent {
        let kept = |event: &Value, reason| ParsedEvent::Kept(kept(raw, event, reason));
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
        ParsedEvent::Payment(PaymentNotice { email, payment })
    }

    /// Returns the command that records it.
    pub fn into_command(self) -> Command {
        match self {
            ParsedEvent::Payment(notice) => Command::RecordPayment { notice },
            ParsedEvent::Kept(notice) => Command::KeepNotice { notice },
        }
    }

    /// Returns why it has no effect; `None` if it has one.
    pub fn kept_reason(&self) -> Option<KeptReason> {
        match self {
            ParsedEvent::Payment(_) => None,
            ParsedEvent::Kept(notice) => Some(notice.reason),
        }
    }

    /// Returns whether the provider gave it an id.
    pub fn has_own_id(&self) -> bool {
        match self {
            ParsedEvent::Payment(_) => true,
            ParsedEvent::Kept(notice) => !notice.event_id.to_string().starts_with(DIGEST),
        }
    }

    /// Returns whether it is a payment or an active subscription for which no tier is known.
    pub fn is_unpriced(&self) -> bool {
        matches!(self, ParsedEvent::Payment(PaymentNotice { payment, .. }) if payment.is_unpriced())
    }

    /// Logs a warning for an event that should have had an effect and has none. Only ids are named.
    pub(super) fn warn(&self) {
        match self {
            ParsedEvent::Payment(PaymentNotice { payment, .. }) if self.is_unpriced() => tracing::warn!(
                event = %payment.event_id,
                "a payment or an active subscription names no price of the setting stripe_prices and no tier of the setting tiers, so nothing follows from it"
            ),
            ParsedEvent::Kept(KeptNotice { event_id, kind, reason: KeptReason::Unreadable, .. }) => {
                tracing::warn!(
                    event = %event_id,
                    kind,
                    "an event of Stripe cannot be read; it is kept, and `loggia payments list` shows it"
                )
            }
            ParsedEvent::Kept(KeptNotice { event_id, reason: KeptReason::OtherMode, .. }) => tracing::warn!(
                event = %event_id,
                "an event of Stripe's other mode has no effect; the setting stripe_mode says which is meant"
            ),
            ParsedEvent::Payment(_)
            | ParsedEvent::Kept(KeptNotice { reason: KeptReason::NotLookedAt, .. }) => {}
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

/// Returns the id of an event without one: the same bytes have the same id.
fn digest_id(raw: &str) -> PaymentId {
    let digest = HEXLOWER.encode(&Sha256::digest(raw));
    // MailStatus and digits are always an id.
    PaymentId::try_from(format!("{DIGEST}{digest}")).unwrap_or_else(|_| unreachable!("letters and digits"))
}

#[cfg(test)]
mod tests;
