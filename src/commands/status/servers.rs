//! The servers of NATS that are missing, and where calls wait meanwhile.

use std::time::Duration;

use async_nats::ServerAddr;
use cli_output::count;
use futures::future::join_all;
use nats::copies::Copies;
use schemas::control::NodeSummary;
use tokio::io::AsyncReadExt;
use tokio::net::TcpStream;
use tokio::time::timeout;

use super::Status;

/// How long a server may take to greet.
const TIMEOUT: Duration = Duration::from_secs(1);
/// The word with which a server greets each connection, also one that becomes encrypted.
const GREETING: &[u8] = b"INFO";

/// Asks every server that the setting names. For a cluster that does not answer about its streams: it has no leader.
pub(super) async fn unreachable(url: &str) -> Option<Copies> {
    let addresses: Vec<ServerAddr> = url.split(',').filter_map(|url| url.trim().parse().ok()).collect();
    // A single server that does not answer is reported as such.
    if addresses.len() < 2 {
        return None;
    }
    let asked = join_all(addresses.iter().map(async |address| {
        let greets = timeout(TIMEOUT, greets(address)).await.unwrap_or(false);
        (!greets).then(|| format!("{}:{}", address.host(), address.port()))
    }))
    .await;
    let mut missing: Vec<String> = asked.into_iter().flatten().collect();
    missing.sort();
    Some(Copies { servers: addresses.len(), missing })
}

/// Returns whether a server takes connections and greets. One that hangs takes them and does not.
async fn greets(address: &ServerAddr) -> bool {
    let Ok(mut stream) = TcpStream::connect((address.host(), address.port())).await else { return false };
    let mut greeting = [0; GREETING.len()];
    stream.read_exact(&mut greeting).await.is_ok() && greeting == GREETING
}

/// Adds a problem if the majority is missing, a warning if another server is.
pub(super) fn judge(status: &mut Status, copies: &Copies) {
    let Copies { servers, missing } = copies;
    if missing.is_empty() {
        return;
    }
    let are = if missing.len() == 1 { "is" } else { "are" };
    let which =
        format!("{} of the {servers} NATS servers {are} missing: {}", missing.len(), missing.join(", "));
    match copies.have_majority() {
        true => status.warnings.push(format!("{which}; start it before NATS lacks a majority")),
        false => status.problems.push(format!(
            "NATS lacks a majority, so it stores nothing: edits and new keys wait, and counted calls wait or go to spools; {which}; \
             start them"
        )),
    }
}

/// Returns how many calls wait, and on which nodes; `None` if none do.
pub(super) fn where_calls_wait(nodes: &[NodeSummary]) -> Option<String> {
    let part = |node: &NodeSummary, calls: Option<u64>, how: &str| {
        let calls = calls.filter(|calls| *calls > 0)?;
        Some(format!("{} {how} the {} node {}", count(calls), node.role, node.node))
    };
    let parts: Vec<String> = nodes
        .iter()
        .flat_map(|node| {
            let spooled = part(node, node.spool, "in the spool of");
            [spooled, part(node, node.waiting, "unanswered on")]
        })
        .flatten()
        .collect();
    (!parts.is_empty()).then(|| format!("calls wait until NATS counts them: {}", parts.join(", ")))
}

#[cfg(test)]
mod tests;
