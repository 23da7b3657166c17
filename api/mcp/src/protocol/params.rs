//! The parameters of a request: the members that the methods use, parsed once.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;
use traces::Traceparent;

use crate::protocol::message::Text;
use crate::protocol::rpc_error::RpcError;

/// The members of `params`, each as unparsed text.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct Params<'a> {
    #[serde(borrow, default, rename = "_meta")]
    meta: Option<&'a RawValue>,
    #[serde(borrow, default)]
    name: Option<&'a RawValue>,
    #[serde(borrow, default)]
    uri: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(crate) arguments: Option<&'a RawValue>,
    #[serde(borrow, default)]
    cursor: Option<&'a RawValue>,
    #[serde(borrow, default, rename = "protocolVersion")]
    protocol_version: Option<&'a RawValue>,
}

/// What 2026-07-28 states in every request instead of once.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct Meta<'a> {
    #[serde(borrow, default, rename = "io.modelcontextprotocol/protocolVersion")]
    protocol_version: Option<&'a RawValue>,
    #[serde(borrow, default, rename = "io.modelcontextprotocol/clientCapabilities")]
    client_capabilities: Option<&'a RawValue>,
}

impl<'a> Params<'a> {
    /// Parses the members. Absent and null are the same as none.
    pub(crate) fn read(params: Option<&'a RawValue>) -> Result<Params<'a>, RpcError> {
        let Some(params) = params.filter(|params| params.get() != "null") else {
            return Ok(Params::default());
        };
        if !params.get().starts_with('{') {
            return Err(RpcError::invalid_params("The member params is not an object."));
        }
        serde_json::from_str(params.get())
            .map_err(|error| RpcError::invalid_params(format!("The member params cannot be read: {error}.")))
    }

    /// Returns the `_meta` of the request; empty if there is none.
    pub(crate) fn meta(&self) -> Result<Meta<'a>, RpcError> {
        let Some(meta) = self.meta else { return Ok(Meta::default()) };
        if !meta.get().starts_with('{') {
            return Err(RpcError::invalid_params("The member params._meta is not an object."));
        }
        serde_json::from_str(meta.get()).map_err(|error| {
            RpcError::invalid_params(format!("The member params._meta cannot be read: {error}."))
        })
    }

    /// Returns the trace context of the caller, if `_meta` has one.
    pub(crate) fn traceparent(&self) -> Option<Traceparent> {
        #[derive(Deserialize)]
        struct Traced<'a> {
            #[serde(borrow, default)]
            traceparent: Option<&'a RawValue>,
        }
        let meta = self.meta.filter(|meta| meta.get().contains(traces::HEADER))?;
        let Traced { traceparent } = serde_json::from_str(meta.get()).ok()?;
        text(traceparent)?.parse().ok()
    }

    pub(crate) fn name(&self) -> Option<Cow<'a, str>> {
        text(self.name)
    }

    pub(crate) fn uri(&self) -> Option<Cow<'a, str>> {
        text(self.uri)
    }

    pub(crate) fn protocol_version(&self) -> Option<Cow<'a, str>> {
        text(self.protocol_version)
    }

    /// Refuses a cursor, since all lists have one page; an empty one is accepted.
    pub(crate) fn first_page_only(&self) -> Result<(), RpcError> {
        match self.cursor.map(RawValue::get) {
            None | Some("\"\"") => Ok(()),
            Some(_) => Err(RpcError::invalid_params(
                "The cursor was not given out here: the list has one page. Leave cursor out.",
            )),
        }
    }
}

impl<'a> Meta<'a> {
    pub(crate) fn protocol_version(&self) -> Option<Cow<'a, str>> {
        text(self.protocol_version)
    }

    pub(crate) fn declares_capabilities(&self) -> bool {
        self.client_capabilities.is_some_and(|capabilities| capabilities.get().starts_with('{'))
    }
}

/// Returns the value, if it is a string.
fn text(value: Option<&RawValue>) -> Option<Cow<'_, str>> {
    let Text(text) = serde_json::from_str(value?.get()).ok()?;
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trace_context_is_read_from_the_meta() {
        let good = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
        for (meta, expected) in [
            (format!(r#"{{"traceparent": "{good}", "progressToken": 1}}"#), good.parse().ok()),
            (r#"{"traceparent": "00-4bf9"}"#.to_owned(), None),
            (r#"{"traceparent": 7}"#.to_owned(), None),
            (r#"{"progressToken": "traceparent"}"#.to_owned(), None),
            ("[]".to_owned(), None),
        ] {
            let text = format!(r#"{{"name": "browse", "_meta": {meta}}}"#);
            let raw: &RawValue = serde_json::from_str(&text).unwrap();
            assert_eq!(Params::read(Some(raw)).unwrap().traceparent(), expected, "{meta}");
        }
    }
}
