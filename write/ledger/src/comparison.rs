//! Compares the counts of the ledger with those of others that count the same calls: NATS and the counters.

use std::collections::{BTreeMap, BTreeSet};

use schemas::control::LedgerSource;
use schemas::key::KeyId;
use schemas::month::Month;
use schemas::subject::{OVERRUN, usage_stream};
use schemas::tier::TierName;
use serde::Serialize;

use crate::usage_streams::Allowance;
use crate::{Totals, Used};

/// The counts of another party that counts the same calls.
#[derive(Debug, Clone, Default)]
pub struct OtherCount {
    /// Its name, for example `nats`.
    pub name: &'static str,
    /// Its counts.
    pub totals: Totals,
    /// The months of which it still has every call; `None` if it has all months.
    pub months: Option<Vec<Month>>,
    /// The maximum number of calls of an allowance that it can count, by tier.
    pub limits: BTreeMap<TierName, u64>,
    /// The position up to which it has read each stream.
    pub read: Vec<LedgerSource>,
}

/// Calls that one party has read from a stream and the other has not yet.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct InTransit {
    /// Counted by the other party, and not copied into the ledger yet.
    pub not_copied: u64,
    /// In the ledger, and not counted by the other party yet.
    pub not_counted: u64,
}

/// One allowance with the counts of each party.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct AllowanceCounts {
    /// The key.
    pub key_id: KeyId,
    /// The month.
    pub month: Month,
    /// The tier.
    pub tier: TierName,
    /// The count of the ledger.
    pub ledger: Used,
    /// The counts of the others, by name; without those that do not have the month.
    #[serde(flatten)]
    pub others: BTreeMap<&'static str, Used>,
}

impl OtherCount {
    fn has_month(&self, month: Month) -> bool {
        self.months.as_ref().is_none_or(|months| months.contains(&month))
    }

    fn used(&self, allowance: &Allowance) -> Used {
        self.totals.get(allowance).copied().unwrap_or_default()
    }

    /// Returns how many more calls than the ledger it counts within the quota and over it; negative if it counts fewer. A stream
    /// that is full cannot hold the calls over the quota that were counted while it had lost calls.
    fn excess(&self, allowance: &Allowance, ledger: Used) -> (i64, i64) {
        let own = self.used(allowance);
        let full = self.limits.get(&allowance.tier).is_some_and(|limit| own.used >= *limit);
        let used = own.used.cast_signed() - ledger.used.cast_signed();
        let overrun = own.overrun.cast_signed() - ledger.overrun.cast_signed();
        (if full { used.max(0) } else { used }, overrun)
    }

    fn agrees(&self, allowance: &Allowance, ledger: Used) -> bool {
        self.excess(allowance, ledger) == (0, 0)
    }

    /// Returns those differences, by stream, that only mean that this party is ahead of the ledger in reading the stream, or behind
    /// it: all have the same sign, and are no more calls than are between the two positions.
    fn in_transit(
        &self,
        rows: &BTreeMap<Allowance, AllowanceCounts>,
        ledger: &[LedgerSource],
    ) -> BTreeMap<String, InTransit> {
        let mut streams: BTreeMap<String, InTransit> = BTreeMap::new();
        let mut add = |stream: String, excess: i64| {
            let calls = streams.entry(stream).or_default();
            let calls = if excess > 0 { &mut calls.not_copied } else { &mut calls.not_counted };
            *calls += excess.unsigned_abs();
        };
        for (allowance, row) in rows.iter().filter(|(allowance, _)| self.has_month(allowance.month)) {
            let (used, overrun) = self.excess(allowance, row.ledger);
            add(usage_stream(&allowance.tier), used);
            add(OVERRUN.to_owned(), overrun);
        }
        streams.retain(|stream, calls| match (*calls, lead(&self.read, ledger, stream)) {
            (InTransit { not_copied: 0, not_counted: 0 }, _) => true,
            (InTransit { not_copied, not_counted: 0 }, Some(lead)) => not_copied.cast_signed() <= lead,
            (InTransit { not_copied: 0, not_counted }, Some(lead)) => not_counted.cast_signed() <= -lead,
            _ => false,
        });
        streams
    }
}

/// Removes the differences that only mean that the others and the ledger have not read the streams equally far. Returns how many
/// calls these are, by the name of the other party.
pub fn remove_in_transit(
    rows: &mut BTreeMap<Allowance, AllowanceCounts>,
    others: &[OtherCount],
    ledger: &[LedgerSource],
) -> BTreeMap<&'static str, InTransit> {
    let by_side: Vec<_> = others.iter().map(|other| (other, other.in_transit(rows, ledger))).collect();
    rows.retain(|allowance, row| {
        by_side.iter().any(|(other, streams)| {
            let (used, overrun) = other.excess(allowance, row.ledger);
            let is_in_transit = |stream: &str, excess| excess == 0 || streams.contains_key(stream);
            other.has_month(allowance.month)
                && !(is_in_transit(&usage_stream(&allowance.tier), used) && is_in_transit(OVERRUN, overrun))
        })
    });
    let all = |streams: &BTreeMap<String, InTransit>| {
        streams.values().fold(InTransit::default(), |all, calls| InTransit {
            not_copied: all.not_copied + calls.not_copied,
            not_counted: all.not_counted + calls.not_counted,
        })
    };
    let all = by_side.iter().map(|(other, streams)| (other.name, all(streams)));
    all.filter(|(_, calls)| *calls != InTransit::default()).collect()
}

