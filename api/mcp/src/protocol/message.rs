//! JSON-RPC 2.0 messages, parsed in one pass: the parameters remain unparsed text.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::protocol::rpc_error::RpcError;

/// The maximum nesting depth of a message.
const DEEPEST: usize = 128;

/// The maximum number of messages in a batch.
pub(crate) const LONGEST_BATCH: usize = 32;

/// A parsed body.
#[derive(Debug)]
pub(crate) enum Body<'a> {
    /// One message, or why it is invalid.
    One(Result<Message<'a>, Invalid>),
    /// An array of messages, as 2025-03-26 defines it.
    Batch(Vec<&'a RawValue>),
}

/// A request or notification.
#[derive(Debug)]
pub(crate) struct Message<'a> {
    /// The id that the response repeats; `None` for a notification.
    pub(crate) id: Option<&'a RawValue>,
    pub(crate) method: Cow<'a, str>,
    pub(crate) params: Option<&'a RawValue>,
}

/// An invalid message, with its id if that could be read.
#[derive(Debug)]
pub(crate) struct Invalid {
    pub(crate) id: Option<String>,
    pub(crate) error: RpcError,
}

/// The unparsed members of a message; others are ignored.
#[derive(Deserialize)]
struct Members<'a> {
    #[serde(borrow, default, deserialize_with = "present")]
    jsonrpc: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    id: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    method: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    params: Option<&'a RawValue>,
}

/// Distinguishes null from absent.
fn present<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<&'de RawValue>, D::Error> {
    <&RawValue>::deserialize(deserializer).map(Some)
}

impl<'a> Body<'a> {
    /// Parses a body. An error concerns the whole body.
    pub(crate) fn read(bytes: &'a [u8]) -> Result<Body<'a>, RpcError> {
        let text = std::str::from_utf8(bytes).map_err(|error| RpcError::parse(error.to_string()))?;
        if is_too_deep(bytes) {
            return Err(RpcError::parse(format!("it is nested deeper than {DEEPEST}")));
        }
        match bytes.trim_ascii_start().first() {
            Some(b'[') => {
                let batch: Vec<&RawValue> =
                    serde_json::from_str(text).map_err(|error| RpcError::parse(error.to_string()))?;
                match batch.len() {
                    0 => Err(RpcError::invalid_request("The batch is empty. Send one request as an object.")),
                    1..=LONGEST_BATCH => Ok(Body::Batch(batch)),
                    length => Err(RpcError::invalid_request(format!(
                        "The batch has {length} messages; at most {LONGEST_BATCH} are accepted."
                    ))),
                }
            }
            _ => match Message::read(text) {
                Err(Invalid { id: None, error }) if error.is_parse() => Err(error),
                message => Ok(Body::One(message)),
            },
        }
    }
}

impl Body<'_> {
    /// Returns the number of its messages.
    pub(crate) fn messages(&self) -> u32 {
        match self {
            Body::One(_) => 1,
            Body::Batch(messages) => u32::try_from(messages.len()).unwrap_or(u32::MAX),
        }
    }

    /// Returns whether it is one call of a tool.
    pub(crate) fn is_call(&self) -> bool {
        matches!(self, Body::One(Ok(message)) if message.method == "tools/call" && message.id.is_some())
    }
}

impl<'a> Message<'a> {
    pub(crate) fn read(text: &'a str) -> Result<Message<'a>, Invalid> {
        let members: Members<'a> = serde_json::from_str(text).map_err(|error| {
            // Parsing as a request stops early, so valid JSON is recognised by parsing it completely.
            let error = match serde_json::from_str::<serde::de::IgnoredAny>(text) {
                Ok(_) if !text.trim_ascii_start().starts_with('{') => RpcError::invalid_request(
                    "The body is not a JSON object. Send {\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\"}.",
                ),
                Ok(_) => RpcError::invalid_request(format!("The request cannot be read: {error}.")),
                Err(error) => RpcError::parse(error.to_string()),
            };
            Invalid { id: None, error }
        })?;
        members.check()
    }

    /// Whether the sender expects an answer.
    pub(crate) fn is_notification(&self) -> bool {
        self.id.is_none()
    }
}

impl<'a> Members<'a> {
    fn check(self) -> Result<Message<'a>, Invalid> {
        let legal_id = self.id.filter(|id| is_legal_id(id.get()));
        let invalid = |text: &str| {
            let id = legal_id.map(|id| id.get().to_owned());
            Err(Invalid { id, error: RpcError::invalid_request(text.to_owned()) })
        };
        if self.id.is_some() && legal_id.is_none() {
            return invalid(
                "The member id is neither a string nor a number. Leave it out for a notification.",
            );
        }
        if self.jsonrpc.map(RawValue::get) != Some("\"2.0\"") {
            return invalid("The member jsonrpc is not \"2.0\".");
        }
        let Some(method) = self.method else {
            return invalid(
                "The member method is missing. This server asks nothing, so it takes no responses.",
            );
        };
        let Ok(Text(method)) = serde_json::from_str(method.get()) else {
            return invalid("The member method is not a string.");
        };
        Ok(Message { id: self.id, method, params: self.params })
    }
}

