//! The files that a NATS cluster of one's own needs: a configuration and a certificate for each server, and for each
//! role a user with a key. What was made once is kept: made again, the files differ where the servers do, and the
//! certificates are new.

mod authority;
mod configuration;
mod files;
mod server;
mod users;

use std::path::{Path, PathBuf};

use jiff::Timestamp;
use serde::Serialize;

use authority::Authority;
use files::File;
pub use server::{NotAServer, Server};
use users::Users;

/// The file with the certificates that clients believe.
pub const AUTHORITY: &str = "ca.pem";

/// The folder with the users' seeds.
pub const USERS: &str = "users";

/// A server's configuration, in its folder.
pub const CONFIGURATION: &str = "nats.conf";

/// A server's certificate and its key, in its folder.
const CERTIFICATE: &str = "server.pem";

/// What is wanted.
#[derive(Debug, Clone)]
pub struct Wanted {
    /// The name of the cluster.
    pub cluster: String,
    /// Its servers; one alone is no cluster.
    pub servers: Vec<Server>,
    /// The operator's own certificate for all servers; unset: an authority is made, and a certificate for each.
    pub certificate: Option<GivenCertificate>,
    /// The time, from which certificates are good.
    pub now: Timestamp,
}

/// Files of the operator's own, in PEM.
#[derive(Debug, Clone)]
pub struct GivenCertificate {
    /// The certificate, and those between it and the authority's.
    pub certificate: PathBuf,
    /// Its key.
    pub key: PathBuf,
    /// The authority's certificate.
    pub authority: PathBuf,
}

/// A file of the set.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Made {
    /// Where it is, below the folder.
    pub path: PathBuf,
    /// What became of it.
    pub change: Change,
    /// Whether it must be kept from others.
    pub secret: bool,
}

/// What became of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Change {
    /// It was not there.
    New,
    /// It is another than before.
    Changed,
    /// It is as it was.
    Kept,
}

/// Why the files were not made; then nothing was changed.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// The name of the cluster is none.
    #[error("--cluster is “{0}”; letters, digits, - and _ are wanted, at most 63")]
    ClusterName(String),
    /// Two servers are called the same, or are at one place.
    #[error("--server: {0} is given twice")]
    Twice(String),
    /// A key is there that cannot be read.
    #[error("{} {reason}; it is not overwritten: mend it, or move it away to have a new one made", path.display())]
    Key {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// The authority's certificate is there without its key.
    #[error(
        "{} is there without ca.key, so no certificate can be made that it is the authority of; give --tls-cert, \
         --tls-key and --tls-ca again, or move it away to have a new authority made, which every role must be given",
        path.display()
    )]
    NoAuthorityKey {
        /// The authority's certificate.
        path: PathBuf,
    },
    /// The operator's own certificate cannot be used.
    #[error("{option}: {} {reason}", path.display())]
    Given {
        /// The flag.
        option: &'static str,
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// A certificate cannot be made.
    #[error("a certificate cannot be made: {0}")]
    Certificate(#[from] rcgen::Error),
    /// A key cannot be made.
    #[error("a user's key cannot be made: {0}")]
    User(String),
    /// A file or folder cannot be read or written.
    #[error("{} cannot be used: {source}; check its owner and that the disk has room", path.display())]
    Folder {
        /// The file or folder.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
}

/// Makes the files in a folder, all or none, and gives what became of each.
pub fn make(folder: &Path, wanted: &Wanted) -> Result<Vec<Made>, ConfigError> {
    checked(wanted)?;
    let users = Users::of(folder)?;
    let mut files = users.files();
    let authority = Authority::of(folder, wanted)?;
    files.extend(authority.files());
    for server in &wanted.servers {
        let place = Path::new(&server.name);
        files.push(File::public(place.join(AUTHORITY), authority.certificate()));
        files.push(File::secret(place.join(CERTIFICATE), authority.certificate_of(server, wanted.now)?));
        let text = configuration::text(wanted, server, &users);
        files.push(File::public(place.join(CONFIGURATION), text));
    }
    files::write(folder, &files)
}

fn checked(wanted: &Wanted) -> Result<(), ConfigError> {
    if !server::is_name(&wanted.cluster) {
        return Err(ConfigError::ClusterName(wanted.cluster.clone()));
    }
    for (index, server) in wanted.servers.iter().enumerate() {
        for other in &wanted.servers[..index] {
            if server.name == other.name {
                return Err(ConfigError::Twice(server.name.clone()));
            }
            let ports = |server: &Server| [server.port, server.cluster_port];
            if server.host == other.host && ports(server).iter().any(|port| ports(other).contains(port)) {
                return Err(ConfigError::Twice(format!("a port of {}", server.host)));
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
