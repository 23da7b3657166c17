//! What the ledger counts against what others count.

use std::collections::{BTreeMap, BTreeSet};

use ledger::usage_streams::Allowance;
use ledger::{Totals, Used};
use schemas::control::LedgerSource;
use schemas::key::KeyId;
use schemas::month::Month;
use schemas::subject::{OVERRUN, usage_stream};
use schemas::tier::TierName;
use serde::Serialize;

use crate::counted_calls::further;
use crate::output::count;

/// Somebody else who counts the same calls.
#[derive(Debug, Clone, Default)]
pub(super) struct Side {
    /// Its name, for example `NATS`.
    pub(super) name: &'static str,
    /// What it counts.
    pub(super) totals: Totals,
    /// The months of which it still knows every call; absent where it knows all.
    pub(super) months: Option<Vec<Month>>,
    /// Where it takes no more calls of an allowance than so many.
    pub(super) limits: BTreeMap<TierName, u64>,
    /// How far it has read each stream.
    pub(super) read: Vec<LedgerSource>,
}

/// Calls that one has read from a stream and the other has not yet.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub(super) struct Waiting {
    /// Counted by the side, and not copied into the ledger yet.
    pub(super) not_copied: u64,
    /// In the ledger, and not counted by the side yet.
    pub(super) not_counted: u64,
}

/// One allowance with what each counts of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct Row {
    pub(super) key_id: KeyId,
    pub(super) month: Month,
    pub(super) tier: TierName,
    pub(super) ledger: Used,
    /// By the side's name; absent where it does not know the month.
    #[serde(flatten)]
    pub(super) sides: BTreeMap<&'static str, Used>,
}

impl Side {
    fn knows(&self, month: Month) -> bool {
        self.months.as_ref().is_none_or(|months| months.contains(&month))
    }

    fn used(&self, allowance: &Allowance) -> Used {
        self.totals.get(allowance).copied().unwrap_or_default()
    }

    /// How many calls more than the ledger it counts within the quota and over it; negative where it counts fewer. One
    /// that is full cannot take what came over the quota while it had lost calls.
    fn excess(&self, allowance: &Allowance, ledger: Used) -> (i64, i64) {
        let own = self.used(allowance);
        let full = self.limits.get(&allowance.tier).is_some_and(|limit| own.used >= *limit);
        let used = own.used.cast_signed() - ledger.used.cast_signed();
        let overrun = own.overrun.cast_signed() - ledger.overrun.cast_signed();
        (if full { used.max(0) } else { used }, overrun)
    }

    /// Whether it counts the same.
    fn agrees(&self, allowance: &Allowance, ledger: Used) -> bool {
        self.excess(allowance, ledger) == (0, 0)
    }

    /// What of these differences only tells that this side has read a stream further than the ledger, or less far: all
    /// point the same way, and are no more calls than lie between the two places. By stream.
    fn waiting(&self, rows: &BTreeMap<Allowance, Row>, ledger: &[LedgerSource]) -> BTreeMap<String, Waiting> {
        let mut streams: BTreeMap<String, Waiting> = BTreeMap::new();
        let mut add = |stream: String, excess: i64| {
            let waiting = streams.entry(stream).or_default();
            let side = if excess > 0 { &mut waiting.not_copied } else { &mut waiting.not_counted };
            *side += excess.unsigned_abs();
        };
        for (allowance, row) in rows.iter().filter(|(allowance, _)| self.knows(allowance.month)) {
            let (used, overrun) = self.excess(allowance, row.ledger);
            add(usage_stream(&allowance.tier), used);
            add(OVERRUN.to_owned(), overrun);
        }
        streams.retain(|stream, waiting| match (*waiting, further(&self.read, ledger, stream)) {
            (Waiting { not_copied: 0, not_counted: 0 }, _) => true,
            (Waiting { not_copied, not_counted: 0 }, Some(further)) => not_copied.cast_signed() <= further,
            (Waiting { not_copied: 0, not_counted }, Some(further)) => not_counted.cast_signed() <= -further,
            _ => false,
        });
        streams
    }
}

/// Takes out of the differences what only tells that the sides and the ledger have not read the streams equally far.
/// Returns how many calls that are, by side.
pub(super) fn take_waiting(
    rows: &mut BTreeMap<Allowance, Row>,
    sides: &[Side],
    ledger: &[LedgerSource],
) -> BTreeMap<&'static str, Waiting> {
    let by_side: Vec<_> = sides.iter().map(|side| (side, side.waiting(rows, ledger))).collect();
    rows.retain(|allowance, row| {
        by_side.iter().any(|(side, streams)| {
            let (used, overrun) = side.excess(allowance, row.ledger);
            let is_waiting = |stream: &str, excess| excess == 0 || streams.contains_key(stream);
            side.knows(allowance.month)
                && !(is_waiting(&usage_stream(&allowance.tier), used) && is_waiting(OVERRUN, overrun))
        })
    });
    let all = |streams: &BTreeMap<String, Waiting>| {
        streams.values().fold(Waiting::default(), |all, waiting| Waiting {
            not_copied: all.not_copied + waiting.not_copied,
            not_counted: all.not_counted + waiting.not_counted,
        })
    };
    let all = by_side.iter().map(|(side, streams)| (side.name, all(streams)));
    all.filter(|(_, waiting)| *waiting != Waiting::default()).collect()
}

