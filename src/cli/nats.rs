//! The arguments of `loggia nats`.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use nats::cluster_config::Server;

/// The commands of `loggia nats`.
#[derive(Debug, Subcommand)]
pub enum NatsCommand {
    /// Write configuration files, certificates and users of a NATS cluster. Run again, it keeps the keys and renews the
    /// certificates; docs/cluster.md says which file goes where.
    #[command(
        after_help = "Examples:\n  loggia nats config nats/\n  loggia nats config nats/ --server a=10.0.0.5:4222 \
                      --server b=10.0.0.6:4222 --server c=10.0.0.7:4222"
    )]
    Config(NatsConfigArgs),
}

/// The arguments of `loggia nats config`.
#[derive(Debug, Args)]
pub struct NatsConfigArgs {
    /// The folder to write to.
    pub folder: PathBuf,
    /// A server, with the addresses for clients and for other servers; repeatable. One alone is not a cluster.
    #[arg(
        long = "server",
        value_name = "NAME=HOST:PORT[:CLUSTERPORT]",
        default_values = ["nats-1=nats-1:4222", "nats-2=nats-2:4222", "nats-3=nats-3:4222"]
    )]
    pub servers: Vec<Server>,
    /// The name of the cluster; connected clusters need different names.
    #[arg(long, value_name = "NAME", default_value = "loggia")]
    pub cluster: String,
    /// Your own certificate for all servers, in PEM, instead of generated ones.
    #[arg(long, value_name = "FILE", requires_all = ["tls_key", "tls_ca"])]
    pub tls_cert: Option<PathBuf>,
    /// The key of that certificate.
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    pub tls_key: Option<PathBuf>,
    /// The certificate of the authority that signed it.
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    pub tls_ca: Option<PathBuf>,
}
