//! What is answered to a message that comes with a key that is not valid.

use answers::site::Site;
use schemas::api::problem::Problem;
use serde::Serialize;

use crate::protocol::message::{Body, Invalid, Message};
use crate::protocol::rpc_error::RpcError;

/// An error of JSON-RPC which is a problem too.
#[derive(Serialize)]
struct Refused<'a> {
    jsonrpc: &'static str,
    id: Option<&'a serde_json::value::RawValue>,
    error: RpcError,
    #[serde(flatten)]
    problem: &'a Problem,
}

/// Returns the body of a refusal: the problem details of the status, and with them an error of JSON-RPC that answers the message in
/// `body`, since that is what clients show to their models. A body that was not read, or has no id, gets one without an id.
pub fn invalid_key(site: &Site, problem: &Problem, body: &[u8]) -> Vec<u8> {
    let message = format!(
        "The API key sent with this request is not valid: unknown, incomplete or revoked. Nothing was answered or counted. Tell the user \
         to check all 55 characters of it in the client's settings (Authorization: Bearer log_live_…, or ?key= in the URL), or to take \
         the key out: without one the tools answer with at most 5 results a call. A new key: {site}/keys."
    );
    let id = id(body);
    let id = id.as_deref().and_then(|id| serde_json::from_str(id).ok());
    let refused = Refused { jsonrpc: "2.0", id, error: RpcError::invalid_request(message), problem };
    // Texts and numbers always serialise.
    serde_json::to_vec(&refused).unwrap_or_default()
}

/// Returns the id of a message as it came.
fn id(body: &[u8]) -> Option<String> {
    match Body::read(body).ok()? {
        Body::One(Ok(Message { id, .. })) => id.map(|id| id.get().to_owned()),
        Body::One(Err(Invalid { id, .. })) => id,
        Body::Batch(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_id_is_that_of_the_message() {
        for (body, expected) in [
            (r#"{"jsonrpc":"2.0","id":7,"method":"tools/list"}"#, Some("7")),
            (r#"{"jsonrpc":"2.0","id":"a\"b","method":"x"}"#, Some(r#""a\"b""#)),
            (r#"{"id":12345678901234567890123,"method":"x"}"#, Some("12345678901234567890123")),
            (r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#, None),
            (r#"[{"jsonrpc":"2.0","id":7,"method":"tools/list"}]"#, None),
            ("{", None),
            ("", None),
        ] {
            assert_eq!(id(body.as_bytes()).as_deref(), expected, "{body}");
        }
    }
}
