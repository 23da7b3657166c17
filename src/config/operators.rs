//! The listener for operators: metrics and health.

use std::net::SocketAddr;

use super::media::Hosts;
use super::section::{Value, section};
use super::server::ListenAddress;

section! {
    /// The listener for operators.
    Operators {
        listen: Option<SocketAddr> = |value| Ok(value.optional::<ListenAddress>()?.map(|address| address.0)) => "admin_listen"
            "The address on which metrics and health are served to operators." {
                shape: "ADDR:PORT",
                example: "127.0.0.1:9090",
            },
        hosts: Option<Hosts> = Value::optional => "admin_hosts"
            "Host names that admin_listen answers to, separated by commas, besides localhost and plain addresses." {
                shape: "HOST,…",
                example: "node-1.example.org",
            },
    }
}
