//! The operators' listener of a process: health, metrics, snapshots.

use anyhow::{Context, Result};
use data_folder::Part;
use projections::node::Node;
use prometheus_client::registry::Registry;
use serde_json::{Value, json};
use snapshot_transfer::SnapshotServer;
use tokio::net::TcpListener;

use super::NodeBuilder;
use crate::compose::gauges;
use crate::process;

impl NodeBuilder {
    /// Starts the operators' listener, if one is set.
    pub async fn admin(&mut self) -> Result<()> {
        let Some(address) = self.config.operators.listen else { return Ok(()) };
        let listener = TcpListener::bind(address)
            .await
            .with_context(|| format!("admin_listen: {address} cannot be taken; choose another"))?;
        tracing::info!("metrics and health on http://{}", listener.local_addr()?);
        let registry = self.operators_registry();
        let hosts = self.config.operators.hosts.clone().map(|hosts| hosts.0).unwrap_or_default();
        let router = api::admin::router(registry, self.readiness.subscribe(), self.status(), hosts);
        let stop = self.lifecycle.stop.clone();
        // The process that holds the models serves their snapshots; another one on the folder would interfere.
        let token = self.held.contains(&Part::Project).then(|| self.data.snapshot_token()).transpose()?;
        let router = match token {
            Some(token) => {
                let (models, folder) = (self.data.models(), self.data.snapshot());
                let requests = self.lifecycle.requests();
                let snapshots = SnapshotServer::new(models, folder, &token, self.clock.clone(), requests);
                let removing = snapshots.clone().remove_unused(stop.clone());
                self.lifecycle.spawn("the removal of snapshots", removing);
                router.merge(snapshots.router())
            }
            None => router,
        };
        let router = api::admin::same_site_only(router);
        self.lifecycle.spawn("the operators' listener", async move {
            api::serve_admin(listener, router, process::operator_limits(), stop).await;
        });
        Ok(())
    }

    /// Takes all metrics of the process; those that are registered later are missing.
    fn operators_registry(&mut self) -> Registry {
        let mut registry = std::mem::take(&mut self.registry);
        let readiness = self.readiness.subscribe();
        gauges::process::register(&mut registry, self.role.name(), readiness, self.client.clone());
        let data = &self.config.server.data;
        gauges::process::register_machine(&mut registry, data.clone(), self.began);
        gauges::upkeep::register(&mut registry, data.clone(), self.config.nats.ca.clone());
        if let Some(meter) = &self.meter {
            gauges::calls::register_spool(&mut registry, meter.clone(), self.data.spool());
        }
        if let Some(node) = &self.node {
            gauges::register(&mut registry, node.clone());
        }
        if let Some(announced) = &self.announced {
            gauges::register_log(&mut registry, announced.clone());
        }
        if self.serves {
            gauges::register_models(&mut registry, self.health.clone());
        }
        gauges::register_health(&mut registry, self.health.clone());
        if let Some(here) = self.keeper {
            gauges::register_keeper(&mut registry, here);
        }
        registry
    }

    /// Returns a function that returns the status of the process: failing components, projections, and whether it is the keeper.
    fn status(&self) -> impl Fn() -> Value + Send + Sync + 'static {
        let (node, health, keeper) = (self.node.clone(), self.health.clone(), self.keeper);
        move || {
            let failing: Vec<_> = health
                .failing()
                .into_iter()
                .map(|failing| {
                    json!({
                        "component": failing.component,
                        "reason": failing.reason,
                        "seconds": failing.duration.as_secs(),
                    })
                })
                .collect();
            let mut status = json!({"failing": failing});
            if let Some(node) = &node {
                status["projections"] = json!(node.last_status());
            }
            if let Some(here) = keeper {
                status["keeper"] = json!(here);
            }
            status
        }
    }

    pub fn ready_at_once(&self) {
        self.follow_readiness(self.readiness.clone().follow_health());
    }

    /// Makes the node ready once its workers have caught up.
    pub fn ready_with(&self, node: Node) {
        self.follow_readiness(self.readiness.clone().workers(node));
    }

    /// Runs the task that publishes readiness; it ends when the process is about to stop.
    pub(super) fn follow_readiness(&self, following: impl Future<Output = ()> + Send + 'static) {
        self.lifecycle.spawn_finite("readiness", following);
    }
}
