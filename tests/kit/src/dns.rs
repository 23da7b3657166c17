//! A DNS server over UDP whose records a test sets.

use std::collections::HashMap;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex};

use tokio::net::UdpSocket;
use tokio::task::JoinSet;

/// A DNS server; dropping it stops it.
#[derive(Debug)]
pub struct DnsServer {
    /// The address on which it listens.
    pub address: SocketAddr,
    known: Arc<Mutex<HashMap<String, Ipv4Addr>>>,
    _task: JoinSet<()>,
}

/// The length of a header, in bytes (RFC 1035, 4.1.1).
const HEADER: usize = 12;

/// The record type A (IPv4 address).
const A: [u8; 2] = [0, 1];

impl DnsServer {
    /// Starts a server without records.
    pub async fn start() -> DnsServer {
        let socket = UdpSocket::bind("127.0.0.1:0").await.expect("a port for the name server");
        let address = socket.local_addr().expect("its address");
        let known = Arc::new(Mutex::new(HashMap::new()));
        let mut task = JoinSet::new();
        task.spawn(answer(socket, known.clone()));
        DnsServer { address, known, _task: task }
    }

    /// Sets the address of a name.
    pub fn set(&self, name: &str, at: Ipv4Addr) {
        self.known.lock().expect("no thread panics while it holds the lock").insert(name.to_owned(), at);
    }

    /// Removes a name.
    pub fn remove(&self, name: &str) {
        self.known.lock().expect("no thread panics while it holds the lock").remove(name);
    }
}

async fn answer(socket: UdpSocket, known: Arc<Mutex<HashMap<String, Ipv4Addr>>>) {
    let mut query = [0; 512];
    loop {
        let Ok((length, client)) = socket.recv_from(&mut query).await else { continue };
        let reply = reply(&query[..length], |name| {
            known.lock().expect("no thread panics while it holds the lock").get(name).copied()
        });
        if let Some(reply) = reply {
            let _ = socket.send_to(&reply, client).await;
        }
    }
}

/// Returns the response to a query: an A record with a TTL of one second, an empty answer for other types, or NXDOMAIN.
/// `None` for a malformed query.
fn reply(query: &[u8], known: impl Fn(&str) -> Option<Ipv4Addr>) -> Option<Vec<u8>> {
    let (header, mut rest) = query.split_at_checked(HEADER)?;
    let mut labels = Vec::new();
    let question = rest;
    loop {
        let (length, behind) = rest.split_first()?;
        let (label, behind) = behind.split_at_checked(usize::from(*length))?;
        rest = behind;
        if label.is_empty() {
            break;
        }
        labels.push(std::str::from_utf8(label).ok()?);
    }
    let (kind, behind) = rest.split_at_checked(4)?;
    let question = &question[..question.len() - behind.len()];
    let known = known(&labels.join("."));
    let address = known.filter(|_| kind[..2] == A);
    // An authoritative response; RCODE 3 is NXDOMAIN.
    let code = if known.is_some() { 0 } else { 3 };
    let mut reply = header[..2].to_vec();
    reply.extend([0x84, code, 0, 1, 0, u8::from(address.is_some()), 0, 0, 0, 0]);
    reply.extend(question);
    if let Some(address) = address {
        // A pointer to the name in the question at byte 12; class IN, a TTL of one second, four bytes.
        reply.extend([0xc0, 0x0c, 0, 1, 0, 1, 0, 0, 0, 1, 0, 4]);
        reply.extend(address.octets());
    }
    Some(reply)
}
