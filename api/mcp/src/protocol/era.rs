//! The protocol revision of a request. Both eras are supported at one address: until 2025-11-25 a client may begin with `initialize`,
//! which never starts a session; from 2026-07-28 on every request states its revision and capabilities.

use std::borrow::Cow;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use http::{HeaderMap, HeaderName};

use crate::protocol::message::Message;
use crate::protocol::params::Params;
use crate::protocol::rpc_error::{RpcError, quoted};

/// The revision in which every request is self-contained.
pub(crate) const MODERN: &str = "2026-07-28";
/// The newest revision with `initialize`.
pub(crate) const NEWEST_LEGACY: &str = "2025-11-25";
/// The revision that is assumed if none is stated, and the only one with batches.
const OLDEST: &str = "2025-03-26";
/// The supported revisions of the protocol, the newest first.
pub const SUPPORTED: [&str; 4] = [MODERN, NEWEST_LEGACY, "2025-06-18", OLDEST];

static VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");
static METHOD: HeaderName = HeaderName::from_static("mcp-method");
static NAME: HeaderName = HeaderName::from_static("mcp-name");

/// The era of a request's revision.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Era {
    /// 2025-03-26 to 2025-11-25.
    Legacy,
    /// 2026-07-28.
    Modern,
}

impl Era {
    /// Returns the era of a request, by its headers and its `_meta`, which must agree.
    pub(crate) fn of(
        headers: &HeaderMap,
        message: &Message<'_>,
        params: &Params<'_>,
    ) -> Result<Era, RpcError> {
        let stated = header(headers, &VERSION)?;
        let meta = params.meta()?;
        match (stated, meta.protocol_version().as_deref()) {
            (None, None) => Ok(Era::Legacy),
            (Some(MODERN), None) => Err(RpcError::invalid_params(
                "params._meta lacks io.modelcontextprotocol/protocolVersion, which every request of 2026-07-28 has.",
            )),
            (None, Some(_)) => Err(RpcError::header_mismatch(
                "The header MCP-Protocol-Version is missing; params._meta names a protocol revision.",
            )),
            (Some(header), Some(body)) if header != body => Err(RpcError::header_mismatch(format!(
                "The header MCP-Protocol-Version says {}, params._meta says {}.",
                quoted(header),
                quoted(body)
            ))),
            (Some(MODERN), Some(_)) => {
                if !meta.declares_capabilities() {
                    return Err(RpcError::invalid_params(
                        "params._meta lacks the object io.modelcontextprotocol/clientCapabilities, which may be {}.",
                    ));
                }
                mirrored(headers, message, params).map(|()| Era::Modern)
            }
            (Some(version), _) if SUPPORTED.contains(&version) => Ok(Era::Legacy),
            (Some(version), _) => Err(RpcError::unsupported_version(version, &SUPPORTED)),
        }
    }
}

/// Returns whether a body may be a batch.
pub(crate) fn takes_batches(headers: &HeaderMap) -> bool {
    matches!(header(headers, &VERSION), Ok(None | Some(OLDEST)))
}

/// Returns whether the headers claim the modern era, whatever the body says.
pub(crate) fn claims_modern(headers: &HeaderMap) -> bool {
    header(headers, &VERSION) == Ok(Some(MODERN))
}

/// Checks the headers that repeat parts of the body, so that proxies need not parse it.
fn mirrored(headers: &HeaderMap, message: &Message<'_>, params: &Params<'_>) -> Result<(), RpcError> {
    if message.is_notification() {
        return Ok(());
    }
    same(headers, &METHOD, "Mcp-Method", &message.method, "the method")?;
    let (named, member) = match &*message.method {
        "tools/call" | "prompts/get" => (params.name(), "params.name"),
        "resources/read" => (params.uri(), "params.uri"),
        _ => return Ok(()),
    };
    // If the body has no name, the method reports that.
    named.map_or(Ok(()), |named| same(headers, &NAME, "Mcp-Name", &named, member))
}

fn same(
    headers: &HeaderMap,
    name: &HeaderName,
    shown: &str,
    body: &str,
    member: &str,
) -> Result<(), RpcError> {
    let Some(value) = header(headers, name)? else {
        return Err(RpcError::header_mismatch(format!(
            "The header {shown} is missing; it repeats {member}."
        )));
    };
    let decoded = decoded(value).ok_or_else(|| {
        RpcError::header_mismatch(format!("The header {shown} is not valid Base64 of UTF-8."))
    })?;
    if decoded == body {
        return Ok(());
    }
    Err(RpcError::header_mismatch(format!(
        "The header {shown} says {}, {member} is {}.",
        quoted(&decoded),
        quoted(body)
    )))
}