/// A string that is borrowed where it holds no escapes.
#[derive(Deserialize)]
pub(crate) struct Text<'a>(#[serde(borrow)] pub(crate) Cow<'a, str>);

/// Whether a JSON value is a string or a number that clients can read. JSON-RPC knows any number; it is repeated as it came.
fn is_legal_id(text: &str) -> bool {
    match text.as_bytes() {
        [b'"', ..] => serde_json::from_str::<Text<'_>>(text).is_ok(),
        _ => serde_json::from_str::<f64>(text).is_ok(),
    }
}

/// Returns whether a text is nested deeper than 128 levels; checked first, since a JSON parser may be recursive.
fn is_too_deep(bytes: &[u8]) -> bool {
    let (mut depth, mut in_string, mut escaped) = (0usize, false, false);
    for &byte in bytes {
        if in_string {
            match byte {
                _ if escaped => escaped = false,
                b'\\' => escaped = true,
                b'"' => in_string = false,
                _ => {}
            }
            continue;
        }
        match byte {
            b'"' => in_string = true,
            b'[' | b'{' => {
                depth += 1;
                if depth > DEEPEST {
                    return true;
                }
            }
            b']' | b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<(Option<&str>, String), String> {
        match Body::read(text.as_bytes()) {
            Ok(Body::One(Ok(message))) => Ok((message.id.map(RawValue::get), message.method.into_owned())),
            Ok(Body::One(Err(invalid))) => Err(format!("{:?} {}", invalid.id, invalid.error.code)),
            Ok(Body::Batch(batch)) => Err(format!("{} messages", batch.len())),
            Err(error) => Err(format!("{} {}", error.code, error.message)),
        }
    }

    #[test]
    fn messages_are_parsed() {
        assert_eq!(read(r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#), Ok((Some("1"), "ping".into())));
        assert_eq!(
            read(r#" {"id":"a\"b","method":"p\u0069ng","jsonrpc":"2.0","more":[1]}"#),
            Ok((Some(r#""a\"b""#), "ping".into()))
        );
        assert_eq!(read(r#"{"jsonrpc":"2.0","method":"x"}"#), Ok((None, "x".into())));
        assert_eq!(read(r#"{"jsonrpc":"2.0","id":-7,"method":"x"}"#), Ok((Some("-7"), "x".into())));
        for id in ["1.0", "1.5", "1e3", "-0", "123456789012345678901234567890"] {
            let text = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"x"}}"#);
            assert_eq!(read(&text), Ok((Some(id), "x".into())), "any number is repeated as it came");
        }
    }

    #[test]
    fn an_invalid_request_is_reported_with_its_id() {
        for (text, expected) in [
            (r#"{"hello":1}"#, "None -32600"),
            (r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#, "None -32600"),
            (r#"{"jsonrpc":"2.0","id":true,"method":"ping"}"#, "None -32600"),
            (r#"{"jsonrpc":"2.0","id":[1],"method":"ping"}"#, "None -32600"),
            (r#"{"jsonrpc":"2.0","id":1e999,"method":"ping"}"#, "None -32600"),
            (r#"{"jsonrpc":"2.0","id":"\ud800","method":"ping"}"#, "None -32600"),
            (r#"{"id":1,"method":"ping"}"#, "Some(\"1\") -32600"),
            (r#"{"jsonrpc":2.0,"id":1,"method":"ping"}"#, "Some(\"1\") -32600"),
            (r#"{"jsonrpc":"2.0","id":7,"method":3}"#, "Some(\"7\") -32600"),
            (r#"{"jsonrpc":"2.0","id":1,"result":{}}"#, "Some(\"1\") -32600"),
            (r#"{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}"#, "None -32600"),
            ("3", "None -32600"),
            ("null", "None -32600"),
            ("[]", "-32600 The batch is empty. Send one request as an object."),
            ("[1,2]", "2 messages"),
        ] {
            assert_eq!(read(text), Err(expected.to_owned()), "{text}");
        }
        let long = format!("[{}1]", "1,".repeat(LONGEST_BATCH));
        assert_eq!(read(&long), Err("-32600 The batch has 33 messages; at most 32 are accepted.".into()));
    }

    #[test]
    fn invalid_json_is_reported() {
        for text in ["", "  ", "{", "{\"a\":", "[1,", "{} {}", "{\"a\":\"\u{1}\"}", "nul", "\u{feff}{}"] {
            assert!(read(text).unwrap_err().starts_with("-32700 "), "{text}: {:?}", read(text));
        }
        assert!(
            matches!(Body::read(b"{\"jsonrpc\":\"2.0\",\"method\":\"\xff\"}"), Err(error) if error.is_parse())
        );
        let deep = "[".repeat(2_000);
        assert!(read(&deep).unwrap_err().contains("nested deeper"), "{:?}", read(&deep));
        let inside = format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"ping","params":{}1{}}}"#,
            "[".repeat(126),
            "]".repeat(126)
        );
        assert!(read(&inside).is_ok());
        let brackets_in_text = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"\"{}"}}"#, "[".repeat(500));
        assert!(read(&brackets_in_text).is_ok());
    }
}
