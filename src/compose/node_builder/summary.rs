//! What a process says of itself to `loggia status`, wherever in the cluster that is asked.

use anyhow::{Context, Result};
use api::Readiness;
use futures::StreamExt;
use health::Health;
use metering::Meter;
use projections::node::Node;
use schemas::control::NodeSummary;
use schemas::subject;
use tokio::sync::watch;
use write::nats_role::NatsRole;

use super::NodeBuilder;
use crate::build_info::VERSION;
use crate::compose::shared_settings;

/// What a summary is made from.
struct Summarised {
    node: String,
    role: NatsRole,
    settings: String,
    readiness: watch::Receiver<Readiness>,
    health: Health,
    workers: Option<Node>,
    meter: Option<Meter>,
}

impl Summarised {
    fn summary(&self) -> NodeSummary {
        let Readiness { ready, reason, .. } = self.readiness.borrow().clone();
        let workers = self.workers.as_ref().map(Node::last_status);
        NodeSummary {
            node: self.node.clone(),
            role: self.role.name().to_owned(),
            version: VERSION.to_owned(),
            settings: self.settings.clone(),
            ready,
            // It is for operators, so with what is for them alone.
            reason: (!ready).then(|| self.health.not_ready().unwrap_or(reason)),
            lag: workers.and_then(|workers| workers.iter().map(|worker| worker.lag).max()),
            spool: self.meter.as_ref().map(Meter::spooled),
        }
    }
}

impl NodeBuilder {
    /// Answers with the process's summary until the process ends. The user of the role `serve` may not listen.
    pub(super) fn answer_with_summary(&self) {
        let subject = match self.role {
            NatsRole::Write => subject::NODES_WRITING,
            NatsRole::Project | NatsRole::Read | NatsRole::Up => subject::NODES,
            NatsRole::Serve | NatsRole::Operator => return,
        };
        let Some(client) = self.client.clone() else { return };
        let summarised = Summarised {
            node: self.name.clone(),
            role: self.role,
            settings: shared_settings::digest(&self.config),
            readiness: self.readiness.subscribe(),
            health: self.health.clone(),
            workers: self.node.clone(),
            meter: self.meter.clone(),
        };
        let stop = self.lifecycle.stop.clone();
        let answering = async move {
            let mut requests = client.subscribe(subject).await?;
            while let Some(request) = requests.next().await {
                if let Some(reply) = request.reply {
                    let answer = serde_json::to_vec(&summarised.summary())?;
                    if let Err(error) = client.publish(reply, answer.into()).await {
                        tracing::debug!(%error, "a summary could not be sent");
                    }
                }
            }
            None.context("the connection to NATS was closed")
        };
        self.lifecycle.spawn("the summary of this process", async move {
            let ended: Option<Result<()>> = stop.run_until_cancelled(answering).await;
            ended.unwrap_or(Ok(()))
        });
    }
}
