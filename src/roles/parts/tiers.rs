//! Whether the setting `tiers` has the tiers that keys are in.

use std::collections::BTreeMap;

use anyhow::{Result, bail};
use schemas::tier::{TierName, Tiers};
use write::event_store::EventStore;
use write::service::read_accounts;

/// Fails where live keys are in tiers that are not set: their holders would get less than they have.
pub(super) async fn check(store: &dyn EventStore, tiers: &Tiers) -> Result<()> {
    let mut missing: BTreeMap<TierName, u64> = BTreeMap::new();
    for (_, account) in read_accounts(store).await? {
        for key in account.live().filter(|key| tiers.get(&key.tier).is_none()) {
            *missing.entry(key.tier.clone()).or_default() += 1;
        }
    }
    if missing.is_empty() {
        return Ok(());
    }
    let parts: Vec<String> = missing
        .iter()
        .map(|(tier, keys)| match keys {
            1 => format!("1 key is in {tier}"),
            _ => format!("{keys} keys are in {tier}"),
        })
        .collect();
    bail!(
        "tiers is “{tiers}”, and {}; keep {} in LOGGIA_TIERS, or move the keys with `loggia keys tier`",
        parts.join(", "),
        if missing.len() == 1 { "the tier" } else { "these tiers" },
    )
}
