//! The MCP endpoint: JSON-RPC over POST, without sessions, in both eras of the protocol at one address. The request pipeline of the
//! API passes it the body of each request to `/mcp`. A thin layer of our own (ADR 15): it accepts what real clients send, a bare
//! `tools/call` included, and answers every error in words.
//!
//! A call is counted exactly if it is answered, and a call that fails leaves the others of its batch alone.
//!
//! The path of a message: `protocol` parses it and determines its revision, `methods` dispatches it, `call` admits, runs, charges
//! and answers a call of one of the `tools`, and `discovery` describes server and tools. A tool is one file in `tools` and an entry
//! in its registry. `refused` answers a message whose key is not valid.

mod call;
mod discovery;
mod methods;
mod protocol;
mod refused;
mod tools;

use std::net::IpAddr;

use answers::accept::{self, Wish};
use answers::auth::principal::Principal;
use answers::deadline::Deadline;
use answers::error::ApiError;
use answers::state::ApiState;
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use serde_json::value::RawValue;

use crate::protocol::era::Era;
use crate::protocol::message::{Body, Invalid, Message};
use crate::protocol::params::Params;
use crate::protocol::rpc_error::RpcError;
use call::CallReceipt;
use tools::CallContext;

use crate::protocol::era;
pub use crate::protocol::era::SUPPORTED as REVISIONS;
pub use refused::invalid_key as refuse_invalid_key;
pub use tools::described as described_tools;

/// The maximum size of a body in bytes.
pub const LARGEST_BODY: usize = 256 << 10;

static X_ACCEL_BUFFERING: HeaderName = HeaderName::from_static("x-accel-buffering");

/// The HTTP reply to a message.
#[derive(Debug)]
pub struct McpReply {
    /// The status.
    pub status: StatusCode,
    /// The type of the body; `None` if it is empty.
    pub content_type: Option<HeaderValue>,
    /// Further headers.
    pub headers: HeaderMap,
    /// The JSON, or the one event of a stream.
    pub body: Vec<u8>,
}

impl McpReply {
    fn json(status: StatusCode, body: Vec<u8>) -> McpReply {
        let content_type = Some(HeaderValue::from_static("application/json"));
        McpReply { status, content_type, headers: HeaderMap::new(), body }
    }

    /// Returns the message as the one event of a stream.
    fn into_event(self) -> McpReply {
        let mut body = Vec::with_capacity(self.body.len() + 32);
        body.extend_from_slice(b"event: message\ndata: ");
        body.extend_from_slice(&self.body);
        body.extend_from_slice(b"\n\n");
        let mut headers = self.headers;
        headers.insert(&X_ACCEL_BUFFERING, HeaderValue::from_static("no"));
        let content_type = Some(HeaderValue::from_static("text/event-stream"));
        McpReply { status: self.status, content_type, headers, body }
    }
}

/// Answers the body of a request. `address` is where it comes from; after `deadline` no further call of a batch is run.
///
/// # Errors
///
/// If too many messages came within a second. A single call of a tool says so in its result instead.
pub async fn answer(
    state: &ApiState,
    (principal, address): (&Principal, IpAddr),
    headers: &HeaderMap,
    body: &[u8],
    deadline: Deadline,
) -> Result<McpReply, ApiError> {
    let body = Body::read(body);
    let wait =
        principal.check_rate_limit(state.access(), address, body.as_ref().map_or(1, Body::messages)).err();
    if let Some(wait) = wait
        && !body.as_ref().is_ok_and(Body::is_call)
    {
        return Err(ApiError::too_many_requests(wait));
    }
    let context = CallContext { state, principal, address, deadline, wait };
    let sent = match body {
        Ok(Body::One(Ok(message))) => one(context, headers, &message).await,
        Ok(Body::One(Err(Invalid { id, error }))) => Some(failed(id.as_deref(), &error)),
        Ok(Body::Batch(_)) if !era::takes_batches(headers) => Some(failed(
            None,
            &RpcError::invalid_request("Batches belong to 2025-03-26. Send one request as an object."),
        )),
        Ok(Body::Batch(messages)) => batch(context, &messages).await,
        Err(error) => Some(failed(None, &error)),
    };
    Ok(match sent {
        None => McpReply {
            status: StatusCode::ACCEPTED,
            content_type: None,
            headers: HeaderMap::new(),
            body: Vec::new(),
        },
        Some(sent) if sent.status == StatusCode::OK && wants_events(headers) => sent.into_event(),
        Some(sent) => sent,
    })
}

/// Answers a message; a notification gets no answer, whatever it is.
async fn one(context: CallContext<'_>, headers: &HeaderMap, message: &Message<'_>) -> Option<McpReply> {
    let id = message.id?.get();
    let params = match Params::read(message.params) {
        Ok(params) => params,
        Err(error) if era::claims_modern(headers) => return Some(failed(Some(id), &error)),
        Err(error) => return Some(failed(Some(id), &error.with_status(StatusCode::OK))),
    };
    let era = match Era::of(headers, message, &params) {
        Ok(era) => era,
        Err(error) => return Some(failed(Some(id), &error)),
    };
    let mut body = begun(id);
    Some(match methods::answer(context, era, message, &params, &mut body).await {
        Ok(receipt) => {
            end(context, era, receipt.as_ref(), &mut body);
            McpReply::json(StatusCode::OK, body)
        }
        // Until 2025-11-25 the HTTP status was about the transport only, not about the request.
        Err(error) if era == Era::Legacy && error.is_request_failure() => {
            failed(Some(id), &error.with_status(StatusCode::OK))
        }
        Err(error) => failed(Some(id), &error),
    })
}

