//! Sums the calls of a batch before rows are written.

use std::collections::{HashMap, HashSet};

use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use schemas::key::KeyId;
use schemas::month::Month;
use schemas::tier::TierName;
use schemas::usage::{Call, CallId, Surface};
use serde_json::{Value, json};

/// A metered call from a stream or the ledger.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Metered {
    /// The call.
    pub call: Call,
    /// Whether it was found to be over the quota after it was answered.
    pub overrun: bool,
    /// The sequence in its JetStream stream; `None` if the stream is counted beyond it already.
    pub sequence: Option<u64>,
    /// The month in which it was received, by a clock other than that of the node that answered it.
    pub received: Month,
    /// Whether the stream was recreated, so that it may repeat calls that were counted long ago.
    pub recreated: bool,
}

/// The sums of the calls that are not counted yet.
#[derive(Debug, Default)]
pub(super) struct Batch<'a> {
    totals: HashMap<(Month, KeyId, &'a TierName), Total>,
    days: HashMap<(KeyId, Date), [u64; 2]>,
    last_used: HashMap<KeyId, Timestamp>,
    /// The number of counted calls.
    pub(super) counted: u64,
}

#[derive(Debug, Default)]
struct Total {
    used: u64,
    overrun: u64,
    through: Option<u64>,
}

impl<'a> Batch<'a> {
    /// Sums the calls, each id once and without those in `seen`, which earlier batches counted. `since` is the first month whose ids
    /// are kept.
    pub(super) fn of(calls: &'a [Metered], seen: &HashSet<CallId>, since: Option<Month>) -> Batch<'a> {
        let mut batch = Batch::default();
        let mut in_batch = HashSet::with_capacity(calls.len());
        for metered in calls {
            let Metered { call, overrun, sequence, recreated, received: _ } = metered;
            let is_before_window = since.is_some_and(|since| call.month < since);
            if is_before_window && *recreated {
                continue;
            }
            let is_repeated = seen.contains(&call.id) || !in_batch.insert(call.id);
            let total = batch.totals.entry((call.month, call.key_id, &call.tier)).or_default();
            if !overrun {
                total.through = sequence.or(total.through);
            }
            if is_repeated {
                continue;
            }
            batch.counted += 1;
            if *overrun {
                total.overrun += 1;
                continue;
            }
            total.used += 1;
            let date = call.time.to_zoned(TimeZone::UTC).date();
            let surface = match call.surface {
                Surface::Rest => 0,
                Surface::Mcp => 1,
            };
            batch.days.entry((call.key_id, date)).or_default()[surface] += 1;
            let last = batch.last_used.entry(call.key_id).or_insert(call.time);
            *last = call.time.max(*last);
        }
        batch
    }

    /// Returns rows of month, key id, tier, used, overrun and the last sequence, as JSON.
    pub(super) fn totals(&self) -> String {
        rows(&self.totals, |((month, key, tier), total)| {
            json!([month.number(), key.as_str(), tier.as_str(), total.used, total.overrun, total.through])
        })
    }

    /// Returns rows of key id, date, calls over REST and over MCP, as JSON.
    pub(super) fn days(&self) -> String {
        rows(&self.days, |((key, date), [rest, mcp])| json!([key.as_str(), date.to_string(), rest, mcp]))
    }

    /// Returns rows of key id and microseconds since 1970, as JSON.
    pub(super) fn last_used(&self) -> String {
        rows(&self.last_used, |(key, time)| json!([key.as_str(), time.as_microsecond()]))
    }
}

fn rows<K, V>(map: &HashMap<K, V>, row: impl Fn((&K, &V)) -> Value) -> String {
    Value::Array(map.iter().map(row).collect()).to_string()
}