/// What the ledger and the others count, looked at in this order: the others first.
#[derive(Debug, Default)]
pub(super) struct Look {
    pub(super) sides: Vec<Side>,
    pub(super) ledger: Totals,
}

impl Look {
    /// Whether all may have counted the same between the look before and this one. They go on counting while they are
    /// looked at, and no count falls: where each was at most what the other is later, the two have met.
    pub(super) fn has_met_since(&self, before: &Look, allowance: &Allowance) -> bool {
        let used = |look: &Look| look.ledger.get(allowance).copied().unwrap_or_default();
        self.sides.iter().filter(|side| side.knows(allowance.month)).all(|side| {
            let Some(earlier) = before.sides.iter().find(|earlier| earlier.name == side.name) else {
                return false;
            };
            let (least, most) = (side.excess(allowance, used(before)), earlier.excess(allowance, used(self)));
            least.0 >= 0 && least.1 >= 0 && most.0 <= 0 && most.1 <= 0
        })
    }
}

/// The allowances that somebody counts otherwise than the ledger.
pub(super) fn differences(ledger: &Totals, sides: &[Side]) -> BTreeMap<Allowance, Row> {
    let all: BTreeSet<&Allowance> =
        ledger.keys().chain(sides.iter().flat_map(|side| side.totals.keys())).collect();
    let mut rows = BTreeMap::new();
    for allowance in all {
        let used = ledger.get(allowance).copied().unwrap_or_default();
        let knowing = || sides.iter().filter(|side| side.knows(allowance.month));
        if knowing().any(|side| !side.agrees(allowance, used)) {
            let Allowance { key, month, tier } = allowance.clone();
            let sides = knowing().map(|side| (side.name, side.used(allowance))).collect();
            rows.insert(allowance.clone(), Row { key_id: key, month, tier, ledger: used, sides });
        }
    }
    rows
}

/// The allowances with calls over the quota: told so by whoever answered them, or more than a side takes.
pub(super) fn overruns(ledger: &Totals, sides: &[Side]) -> Vec<Row> {
    let beyond = |allowance: &Allowance, used: u64| {
        let limits = sides.iter().filter(|side| side.knows(allowance.month));
        limits.filter_map(|side| side.limits.get(&allowance.tier)).any(|limit| used > *limit)
    };
    ledger
        .iter()
        .filter(|(allowance, used)| used.overrun > 0 || beyond(allowance, used.used))
        .map(|(Allowance { key, month, tier }, used)| Row {
            key_id: *key,
            month: *month,
            tier: tier.clone(),
            ledger: *used,
            sides: BTreeMap::new(),
        })
        .collect()
}

/// The rows as a table.
pub(super) fn table(rows: &[Row]) -> String {
    let names: BTreeSet<&str> = rows.iter().flat_map(|row| row.sides.keys().copied()).collect();
    let mut text = format!("{:<10}{:<9}{:<22}{:>16}", "key", "month", "tier", "ledger");
    for name in &names {
        text += &format!("{name:>16}");
    }
    for row in rows {
        let Row { key_id, month, tier, ledger, sides } = row;
        let (key, month, tier) = (key_id.to_string(), month.to_string(), tier.to_string());
        text += &format!("\n{key:<10}{month:<9}{tier:<22}{:>16}", shown(Some(ledger)));
        for name in &names {
            text += &format!("{:>16}", shown(sides.get(name)));
        }
    }
    text
}