/// Returns the allowances that one of the others counts differently than the ledger.
pub fn differences(ledger: &Totals, others: &[OtherCount]) -> BTreeMap<Allowance, AllowanceCounts> {
    let all: BTreeSet<&Allowance> =
        ledger.keys().chain(others.iter().flat_map(|other| other.totals.keys())).collect();
    let mut rows = BTreeMap::new();
    for allowance in all {
        let used = ledger.get(allowance).copied().unwrap_or_default();
        let with_month = || others.iter().filter(|other| other.has_month(allowance.month));
        if with_month().any(|other| !other.agrees(allowance, used)) {
            let Allowance { key, month, tier } = allowance.clone();
            let others = with_month().map(|other| (other.name, other.used(allowance))).collect();
            rows.insert(
                allowance.clone(),
                AllowanceCounts { key_id: key, month, tier, ledger: used, others },
            );
        }
    }
    rows
}

/// Returns the allowances with calls over the quota: those counted as overruns, and those with more calls than another party can
/// count.
pub fn overruns(ledger: &Totals, others: &[OtherCount]) -> Vec<AllowanceCounts> {
    let beyond = |allowance: &Allowance, used: u64| {
        let limits = others.iter().filter(|other| other.has_month(allowance.month));
        limits.filter_map(|other| other.limits.get(&allowance.tier)).any(|limit| used > *limit)
    };
    ledger
        .iter()
        .filter(|(allowance, used)| used.overrun > 0 || beyond(allowance, used.used))
        .map(|(Allowance { key, month, tier }, used)| AllowanceCounts {
            key_id: *key,
            month: *month,
            tier: tier.clone(),
            ledger: *used,
            others: BTreeMap::new(),
        })
        .collect()
}

