//! The tasks of a write side: the relay, the command service, and those of the keeper.

use std::sync::Arc;

use anyhow::Result;
use write::command_server;
use write::relay::{Announcer, Relay, RelayError};
use write::service::CommandDispatcher;

use super::{NodeBuilder, ledger};
use crate::compose::write_side::{self, KeptServices, WriteSide};
use crate::compose::{gauges, shared_settings, startup};
use crate::config::{Auth, Replicas};
use crate::store::keeper::KeeperClaim;

impl NodeBuilder {
    /// Starts the event store, the relay, the command server, and the tasks of the keeper if this is the keeper.
    pub async fn write_side(&mut self, client: &async_nats::Client, claim: KeeperClaim) -> Result<WriteSide> {
        let side = write_side::open_write_side(&self.config, &self.clock, &self.health, claim).await?;
        let WriteSide { store, commands, kept, keeper } = &side;
        gauges::commands::register(&mut self.registry, commands.metrics().clone());
        tracing::info!(position = %store.head().await?.position, "the log of events is open");
        let is_keeper = keeper.here;
        let stop = self.lifecycle.stop.clone();
        let lifecycle = self.lifecycle.clone();
        let Replicas(replicas) = self.config.nats.replicas;
        let (settings, health) = (shared_settings::published(&self.config), self.health.clone());
        let background = self.background().await?;
        let relay = Relay::new(store.clone(), background.client().clone());
        let mut relay = relay.replicas(replicas).reporting(&health);
        if is_keeper {
            relay = relay.settings(settings);
        }
        startup::retry_temporary(|| relay.check(), RelayError::is_transient).await?;
        let announcer = Announcer::new(store.clone(), background.client().clone(), relay.watch());
        let announced = announcer.watch();
        lifecycle.spawn_on("the announcer of the log", announcer.run(stop.clone()), background.handle());
        lifecycle.spawn_on("the relay", relay.run(stop.clone()), background.handle());
        let (writing, ending) = (store.clone(), stop.clone());
        self.lifecycle.spawn("the writer of the event store", async move {
            ending.run_until_cancelled(writing.writer_ended()).await;
        });
        (self.store, self.announced) = (Some(store.clone()), Some(announced));
        if let Some(kept) = kept {
            self.keep(kept, commands).await?;
        }
        self.follow_keeper(client, keeper, claim);
        let (client, commands) = (client.clone(), commands.clone());
        self.lifecycle.spawn("the command service", async move {
            command_server::serve(&client, &commands, &stop).await
        });
        Ok(side)
    }

    /// Starts the tasks of the keeper: pictures, metering, entitlements.
    async fn keep(&mut self, kept: &KeptServices, commands: &Arc<CommandDispatcher>) -> Result<()> {
        self.pictures(&kept.pictures).await?;
        if self.config.access.auth == Auth::Keys {
            ledger::check_tiers(commands.log(), &self.config.access.tiers).await?;
            self.metering().await?;
        }
        self.expiring_payments(kept.payments.clone(), commands.clone());
        Ok(())
    }
}
