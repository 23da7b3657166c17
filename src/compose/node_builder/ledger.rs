//! The part that keeps what was counted, and for which tiers.

use std::collections::BTreeMap;
use std::sync::Arc;

use anyhow::{Result, bail};
use event_log::EventLog;
use ledger::usage_streams::UsageStreamError;
use ledger::{Copier, Ledger};
use schemas::tier::{TierName, Tiers};
use write::service::read_accounts;

use super::NodeBuilder;
use crate::compose::{gauges, starting};
use crate::config::Replicas;
use crate::counted_calls;
use crate::data_folder::Part;
use crate::store;

impl NodeBuilder {
    /// Makes the streams that count calls, and copies from them into the ledger.
    pub(super) async fn metering(&mut self) -> Result<()> {
        let ledger = Arc::new(Ledger::open(&store::folder(&self.config)).await?);
        self.ledger = Some(ledger.clone());
        gauges::calls::register_ledger(&mut self.registry, ledger.clone());
        let (lifecycle, stop) = (self.lifecycle.clone(), self.lifecycle.stop.clone());
        let (tiers, clock) = (self.config.access.tiers.clone(), self.clock.clone());
        let Replicas(replicas) = self.config.nats.replicas;
        let health = self.health.component("ledger");
        // They end after the ledger, and read what it has read before they do.
        let counters = self.held.contains(&Part::Project).then(|| self.data.clone());
        let background = self.background().await?;
        let client = background.client().clone();
        let copier =
            Copier::new(ledger.clone(), client.clone(), tiers, clock).replicas(replicas).reporting_to(health);
        starting::settled(async || copier.prepare().await, UsageStreamError::may_pass).await?;
        let copier = copier.run(lifecycle.copying.stop.clone());
        let copied = ledger.clone();
        let copying = async move {
            copier.await;
            if let Some(data) = counters
                && let Err(error) = counted_calls::counted(&data, &copied).await
            {
                tracing::warn!(
                    "whether the counters have read what the ledger has cannot be seen: {error:#}"
                );
            }
            Ok(())
        };
        lifecycle.spawn_in(&lifecycle.copying, "the ledger", copying, background.handle());
        let pages = async move { Ok(ledger::serve(&client, ledger, &stop).await?) };
        lifecycle.spawn_on("the pages of the ledger", pages, background.handle());
        Ok(())
    }
}

/// Fails where live keys are in tiers that are not set: their holders would get less than they have.
pub async fn check_tiers(store: &EventLog, tiers: &Tiers) -> Result<()> {
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
