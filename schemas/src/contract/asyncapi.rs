//! AsyncAPI 3.0: the messages on NATS.

use serde_json::{Map, Value, json};

use crate::subject;
use crate::usage::{CALL_METERED, CallMetered};
use crate::versioned::{schema_of, schemas};

pub(super) fn document() -> Value {
    let mut curation = Channel::new("curation");
    let mut account = Channel::new("account");
    let mut components = Map::new();
    for (kind, schema) in schemas() {
        let channel = if kind.starts_with("loggia.account.") { &mut account } else { &mut curation };
        channel.add(kind);
        components.insert(kind.into(), message(kind, "attributes", schema));
    }
    let mut usage = Channel::new("usage");
    usage.add(CALL_METERED);
    components
        .insert(CALL_METERED.into(), message(CALL_METERED, "callAttributes", schema_of::<CallMetered>()));
    json!({
        "asyncapi": "3.0.0",
        "info": {
            "title": "Loggia events",
            "version": env!("CARGO_PKG_VERSION"),
            "description": "Events of the catalog, of accounts and of usage as CloudEvents 1.0 in binary mode. The \
                sequence of a message in the stream EVENTS is its position in the event store's log.",
        },
        "defaultContentType": "application/json",
        "channels": {
            "curation": {
                "address": "loggia.curation.{project}",
                "description": format!("Kept in the JetStream stream {}.", subject::EVENTS),
                "parameters": {"project": {"description": "The project's id, a ULID."}},
                "messages": curation.messages,
            },
            "account": {
                "address": "loggia.account.{account}",
                "description": format!("Kept in the JetStream stream {}.", subject::EVENTS),
                "parameters": {"account": {"description": "The account's id, a ULID."}},
                "messages": account.messages,
            },
            "usage": {
                "address": "loggia.usage.{tier}.{key}.{month}",
                "description": "Kept in one JetStream stream a tier, which takes as many messages a subject as the \
                    tier's quota and refuses the next.",
                "parameters": {
                    "tier": {"description": "The tier out of whose allowance the call was taken."},
                    "key": {"description": "The key's id, 8 base62 characters."},
                    "month": {"description": "The UTC calendar month, yyyy-mm."},
                },
                "messages": usage.messages,
            },
        },
        "operations": {
            "relay": curation.operation("send", "The write side publishes each committed event, in order, once."),
            "project": curation.operation("receive", "The projection workers apply them."),
            "relayAccounts": account.operation("send", "The write side publishes each committed event, in order, once."),
            "projectAccounts": account.operation("receive", "The projection workers apply them."),
            "meter": usage.operation("send", "The API publishes each call before it answers it."),
            "count": usage.operation("receive", "The ledger keeps them permanently; the projection workers count them."),
        },
        "components": {"messages": components,
            "schemas": {"attributes": attributes(), "callAttributes": call_attributes()}},
    })
}

/// The messages of a channel and the references to them.
struct Channel {
    name: &'static str,
    messages: Map<String, Value>,
}

impl Channel {
    fn new(name: &'static str) -> Channel {
        Channel { name, messages: Map::new() }
    }

    fn add(&mut self, kind: &str) {
        self.messages.insert(kind.into(), json!({"$ref": format!("#/components/messages/{kind}")}));
    }

    fn operation(&self, action: &str, summary: &str) -> Value {
        let channel = format!("#/channels/{}", self.name);
        let messages: Vec<Value> =
            self.messages.keys().map(|kind| json!({"$ref": format!("{channel}/messages/{kind}")})).collect();
        json!({"action": action, "channel": {"$ref": channel}, "messages": messages, "summary": summary})
    }
}

fn message(kind: &str, headers: &str, payload: Value) -> Value {
    json!({
        "name": kind,
        "contentType": "application/json",
        "headers": {"$ref": format!("#/components/schemas/{headers}")},
        "payload": {"schemaFormat": "application/schema+json;version=draft-2020-12", "schema": payload},
    })
}

fn call_attributes() -> Value {
    let text = |about: &str| json!({"type": "string", "description": about});
    json!({
        "type": "object",
        "required": ["ce-specversion", "ce-id", "ce-source", "ce-type", "ce-time"],
        "properties": {
            "ce-specversion": {"const": "1.0"},
            "ce-id": text("UUIDv7 of the call; also the Nats-Msg-Id."),
            "ce-source": text("urn:loggia:api"),
            "ce-type": {"const": CALL_METERED},
            "ce-time": text("When the call was answered, RFC 3339."),
        },
    })
}

fn attributes() -> Value {
    let text = |about: &str| json!({"type": "string", "description": about});
    json!({
        "type": "object",
        "required": ["ce-specversion", "ce-id", "ce-source", "ce-type", "ce-time", "ce-stream", "ce-streamversion",
            "ce-position", "ce-actor", "ce-causationid", "ce-correlationid", "ce-hash"],
        "properties": {
            "ce-specversion": {"const": "1.0"},
            "ce-id": text("UUIDv7 of the event; also the Nats-Msg-Id."),
            "ce-source": text("urn:loggia:store: and the id of the event store."),
            "ce-type": text("Names the event and the version of its shape."),
            "ce-subject": text("The id of the project or account."),
            "ce-time": text("When the command was decided, RFC 3339."),
            "ce-stream": text("The event's stream."),
            "ce-streamversion": text("Its place in the stream, from 1."),
            "ce-position": text("Its place in the log, from 1 without holes."),
            "ce-actor": text("Who acted."),
            "ce-causationid": text("The command that caused it."),
            "ce-correlationid": text("The undertaking it belongs to."),
            "ce-hash": text("SHA-256 over this event and the hash before it."),
            "traceparent": text("The trace of the work that caused it (W3C Trace Context), where there is one."),
        },
    })
}
