//! The address and the data of a process.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::str::FromStr;

use super::section::{Value, section};

section! {
    /// Where a process keeps its data, and where its API listens.
    Server {
        data: PathBuf = Value::required => "data"
            "The folder for event store, read models and NATS." {
                shape: "DIR",
                example: "/var/lib/loggia",
                default: Some("./data"),
            },
        listen: SocketAddr = |value| Ok(value.required::<ListenAddress>()?.0) => "listen"
            "The address that the API listens on; port 0 takes any free one." {
                shape: "ADDR:PORT",
                example: "0.0.0.0:8080",
                default: Some("127.0.0.1:8080"),
            },
    }
}

/// Where a listener listens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ListenAddress(pub SocketAddr);

impl FromStr for ListenAddress {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        text.trim().parse().map(ListenAddress).map_err(|_| {
            "an IP address and a port such as 127.0.0.1:8080 are wanted; 0.0.0.0:8080 stands for all addresses of this \
             machine"
        })
    }
}
