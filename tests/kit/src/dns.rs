//! A DNS server over UDP whose records a test sets.

use std::collections::HashMap;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, MutexGuard};

use tokio::net::UdpSocket;
use tokio::task::JoinSet;

use crate::wait::{TIMEOUT, wait_until};

/// A DNS server; dropping it stops it.
#[derive(Debug)]
pub struct DnsServer {
    /// The address on which it listens.
    pub address: SocketAddr,
    records: Arc<Mutex<Records>>,
    _task: JoinSet<()>,
}

/// What it answers, and how often it was asked for each name.
#[derive(Debug, Default)]
struct Records {
    addresses: HashMap<String, Ipv4Addr>,
    queries: HashMap<String, u64>,
}

/// More queries than one lookup sends, which asks for addresses of one kind or of both.
const LOOKED_UP: u64 = 4;

/// The length of a header, in bytes (RFC 1035, 4.1.1).
const HEADER: usize = 12;

/// The record type A (IPv4 address).
const A: [u8; 2] = [0, 1];

impl DnsServer {
    /// Starts a server without records.
    pub async fn start() -> DnsServer {
        let socket = UdpSocket::bind("127.0.0.1:0").await.expect("a port for the name server");
        let address = socket.local_addr().expect("its address");
        let records = Arc::new(Mutex::new(Records::default()));
        let mut task = JoinSet::new();
        task.spawn(answer(socket, records.clone()));
        DnsServer { address, records, _task: task }
    }

    /// Sets the address of a name.
    pub fn set(&self, name: &str, at: Ipv4Addr) {
        self.records().addresses.insert(name.to_owned(), at);
    }

    /// Removes a name.
    pub fn remove(&self, name: &str) {
        self.records().addresses.remove(name);
    }

    /// Waits until a name has been looked up with its present record.
    pub async fn looked_up(&self, name: &str) {
        let queries = || self.records().queries.get(name).copied().unwrap_or_default();
        let before = queries();
        wait_until(TIMEOUT, &format!("a lookup of {name}"), async || queries() >= before + LOOKED_UP).await;
    }

    fn records(&self) -> MutexGuard<'_, Records> {
        self.records.lock().expect("no thread panics while it holds the lock")
    }
}

async fn answer(socket: UdpSocket, records: Arc<Mutex<Records>>) {
    let mut query = [0; 512];
    loop {
        let Ok((length, client)) = socket.recv_from(&mut query).await else { continue };
        let reply = reply(&query[..length], |name| {
            let mut records = records.lock().expect("no thread panics while it holds the lock");
            *records.queries.entry(name.to_owned()).or_default() += 1;
            records.addresses.get(name).copied()
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