/// Calls, and with a plus those over the quota.
fn shown(used: Option<&Used>) -> String {
    match used {
        None => "–".to_owned(),
        Some(Used { used, overrun: 0 }) => count(*used),
        Some(Used { used, overrun }) => format!("{} + {}", count(*used), count(*overrun)),
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

    fn nats(rows: &[(&str, &str, u64, u64)]) -> Side {
        Side {
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
    fn calls_that_only_one_has_read_are_no_difference() {
        let ledger = totals(&[("Aaaaaaaa", "2026-11", 20, 1), ("Bbbbbbbb", "2026-11", 7, 0)]);
        let counts = [("Aaaaaaaa", "2026-11", 22, 1), ("Bbbbbbbb", "2026-11", 8, 0)];
        let left = |side: Side, at: Vec<LedgerSource>| {
            let sides = [side];
            let mut rows = differences(&ledger, &sides);
            let waiting = take_waiting(&mut rows, &sides, &at);
            (rows.len(), waiting.get("nats").copied().unwrap_or_default())
        };
        let ahead = |free, overrun| Side { read: read(free, overrun), ..nats(&counts) };
        let (none, three) = (Waiting::default(), Waiting { not_copied: 3, not_counted: 0 });
        assert_eq!(left(ahead(30, 1), read(27, 1)), (0, three));
        assert_eq!(left(ahead(30, 1), read(28, 1)), (2, none), "two messages are no three calls");
        assert_eq!(left(ahead(30, 9), read(30, 1)), (2, none), "another stream explains nothing");
        assert_eq!(left(nats(&counts), read(27, 1)), (2, none), "a side that does not tell how far it read");
        let fewer = [("Aaaaaaaa", "2026-11", 18, 0), ("Bbbbbbbb", "2026-11", 7, 0)];
        let lagging = |free, overrun| Side { read: read(free, overrun), ..nats(&fewer) };
        let waiting = Waiting { not_copied: 0, not_counted: 3 };
        assert_eq!(left(lagging(25, 0), read(27, 1)), (0, waiting));
        let two = Waiting { not_copied: 0, not_counted: 2 };
        assert_eq!(left(lagging(25, 1), read(27, 1)), (1, two), "the overrun is missing");
        let both = [("Aaaaaaaa", "2026-11", 22, 1), ("Bbbbbbbb", "2026-11", 6, 0)];
        let both = Side { read: read(30, 1), ..nats(&both) };
        assert_eq!(left(both, read(20, 1)), (2, none), "who is further cannot have fewer");
    }

    fn keys(rows: &BTreeMap<Allowance, Row>) -> Vec<String> {
        rows.keys().map(|allowance| allowance.key.to_string()).collect()
    }

    #[test]
    fn what_counts_the_same_is_no_difference() {
        let ledger = totals(&[("Aaaaaaaa", "2026-11", 20, 1), ("Bbbbbbbb", "2026-01", 7, 0)]);
        let counters = Side { name: "counters", totals: ledger.clone(), ..Side::default() };
        let sides = [counters, nats(&[("Aaaaaaaa", "2026-11", 20, 1)])];
        assert_eq!(keys(&differences(&ledger, &sides)), [""; 0]);
    }

    #[test]
    fn counts_that_rise_past_each_other_have_met() {
        let look = |side: u64, ledger: u64| Look {
            sides: vec![nats(&[("Aaaaaaaa", "2026-11", side, 0)])],
            ledger: totals(&[("Aaaaaaaa", "2026-11", ledger, 0)]),
        };
        let allowance = look(1, 1).ledger.into_keys().next().unwrap();
        let has_met = |before: (u64, u64), now: (u64, u64)| {
            look(now.0, now.1).has_met_since(&look(before.0, before.1), &allowance)
        };
        assert!(has_met((20, 18), (30, 28)), "20 is copied by the time that the ledger has 28");
        assert!(has_met((20, 25), (30, 35)));
        assert!(!has_met((20, 18), (20, 18)), "nothing rises");
        assert!(!has_met((20, 10), (21, 11)), "the ledger lacks more than what came since");
        assert!(!has_met((20, 30), (21, 31)));
        let unknown = Look { sides: Vec::new(), ..look(20, 18) };
        assert!(!look(30, 28).has_met_since(&unknown, &allowance));
    }

    #[test]
    fn every_way_to_differ_is_a_row() {
        let ledger = totals(&[
            ("Aaaaaaaa", "2026-11", 20, 0),
            ("Bbbbbbbb", "2026-11", 7, 2),
            ("Cccccccc", "2026-11", 5, 0),
            ("Dddddddd", "2026-11", 5, 0),
        ]);
        let side = nats(&[
            ("Aaaaaaaa", "2026-11", 19, 0),
            ("Bbbbbbbb", "2026-11", 7, 1),
            ("Dddddddd", "2026-11", 5, 0),
            ("Eeeeeeee", "2026-11", 1, 0),
        ]);
        let rows = differences(&ledger, &[side]);
        assert_eq!(keys(&rows), ["Aaaaaaaa", "Bbbbbbbb", "Cccccccc", "Eeeeeeee"]);
        let rows: Vec<Row> = rows.into_values().collect();
        assert_eq!(
            serde_json::to_string(&rows[1]).unwrap(),
            r#"{"key_id":"Bbbbbbbb","month":"2026-11","tier":"free","ledger":{"used":7,"overrun":2},"nats":{"used":7,"overrun":1}}"#
        );
        assert_eq!(
            table(&rows[..2]),
            "key       month    tier                            ledger            nats\n\
             Aaaaaaaa  2026-11  free                                20              19\n\
             Bbbbbbbb  2026-11  free                             7 + 2           7 + 1"
        );
    }

    #[test]
    fn a_full_subject_cannot_hold_what_is_over_the_quota() {
        let ledger = totals(&[("Aaaaaaaa", "2026-11", 203, 0), ("Bbbbbbbb", "2026-10", 203, 0)]);
        let side = nats(&[("Aaaaaaaa", "2026-11", 200, 0)]);
        assert_eq!(keys(&differences(&ledger, std::slice::from_ref(&side))), [""; 0]);
        let over = overruns(&ledger, &[side]);
        assert_eq!(over.iter().map(|row| row.key_id.as_str()).collect::<Vec<_>>(), ["Aaaaaaaa"]);
        assert_eq!(overruns(&totals(&[("Bbbbbbbb", "2026-10", 1, 1)]), &[]).len(), 1);
    }
}
