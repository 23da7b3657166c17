//! What a batch of calls adds to the counters, summed up before a row is written.

use std::collections::{HashMap, HashSet};

use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use schemas::key::KeyId;
use schemas::month::Month;
use schemas::tier::TierName;
use schemas::usage::{Call, CallId, Surface};
use serde_json::{Value, json};

/// A call as a stream or the ledger told it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Metered {
    /// The call.
    pub call: Call,
    /// Whether it turned out to be over the quota after it had been answered.
    pub overrun: bool,
    /// Where its message stands in its JetStream stream; none where the stream is counted further already.
    pub sequence: Option<u64>,
    /// The month in which it was taken, by a clock other than that of the node that answered it.
    pub heard: Month,
    /// Whether that stream was made anew, so that it may repeat what was counted long ago.
    pub remade: bool,
}

/// Sums of what is to be counted.
#[derive(Debug, Default)]
pub(super) struct Batch<'a> {
    totals: HashMap<(Month, KeyId, &'a TierName), Total>,
    days: HashMap<(KeyId, Date), [u64; 2]>,
    last_used: HashMap<KeyId, Timestamp>,
    /// How many calls it counts.
    pub(super) counted: u64,
}

#[derive(Debug, Default)]
struct Total {
    used: u64,
    overrun: u64,
    through: Option<u64>,
}

impl<'a> Batch<'a> {
    /// Sums the calls up whose id stands in no other list. `seen` are those that were counted in an earlier batch;
    /// `kept` is the first month whose ids are known.
    pub(super) fn of(calls: &'a [Metered], seen: &HashSet<CallId>, kept: Option<Month>) -> Batch<'a> {
        let mut batch = Batch::default();
        let mut here = HashSet::with_capacity(calls.len());
        for metered in calls {
            let Metered { call, overrun, sequence, remade, heard: _ } = metered;
            let forgotten = kept.is_some_and(|kept| call.month < kept);
            if forgotten && *remade {
                continue;
            }
            let again = seen.contains(&call.id) || !here.insert(call.id);
            let total = batch.totals.entry((call.month, call.key_id, &call.tier)).or_default();
            if !overrun {
                total.through = sequence.or(total.through);
            }
            if again {
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

    /// Rows of month, key id, tier, used, overrun and the last sequence, as JSON.
    pub(super) fn totals(&self) -> String {
        rows(&self.totals, |((month, key, tier), total)| {
            json!([month.number(), key.as_str(), tier.as_str(), total.used, total.overrun, total.through])
        })
    }

    /// Rows of key id, date, calls over REST and over MCP, as JSON.
    pub(super) fn days(&self) -> String {
        rows(&self.days, |((key, date), [rest, mcp])| json!([key.as_str(), date.to_string(), rest, mcp]))
    }

    /// Rows of key id and microseconds since 1970, as JSON.
    pub(super) fn last_used(&self) -> String {
        rows(&self.last_used, |(key, time)| json!([key.as_str(), time.as_microsecond()]))
    }
}

fn rows<K, V>(map: &HashMap<K, V>, row: impl Fn((&K, &V)) -> Value) -> String {
    Value::Array(map.iter().map(row).collect()).to_string()
}
