//! A real HAProxy with the configuration that deploy/ has, before nodes that it finds by their names.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::UnixStream;

use crate::free_port;
use crate::names::Names;
use crate::skip::absent;

/// Where `bin/setup --test` puts it.
const BROUGHT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../.tools/deploy/bin/haproxy");

/// The configuration under test.
const CONFIGURATION: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../deploy/haproxy.cfg");

/// A process of it; it ends with its handle.
#[derive(Debug)]
pub struct Haproxy {
    child: Child,
    address: SocketAddr,
    node_port: u16,
    folder: TempDir,
}

/// How a server stands, as HAProxy tells it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Standing {
    /// `UP`, `DOWN`, `MAINT (resolution)`, or one of those on the way to another.
    pub status: String,
    /// How many requests were given to it.
    pub requests: u64,
}

/// The HAProxy that was brought; in continuous integration (`CI` is set) its absence is a failure, elsewhere it is told
/// loudly.
pub fn available() -> Option<PathBuf> {
    let brought = Path::new(BROUGHT);
    if brought.exists() {
        return Some(brought.to_owned());
    }
    absent("haproxy is not in .tools/deploy: run bin/setup --test");
    None
}

impl Haproxy {
    /// Starts it before nodes whose names these know; `None` as for [`available`]. All nodes take calls on one port.
    pub async fn before(names: &Names) -> Option<Haproxy> {
        let binary = available()?;
        let folder = tempfile::tempdir().expect("a temporary folder");
        let (port, node_port) = (free_port(), free_port());
        let mut text = std::fs::read_to_string(CONFIGURATION).expect("the configuration of deploy/");
        let nameserver = format!("nameserver test {}", names.address());
        let listen = format!("bind 127.0.0.1:{port}");
        for (theirs, ours, times) in [
            ("parse-resolv-conf", nameserver, 1),
            ("bind :8080", listen, 1),
            (":8080", format!(":{node_port}"), 3),
        ] {
            assert_eq!(text.matches(theirs).count(), times, "{theirs} in {CONFIGURATION}");
            text = text.replace(theirs, &ours);
        }
        text += &format!("\nglobal\n    stats socket {}\n", folder.path().join("stats").display());
        let configuration = folder.path().join("haproxy.cfg");
        std::fs::write(&configuration, text).expect("a file for the configuration");
        let mut command = Command::new(binary);
        command.arg("-db").arg("-f").arg(configuration).stdin(Stdio::null());
        command.stdout(Stdio::null()).stderr(Stdio::null());
        let child = command.spawn().expect("haproxy can be started");
        Some(Haproxy { child, address: ([127, 0, 0, 1], port).into(), node_port, folder })
    }

    /// Where it takes calls.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Where nodes must take theirs.
    pub fn node_port(&self) -> u16 {
        self.node_port
    }

    /// How all servers stand, by their names; none while it cannot be asked.
    pub async fn standings(&self) -> BTreeMap<String, Standing> {
        self.told().await.map(|told| standings(&told)).unwrap_or_default()
    }

    /// How many servers are given calls.
    pub async fn up(&self) -> usize {
        self.standings().await.values().filter(|server| server.status.starts_with("UP")).count()
    }

    async fn told(&self) -> std::io::Result<String> {
        let mut socket = UnixStream::connect(self.folder.path().join("stats")).await?;
        socket.write_all(b"show stat\n").await?;
        let mut told = String::new();
        socket.read_to_string(&mut told).await?;
        Ok(told)
    }
}

impl Drop for Haproxy {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Reads its table: a line of names behind `# `, and a line for each server, frontend and backend.
fn standings(told: &str) -> BTreeMap<String, Standing> {
    let mut lines =
        told.lines().filter(|line| !line.is_empty()).map(|line| line.split(',').collect::<Vec<_>>());
    let names = lines.next().unwrap_or_default();
    let column = |name: &str| names.iter().position(|found| *found == name).expect("a column of the table");
    let (name, status, requests) = (column("svname"), column("status"), column("stot"));
    let of_servers = lines.filter(|line| !["FRONTEND", "BACKEND"].contains(&line[name]));
    of_servers
        .map(|line| {
            let requests = line[requests].parse().expect("a number of requests");
            (line[name].to_owned(), Standing { status: line[status].to_owned(), requests })
        })
        .collect()
}
