//! The totals of the ledger.

use std::collections::BTreeMap;

use schemas::control::LedgerEntry;
use serde::Serialize;

use crate::usage_streams::Allowance;

/// The calls of one key in one month and tier.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Used {
    /// Calls within the quota.
    pub used: u64,
    /// Overruns: calls that had been answered when they were found to exceed the quota.
    pub overrun: u64,
}

/// Calls by key, month and tier.
pub type Totals = BTreeMap<Allowance, Used>;

/// Counts one more entry.
pub fn count(totals: &mut Totals, entry: &LedgerEntry) {
    let call = &entry.call;
    let allowance = Allowance { key: call.key_id, month: call.month, tier: call.tier.clone() };
    let used = totals.entry(allowance).or_default();
    *(if entry.overrun { &mut used.overrun } else { &mut used.used }) += 1;
}
