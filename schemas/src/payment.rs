//! Payments as their provider tells of them: what is recorded of them, and how they travel to the write side. The
//! address of who paid stands in no event.

use std::fmt;
use std::str::FromStr;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::email::Email;
use crate::ids::{AccountId, InvalidId};
use crate::tier::TierName;

/// Who takes the money and tells of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Provider {
    /// Stripe, by its webhook.
    Stripe,
}

/// An id that the provider gave to something, such as `evt_1Nk…`: 1 to 200 visible ASCII characters.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
#[schemars(with = "String")]
pub struct PaymentId(String);

/// What became of a payment. Of two notices of the same second the later one in this list is the more final and
/// has the last word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PaymentKind {
    /// It was asked for, and the money is on its way.
    Pending,
    /// It was paid, or nothing had to be paid.
    Paid,
    /// A subscription that is in order says what it is for.
    Changed,
    /// It was not paid in time; what was paid before lasts.
    Failed,
    /// A part of the money went back; nothing follows from that.
    PartlyRefunded,
    /// The subscription has ended; what was paid for lasts until its end.
    Ended,
    /// All the money went back.
    Refunded,
}

/// What a provider told of a payment. Which of several has the last word is told by `created`, not by their order in
/// the log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PaymentRecorded {
    /// Who told it.
    pub provider: Provider,
    /// The notice's own id; each is recorded once.
    pub event_id: PaymentId,
    /// When it happened, as the provider's clock has it.
    #[schemars(with = "String")]
    pub created: Timestamp,
    /// What happened.
    pub kind: PaymentKind,
    /// The subscription it belongs to, if it belongs to one.
    pub subscription: Option<PaymentId>,
    /// Who paid, as the provider calls them.
    pub customer: Option<PaymentId>,
    /// The invoices, payments and charges that it speaks of.
    pub references: Vec<PaymentId>,
    /// The tier that is paid for, where it is told.
    pub tier: Option<TierName>,
    /// The end of what is paid for, where it is told.
    #[schemars(with = "Option<String>")]
    pub period_end: Option<Timestamp>,
    /// Whether it says that a refund failed: the money did not go back, so the refund before it does not count. Its kind is
    /// `partly_refunded`, from which nothing follows in version 0.1.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub refund_failed: bool,
    /// The account it was moved from, where an operator moved it: the same notice stands in the events of that account.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub moved_from: Option<AccountId>,
}

/// What a provider told of a payment, on its way to the write side.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PaymentNotice {
    /// The address of who paid, where it is told. It goes into the vault and into no event.
    pub email: Option<Email>,
    /// All else.
    pub payment: PaymentRecorded,
}

/// What a provider told that has no effect and is kept as it came, encrypted.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeptNotice {
    /// Who told it.
    pub provider: Provider,
    /// Its id; made from its bytes where it names none.
    pub event_id: PaymentId,
    /// What the provider calls this kind of event.
    pub kind: String,
    /// Why it has no effect.
    pub reason: KeptReason,
    /// Its text, which may hold names and addresses.
    pub raw: String,
}

/// Why something that a provider told has no effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum KeptReason {
    /// It is of a kind that Loggia does not look at.
    NotLookedAt,
    /// It is of a kind that Loggia looks at, and its facts cannot be read.
    Unreadable,
    /// It is a test and the service is live, or the other way round.
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
    /// Its name.
    pub fn as_str(self) -> &'static str {
        match self {
            Provider::Stripe => "stripe",
        }
    }

    /// The name under which an id of this provider is unique among those of all.
    pub fn name(self, id: &PaymentId) -> String {
        format!("{}:{id}", self.as_str())
    }
}

impl PaymentRecorded {
    /// The names of everything that tells which account this is about, the surest first.
    pub fn names(&self) -> impl Iterator<Item = String> {
        self.ids().map(|id| self.provider.name(id))
    }

    /// The ids of everything that tells which account this is about, the surest first.
    pub fn ids(&self) -> impl Iterator<Item = &PaymentId> {
        self.subscription.iter().chain(&self.customer).chain(&self.references)
    }

    /// Returns whether a tier should be named and is not: money was paid, or a subscription runs, for a price that is in no
    /// setting. A checkout of a subscription need not name it: its invoice does.
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

    /// The name of the notice itself.
    pub fn event_name(&self) -> String {
        self.provider.name(&self.event_id)
    }
}

impl PaymentId {
    /// Returns whether it is the id of a charge or of a payment intent, by what Stripe puts in front of them.
    pub fn is_charge(&self) -> bool {
        ["ch_", "py_", "pi_"].iter().any(|prefix| self.0.starts_with(prefix))
    }
}

impl FromStr for PaymentId {
    type Err = InvalidId;

    fn from_str(text: &str) -> Result<Self, InvalidId> {
        if (1..=200).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_graphic()) {
            Ok(PaymentId(text.to_owned()))
        } else {
            let text = text.chars().take(200).collect();
            Err(InvalidId { text, expected: "a provider's id: 1 to 200 visible ASCII characters" })
        }
    }
}

impl TryFrom<String> for PaymentId {
    type Error = InvalidId;

    fn try_from(text: String) -> Result<Self, InvalidId> {
        text.parse()
    }
}

impl From<PaymentId> for String {
    fn from(id: PaymentId) -> String {
        id.0
    }
}

impl fmt::Display for PaymentId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_one_visible_word() {
        assert_eq!("evt_1Nk4".parse::<PaymentId>().unwrap().to_string(), "evt_1Nk4");
        for text in ["", "evt 1", "evt\n", "é", &"x".repeat(201)] {
            assert!(text.parse::<PaymentId>().is_err(), "{text:?}");
        }
    }

    #[test]
    fn what_is_kept_does_not_show_its_text() {
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
