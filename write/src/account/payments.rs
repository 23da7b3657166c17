//! Sums up an account's payments. Providers repeat notices and deliver them in any order, so notices are a set, read in the order of
//! their own times; the order of arrival has no effect (ADR 18).

use std::collections::{BTreeMap, HashSet};

use jiff::{Timestamp, ToSpan, tz::TimeZone};
use schemas::account::PaymentsMoved;
use schemas::payment::{PaymentId, PaymentKind, PaymentRecorded, Provider};
use schemas::tier::{TierName, Tiers};

/// The payment notices of an account.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Payments {
    /// By time; within one second the most final notice last.
    recorded: Vec<PaymentRecorded>,
    /// The paid tier that the keys were last adjusted to; `None` before the first adjustment.
    pub(super) entitled: Option<TierName>,
}

/// A paid tier and the end of its period.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Period {
    /// The tier.
    pub tier: TierName,
    /// The first moment that is no longer paid for.
    pub until: Timestamp,
}

impl Payments {
    /// Returns all notices by time.
    pub fn recorded(&self) -> &[PaymentRecorded] {
        &self.recorded
    }

    /// Adds a notice, unless it is present.
    pub(super) fn add(&mut self, payment: PaymentRecorded) {
        if !self.has(&payment) {
            let at = self.recorded.partition_point(|other| sort_key(other) < sort_key(&payment));
            self.recorded.insert(at, payment);
        }
    }

    pub(super) fn remove(&mut self, moved: &PaymentsMoved) {
        self.recorded.retain(|notice| {
            notice.provider != moved.provider || !moved.event_ids.contains(&notice.event_id)
        });
    }

    /// Returns the notices that name an id and, transitively, all that share another id with them, by time.
    pub(super) fn connected(&self, provider: Provider, id: &PaymentId) -> Vec<&PaymentRecorded> {
        let mut known = HashSet::from([id]);
        loop {
            let names_known = |notice: &&PaymentRecorded| {
                notice.provider == provider && notice.ids().any(|id| known.contains(id))
            };
            let connected: Vec<&PaymentRecorded> = self.recorded.iter().filter(names_known).collect();
            let before = known.len();
            known.extend(connected.iter().flat_map(|notice| notice.ids()));
            if known.len() == before {
                return connected;
            }
        }
    }

    pub(super) fn has(&self, payment: &PaymentRecorded) -> bool {
        let same = |other: &PaymentRecorded| {
            (other.provider, &other.event_id) == (payment.provider, &payment.event_id)
        };
        self.recorded.iter().any(same)
    }

    /// Returns the tier that is paid for at a time: the largest of all periods, or the first tier without one.
    pub fn entitlement(&self, tiers: &Tiers, now: Timestamp) -> TierName {
        let first = tiers.first().name.clone();
        let paid = self.periods().into_iter().filter(|period| now < period.until).map(|period| period.tier);
        std::iter::once(first)
            .chain(paid)
            .reduce(|a, b| if tiers.quota(&b) > tiers.quota(&a) { b } else { a })
            .unwrap_or_else(|| tiers.first().name.clone())
    }

    /// Returns the earliest end of the periods that run at a time.
    pub fn next_end(&self, now: Timestamp) -> Option<Timestamp> {
        self.periods().into_iter().map(|period| period.until).filter(|until| *until > now).min()
    }

    /// Returns one period for each subscription, and one for each payment without a subscription.
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

