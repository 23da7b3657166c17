//! Where a process keeps its data, and where it listens.

use std::net::SocketAddr;
use std::path::PathBuf;

use event_log::LogLocation;
use settings::values::{HostNames, ListenAddress};
use settings::{Value, section};

section! {
    /// The data of a process, and the address of its API.
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

section! {
    /// The listener for operators: metrics and health.
    Operators {
        listen: Option<SocketAddr> = |value| Ok(value.optional::<ListenAddress>()?.map(|address| address.0)) => "admin_listen"
            "The address on which metrics and health are served to operators." {
                shape: "ADDR:PORT",
                example: "127.0.0.1:9090",
            },
        hosts: Option<HostNames> = Value::optional => "admin_hosts"
            "Host names that admin_listen answers to, separated by commas, besides localhost and plain addresses." {
                shape: "HOST,…",
                example: "node-1.example.org",
            },
    }
}

section! {
    /// The place of the event store.
    Store {
        place: Option<LogLocation> = Value::optional => "store"
            "The event store: sqlite:DIR, or esdb://USER:PASSWORD@HOST:PORT?tls=true; unset: SQLite in the data folder." {
                shape: "STORE",
                example: "sqlite:/srv/loggia/store",
                secret: true,
            },
    }
}
