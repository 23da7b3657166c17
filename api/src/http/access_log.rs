//! The log line of a request, without its query and without keys.

use std::borrow::Cow;
use std::time::Duration;

use answers::query::unescaped;
use answers::route::Route;
use http::StatusCode;
use memchr::memmem;
use schemas::key::{self, KeyId};

use crate::http::context::RequestContext;

/// The number of characters of a key after its prefix.
const KEY_TAIL: usize = key::KEY_LENGTH - key::PREFIX.len();

/// The target of the access log, which is off unless the filter names it.
const ACCESS: &str = "access";

/// Writes a line of the access log. Failures of the service are also logged for operators.
pub(super) fn answered(context: &RequestContext, status: StatusCode, took: Duration, cause: Option<&str>) {
    let trace_id =
        context.span.traceparent().map(|traceparent| tracing::field::display(traceparent.trace_id()));
    let micros = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
    // A node that is not ready has not failed.
    if status.is_server_error() && context.route != Route::Ready {
        tracing::warn!(
            method = %context.method,
            path = shown(context.uri.path()),
            status = status.as_u16(),
            micros,
            request = %context.id,
            trace_id = trace_id.as_ref(),
            cause,
            "answered with an error"
        );
    }
    tracing::info!(
        target: ACCESS,
        method = %context.method,
        path = shown(context.uri.path()),
        status = status.as_u16(),
        micros,
        request = %context.id,
        trace_id = trace_id.as_ref(),
        key = context.key_id.as_ref().map(KeyId::as_str),
        "answered"
    );
}

/// Returns the path, unless it contains a key or the token of a mailed link, in any encoding.
fn shown(path: &str) -> &str {
    let decoded = decoded(path.as_bytes());
    let has_prefix = memmem::find(&decoded, key::PREFIX.as_bytes()).is_some();
    if has_prefix || decoded.split(|byte| !byte.is_ascii_alphanumeric()).any(may_be_a_key) {
        "(a path with a key in it)"
    } else if decoded.starts_with(b"/claim/") {
        "/claim/{token}"
    } else {
        path
    }
}

/// Returns the path with all escapes decoded, also repeated ones.
fn decoded(path: &[u8]) -> Cow<'_, [u8]> {
    let mut decoded = Cow::Borrowed(path);
    while decoded.contains(&b'%') {
        let next = unescaped(&decoded, b'+');
        if next.len() == decoded.len() {
            break;
        }
        decoded = Cow::Owned(next);
    }
    decoded
}

/// Returns whether a run of letters and digits may be a key without its prefix, by its length. The name of a picture, a SHA-256, is
/// longer and hexadecimal.
fn may_be_a_key(run: &[u8]) -> bool {
    let is_digest = run.len() == 64 && run.iter().all(|byte| byte.is_ascii_hexdigit());
    run.len() >= KEY_TAIL && !is_digest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_or_token_in_the_path_is_not_shown() {
        let tail = "Oz8X4kPq0aB1cD2eF3gH4iJ5kL6mN7oP8qR9sT0uV1whHX";
        assert_eq!(tail.len(), KEY_TAIL);
        let digest = "ab".repeat(32);
        for path in ["/v1/project/stair-house", "/a%20b%", &format!("/media/{digest}/640.webp")] {
            assert_eq!(shown(path), path);
        }
        let hidden = "(a path with a key in it)";
        for path in [
            "/v1/project/log_live_Ab3dEf9h",
            "/v1/project/log%5flive%5fAb3dEf9h",
            "/%6cog_live_Ab3dEf9h",
            "/%256cog_live_Ab3dEf9h",
            &format!("/v1/project/{tail}"),
            &format!("/v1/project/log-live-%4f{}", &tail[1..]),
        ] {
            assert_eq!(shown(path), hidden, "{path}");
        }
        for path in ["/claim/Ab3dEf9h", "/%63laim/Ab3dEf9h", "/claim%2fAb3dEf9h"] {
            assert_eq!(shown(path), "/claim/{token}", "{path}");
        }
    }
}
