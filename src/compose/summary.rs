//! The summaries that the processes of a cluster give of themselves, over NATS: how one answers, and how a command asks all.

use std::time::Duration;

use anyhow::{Context, Result};
use api::Readiness;
use futures::StreamExt;
use health::Health;
use metering::Meter;
use process_role::ProcessRole;
use projections::node::Node;
use schemas::control::NodeSummary;
use schemas::subject;
use tokio::sync::watch;

use crate::process::VERSION;

/// How long to wait for another answer: the number of processes is not known.
const SILENCE: Duration = Duration::from_millis(300);

/// How long to wait for the answer of a process that is known to run.
const TIMEOUT: Duration = Duration::from_secs(3);

/// The state from which a process makes its summary.
pub(super) struct SummarySource {
    pub(super) node: String,
    pub(super) role: ProcessRole,
    /// The digest of the settings that all nodes share.
    pub(super) settings: String,
    pub(super) readiness: watch::Receiver<Readiness>,
    pub(super) health: Health,
    pub(super) workers: Option<Node>,
    pub(super) meter: Option<Meter>,
}

impl SummarySource {
    fn summary(&self) -> NodeSummary {
        let Readiness { ready, reason, .. } = self.readiness.borrow().clone();
        let workers = self.workers.as_ref().map(Node::last_status);
        NodeSummary {
            node: self.node.clone(),
            role: self.role.name().to_owned(),
            version: VERSION.to_owned(),
            settings: self.settings.clone(),
            ready,
            // It is for operators, so it includes reasons that are not public.
            reason: (!ready).then(|| self.health.not_ready().unwrap_or(reason)),
            lag: workers.and_then(|workers| workers.iter().map(|worker| worker.lag).max()),
            spool: self.meter.as_ref().map(Meter::spooled),
            waiting: self.meter.as_ref().map(Meter::waiting),
        }
    }

    /// Answers each request with a summary; ends only with an error. The NATS user of the role `serve` may not listen, so it never
    /// answers.
    pub(super) async fn answer(self, client: async_nats::Client) -> Result<()> {
        let subject = match self.role {
            ProcessRole::Write => subject::NODES_WRITING,
            ProcessRole::Project | ProcessRole::Read | ProcessRole::Up => subject::NODES,
            ProcessRole::Serve | ProcessRole::Operator => return std::future::pending().await,
        };
        let mut requests = client.subscribe(subject).await?;
        while let Some(request) = requests.next().await {
            if let Some(reply) = request.reply {
                let answer = serde_json::to_vec(&self.summary())?;
                if let Err(error) = client.publish(reply, answer.into()).await {
                    tracing::debug!(%error, "a summary could not be sent");
                }
            }
        }
        None.context("the connection to NATS was closed")
    }
}

/// Asks all processes for their summaries, and returns them by role and name. Waits longer for those with the `expected` names.
pub async fn summaries(client: &async_nats::Client, expected: &[&str]) -> Result<Vec<NodeSummary>> {
    let inbox = client.new_inbox();
    let mut answers = client.subscribe(inbox.clone()).await?;
    for subject in [subject::NODES, subject::NODES_WRITING] {
        client.publish_with_reply(subject, inbox.clone(), "".into()).await?;
    }
    let mut nodes: Vec<NodeSummary> = Vec::new();
    loop {
        let is_complete = expected.iter().all(|name| nodes.iter().any(|node| node.node == **name));
        let time_limit = if is_complete { SILENCE } else { TIMEOUT };
        let Ok(Some(answer)) = tokio::time::timeout(time_limit, answers.next()).await else { break };
        // If no process listens NATS says so, and a write side of version 0.1 answers that this is not a command.
        nodes.extend(serde_json::from_slice::<NodeSummary>(&answer.payload));
    }
    nodes.sort_by(|one, other| (&one.role, &one.node).cmp(&(&other.role, &other.node)));
    Ok(nodes)
}
