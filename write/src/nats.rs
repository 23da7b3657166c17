//! What a NATS server must be like, whoever runs it, and how a process comes to it.

mod login;
mod same_cluster;
mod user;

use async_nats::Client;

use crate::nats_server::OLDEST_VERSION;

pub use login::{Login, LoginError};
pub use same_cluster::DifferentClusters;
pub use user::WrongUser;

/// The smallest message a server must carry, in bytes: every event fits into it.
pub const SMALLEST_MAX_PAYLOAD: usize = 1 << 20;

/// A server that cannot be worked with.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InsufficientServer {
    /// It silently ignores settings that Loggia relies on.
    #[error(
        "the NATS server is version {found}, which ignores settings that keep events safe; use version {} or newer",
        oldest()
    )]
    TooOld {
        /// Its version.
        found: String,
    },
    /// It refuses messages that an event may need.
    #[error(
        "the NATS server takes messages of {found} bytes only; set its max_payload to at least 1MB, better 8MB"
    )]
    SmallMessages {
        /// Its limit.
        found: usize,
    },
}

/// Checks the server that a client is connected to.
pub fn sufficient(client: &Client) -> Result<(), InsufficientServer> {
    let server = client.server_info();
    judge(&server.version, server.max_payload)
}

fn judge(version: &str, max_payload: usize) -> Result<(), InsufficientServer> {
    // What cannot be read as a version is no release, and whoever runs that knows what it is.
    if parsed(version).is_some_and(|version| version < OLDEST_VERSION) {
        return Err(InsufficientServer::TooOld { found: version.to_owned() });
    }
    if max_payload < SMALLEST_MAX_PAYLOAD {
        return Err(InsufficientServer::SmallMessages { found: max_payload });
    }
    Ok(())
}

fn parsed(version: &str) -> Option<(u64, u64, u64)> {
    let numbers = version.split(['-', '+']).next()?;
    let mut parts = numbers.split('.').map(str::parse);
    Some((parts.next()?.ok()?, parts.next()?.ok()?, parts.next()?.ok()?))
}

fn oldest() -> String {
    let (major, minor, patch) = OLDEST_VERSION;
    format!("{major}.{minor}.{patch}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_old_server_is_refused() {
        assert_eq!(judge("2.14.0", 1 << 20), Ok(()));
        assert_eq!(judge("2.15.1-RC.2", 8 << 20), Ok(()));
        assert_eq!(
            judge("2.9.10", 1 << 20).unwrap_err().to_string(),
            "the NATS server is version 2.9.10, which ignores settings that keep events safe; use version 2.14.0 or \
             newer"
        );
    }

    #[test]
    fn a_server_of_small_messages_is_refused() {
        assert_eq!(
            judge("2.15.1", 65_536).unwrap_err().to_string(),
            "the NATS server takes messages of 65536 bytes only; set its max_payload to at least 1MB, better 8MB"
        );
    }
}
