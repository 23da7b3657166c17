//! Replaces the refusals of hyper. A head that hyper cannot parse is refused with a bare status; such a refusal is recognised among the
//! outgoing bytes and replaced by a reply with problem details.

use std::fmt;
use std::sync::Arc;

use answers::error::ApiError;
use http::StatusCode;
use jiff::Timestamp;
use jiff::fmt::rfc2822::DateTimePrinter;

use crate::http::pipeline::Pipeline;

/// Longer than hyper's refusals and shorter than the head of any other reply, in bytes.
const LONGEST: usize = 256;

/// Writes the replies that replace refusals.
#[derive(Clone)]
pub(super) struct Refusals {
    pipeline: Arc<Pipeline>,
}

impl Refusals {
    pub(super) fn new(pipeline: Arc<Pipeline>) -> Refusals {
        Refusals { pipeline }
    }

    /// Returns the bytes of the reply for a status.
    pub(super) fn write(&self, status: StatusCode) -> Vec<u8> {
        let fault = match status {
            StatusCode::URI_TOO_LONG => ApiError::address_too_long(),
            StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE => ApiError::head_too_large(),
            StatusCode::TOO_MANY_REQUESTS => ApiError::too_many_connections(),
            _ => ApiError::malformed_request(),
        };
        let response = self.pipeline.refuse(fault);
        let status = response.status();
        let mut bytes = Vec::with_capacity(2048);
        let reason = status.canonical_reason().unwrap_or_default();
        bytes.extend_from_slice(format!("HTTP/1.1 {} {reason}\r\n", status.as_str()).as_bytes());
        for (name, value) in response.headers() {
            bytes.extend_from_slice(name.as_str().as_bytes());
            bytes.extend_from_slice(b": ");
            bytes.extend_from_slice(value.as_bytes());
            bytes.extend_from_slice(b"\r\n");
        }
        #[expect(clippy::disallowed_methods, reason = "the date header says when the refusal was sent")]
        let date = DateTimePrinter::new().timestamp_to_rfc9110_string(&Timestamp::now()).unwrap_or_default();
        let length = response.body().len();
        bytes.extend_from_slice(format!("date: {date}\r\ncontent-length: {length}\r\n\r\n").as_bytes());
        bytes.extend_from_slice(response.body());
        bytes
    }
}

impl fmt::Debug for Refusals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Refusals")
    }
}

/// Returns where hyper's refusal begins in outgoing bytes, if they end with one, and its status.
pub(super) fn find(outgoing: &[u8]) -> Option<(usize, StatusCode)> {
    // Replies with a body do not end like this, so most bytes are not examined.
    if !outgoing.ends_with(b"\r\n\r\n") {
        return None;
    }
    let start = outgoing.len().saturating_sub(LONGEST);
    let tail = &outgoing[start..];
    let at = tail.windows(10).rposition(|window| window == b"HTTP/1.1 4" || window == b"HTTP/1.0 4")?;
    let head = &tail[at..];
    // All other replies have a request id.
    if head.windows(12).any(|window| window == b"x-request-id") {
        return None;
    }
    let status = StatusCode::from_bytes(head.get(9..12)?).ok()?;
    Some((start + at, status))
}

#[cfg(test)]
mod tests {
    use super::*;

    const REFUSED: &str = "HTTP/1.1 431 Request Header Fields Too Large\r\nconnection: close\r\ncontent-length: 0\r\n\
                           date: Sat, 21 Nov 2026 02:00:00 GMT\r\n\r\n";

    #[test]
    fn a_refusal_is_found_only_at_the_end() {
        let status = StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE;
        assert_eq!(find(REFUSED.as_bytes()), Some((0, status)));
        let behind = format!("HTTP/1.1 200 OK\r\nx-request-id: 1\r\n\r\n{{}}{REFUSED}");
        assert_eq!(find(behind.as_bytes()), Some((behind.len() - REFUSED.len(), status)));
        for other in [
            format!("{REFUSED}{{}}"),
            "HTTP/1.1 404 Not Found\r\nx-request-id: 1\r\n\r\n".to_owned(),
            "HTTP/1.1 100 Continue\r\n\r\n".to_owned(),
            "HTTP/1.1 204 No Content\r\n\r\n".to_owned(),
            "\r\n\r\n".to_owned(),
            String::new(),
        ] {
            assert_eq!(find(other.as_bytes()), None, "{other:?}");
        }
    }
}
