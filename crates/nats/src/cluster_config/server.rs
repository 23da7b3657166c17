//! A server of the cluster, as given on the command line.

use std::net::IpAddr;
use std::str::FromStr;

use super::USERS;

/// The default port for the other servers of the cluster.
const CLUSTER_PORT: u16 = 6_222;

/// A server of the cluster.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Server {
    /// Its name, also of its folder.
    pub name: String,
    /// The host at which clients and the other servers reach it: a name or an address.
    pub host: String,
    /// The port for clients.
    pub port: u16,
    /// The port for the other servers.
    pub cluster_port: u16,
}

/// A text cannot be parsed as a server.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}; expected NAME=HOST:PORT or NAME=HOST:PORT:CLUSTERPORT, such as nats-1=10.0.0.5:4222")]
pub struct InvalidServer(String);

impl Server {
    /// Returns the address on which it listens: loopback only if its host is.
    pub(super) fn listens_on(&self) -> &str {
        let is_local =
            self.host == "localhost" || self.address().is_some_and(|address| address.is_loopback());
        if is_local { &self.host } else { "0.0.0.0" }
    }

    /// Returns its URL for clients.
    pub fn url(&self) -> String {
        format!("tls://{}:{}", self.host, self.port)
    }

    fn address(&self) -> Option<IpAddr> {
        self.host.trim_matches(['[', ']']).parse().ok()
    }
}

impl FromStr for Server {
    type Err = InvalidServer;

    fn from_str(text: &str) -> Result<Server, InvalidServer> {
        let wrong = |what: String| InvalidServer(what);
        let (name, place) = text.split_once('=').ok_or_else(|| wrong(format!("“{text}” has no name")))?;
        if !is_name(name) || name == USERS {
            return Err(wrong(format!("“{name}” is not a valid server name")));
        }
        // An IPv6 address contains colons, and is in brackets.
        let (host, ports) = match place.find(']') {
            Some(end) => place.split_at(end + 1),
            None => place.split_at(place.find(':').unwrap_or(place.len())),
        };
        let port = |text: &str| text.parse::<u16>().ok().filter(|port| *port > 0);
        let mut ports = ports.strip_prefix(':').unwrap_or_default().split(':');
        let client = ports.next().and_then(port);
        let client = client.ok_or_else(|| wrong(format!("“{text}” has no port")))?;
        let cluster = match ports.next() {
            None => CLUSTER_PORT,
            Some(text) => port(text).ok_or_else(|| wrong(format!("“{text}” is not a port")))?,
        };
        let server = Server { name: name.into(), host: host.into(), port: client, cluster_port: cluster };
        if ports.next().is_some() || cluster == client || !server.is_reachable() {
            return Err(wrong(format!("“{place}” is not a valid server address")));
        }
        Ok(server)
    }
}

impl Server {
    fn is_reachable(&self) -> bool {
        let plain = |c: char| c.is_ascii_alphanumeric() || "-._".contains(c);
        match self.host.strip_prefix('[') {
            Some(_) => self.address().is_some_and(|address| address.is_ipv6()),
            None => {
                let everywhere = self.address().is_some_and(|address| address.is_unspecified());
                !self.host.is_empty() && self.host.chars().all(plain) && !everywhere
            }
        }
    }
}

/// Returns whether a text is valid as the name of a server, a folder and a cluster.
pub(super) fn is_name(text: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_".contains(c);
    text.starts_with(|c: char| c.is_ascii_alphanumeric()) && text.chars().all(plain) && text.len() <= 63
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_is_parsed() {
        let server = |name: &str, host: &str, port, cluster_port| {
            Ok(Server { name: name.into(), host: host.into(), port, cluster_port })
        };
        assert_eq!("n1=10.0.0.5:4222".parse(), server("n1", "10.0.0.5", 4222, 6222));
        assert_eq!("n1=nats.example.org:1:2".parse(), server("n1", "nats.example.org", 1, 2));
        assert_eq!("n1=[::1]:4222:4223".parse(), server("n1", "[::1]", 4222, 4223));
    }

    #[test]
    fn invalid_servers_are_refused() {
        let refused = |text: &str| text.parse::<Server>().unwrap_err().0;
        assert_eq!(refused("host:4222"), "“host:4222” has no name");
        assert_eq!(refused("users=h:1"), "“users” is not a valid server name");
        assert_eq!(refused("../x=h:1"), "“../x” is not a valid server name");
        assert_eq!(refused("a=h"), "“a=h” has no port");
        assert_eq!(refused("a=h:0"), "“a=h:0” has no port");
        assert_eq!(refused("a=h:1:x"), "“x” is not a port");
        for place in ["h:1:2:3", "h:1:1", ":1", "0.0.0.0:1", "a\"b:1", "[::x]:1"] {
            assert_eq!(refused(&format!("a={place}")), format!("“{place}” is not a valid server address"));
        }
    }

    #[test]
    fn a_local_server_listens_on_loopback_only() {
        let listens = |text: &str| text.parse::<Server>().unwrap().listens_on().to_owned();
        assert_eq!(listens("a=127.0.0.1:1"), "127.0.0.1");
        assert_eq!(listens("a=localhost:1"), "localhost");
        assert_eq!(listens("a=[::1]:1"), "[::1]");
        assert_eq!(listens("a=nats-1:1"), "0.0.0.0");
    }
}
