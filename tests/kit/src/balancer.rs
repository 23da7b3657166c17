//! A TCP balancer such as stands before several nodes: round and round over those that say they are ready, bytes passed
//! through as they come.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt, copy_bidirectional};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio::time::timeout;

/// Between two looks at a node.
const LOOK: Duration = Duration::from_millis(100);

/// How long a node may take to say how it is, or to make a connection.
const PATIENCE: Duration = Duration::from_secs(2);

/// A balancer; it ends with its handle.
#[derive(Debug)]
pub struct Balancer {
    address: SocketAddr,
    nodes: Arc<Mutex<Nodes>>,
    _tasks: JoinSet<()>,
}

#[derive(Debug, Default)]
struct Nodes {
    nodes: Vec<Node>,
    turn: usize,
}

#[derive(Debug, Clone, Copy)]
struct Node {
    address: SocketAddr,
    is_ready: bool,
}

impl Balancer {
    /// A balancer before nodes at these addresses.
    pub async fn before(addresses: &[SocketAddr]) -> Balancer {
        let nodes = addresses.iter().map(|address| Node { address: *address, is_ready: false }).collect();
        let nodes = Arc::new(Mutex::new(Nodes { nodes, turn: 0 }));
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port for the balancer");
        let address = listener.local_addr().expect("its address");
        let mut tasks = JoinSet::new();
        tasks.spawn(look(nodes.clone()));
        tasks.spawn(accept(listener, nodes.clone()));
        Balancer { address, nodes, _tasks: tasks }
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Puts a node in the place of another one.
    pub fn replace(&self, place: usize, address: SocketAddr) {
        lock(&self.nodes).nodes[place] = Node { address, is_ready: false };
    }

    /// How many nodes said at the last look that they are ready.
    pub fn ready(&self) -> usize {
        lock(&self.nodes).nodes.iter().filter(|node| node.is_ready).count()
    }
}

fn lock(nodes: &Mutex<Nodes>) -> MutexGuard<'_, Nodes> {
    nodes.lock().expect("nobody panics with it")
}

async fn look(nodes: Arc<Mutex<Nodes>>) {
    loop {
        let addresses: Vec<SocketAddr> = lock(&nodes).nodes.iter().map(|node| node.address).collect();
        for (place, address) in addresses.into_iter().enumerate() {
            let is_ready = timeout(PATIENCE, asked(address)).await.is_ok_and(|ready| ready == Some(true));
            let node = &mut lock(&nodes).nodes[place];
            if node.address == address {
                node.is_ready = is_ready;
            }
        }
        tokio::time::sleep(LOOK).await;
    }
}

async fn asked(address: SocketAddr) -> Option<bool> {
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
        connections.spawn(pass(client, nodes.clone()));
        while connections.try_join_next().is_some() {}
    }
}

/// Passes bytes between a client and the next node that takes the connection.
async fn pass(mut client: TcpStream, nodes: Arc<Mutex<Nodes>>) {
    for address in turn(&nodes) {
        if let Ok(Ok(mut node)) = timeout(PATIENCE, TcpStream::connect(address)).await {
            let _ = (client.set_nodelay(true), node.set_nodelay(true));
            let _ = copy_bidirectional(&mut client, &mut node).await;
            return;
        }
    }
}

/// The nodes that are ready, the one whose turn it is first.
fn turn(nodes: &Mutex<Nodes>) -> Vec<SocketAddr> {
    let mut nodes = lock(nodes);
    nodes.turn += 1;
    let mut ready: Vec<SocketAddr> =
        nodes.nodes.iter().filter(|node| node.is_ready).map(|node| node.address).collect();
    if !ready.is_empty() {
        let turn = nodes.turn % ready.len();
        ready.rotate_left(turn);
    }
    ready
}