/// Returns the text of a header, which may be encoded as `=?base64?…?=`.
fn decoded(value: &str) -> Option<Cow<'_, str>> {
    let Some(wrapped) = value.strip_prefix("=?base64?").and_then(|rest| rest.strip_suffix("?=")) else {
        return Some(Cow::Borrowed(value));
    };
    String::from_utf8(STANDARD.decode(wrapped).ok()?).ok().map(Cow::Owned)
}

fn header<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Result<Option<&'a str>, RpcError> {
    let Some(value) = headers.get(name) else { return Ok(None) };
    match value.to_str() {
        Ok(text) => Ok(Some(text.trim())),
        Err(_) => Err(RpcError::header_mismatch(format!("The header {name} is not ASCII text."))),
    }
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;
    use crate::protocol::message::Body;

    fn era(headers: &[(&'static str, &str)], body: &str) -> Result<Era, String> {
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.insert(*name, HeaderValue::from_str(value).unwrap());
        }
        let Ok(Body::One(Ok(message))) = Body::read(body.as_bytes()) else { panic!("{body}") };
        let params = Params::read(message.params).map_err(|error| error.code.to_string())?;
        Era::of(&map, &message, &params).map_err(|error| format!("{} {}", error.code, error.message))
    }

    fn body(meta: &str) -> String {
        format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"browse","_meta":{meta}}}}}"#
        )
    }

    const MODERN_META: &str = r#"{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}"#;
    const VERSION: (&str, &str) = ("mcp-protocol-version", "2026-07-28");
    const METHOD: (&str, &str) = ("mcp-method", "tools/call");

    #[test]
    fn header_and_body_determine_the_era() {
        assert_eq!(era(&[], &body("{}")), Ok(Era::Legacy));
        for version in ["2025-03-26", "2025-06-18", "2025-11-25"] {
            assert_eq!(
                era(&[("mcp-protocol-version", version), ("mcp-method", "odd")], &body("{}")),
                Ok(Era::Legacy)
            );
        }
        let name = ("mcp-name", "browse");
        assert_eq!(era(&[VERSION, METHOD, name], &body(MODERN_META)), Ok(Era::Modern));
        let wrapped = ("mcp-name", "=?base64?YnJvd3Nl?=");
        assert_eq!(era(&[VERSION, METHOD, wrapped], &body(MODERN_META)), Ok(Era::Modern));
    }

    #[test]
    fn contradictions_are_refused() {
        let rejection = |headers: &[(&'static str, &str)], meta: &str| era(headers, &body(meta)).unwrap_err();
        assert_eq!(
            rejection(&[], MODERN_META),
            "-32020 The header MCP-Protocol-Version is missing; params._meta names a protocol revision."
        );
        assert_eq!(
            rejection(&[("mcp-protocol-version", "2025-11-25")], MODERN_META),
            "-32020 The header MCP-Protocol-Version says “2025-11-25”, params._meta says “2026-07-28”."
        );
        assert!(
            rejection(&[VERSION], "{}")
                .starts_with("-32602 params._meta lacks io.modelcontextprotocol/protocolVersion")
        );
        let half = r#"{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}"#;
        assert!(rejection(&[VERSION, METHOD], half).starts_with("-32602 params._meta lacks the object"));
        assert_eq!(
            rejection(&[VERSION], MODERN_META),
            "-32020 The header Mcp-Method is missing; it repeats the method."
        );
        assert_eq!(
            rejection(&[VERSION, METHOD], MODERN_META),
            "-32020 The header Mcp-Name is missing; it repeats params.name."
        );
        for (value, detail) in [
            ("Browse", "The header Mcp-Name says “Browse”, params.name is “browse”."),
            ("=?base64?!?=", "The header Mcp-Name is not valid Base64 of UTF-8."),
        ] {
            assert_eq!(
                rejection(&[VERSION, METHOD, ("mcp-name", value)], MODERN_META),
                format!("-32020 {detail}")
            );
        }
        assert!(rejection(&[("mcp-protocol-version", "1999-01-01")], "{}").starts_with("-32022 "));
        assert!(rejection(&[], "3").starts_with("-32602 "));
    }
}
