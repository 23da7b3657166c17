//! The files of a NATS cluster: a configuration and a certificate for each server, and a key for each user.
//!
//! Keys and the certificate authority are kept when the files are written again; certificates of servers are renewed.

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
pub use server::{InvalidServer, Server};
use users::Users;

use crate::user::User;

/// The file with the certificates that clients trust.
pub const AUTHORITY: &str = "ca.pem";

/// The folder with the users' seeds.
pub const USERS: &str = "users";

/// A server's configuration, in its folder.
pub const CONFIGURATION: &str = "nats.conf";

/// A server's certificate and its key, in its folder.
const CERTIFICATE: &str = "server.pem";

/// The configuration of a cluster.
#[derive(Debug, Clone)]
pub struct ClusterConfig {
    /// The name of the cluster.
    pub cluster: String,
    /// Its servers; a single one is configured without a cluster.
    pub servers: Vec<Server>,
    /// The users that may log in.
    pub users: Vec<User>,
    /// The operator's own certificate for all servers; unset: an authority is created, and a certificate for each.
    pub certificate: Option<GivenCertificate>,
    /// The time from which certificates are valid.
    pub now: Timestamp,
}

/// The operator's own certificate, as files in PEM.
#[derive(Debug, Clone)]
pub struct GivenCertificate {
    /// The certificate, with intermediate ones.
    pub certificate: PathBuf,
    /// Its key.
    pub key: PathBuf,
    /// The authority's certificate.
    pub authority: PathBuf,
}

/// A file, and whether writing changed it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct WrittenFile {
    /// Its path in the folder.
    pub path: PathBuf,
    /// The change.
    pub change: Change,
    /// Whether it contains a key or a seed.
    pub secret: bool,
}

/// The change of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Change {
    /// It did not exist.
    New,
    /// Its text changed.
    Changed,
    /// Its text is the same.
    Kept,
}

/// The files could not be written; none was.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// The name of the cluster is invalid.
    #[error("--cluster is “{0}”; use at most 63 letters, digits, - and _")]
    ClusterName(String),
    /// Two servers have the same name, or the same address.
    #[error("--server: {0} is given twice")]
    Twice(String),
    /// An existing key cannot be parsed.
    #[error("{} {reason}; it is not overwritten: mend it, or move it away to have a new one made", path.display())]
    Key {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// The authority's certificate exists without its key.
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
    /// A certificate cannot be created.
    #[error("a certificate cannot be made: {0}")]
    Certificate(#[from] rcgen::Error),
    /// A key cannot be created.
    #[error("a user's key cannot be made: {0}")]
    User(String),
    /// A file or folder cannot be read or written.
    #[error("{} cannot be used: {source}; check its owner and that the disk has room", path.display())]
    Folder {
        /// The file or folder.
        path: PathBuf,
        /// The error of the system.
        source: std::io::Error,
    },
}

/// Writes the files into a folder, all or none, and returns the change of each.
///
/// # Errors
///
/// Fails if the configuration is invalid, an existing key cannot be parsed, or the folder cannot be written.
pub fn write(folder: &Path, config: &ClusterConfig) -> Result<Vec<WrittenFile>, ConfigError> {
    validate(config)?;
    let users = Users::of(folder, &config.users)?;
    let mut files = users.files();
    let authority = Authority::of(folder, config)?;
    files.extend(authority.files());
    for server in &config.servers {
        let folder_of_server = Path::new(&server.name);
        files.push(File::public(folder_of_server.join(AUTHORITY), authority.certificate()));
        files.push(File::secret(
            folder_of_server.join(CERTIFICATE),
            authority.certificate_of(server, config.now)?,
        ));
        let text = configuration::text(config, server, &users);
        files.push(File::public(folder_of_server.join(CONFIGURATION), text));
    }
    files::write(folder, &files)
}

fn validate(config: &ClusterConfig) -> Result<(), ConfigError> {
    if !server::is_name(&config.cluster) {
        return Err(ConfigError::ClusterName(config.cluster.clone()));
    }
    for (index, server) in config.servers.iter().enumerate() {
        for other in &config.servers[..index] {
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
