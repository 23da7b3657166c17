//! The NATS servers that a process connects to, or starts.

use std::path::PathBuf;
use std::str::FromStr;

use settings::{Value, section};

section! {
    /// The NATS servers and the login to them.
    Nats {
        url: Option<String> = Value::optional => "nats_url"
            "The NATS server, or the servers of one cluster separated by commas; unset: a private one is started." {
                shape: "URL",
                example: "nats://10.0.0.5:4222",
                secret: true,
            },
        credentials: Option<PathBuf> = Value::optional => "nats_creds"
            "The file with the login for the NATS server: a user's seed (users/ROLE.nk), or a token with its key." {
                shape: "FILE",
                example: "/etc/loggia/write.nk",
            },
        ca: Option<PathBuf> = Value::optional => "nats_ca"
            "The file with the certificate authorities of the NATS servers; unset: the system's." {
                shape: "FILE",
                example: "/etc/loggia/ca.pem",
            },
        replicas: Replicas = Value::required => "nats_replicas"
            "The number of servers of a NATS cluster that keep each stream: 1, 3 or 5." {
                shape: "1|3|5",
                example: "3",
                default: Some("1"),
            },
        server: Option<PathBuf> = Value::optional => "nats_server"
            "The nats-server program; unset: the one beside loggia, in ../lib/loggia from there, in a checkout or on PATH." {
                shape: "FILE",
                example: "/usr/local/bin/nats-server",
            },
    }
}

/// The number of servers of a NATS cluster that keep each stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Replicas(pub usize);

impl FromStr for Replicas {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        // An even number tolerates no more failures than the odd one below it.
        match text.trim().parse() {
            Ok(replicas @ (1 | 3 | 5)) => Ok(Replicas(replicas)),
            _ => Err("expected 1, 3 or 5"),
        }
    }
}
