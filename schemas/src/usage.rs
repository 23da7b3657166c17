//! Metered calls: what the API reports of each, and how they are sent over NATS.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::cloudevents::{MESSAGE_ID, NotAnEvent};
use crate::ids::InvalidId;
use crate::key::KeyId;
use crate::month::Month;
use crate::subject;
use crate::tier::TierName;

/// The CloudEvents type of a metered call.
pub const CALL_METERED: &str = "loggia.usage.call_metered.v1";

/// The permanent id of a metered call: a UUIDv7, also used as the NATS message id.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct CallId(pub Uuid);

/// The interface that a call used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Surface {
    /// The REST interface.
    Rest,
    /// A tool of the MCP server.
    Mcp,
}

/// A metered call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Call {
    /// The call's id.
    pub id: CallId,
    /// The key that made the call.
    pub key_id: KeyId,
    /// The tier whose quota it counts against.
    pub tier: TierName,
    /// The month whose quota it counts against: the month of `time` on the node that answered.
    pub month: Month,
    /// When it was answered.
    pub time: Timestamp,
    /// The interface.
    pub surface: Surface,
    /// The endpoint or tool, for example `search` or `get_project`: 1 to 40 lowercase letters, digits and underscores.
    pub operation: String,
}

/// The body of a call's message; the other fields are in its subject and headers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CallMetered {
    /// The interface.
    pub surface: Surface,
    /// The endpoint or tool.
    pub operation: String,
}

/// The counted calls of a key in a tier and month.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counted {
    /// The number of calls that count against the quota.
    pub used: u64,
    /// The sequence of the last of them in the JetStream stream that meters the tier; 0 without any.
    pub through: u64,
}

impl Surface {
    /// Returns the name that is stored and shown.
    pub fn as_str(self) -> &'static str {
        match self {
            Surface::Rest => "rest",
            Surface::Mcp => "mcp",
        }
    }
}

impl Call {
    /// Returns the CloudEvents headers under which the call is published (binary mode).
    pub fn headers(&self) -> [(&'static str, String); 6] {
        [
            (MESSAGE_ID, self.id.0.to_string()),
            ("ce-specversion", "1.0".to_owned()),
            ("ce-id", self.id.0.to_string()),
            ("ce-source", "urn:loggia:api".to_owned()),
            ("ce-type", CALL_METERED.to_owned()),
            ("ce-time", self.time.to_string()),
        ]
    }

    /// Returns the JSON body under which the call is published.
    pub fn body(&self) -> Vec<u8> {
        let body = CallMetered { surface: self.surface, operation: self.operation.clone() };
        // Serialising plain data does not fail.
        serde_json::to_vec(&body).unwrap_or_default()
    }

    /// Returns where it is metered: all calls under one subject share one allowance.
    pub fn subject(&self) -> String {
        subject::usage(&self.tier, self.key_id, self.month)
    }

    /// Returns where it is kept if it turned out to be over the quota after it had been answered.
    pub fn overrun_subject(&self) -> String {
        subject::overrun(&self.tier, self.key_id, self.month)
    }

    /// Reads a call from its message.
    ///
    /// # Errors
    ///
    /// Returns an error if a header is missing or invalid, the body is not JSON, or the subject is not one of
    /// [`Call::subject`] and [`Call::overrun_subject`].
    pub fn parse<'h>(
        subject: &str,
        header: impl Fn(&'static str) -> Option<&'h str>,
        body: &[u8],
    ) -> Result<Call, NotAnEvent> {
        let invalid = |header, reason: String| NotAnEvent::Header { header, reason };
        let text = |name| header(name).ok_or(invalid(name, "it is absent".into()));
        let kind = text("ce-type")?;
        if kind != CALL_METERED {
            return Err(invalid("ce-type", format!("“{kind}” is not a metered call")));
        }
        let (tier, key_id, month) =
            subject::usage_of(subject).map_err(|error| invalid("subject", error.to_string()))?;
        let id = Uuid::parse_str(text("ce-id")?).map_err(|error| invalid("ce-id", error.to_string()))?;
        let time =
            text("ce-time")?.parse().map_err(|error: jiff::Error| invalid("ce-time", error.to_string()))?;
        let CallMetered { surface, operation } = serde_json::from_slice(body).map_err(NotAnEvent::Body)?;
        if operation.is_empty() || operation.len() > 40 || !operation.bytes().all(is_word) {
            return Err(invalid(
                "operation",
                "it is not 1 to 40 small letters, digits and underscores".into(),
            ));
        }
        Ok(Call { id: CallId(id), key_id, tier, month, time, surface, operation })
    }
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_'
}

impl std::str::FromStr for Surface {
    type Err = InvalidId;

    fn from_str(text: &str) -> Result<Self, InvalidId> {
        match text {
            "rest" => Ok(Surface::Rest),
            "mcp" => Ok(Surface::Mcp),
            _ => Err(InvalidId { text: text.to_owned(), expected: "a surface: rest or mcp" }),
        }
    }
}

impl std::fmt::Display for CallId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Call {
        Call {
            id: CallId(Uuid::from_u128(7)),
            key_id: "Ab3dEf9h".parse().unwrap(),
            tier: "free".parse().unwrap(),
            month: "2026-11".parse().unwrap(),
            time: "2026-11-20T08:30:00.123456Z".parse().unwrap(),
            surface: Surface::Rest,
            operation: "search".into(),
        }
    }

    #[test]
    fn a_call_round_trips_through_its_message() {
        let call = sample();
        let headers = call.headers();
        let find = |name: &'static str| headers.iter().find(|(n, _)| *n == name).map(|(_, v)| v.as_str());
        for subject in [call.subject(), call.overrun_subject()] {
            assert_eq!(Call::parse(&subject, find, &call.body()).unwrap(), call);
        }
        assert_eq!(call.body(), br#"{"surface":"rest","operation":"search"}"#);
    }

    #[test]
    fn invalid_messages_are_rejected_with_a_reason() {
        let call = sample();
        let headers = call.headers();
        let find = |name: &'static str| headers.iter().find(|(n, _)| *n == name).map(|(_, v)| v.as_str());
        let refused = |subject: &str, body: &[u8]| Call::parse(subject, find, body).unwrap_err().to_string();
        assert!(refused("loggia.usage.free.short.2026-11", &call.body()).contains("subject"));
        assert!(refused(&call.subject(), b"{}").starts_with("the message's body is not JSON"));
        let loud = br#"{"surface":"rest","operation":"a b"}"#;
        assert!(refused(&call.subject(), loud).contains("operation"));
        let absent = Call::parse(&call.subject(), |_| None, &call.body()).unwrap_err();
        assert_eq!(absent.to_string(), "the message has no readable header ce-type: it is absent");
    }
}
