//! JSON-RPC errors, for violations of the protocol only. Invalid arguments of a tool are a result of the tool.

use std::borrow::Cow;

use http::StatusCode;
use serde::Serialize;
use serde_json::Value;

/// An error and the HTTP status that goes with it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct RpcError {
    pub(crate) code: i32,
    pub(crate) message: Cow<'static, str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    data: Option<Box<Value>>,
    #[serde(skip)]
    pub(crate) status: StatusCode,
}

const PARSE: i32 = -32_700;
const INVALID_REQUEST: i32 = -32_600;
const METHOD_NOT_FOUND: i32 = -32_601;
const INVALID_PARAMS: i32 = -32_602;
const HEADER_MISMATCH: i32 = -32_020;
const UNSUPPORTED_VERSION: i32 = -32_022;

impl RpcError {
    fn new(code: i32, message: impl Into<Cow<'static, str>>) -> RpcError {
        RpcError { code, message: message.into(), data: None, status: StatusCode::BAD_REQUEST }
    }

    /// The body is not JSON; `reason` continues the sentence.
    pub(crate) fn parse(reason: impl AsRef<str>) -> RpcError {
        RpcError::new(PARSE, format!("The body is not JSON: {}.", reason.as_ref()))
    }

    /// The body is JSON but not a request.
    pub(crate) fn invalid_request(message: impl Into<Cow<'static, str>>) -> RpcError {
        RpcError::new(INVALID_REQUEST, message)
    }

    /// The method does not exist; `known` lists the existing ones.
    pub(crate) fn method_not_found(method: &str, known: &str) -> RpcError {
        let message = format!("There is no method {}. There are {known}.", quoted(method));
        RpcError { status: StatusCode::NOT_FOUND, ..RpcError::new(METHOD_NOT_FOUND, message) }
    }

    /// The parameters are invalid.
    pub(crate) fn invalid_params(message: impl Into<Cow<'static, str>>) -> RpcError {
        RpcError::new(INVALID_PARAMS, message)
    }

    /// A header is missing or contradicts the body.
    pub(crate) fn header_mismatch(message: impl Into<Cow<'static, str>>) -> RpcError {
        RpcError::new(HEADER_MISMATCH, message)
    }

    /// The protocol revision is not supported.
    pub(crate) fn unsupported_version(requested: &str, supported: &[&str]) -> RpcError {
        let message = format!(
            "The protocol revision {} is not supported. Supported are {}.",
            quoted(requested),
            supported.join(", ")
        );
        let data = serde_json::json!({ "supported": supported, "requested": shortened(requested) });
        RpcError { data: Some(Box::new(data)), ..RpcError::new(UNSUPPORTED_VERSION, message) }
    }

    /// Returns the error with another HTTP status.
    pub(crate) fn with_status(self, status: StatusCode) -> RpcError {
        RpcError { status, ..self }
    }

    pub(crate) fn is_parse(&self) -> bool {
        self.code == PARSE
    }

    /// Returns whether the message was a valid request that could not be executed.
    pub(crate) fn is_request_failure(&self) -> bool {
        matches!(self.code, METHOD_NOT_FOUND | INVALID_PARAMS)
    }
}

/// Quotes a text of the caller, shortened to 60 characters.
pub(crate) fn quoted(text: &str) -> String {
    format!("“{}”", shortened(text))
}

fn shortened(text: &str) -> Cow<'_, str> {
    const MAX_CHARS: usize = 60;
    match text.char_indices().nth(MAX_CHARS) {
        Some((end, _)) => Cow::Owned(format!("{}…", &text[..end])),
        None => Cow::Borrowed(text),
    }
}
