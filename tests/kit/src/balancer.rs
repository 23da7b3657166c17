//! A TCP load balancer: round robin over the nodes that are ready, by their readiness probe. Bytes are passed through
//! unchanged.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt, copy_bidirectional};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio::time::timeout;

use crate::wait::TIMEOUT;

/// The interval of the readiness probes.
const PROBE_INTERVAL: Duration = Duration::from_millis(100);

/// A load balancer; dropping it stops it.
#[derive(Debug)]
pub struct Balancer {
    /// The address on which it listens.
    pub address: SocketAddr,
    nodes: Arc<Mutex<Nodes>>,
    _tasks: JoinSet<()>,
}

#[derive(Debug, Default)]
struct Nodes {
    nodes: Vec<Node>,
    next: usize,
}

#[derive(Debug, Clone, Copy)]
struct Node {
    address: SocketAddr,
    is_ready: bool,
}

impl Balancer {
    /// Starts a balancer for nodes at these addresses.
    pub async fn start(addresses: &[SocketAddr]) -> Balancer {
        let nodes = addresses.iter().map(|address| Node { address: *address, is_ready: false }).collect();
        let nodes = Arc::new(Mutex::new(Nodes { nodes, next: 0 }));
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port for the balancer");
        let address = listener.local_addr().expect("its address");
        let mut tasks = JoinSet::new();
        tasks.spawn(probe_all(nodes.clone()));
        tasks.spawn(accept(listener, nodes.clone()));
        Balancer { address, nodes, _tasks: tasks }
    }

    /// Replaces the node at an index.
    pub fn replace(&self, place: usize, address: SocketAddr) {
        lock(&self.nodes).nodes[place] = Node { address, is_ready: false };
    }

    /// Returns the number of nodes that were ready at the last probe.
    pub fn ready(&self) -> usize {
        lock(&self.nodes).nodes.iter().filter(|node| node.is_ready).count()
    }
}

fn lock(nodes: &Mutex<Nodes>) -> MutexGuard<'_, Nodes> {
    nodes.lock().expect("no thread panics while it holds the lock")
}

async fn probe_all(nodes: Arc<Mutex<Nodes>>) {
    loop {
        let addresses: Vec<SocketAddr> = lock(&nodes).nodes.iter().map(|node| node.address).collect();
        for (place, address) in addresses.into_iter().enumerate() {
            let is_ready = timeout(TIMEOUT, probe(address)).await.is_ok_and(|ready| ready == Some(true));
            let node = &mut lock(&nodes).nodes[place];
            if node.address == address {
                node.is_ready = is_ready;
            }
        }
        tokio::time::sleep(PROBE_INTERVAL).await;
    }
}

async fn probe(address: SocketAddr) -> Option<bool> {
    let mut node = TcpStream::connect(address).await.ok()?;
    node.write_all(b"GET /readyz HTTP/1.1\r\nhost: balancer\r\nconnection: close\r\n\r\n").await.ok()?;
    let mut answer = Vec::new();
    node.read_to_end(&mut answer).await.ok()?;
    Some(answer.starts_with(b"HTTP/1.1 200 "))
}

async fn accept(listener: TcpListener, nodes: Arc<Mutex<Nodes>>) {
    let mut connections = JoinSet::new();
    loop {
        let Ok((client, _)) = listener.accept().await else { continue };
        connections.spawn(forward(client, nodes.clone()));
        while connections.try_join_next().is_some() {}
    }
}

/// Passes bytes between a client and the next node that accepts the connection.
async fn forward(mut client: TcpStream, nodes: Arc<Mutex<Nodes>>) {
    for address in in_turn(&nodes) {
        if let Ok(Ok(mut node)) = timeout(TIMEOUT, TcpStream::connect(address)).await {
            let _ = (client.set_nodelay(true), node.set_nodelay(true));
            let _ = copy_bidirectional(&mut client, &mut node).await;
            return;
        }
    }
}

/// Returns the ready nodes in round-robin order.
fn in_turn(nodes: &Mutex<Nodes>) -> Vec<SocketAddr> {
    let mut nodes = lock(nodes);
    nodes.next += 1;
    let mut ready: Vec<SocketAddr> =
        nodes.nodes.iter().filter(|node| node.is_ready).map(|node| node.address).collect();
    if !ready.is_empty() {
        let next = nodes.next % ready.len();
        ready.rotate_left(next);
    }
    ready
}
