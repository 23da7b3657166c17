//! Payment notices: what is recorded of them, and how they are sent to the write side. The payer's email address is in
//! no event.

use std::fmt;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::email::Email;
use crate::ids::{AccountId, InvalidId};
use crate::text_form::string_wrapper;
use crate::tier::TierName;

/// A payment provider.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Provider {
    /// Stripe, by its webhook.
    Stripe,
}

/// An id that the provider assigned, such as `evt_1Nk…`: 1 to 200 visible ASCII characters.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
#[schemars(with = "String")]
pub struct PaymentId(String);

/// The state of a payment. Of two notices of the same second, the one whose kind is later in this list is more final
/// and takes precedence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PaymentKind {
    /// The payment was requested and is being processed.
    Pending,
    /// The payment succeeded, or nothing was due.
    Paid,
    /// An active subscription names its price.
    Changed,
    /// The payment failed; the period paid before stays paid.
    Failed,
    /// A part was refunded, which has no effect.
    PartlyRefunded,
    /// The subscription ended; the paid period stays paid.
    Ended,
    /// The full amount was refunded.
    Refunded,
}

/// A notice of a payment provider. Several notices are ordered by `created`, not by their positions in the log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PaymentRecorded {
    /// The provider that sent it.
    pub provider: Provider,
    /// The id of the notice at the provider. Each notice is recorded once.
    pub event_id: PaymentId,
    /// When it happened, by the provider's clock (RFC 3339).
    #[schemars(with = "String")]
    pub created: Timestamp,
    /// What happened to the payment.
    pub kind: PaymentKind,
    /// The subscription, if the payment belongs to one.
    pub subscription: Option<PaymentId>,
    /// The customer at the provider.
    pub customer: Option<PaymentId>,
    /// The invoices, payments and charges that the notice names.
    pub references: Vec<PaymentId>,
    /// The tier that was paid for, if the notice names it.
    pub tier: Option<TierName>,
    /// The end of the paid period, if the notice names it.
    #[schemars(with = "Option<String>")]
    pub period_end: Option<Timestamp>,
    /// Whether a refund failed: the money was not returned, so the earlier refund does not count. The kind is then
    /// `partly_refunded`, which version 0.1 ignores.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub refund_failed: bool,
    /// The account from which an operator moved the payment. The events of that account have the same notice.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub moved_from: Option<AccountId>,
}

/// A payment notice as it is sent to the write side.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PaymentNotice {
    /// The payer's address, if the notice has it. It is stored in the vault and in no event.
    pub email: Option<Email>,
    /// All other facts, which are recorded as an event.
    pub payment: PaymentRecorded,
}

/// A notice without effect, which is kept as received, encrypted.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeptNotice {
    /// The provider that sent it.
    pub provider: Provider,
    /// The id of the notice; derived from its bytes if it has none.
    pub event_id: PaymentId,
    /// The provider's name for this kind of notice.
    pub kind: String,
    /// Why the notice has no effect.
    pub reason: KeptReason,
    /// The received text, which may contain names and addresses.
    pub raw: String,
}

/// Why a notice has no effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum KeptReason {
    /// Loggia does not use notices of this kind.
    NotLookedAt,
    /// Loggia uses notices of this kind, but this one is missing facts or is malformed.
    Unreadable,
    /// It is a test notice on a live service, or the other way round.
    OtherMode,
}

impl fmt::Debug for KeptNotice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KeptNotice")
            .field("event_id", &self.event_id)
            .field("kind", &self.kind)
            .field("reason", &self.reason)
            .finish_non_exhaustive()
    }
}

impl Provider {
    /// Returns the name used in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Provider::Stripe => "stripe",
        }
    }

    /// Returns a name for an id that is unique over all providers.
    pub fn name(self, id: &PaymentId) -> String {
        format!("{}:{id}", self.as_str())
    }
}

impl PaymentRecorded {
    /// Returns the names of the ids that identify the account, the most reliable first.
    pub fn names(&self) -> impl Iterator<Item = String> {
        self.ids().map(|id| self.provider.name(id))
    }

    /// Returns the ids that identify the account, the most reliable first.
    pub fn ids(&self) -> impl Iterator<Item = &PaymentId> {
        self.subscription.iter().chain(&self.customer).chain(&self.references)
    }

    /// Returns whether the notice should name a tier and does not: something was paid, or a subscription is active, for
    /// a price that is not configured. The checkout of a subscription need not name it, because the invoice does.
    pub fn is_unpriced(&self) -> bool {
        let is_told_later = self.subscription.is_some() && self.period_end.is_none();
        self.tier.is_none()
            && match self.kind {
                PaymentKind::Paid => !is_told_later,
                PaymentKind::Changed => true,
                PaymentKind::Pending
                | PaymentKind::Failed
                | PaymentKind::PartlyRefunded
                | PaymentKind::Ended
                | PaymentKind::Refunded => false,
            }
    }

    /// Returns the provider-unique name of the notice itself.
    pub fn event_name(&self) -> String {
        self.provider.name(&self.event_id)
    }
}

impl PaymentId {
    /// Returns whether this is the id of a charge or a payment intent, by Stripe's prefixes `ch_`, `py_` and `pi_`.
    pub fn is_charge(&self) -> bool {
        ["ch_", "py_", "pi_"].iter().any(|prefix| self.0.starts_with(prefix))
    }
}

impl TryFrom<String> for PaymentId {
    type Error = InvalidId;

    fn try_from(text: String) -> Result<Self, InvalidId> {
        if (1..=200).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_graphic()) {
            Ok(PaymentId(text))
        } else {
            let text = text.chars().take(200).collect();
            Err(InvalidId { text, expected: "a provider's id: 1 to 200 visible ASCII characters" })
        }
    }
}

string_wrapper!(PaymentId);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_visible_ascii() {
        assert_eq!("evt_1Nk4".parse::<PaymentId>().unwrap().to_string(), "evt_1Nk4");
        for text in ["", "evt 1", "evt\n", "é", &"x".repeat(201)] {
            assert!(text.parse::<PaymentId>().is_err(), "{text:?}");
        }
    }

    #[test]
    fn debug_output_hides_the_text_of_a_kept_notice() {
        let kept = KeptNotice {
            provider: Provider::Stripe,
            event_id: "evt_1".parse().unwrap(),
            kind: "customer.created".into(),
            reason: KeptReason::NotLookedAt,
            raw: "ada@example.org".into(),
        };
        assert!(!format!("{kept:?}").contains("ada"));
    }
}
