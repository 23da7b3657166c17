//! All processes of a cluster: asks each of them how it is, and shows one in a line.

use std::time::Duration;

use anyhow::Result;
use futures::StreamExt;
use schemas::control::NodeSummary;
use schemas::subject;

use crate::output::count;

/// The silence after which no more answers are waited for; nothing says how many there will be.
const SILENCE: Duration = Duration::from_millis(300);

/// How long the processes may take that run for certain.
const PATIENCE: Duration = Duration::from_secs(3);

/// Asks every process that may answer, and gives the answers by role and name. Those whose names are `expected` are waited
/// for longer.
pub async fn ask(client: &async_nats::Client, expected: &[&str]) -> Result<Vec<NodeSummary>> {
    let inbox = client.new_inbox();
    let mut answers = client.subscribe(inbox.clone()).await?;
    for subject in [subject::NODES, subject::NODES_WRITING] {
        client.publish_with_reply(subject, inbox.clone(), "".into()).await?;
    }
    let mut nodes: Vec<NodeSummary> = Vec::new();
    loop {
        let is_whole = expected.iter().all(|name| nodes.iter().any(|node| node.node == **name));
        let patience = if is_whole { SILENCE } else { PATIENCE };
        let Ok(Some(answer)) = tokio::time::timeout(patience, answers.next()).await else { break };
        // Where none listens NATS says so, and a write side of an earlier version says that it is no command.
        nodes.extend(serde_json::from_slice::<NodeSummary>(&answer.payload));
    }
    nodes.sort_by(|one, other| (&one.role, &one.node).cmp(&(&other.role, &other.node)));
    Ok(nodes)
}

/// As a line of the screen.
pub fn line(node: &NodeSummary) -> String {
    let NodeSummary { node, role, version, settings, ready, reason, lag, spool } = node;
    let mut line = format!("{role:<12} {node}, version {version}, settings {settings}");
    if let Some(lag) = lag {
        line += &format!(", lag {}", count(*lag));
    }
    if let Some(spool) = spool {
        line += &format!(", spool {}", count(*spool));
    }
    match (ready, reason) {
        (true, _) => line + ", ready\n",
        (false, None) => line + ", not ready\n",
        (false, Some(reason)) => format!("{line}, not ready: {reason}\n"),
    }
}
