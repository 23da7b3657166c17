//! AsyncAPI 3.0: what travels over NATS.

use serde_json::{Map, Value, json};

use super::events;
use crate::subject;

pub(super) fn document() -> Value {
    let mut messages = Map::new();
    let mut components = Map::new();
    for (kind, schema) in events::schemas() {
        messages.insert(kind.into(), json!({"$ref": format!("#/components/messages/{kind}")}));
        components.insert(
            kind.into(),
            json!({
                "name": kind,
                "contentType": "application/json",
                "headers": {"$ref": "#/components/schemas/attributes"},
                "payload": {"schemaFormat": "application/schema+json;version=draft-2020-12", "schema": schema},
            }),
        );
    }
    let refs: Vec<Value> =
        messages.keys().map(|kind| json!({"$ref": format!("#/channels/curation/messages/{kind}")})).collect();
    json!({
        "asyncapi": "3.0.0",
        "info": {
            "title": "Loggia events",
            "version": env!("CARGO_PKG_VERSION"),
            "description": "Curation events as CloudEvents 1.0 in binary mode. The sequence of a message in the stream \
                EVENTS is its position in the event store's log.",
        },
        "defaultContentType": "application/json",
        "channels": {"curation": {
            "address": "loggia.curation.{project}",
            "description": format!("Kept in the JetStream stream {}.", subject::EVENTS),
            "parameters": {"project": {"description": "The project's id, a ULID."}},
            "messages": messages,
        }},
        "operations": {
            "relay": {"action": "send", "channel": {"$ref": "#/channels/curation"}, "messages": refs.clone(),
                "summary": "The write side publishes each committed event, in order, once."},
            "project": {"action": "receive", "channel": {"$ref": "#/channels/curation"}, "messages": refs,
                "summary": "The projection workers apply them."},
        },
        "components": {"messages": components, "schemas": {"attributes": attributes()}},
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
            "ce-subject": text("The project's id."),
            "ce-time": text("When the command was decided, RFC 3339."),
            "ce-stream": text("The event's stream."),
            "ce-streamversion": text("Its place in the stream, from 1."),
            "ce-position": text("Its place in the log, from 1 without holes."),
            "ce-actor": text("Who acted."),
            "ce-causationid": text("The command that caused it."),
            "ce-correlationid": text("The undertaking it belongs to."),
            "ce-hash": text("SHA-256 over this event and the hash before it."),
        },
    })
}
