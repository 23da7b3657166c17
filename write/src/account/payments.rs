//! What an account's payments add up to. Providers repeat themselves and keep no order, so nothing here depends on the
//! order in which notices came: they are a set, read in the order in which they happened.

use std::collections::BTreeMap;

use jiff::{Timestamp, ToSpan, tz::TimeZone};
use schemas::account::PaymentRecorded;
use schemas::payment::PaymentKind;
use schemas::tier::{TierName, Tiers};

/// All that was told of an account's payments.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Payments {
    /// As they happened; of those of one second the more final last.
    recorded: Vec<PaymentRecorded>,
    /// Where its keys were last brought to; nothing while that is the first tier of the beginning.
    pub(super) entitled: Option<TierName>,
}

/// A tier that is paid for, and until when.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Period {
    /// The tier.
    pub tier: TierName,
    /// The first moment that is not paid for.
    pub until: Timestamp,
}

impl Payments {
    /// All of them, as they happened.
    pub fn recorded(&self) -> &[PaymentRecorded] {
        &self.recorded
    }

    /// One more, unless it is there already.
    pub(super) fn add(&mut self, payment: PaymentRecorded) {
        if !self.has(&payment) {
            let at = self.recorded.partition_point(|other| place(other) < place(&payment));
            self.recorded.insert(at, payment);
        }
    }

    /// Whether this very notice was recorded.
    pub(super) fn has(&self, payment: &PaymentRecorded) -> bool {
        let same = |other: &PaymentRecorded| {
            (other.provider, &other.event_id) == (payment.provider, &payment.event_id)
        };
        self.recorded.iter().any(same)
    }

    /// The tier that is paid for at a time: the largest of all subscriptions, or the first where none is.
    pub fn entitlement(&self, tiers: &Tiers, now: Timestamp) -> TierName {
        let first = tiers.first().name.clone();
        let paid = self.periods().into_iter().filter(|period| now < period.until).map(|period| period.tier);
        std::iter::once(first)
            .chain(paid)
            .reduce(|a, b| if tiers.quota(&b) > tiers.quota(&a) { b } else { a })
            .unwrap_or_else(|| tiers.first().name.clone())
    }

    /// When the first of the periods that run at a time ends.
    pub fn next_end(&self, now: Timestamp) -> Option<Timestamp> {
        self.periods().into_iter().map(|period| period.until).filter(|until| *until > now).min()
    }

    /// What is or was paid for: one period for each subscription, and one for each payment without one.
    pub fn periods(&self) -> Vec<Period> {
        let mut subscriptions: BTreeMap<_, Vec<&PaymentRecorded>> = BTreeMap::new();
        let mut periods = Vec::new();
        for payment in &self.recorded {
            match &payment.subscription {
                Some(id) => subscriptions.entry((payment.provider, id)).or_default().push(payment),
                None => periods.extend(self.period(&[payment])),
            }
        }
        periods.extend(subscriptions.values().filter_map(|notices| self.period(notices)));
        periods
    }

    /// What the notices of one subscription add up to.
    fn period(&self, notices: &[&PaymentRecorded]) -> Option<Period> {
        let paid = |notice: &PaymentRecorded| notice.kind == PaymentKind::Paid;
        // A checkout does not know when its period ends; its invoice does, and has the word once it is there.
        let end_is_told = notices.iter().any(|notice| paid(notice) && notice.period_end.is_some());
        let counts = |notice: &PaymentRecorded| {
            paid(notice) && !self.is_refunded(notice) && (notice.period_end.is_some() || !end_is_told)
        };
        let last = notices.iter().rposition(|notice| counts(notice))?;
        let says_what_for = |notice: &&&PaymentRecorded| {
            notice.kind == PaymentKind::Changed || (paid(notice) && !self.is_refunded(notice))
        };
        let tier = notices.iter().rev().filter(says_what_for).find_map(|notice| notice.tier.clone())?;
        let until = notices[last].period_end.unwrap_or_else(|| month_after(notices[last].created));
        let ended = notices[last..].iter().filter(|notice| notice.kind == PaymentKind::Ended);
        let until = ended.filter_map(|notice| notice.period_end).fold(until, Timestamp::min);
        Some(Period { tier, until })
    }

    /// Whether the money of a payment went back. A refund that names an invoice or payment that is known is about that
    /// one. Newer versions of Stripe do not name them: such a refund ends all that its payer paid until then.
    fn is_refunded(&self, payment: &PaymentRecorded) -> bool {
        let mut refunds = self.recorded.iter().filter(|notice| notice.kind == PaymentKind::Refunded);
        refunds.any(|refund| {
            let names_one =
                |other: &&PaymentRecorded| other.kind == PaymentKind::Paid && shares_reference(refund, other);
            if self.recorded.iter().any(|other| names_one(&other)) {
                shares_reference(refund, payment)
            } else {
                payment.created <= refund.created && same_payer(refund, payment)
            }
        })
    }
}

/// Where a notice stands among all, however they came.
fn place(payment: &PaymentRecorded) -> (Timestamp, PaymentKind, &schemas::payment::PaymentId) {
    (payment.created, payment.kind, &payment.event_id)
}

fn shares_reference(one: &PaymentRecorded, other: &PaymentRecorded) -> bool {
    one.provider == other.provider && one.references.iter().any(|id| other.references.contains(id))
}

fn same_payer(one: &PaymentRecorded, other: &PaymentRecorded) -> bool {
    let same = |a: &Option<_>, b: &Option<_>| a.is_some() && a == b;
    one.provider == other.provider
        && (same(&one.customer, &other.customer) || same(&one.subscription, &other.subscription))
}

/// What a payment that tells no end pays for: a calendar month.
fn month_after(start: Timestamp) -> Timestamp {
    let month = start.to_zoned(TimeZone::UTC).checked_add(1.month());
    month.map_or(start, |end| end.timestamp())
}

#[cfg(test)]
mod tests;
