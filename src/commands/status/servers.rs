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
mod tests {
    use tokio::io::AsyncWriteExt;
    use tokio::net::TcpListener;

    use super::*;

    #[test]
    fn a_missing_majority_is_a_problem_and_a_missing_server_a_warning() {
        let judged = |missing: &[&str]| {
            let missing = missing.iter().map(|name| (*name).to_owned()).collect();
            let mut status = Status::default();
            judge(&mut status, &Copies { servers: 3, missing });
            (status.problems, status.warnings)
        };
        assert_eq!(judged(&[]), (vec![], vec![]));
        let warning = "1 of the 3 NATS servers is missing: n2; start it before NATS lacks a majority";
        assert_eq!(judged(&["n2"]), (vec![], vec![warning.to_owned()]));
        let problem = "NATS lacks a majority, so it stores nothing: edits and new keys wait, and counted calls wait or go to \
                       spools; 2 of the 3 NATS servers are missing: n1, n3; start them";
        assert_eq!(judged(&["n1", "n3"]), (vec![problem.to_owned()], vec![]));
    }

    #[test]
    fn waiting_calls_are_shown_by_node() {
        let node = |name: &str, spool: u64, waiting: Option<u64>| -> NodeSummary {
            serde_json::from_value(
                serde_json::json!({"node": name, "role": "read", "version": "0.2.0", "settings": "0",
                "ready": true, "spool": spool, "waiting": waiting}),
            )
            .unwrap()
        };
        assert_eq!(where_calls_wait(&[node("one", 0, None), node("two", 0, Some(0))]), None);
        assert_eq!(
            where_calls_wait(&[
                node("one", 1_234, None),
                node("two", 0, Some(12)),
                node("three", 1, Some(2))
            ])
            .unwrap(),
            "calls wait until NATS counts them: 1,234 in the spool of the read node one, 12 unanswered on the read node two, \
             1 in the spool of the read node three, 2 unanswered on the read node three"
        );
    }

    #[tokio::test]
    async fn servers_that_hang_or_are_gone_are_unreachable() {
        let bound = async || TcpListener::bind("127.0.0.1:0").await.unwrap();
        let (works, hangs, gone) = (bound().await, bound().await, bound().await);
        let [one, two, three] =
            [&works, &hangs, &gone].map(|listener| listener.local_addr().unwrap().to_string());
        drop(gone);
        let greeting = async {
            let (mut client, _) = works.accept().await.unwrap();
            client.write_all(b"INFO {\"server_id\":\"one\"}\r\n").await.unwrap();
            client
        };
        let url = format!("nats://{one}, tls://{two},nats://ada:secret@{three}");
        let (asked, _client) = tokio::join!(unreachable(&url), greeting);
        let mut missing = vec![two, three];
        missing.sort();
        assert_eq!(asked, Some(Copies { servers: 3, missing }));
        assert_eq!(unreachable(&format!("nats://{one}")).await, None);
    }
}
