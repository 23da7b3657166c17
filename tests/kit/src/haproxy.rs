//! A real HAProxy with the configuration in deploy/, in front of nodes that it resolves by DNS.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::UnixStream;

use crate::dns::DnsServer;
use crate::environment::absent;
use crate::free_port;

/// The path where `bin/setup --test` installs it.
const INSTALLED: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../.tools/deploy/bin/haproxy");

/// The configuration under test.
const CONFIGURATION: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../deploy/haproxy.cfg");

/// A HAProxy process; dropping it stops it.
#[derive(Debug)]
pub struct Haproxy {
    child: Child,
    /// The address on which it listens.
    pub address: SocketAddr,
    /// The port on which nodes must listen.
    pub node_port: u16,
    folder: TempDir,
}

/// The state of a server in HAProxy's statistics.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerState {
    /// `UP`, `DOWN`, `MAINT (resolution)`, or a transition such as `UP 1/2`.
    pub status: String,
    /// The number of requests sent to it.
    pub requests: u64,
}

/// Returns the installed HAProxy. In continuous integration (`CI` is set) its absence is a failure, elsewhere the test
/// is skipped with a message.
pub fn available() -> Option<PathBuf> {
    let installed = Path::new(INSTALLED);
    if installed.exists() {
        return Some(installed.to_owned());
    }
    absent("haproxy is not in .tools/deploy: run bin/setup --test");
    None
}

impl Haproxy {
    /// Starts it for nodes with names of this name server; `None` as for [`available`]. All nodes listen on one port.
    pub async fn start(names: &DnsServer) -> Option<Haproxy> {
        let binary = available()?;
        let folder = tempfile::tempdir().expect("a temporary folder");
        let (port, node_port) = (free_port(), free_port());
        let mut text = std::fs::read_to_string(CONFIGURATION).expect("the configuration of deploy/");
        // Names are looked up and nodes checked more often than in production, so that a test waits less.
        let resolving =
            format!("nameserver test {}\n    timeout resolve 200ms\n    hold valid 200ms", names.address);
        let listen = format!("bind 127.0.0.1:{port}");
        // A node of a busy machine may take longer to answer than one of a production machine.
        let patient = "timeout connect 60s\n    timeout check 60s".to_owned();
        for (theirs, ours, times) in [
            ("timeout connect 2s", patient, 1),
            ("parse-resolv-conf", resolving, 1),
            ("check inter 1s", "check inter 200ms".to_owned(), 1),
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

    /// Returns the states of all servers by name; empty if the statistics are not available yet.
    pub async fn servers(&self) -> BTreeMap<String, ServerState> {
        self.statistics().await.map(|statistics| servers(&statistics)).unwrap_or_default()
    }

    /// Returns the number of servers that receive requests.
    pub async fn up(&self) -> usize {
        self.servers().await.values().filter(|server| server.status.starts_with("UP")).count()
    }

    async fn statistics(&self) -> std::io::Result<String> {
        let mut socket = UnixStream::connect(self.folder.path().join("stats")).await?;
        socket.write_all(b"show stat\n").await?;
        let mut statistics = String::new();
        socket.read_to_string(&mut statistics).await?;
        Ok(statistics)
    }
}

impl Drop for Haproxy {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Parses the CSV statistics: a line of column names after `# `, then a line for each server, frontend and backend.
fn servers(statistics: &str) -> BTreeMap<String, ServerState> {
    let mut lines =
        statistics.lines().filter(|line| !line.is_empty()).map(|line| line.split(',').collect::<Vec<_>>());
    let names = lines.next().unwrap_or_default();
    let column = |name: &str| names.iter().position(|found| *found == name).expect("a column of the table");
    let (name, status, requests) = (column("svname"), column("status"), column("stot"));
    let of_servers = lines.filter(|line| !["FRONTEND", "BACKEND"].contains(&line[name]));
    of_servers
        .map(|line| {
            let requests = line[requests].parse().expect("a number of requests");
            (line[name].to_owned(), ServerState { status: line[status].to_owned(), requests })
        })
        .collect()
}
