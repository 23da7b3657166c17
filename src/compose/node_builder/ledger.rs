//! The ledger of counted calls, and the check of their tiers.

use std::collections::BTreeMap;
use std::sync::Arc;

use anyhow::{Result, bail};
use data_folder::Part;
use event_log::EventLog;
use ledger::usage_streams::UsageStreamError;
use ledger::{Copier, Ledger};
use schemas::tier::{TierName, Tiers};
use write::service::read_accounts;

use super::{LEDGER_PHASE, NodeBuilder};
use crate::compose::{gauges, startup};
use crate::config::Replicas;
use crate::counted_calls;
use crate::store;

impl NodeBuilder {
    /// Creates the streams that count calls, and copies the calls from them into the ledger.
    pub(super) async fn metering(&mut self) -> Result<()> {
        let ledger = Arc::new(Ledger::open(&store::folder(&self.config)).await?);
        self.ledger = Some(ledger.clone());
        gauges::calls::register_ledger(&mut self.registry, ledger.clone());
        let (lifecycle, stop) = (self.lifecycle.clone(), self.lifecycle.stop.clone());
        let (tiers, clock) = (self.config.access.tiers.clone(), self.clock.clone());
        let Replicas(replicas) = self.config.nats.replicas;
        let health = self.health.component("ledger");
        // The counters end after the ledger, and read until then what it has copied.
        let counters = self.held.contains(&Part::Project).then(|| self.data.clone());
        let background = self.background().await?;
        let client = background.client().clone();
        let copier =
            Copier::new(ledger.clone(), client.clone(), tiers, clock).replicas(replicas).reporting_to(health);
        startup::retry_temporary(async || copier.prepare().await, UsageStreamError::is_temporary).await?;
        let copier = copier.run(lifecycle.stop_of(LEDGER_PHASE).clone());
        let copied = ledger.clone();
        let copying = async move {
            copier.await;
            if let Some(data) = counters
                && let Err(error) = counted_calls::wait_for_counters(&data, &copied).await
            {
                tracing::warn!("whether the counters have read what the ledger has is not known: {error:#}");
            }
        };
        lifecycle.spawn_in(LEDGER_PHASE, "the ledger", copying, background.handle());
        let serving = async move { ledger::serve(&client, ledger, &stop).await };
        lifecycle.spawn_on("the ledger service", serving, background.handle());
        Ok(())
    }
}

/// Checks that the tiers of all live keys are set. Fails if one is not: the holders of its keys would get less than
/// they have.
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