/// Answers several messages, one after the other, in one array.
async fn batch(context: CallContext<'_>, messages: &[&RawValue]) -> Option<McpReply> {
    let mut body = Vec::new();
    for raw in messages {
        let sent = match Message::read(raw.get()) {
            Ok(message) if message.method == "initialize" => Some(failed(
                message.id.map(RawValue::get),
                &RpcError::invalid_request("The method initialize must not be part of a batch."),
            )),
            Ok(message) => one(context, &HeaderMap::new(), &message).await,
            Err(Invalid { id, error }) => Some(failed(id.as_deref(), &error)),
        };
        if let Some(sent) = sent {
            body.push(if body.is_empty() { b'[' } else { b',' });
            body.extend_from_slice(&sent.body);
        }
    }
    if body.is_empty() {
        return None;
    }
    body.push(b']');
    Some(McpReply::json(StatusCode::OK, body))
}

/// Writes what comes before the members of a result.
fn begun(id: &str) -> Vec<u8> {
    let mut body = Vec::with_capacity(1_024);
    body.extend_from_slice(br#"{"jsonrpc":"2.0","id":"#);
    body.extend_from_slice(id.as_bytes());
    body.extend_from_slice(br#","result":{"#);
    body
}

/// Writes what comes after the members of a result: `_meta` and the closing braces.
fn end(context: CallContext<'_>, era: Era, receipt: Option<&CallReceipt>, body: &mut Vec<u8>) {
    let separate = |body: &mut Vec<u8>, text: &[u8]| {
        if body.last() != Some(&b'{') {
            body.push(b',');
        }
        body.extend_from_slice(text);
    };
    if era == Era::Modern {
        separate(body, br#""resultType":"complete""#);
    }
    if era == Era::Modern || receipt.is_some() {
        separate(body, br#""_meta":{"#);
        if let Some(CallReceipt { quota, call_id }) = receipt {
            separate(body, br#""quota":"#);
            // Texts and numbers always serialise.
            let _ = serde_json::to_writer(&mut *body, quota);
            if let Some(id) = call_id {
                separate(body, format!(r#""call_id":"{id}""#).as_bytes());
            }
        }
        if era == Era::Modern {
            separate(body, br#""io.modelcontextprotocol/serverInfo":"#);
            discovery::server_info(context.state.site(), body);
        }
        body.push(b'}');
    }
    body.extend_from_slice(b"}}");
}

/// Returns an error response.
fn failed(id: Option<&str>, error: &RpcError) -> McpReply {
    let mut body = br#"{"jsonrpc":"2.0","id":"#.to_vec();
    body.extend_from_slice(id.unwrap_or("null").as_bytes());
    body.extend_from_slice(br#","error":"#);
    // Texts and numbers always serialise.
    let _ = serde_json::to_writer(&mut body, error);
    body.push(b'}');
    McpReply::json(error.status, body)
}

/// The media type of an event stream.
const EVENTS: &str = "text/event-stream";

/// Returns whether a client accepts nothing but an event stream. What it refuses (`q=0`) it does not accept; one that refuses JSON in this
/// way gets an event stream also if it accepts more.
fn wants_events(headers: &HeaderMap) -> bool {
    let accept = accept::joined(headers);
    let wish = |media_type: &str| Wish::of(&accept, media_type);
    let is_events_or_refused = |range: &str| {
        let range = range.split(';').next().unwrap_or_default().trim();
        range.is_empty() || range.eq_ignore_ascii_case(EVENTS) || !wish(range).is_wanted()
    };
    wish(EVENTS).is_wanted()
        && (wish("application/json").is_refused() || accept.split(',').all(is_events_or_refused))
}

#[cfg(test)]
mod tests {
    use http::header::ACCEPT;

    use super::*;

    #[test]
    fn events_are_for_a_client_that_accepts_nothing_else() {
        for (accept, events) in [
            ("text/event-stream", true),
            ("Text/Event-Stream;q=0.5, ", true),
            ("text/event-stream, application/json", false),
            ("text/event-stream, text/html", false),
            ("text/event-stream, application/json;q=0", true),
            ("text/event-stream, */*;q=0", true),
            ("*/*, application/json;q=0", true),
            ("text/event-stream;q=0", false),
            ("text/event-stream;q=0, application/json", false),
            ("application/json;q=0", false),
            ("*/*", false),
            ("", false),
        ] {
            let headers = HeaderMap::from_iter([(ACCEPT, HeaderValue::from_static(accept))]);
            assert_eq!(wants_events(&headers), events, "{accept}");
        }
        assert!(!wants_events(&HeaderMap::new()));
    }
}
