//! What a NATS server must be able to do, whoever runs it.

use async_nats::Client;

use crate::version::{OLDEST, Version};

/// The smallest maximum message size that a server must have, in bytes: every event fits into it.
pub const SMALLEST_MAX_PAYLOAD: usize = 1 << 20;

/// A server that does not meet the requirements.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InsufficientServer {
    /// It silently ignores settings that Loggia relies on.
    #[error(
        "the NATS server is version {found}, which ignores settings that keep events safe; use version {} or newer",
        OLDEST
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
///
/// # Errors
///
/// If it is too old, or its messages are too small.
pub fn check(client: &Client) -> Result<(), InsufficientServer> {
    let server = client.server_info();
    judge(&server.version, server.max_payload)
}

fn judge(version: &str, max_payload: usize) -> Result<(), InsufficientServer> {
    // A version that cannot be parsed is not a release; whoever runs one knows what it is.
    if Version::parse(version).is_some_and(|version| version < OLDEST) {
        return Err(InsufficientServer::TooOld { found: version.to_owned() });
    }
    if max_payload < SMALLEST_MAX_PAYLOAD {
        return Err(InsufficientServer::SmallMessages { found: max_payload });
    }
    Ok(())
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
