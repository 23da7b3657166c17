//! Several read nodes balanced by the HAProxy of deploy/, which resolves them by DNS: recreated in turn, each with an empty
//! folder and another address, and killed.

use std::net::Ipv4Addr;
use std::time::{Duration, Instant};

use bench::steady::SteadyLoad;
use kit::dns::DnsServer;
use kit::haproxy::Haproxy;
use kit::http::Http;

use crate::node_group::{NodeGroup, ReadNode, searches};
use crate::service::TIMEOUT;

/// As for the nodes in deploy/compose.yaml.
const DRAIN: (&str, &str) = ("LOGGIA_DRAIN", "5s");

/// The time within which a stopped node must get no more requests: two failed checks, one per second, each with a
/// connection timeout of up to two seconds.
const OUT_WITHIN: Duration = Duration::from_secs(6);

/// How long a node and its DNS name are absent: the name is resolved every second.
const AWAY_FOR: Duration = Duration::from_secs(3);

/// The DNS names of the nodes.
const NODES: [&str; 3] = ["read-1", "read-2", "read-3"];

struct BalancedNodes {
    group: NodeGroup,
    names: DnsServer,
    haproxy: Haproxy,
}

impl BalancedNodes {
    /// Three nodes that receive requests; `None` without HAProxy or nats-server, with a message.
    async fn three(projects: usize) -> Option<BalancedNodes> {
        let names = DnsServer::start().await;
        let haproxy = Haproxy::start(&names).await?;
        let group = NodeGroup::of(&[], projects, &[DRAIN]).await?;
        let mut balanced = BalancedNodes { group, names, haproxy };
        for (place, name) in NODES.iter().enumerate() {
            let node = balanced.start(place, name, 1).await;
            // HAProxy sends requests to a server before its first check.
            Http::new(format!("http://{}", node.address)).ready().await;
            balanced.set_address(place, 1);
            balanced.group.nodes.push(node);
        }
        balanced.wait_until_all_up().await;
        Some(balanced)
    }

    /// Starts a node on a folder, with one of its addresses.
    async fn start(&self, place: usize, folder: &str, address: u8) -> ReadNode {
        let listen = format!("{}:{}", at(place, address), self.haproxy.node_port);
        self.group.start(folder, &[("LOGGIA_LISTEN", &listen)]).await
    }

    /// Sets the DNS record of a node to one of its addresses.
    fn set_address(&self, place: usize, address: u8) {
        self.names.set(NODES[place], at(place, address));
    }

    async fn wait_until_all_up(&self) {
        kit::wait_until(TIMEOUT, "three nodes that are given calls", async || self.haproxy.up().await == 3)
            .await;
    }

    /// Returns the number of requests that each node received.
    async fn requests_per_node(&self) -> Vec<u64> {
        self.haproxy.servers().await.values().map(|server| server.requests).collect()
    }
}

fn at(place: usize, address: u8) -> Ipv4Addr {
    Ipv4Addr::new(127, 1, u8::try_from(place).unwrap(), address)
}

#[tokio::test]
async fn nodes_are_recreated_in_turn_without_one_failed_request() {
    let Some(mut balanced) = BalancedNodes::three(3_000).await else { return };
    let load = SteadyLoad::start(balanced.haproxy.address, &searches(), 12, 150.0);
    tokio::time::sleep(Duration::from_secs(2)).await;
    let requests_per_node = balanced.requests_per_node().await;
    let (most, least) = (requests_per_node.iter().max().unwrap(), requests_per_node.iter().min().unwrap());
    // On a busy machine a node may be marked down for a moment.
    assert!(*least > 50 && *most < 2 * least, "each in turn: {requests_per_node:?}");
    for (place, name) in NODES.iter().enumerate() {
        assert!(balanced.group.nodes[place].process.terminate().await.success());
        balanced.names.remove(name);
        tokio::time::sleep(AWAY_FOR).await;
        // The name resolves to the node while it still catches up.
        balanced.set_address(place, 2);
        balanced.group.nodes[place] = balanced.start(place, &format!("anew-{place}"), 2).await;
        balanced.wait_until_all_up().await;
    }
    let met = load.stop().await;
    assert_eq!(met.failures, [""; 0]);
    assert_eq!(met.answers.keys().collect::<Vec<_>>(), [&200], "{met:?}");
    println!("three new nodes: {} requests, none failed", met.answers[&200]);
}

#[tokio::test]
async fn a_killed_node_gets_no_requests_until_it_is_back() {
    let Some(mut balanced) = BalancedNodes::three(30).await else { return };
    let connections = 12;
    let load = SteadyLoad::start(balanced.haproxy.address, &searches(), connections, 150.0);
    tokio::time::sleep(Duration::from_secs(1)).await;
    balanced.group.nodes[1].process.kill9();
    let killed = Instant::now();
    kit::wait_until(OUT_WITHIN, "the killed node to be out", async || balanced.haproxy.up().await == 2).await;
    let (out, requests_per_node) = (killed.elapsed(), balanced.requests_per_node().await);
    tokio::time::sleep(Duration::from_secs(1)).await;
    let now = balanced.requests_per_node().await;
    assert!(
        now[0] > requests_per_node[0] && now[1] == requests_per_node[1] && now[2] > requests_per_node[2],
        "{requests_per_node:?}, {now:?}"
    );
    balanced.group.nodes[1] = balanced.start(1, NODES[1], 1).await;
    balanced.wait_until_all_up().await;
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert!(balanced.requests_per_node().await[1] > now[1]);
    let met = load.stop().await;
    let answered = met.answers[&200];
    let lost = met.failures.len() + usize::try_from(met.answers.values().sum::<u64>() - answered).unwrap();
    assert!(lost <= connections, "only what was under way on the killed node fails: {met:?}");
    println!("out after {out:?}; {answered} requests answered, {lost} lost");
}