    /// Sums up the notices of one subscription.
    fn period(&self, notices: &[&PaymentRecorded]) -> Option<Period> {
        let paid = |notice: &PaymentRecorded| notice.kind == PaymentKind::Paid;
        // A checkout does not name the end of its period; its invoice does, and wins once it has arrived.
        let end_is_known = notices.iter().any(|notice| paid(notice) && notice.period_end.is_some());
        let counts = |notice: &PaymentRecorded| {
            paid(notice) && !self.is_refunded(notice) && (notice.period_end.is_some() || !end_is_known)
        };
        let last = notices.iter().rposition(|notice| counts(notice))?;
        let names_tier = |notice: &&&PaymentRecorded| {
            notice.kind == PaymentKind::Changed || (paid(notice) && !self.is_refunded(notice))
        };
        let tier = notices.iter().rev().filter(names_tier).find_map(|notice| notice.tier.clone())?;
        let until = notices[last].period_end.unwrap_or_else(|| month_after(notices[last].created));
        let ended = notices[last..].iter().filter(|notice| notice.kind == PaymentKind::Ended);
        let until = ended.filter_map(|notice| notice.period_end).fold(until, Timestamp::min);
        Some(Period { tier, until })
    }

    /// Returns whether a payment was refunded. A refund counts only for the payment that it names.
    fn is_refunded(&self, payment: &PaymentRecorded) -> bool {
        let linked = self.linked(payment);
        self.refunds().any(|refund| names_any(refund, payment.provider, &linked) && !self.has_failed(refund))
    }

    /// Returns whether a refund names none of the account's payments although its payer has paid by then for something that it
    /// may be about: a payment that names no charge itself.
    pub fn is_unclear(&self, refund: &PaymentRecorded) -> bool {
        let paid = || self.recorded.iter().filter(|notice| notice.kind == PaymentKind::Paid);
        let names_one =
            |payment: &PaymentRecorded| names_any(refund, payment.provider, &self.linked(payment));
        let may_be = |payment: &PaymentRecorded| {
            let until = payment.period_end.unwrap_or_else(|| month_after(payment.created));
            payment.created <= refund.created
                && refund.created < until
                && !self.linked(payment).iter().any(|id| id.is_charge())
        };
        refund.kind == PaymentKind::Refunded
            && !self.has_failed(refund)
            && !paid().any(names_one)
            && paid().any(may_be)
    }

    fn refunds(&self) -> impl Iterator<Item = &PaymentRecorded> {
        self.recorded.iter().filter(|notice| notice.kind == PaymentKind::Refunded)
    }

    /// Returns whether a refund was reversed later.
    fn has_failed(&self, refund: &PaymentRecorded) -> bool {
        let reverses = |notice: &&PaymentRecorded| {
            notice.refund_failed
                && notice.created >= refund.created
                && notice.provider == refund.provider
                && notice.references.iter().any(|id| refund.references.contains(id))
        };
        self.recorded.iter().any(|notice| reverses(&notice))
    }

    /// Returns the ids of a payment: invoice, payment and charge may be named by several notices, none of which names all.
    fn linked<'p>(&'p self, payment: &'p PaymentRecorded) -> Vec<&'p PaymentId> {
        let mut linked: Vec<&PaymentId> = payment.references.iter().collect();
        loop {
            let notices = self.recorded.iter().filter(|notice| names_any(notice, payment.provider, &linked));
            let named = notices.flat_map(|notice| &notice.references);
            let new: Vec<&PaymentId> = named.filter(|id| !linked.contains(id)).collect();
            if new.is_empty() {
                return linked;
            }
            linked.extend(new);
        }
    }
}

/// Returns the sort key of a notice, whatever the order of arrival.
fn sort_key(payment: &PaymentRecorded) -> (Timestamp, PaymentKind, &PaymentId) {
    (payment.created, payment.kind, &payment.event_id)
}

fn names_any(notice: &PaymentRecorded, provider: Provider, ids: &[&PaymentId]) -> bool {
    notice.provider == provider && notice.references.iter().any(|id| ids.contains(&id))
}

/// The period of a payment that names no end: a calendar month.
fn month_after(start: Timestamp) -> Timestamp {
    let month = start.to_zoned(TimeZone::UTC).checked_add(1.month());
    month.map_or(start, |end| end.timestamp())
}

#[cfg(test)]
mod tests;
