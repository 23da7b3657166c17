//! What the log says of a request: never its query, never a key.

use std::time::Duration;

use http::StatusCode;
use schemas::key;

use super::Asked;

/// One line a request. Only what is the service's own fault is worth an
/// operator's attention.
pub(super) fn answered(asked: &Asked, status: StatusCode, took: Duration, cause: Option<&str>) {
    let micros = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
    if status.is_server_error() {
        tracing::warn!(
            method = %asked.method,
            path = shown(asked.uri.path()),
            status = status.as_u16(),
            micros,
            request = %asked.id,
            cause,
            "answered with an error"
        );
    } else {
        tracing::debug!(
            method = %asked.method,
            path = shown(asked.uri.path()),
            status = status.as_u16(),
            micros,
            request = %asked.id,
            "answered"
        );
    }
}

/// The path, unless there is a key in it, or the token of a link that was mailed.
fn shown(path: &str) -> &str {
    if path.contains(key::PREFIX) {
        "(a path with a key in it)"
    } else if path.starts_with("/claim/") {
        "/claim/{token}"
    } else {
        path
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_or_token_in_the_path_is_not_shown() {
        assert_eq!(shown("/v1/project/stair-house"), "/v1/project/stair-house");
        assert_eq!(shown("/v1/project/log_live_Ab3dEf9h"), "(a path with a key in it)");
        assert_eq!(shown("/claim/Ab3dEf9h"), "/claim/{token}");
    }
}
