//! What the ledger counts.

use std::collections::BTreeMap;

use schemas::control::LedgerEntry;
use serde::Serialize;

use crate::usage_streams::Allowance;

/// Calls of one allowance.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Used {
    /// Those that were counted within the quota.
    pub used: u64,
    /// Those that turned out to be over it after they had been answered.
    pub overrun: u64,
}

/// Calls by allowance.
pub type Totals = BTreeMap<Allowance, Used>;

/// Counts one more entry.
pub fn count(totals: &mut Totals, entry: &LedgerEntry) {
    let call = &entry.call;
    let allowance = Allowance { key: call.key_id, month: call.month, tier: call.tier.clone() };
    let used = totals.entry(allowance).or_default();
    *(if entry.overrun { &mut used.overrun } else { &mut used.used }) += 1;
}
