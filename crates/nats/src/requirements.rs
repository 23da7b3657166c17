//! The requirements on a NATS server: version and message size.

use async_nats::Client;

use crate::version::{MIN_VERSION, Version};

/// The least `max_payload` of a server, in bytes: every event fits into it.
pub const MIN_MAX_PAYLOAD: usize = 1 << 20;

/// A server that does not meet the requirements.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InsufficientServer {
    /// It is too old: it silently ignores settings that keep messages safe.
    #[error(
        "the NATS server is version {found}, which ignores settings that keep events safe; use version {} or newer",
        MIN_VERSION
    )]
    TooOld {
        /// Its version.
        found: String,
    },
    /// It refuses messages of the size that an event may have.
    #[error(
        "the NATS server takes messages of {found} bytes only; set its max_payload to at least 1MB, better 8MB"
    )]
    SmallMessages {
        /// Its limit in bytes.
        found: usize,
    },
}

/// Checks the server that a client is connected to.
///
/// # Errors
///
/// Fails if the server is too old or limits messages too much.
pub fn check(client: &Client) -> Result<(), InsufficientServer> {
    let server = client.server_info();
    check_info(&server.version, server.max_payload)
}

fn check_info(version: &str, max_payload: usize) -> Result<(), InsufficientServer> {
    // A version that cannot be parsed is not a release, but a deliberate choice of the operator.
    if Version::parse(version).is_some_and(|version| version < MIN_VERSION) {
        return Err(InsufficientServer::TooOld { found: version.to_owned() });
    }
    if max_payload < MIN_MAX_PAYLOAD {
        return Err(InsufficientServer::SmallMessages { found: max_payload });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_old_server_is_refused() {
        assert_eq!(check_info("2.14.0", 1 << 20), Ok(()));
        assert_eq!(check_info("2.15.1-RC.2", 8 << 20), Ok(()));
        assert_eq!(
            check_info("2.9.10", 1 << 20).unwrap_err().to_string(),
            "the NATS server is version 2.9.10, which ignores settings that keep events safe; use version 2.14.0 or \
             newer"
        );
    }

    #[test]
    fn a_server_with_a_low_message_limit_is_refused() {
        assert_eq!(
            check_info("2.15.1", 65_536).unwrap_err().to_string(),
            "the NATS server takes messages of 65536 bytes only; set its max_payload to at least 1MB, better 8MB"
        );
    }
}
