//! Several read nodes balanced by the HAProxy of deploy/, which resolves them by DNS: recreated in turn, each with an empty
//! folder and another address, and killed.

use std::net::Ipv4Addr;
use std::time::Instant;

use bench::steady::SteadyLoad;
use kit::dns::DnsServer;
use kit::haproxy::Haproxy;
use kit::http::Http;
use rustix::process::Signal;

use crate::node_group::{NodeGroup, ReadNode, searches};
use crate::service::TIMEOUT;

/// Longer than HAProxy needs to notice that a node drains; a second signal ends the drain.
const DRAIN: (&str, &str) = ("LOGGIA_DRAIN", "60s");

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

    async fn wait_until_one_is_out(&self) {
        kit::wait_until(TIMEOUT, "the stopped node to be out", async || self.haproxy.up().await == 2).await;
    }

    /// Returns the number of requests that each node received.
    async fn requests_per_node(&self) -> Vec<u64> {
        self.haproxy.servers().await.values().map(|server| server.requests).collect()
    }

    /// Waits until each of these nodes has received that many requests.
    async fn wait_for_requests(&self, places: &[usize], requests: u64) {
        kit::wait_until(TIMEOUT, "requests of each node", async || {
            let received = self.requests_per_node().await;
            places.iter().all(|place| received.get(*place).is_some_and(|received| *received >= requests))
        })
        .await;
    }
}

fn at(place: usize, address: u8) -> Ipv4Addr {
    Ipv4Addr::new(127, 1, u8::try_from(place).unwrap(), address)
}

#[tokio::test]
async fn nodes_are_recreated_in_turn_without_one_failed_request() {
    let Some(mut balanced) = BalancedNodes::three(1_000).await else { return };
    let load = SteadyLoad::start(balanced.haproxy.address, &searches(), 12, 150.0);
    balanced.wait_for_requests(&[0, 1, 2], 50).await;
    let requests_per_node = balanced.requests_per_node().await;
    let (most, least) = (requests_per_node.iter().max().unwrap(), requests_per_node.iter().min().unwrap());
    assert!(*most < 2 * least, "each in turn: {requests_per_node:?}");
    for (place, name) in NODES.iter().enumerate() {
        balanced.group.nodes[place].process.signal(Signal::TERM);
        balanced.wait_until_one_is_out().await;
        assert!(balanced.group.nodes[place].process.terminate().await.success());
        balanced.names.remove(name);
        balanced.names.looked_up(name).await;
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
    balanced.wait_for_requests(&[0, 1, 2], 20).await;
    balanced.group.nodes[1].process.kill9();
    let killed = Instant::now();
    balanced.wait_until_one_is_out().await;
    let (out, requests_per_node) = (killed.elapsed(), balanced.requests_per_node().await);
    let most = requests_per_node.iter().max().unwrap();
    balanced.wait_for_requests(&[0, 2], most + 50).await;
    let now = balanced.requests_per_node().await;
    assert_eq!(now[1], requests_per_node[1], "{requests_per_node:?}, {now:?}");
    balanced.group.nodes[1] = balanced.start(1, NODES[1], 1).await;
    balanced.wait_until_all_up().await;
    balanced.wait_for_requests(&[1], now[1] + 1).await;
    let met = load.stop().await;
    let answered = met.answers[&200];
    let lost = met.failures.len() + usize::try_from(met.answers.values().sum::<u64>() - answered).unwrap();
    assert!(lost <= connections, "only what was under way on the killed node fails: {met:?}");
    println!("out after {out:?}; {answered} requests answered, {lost} lost");
}