/// Returns how many messages of a stream one party has read that the other has not, negative if the other is ahead; `None` if they
/// have not read the same stream.
pub fn lead(one: &[LedgerSource], other: &[LedgerSource], stream: &str) -> Option<i64> {
    let of = |sources: &[LedgerSource]| sources.iter().find(|source| source.stream == stream).cloned();
    match (of(one), of(other)) {
        (Some(one), Some(other)) if one.created == other.created => {
            Some(one.sequence.cast_signed() - other.sequence.cast_signed())
        }
        (Some(_), Some(_)) | (None, None) => None,
        (Some(one), None) => Some(one.sequence.cast_signed()),
        (None, Some(other)) => Some(-other.sequence.cast_signed()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn totals(rows: &[(&str, &str, u64, u64)]) -> Totals {
        let row = |(key, month, used, overrun): &(&str, &str, u64, u64)| {
            let tier = "free".parse().unwrap();
            let allowance = Allowance { key: key.parse().unwrap(), month: month.parse().unwrap(), tier };
            (allowance, Used { used: *used, overrun: *overrun })
        };
        rows.iter().map(row).collect()
    }

    fn nats(rows: &[(&str, &str, u64, u64)]) -> OtherCount {
        OtherCount {
            name: "nats",
            totals: totals(rows),
            months: Some(vec!["2026-11".parse().unwrap()]),
            limits: [("free".parse().unwrap(), 200)].into(),
            read: Vec::new(),
        }
    }

    fn read(free: u64, overrun: u64) -> Vec<LedgerSource> {
        let created = "2026-11-01T00:00:00Z".parse().unwrap();
        let source = |stream: &str, sequence| LedgerSource { stream: stream.into(), created, sequence };
        vec![source("USAGE_FREE", free), source(OVERRUN, overrun)]
    }

    #[test]
    fn calls_that_only_one_has_read_are_not_a_difference() {
        let ledger = totals(&[("Aaaaaaaa", "2026-11", 20, 1), ("Bbbbbbbb", "2026-11", 7, 0)]);
        let counts = [("Aaaaaaaa", "2026-11", 22, 1), ("Bbbbbbbb", "2026-11", 8, 0)];
        let left = |other: OtherCount, at: Vec<LedgerSource>| {
            let others = [other];
            let mut rows = differences(&ledger, &others);
            let in_transit = remove_in_transit(&mut rows, &others, &at);
            (rows.len(), in_transit.get("nats").copied().unwrap_or_default())
        };
        let ahead = |free, overrun| OtherCount { read: read(free, overrun), ..nats(&counts) };
        let (none, three) = (InTransit::default(), InTransit { not_copied: 3, not_counted: 0 });
        assert_eq!(left(ahead(30, 1), read(27, 1)), (0, three));
        assert_eq!(left(ahead(30, 1), read(28, 1)), (2, none), "two messages are not three calls");
        assert_eq!(left(ahead(30, 9), read(30, 1)), (2, none), "another stream explains nothing");
        assert_eq!(left(nats(&counts), read(27, 1)), (2, none), "the other does not say how far it read");
        let fewer = [("Aaaaaaaa", "2026-11", 18, 0), ("Bbbbbbbb", "2026-11", 7, 0)];
        let lagging = |free, overrun| OtherCount { read: read(free, overrun), ..nats(&fewer) };
        let late = InTransit { not_copied: 0, not_counted: 3 };
        assert_eq!(left(lagging(25, 0), read(27, 1)), (0, late));
        let two = InTransit { not_copied: 0, not_counted: 2 };
        assert_eq!(left(lagging(25, 1), read(27, 1)), (1, two), "the overrun is missing");
        let both = [("Aaaaaaaa", "2026-11", 22, 1), ("Bbbbbbbb", "2026-11", 6, 0)];
        let both = OtherCount { read: read(30, 1), ..nats(&both) };
        assert_eq!(left(both, read(20, 1)), (2, none), "a party that is ahead cannot count fewer");
    }

    fn keys(rows: &BTreeMap<Allowance, AllowanceCounts>) -> Vec<String> {
        rows.keys().map(|allowance| allowance.key.to_string()).collect()
    }

    #[test]
    fn equal_counts_are_not_a_difference() {
        let ledger = totals(&[("Aaaaaaaa", "2026-11", 20, 1), ("Bbbbbbbb", "2026-01", 7, 0)]);
        let counters = OtherCount { name: "counters", totals: ledger.clone(), ..OtherCount::default() };
        let others = [counters, nats(&[("Aaaaaaaa", "2026-11", 20, 1)])];
        assert_eq!(keys(&differences(&ledger, &others)), [""; 0]);
    }

    #[test]
    fn every_kind_of_difference_is_found() {
        let ledger = totals(&[
            ("Aaaaaaaa", "2026-11", 20, 0),
            ("Bbbbbbbb", "2026-11", 7, 2),
            ("Cccccccc", "2026-11", 5, 0),
            ("Dddddddd", "2026-11", 5, 0),
        ]);
        let other = nats(&[
            ("Aaaaaaaa", "2026-11", 19, 0),
            ("Bbbbbbbb", "2026-11", 7, 1),
            ("Dddddddd", "2026-11", 5, 0),
            ("Eeeeeeee", "2026-11", 1, 0),
        ]);
        let rows = differences(&ledger, &[other]);
        assert_eq!(keys(&rows), ["Aaaaaaaa", "Bbbbbbbb", "Cccccccc", "Eeeeeeee"]);
        let rows: Vec<AllowanceCounts> = rows.into_values().collect();
        assert_eq!(
            serde_json::to_string(&rows[1]).unwrap(),
            r#"{"key_id":"Bbbbbbbb","month":"2026-11","tier":"free","ledger":{"used":7,"overrun":2},"nats":{"used":7,"overrun":1}}"#
        );
    }

    #[test]
    fn a_full_subject_cannot_hold_what_is_over_the_quota() {
        let ledger = totals(&[("Aaaaaaaa", "2026-11", 203, 0), ("Bbbbbbbb", "2026-10", 203, 0)]);
        let other = nats(&[("Aaaaaaaa", "2026-11", 200, 0)]);
        assert_eq!(keys(&differences(&ledger, std::slice::from_ref(&other))), [""; 0]);
        let over = overruns(&ledger, &[other]);
        assert_eq!(over.iter().map(|row| row.key_id.as_str()).collect::<Vec<_>>(), ["Aaaaaaaa"]);
        assert_eq!(overruns(&totals(&[("Bbbbbbbb", "2026-10", 1, 1)]), &[]).len(), 1);
    }

    fn source(stream: &str, created: &str, sequence: u64) -> LedgerSource {
        LedgerSource { stream: stream.into(), created: created.parse().unwrap(), sequence }
    }

    #[test]
    fn the_lead_is_the_difference_of_the_read_messages() {
        let (old, new) = ("2026-11-01T00:00:00Z", "2026-11-02T00:00:00Z");
        let one = [source("USAGE_FREE", old, 7), source("USAGE_PRO", new, 3)];
        let other = [source("USAGE_FREE", old, 5), source("USAGE_PRO", old, 9), source(OVERRUN, old, 2)];
        let lead_of = |stream| lead(&one, &other, stream);
        assert_eq!(lead_of("USAGE_FREE"), Some(2));
        assert_eq!(lead(&other, &one, "USAGE_FREE"), Some(-2));
        assert_eq!(lead_of("USAGE_PRO"), None, "another stream of the same name");
        assert_eq!(lead_of(OVERRUN), Some(-2), "a stream that only one has read");
        assert_eq!(lead_of("USAGE_STUDIO"), None);
    }
}
