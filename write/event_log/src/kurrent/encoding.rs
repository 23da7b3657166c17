//! Encodes events for the remote log: id, type and payload as they are, everything else as metadata.

use bytes::Bytes;
use eventstore::{EventData, RecordedEvent};
use jiff::Timestamp;
use schemas::envelope::Recorded;
use schemas::hash::Hash;
use schemas::ids::{Actor, CommandId, EventId, Position, StoreId, StreamId, StreamVersion};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use traceparent::Traceparent;
use uuid::Uuid;

use crate::StoreError;
use crate::sqlite::backend::{ClaimedName, Entry, ReplicatedEvent};

/// The version of the encoding; a log with a higher number is from a newer version.
const FORMAT: u32 = 1;

/// The type of the event with the store id.
const FOUNDED: &str = "loggia.store.founded.v1";

#[derive(Serialize, Deserialize)]
struct Metadata {
    stream: StreamId,
    version: StreamVersion,
    position: Position,
    time: Timestamp,
    actor: Actor,
    causation: CommandId,
    correlation: CommandId,
    hash: Hash,
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "traceparent::deserialize_lenient"
    )]
    traceparent: Option<Traceparent>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    claims: Vec<ClaimedName>,
}

/// The type of an event that names the vault of the keeper from then on.
const NAMED: &str = "loggia.store.vault_named.v1";

#[derive(Serialize, Deserialize)]
struct Named {
    vault: Uuid,
}

#[derive(Serialize, Deserialize)]
struct Founded {
    store: String,
    format: u32,
}

pub(super) fn encode(entry: &Entry<'_>) -> Result<EventData, StoreError> {
    let Entry { link, hash, traceparent, claims } = entry;
    let claimed = |(namespace, name): &(&str, &str)| ClaimedName {
        namespace: (*namespace).to_owned(),
        name: (*name).to_owned(),
    };
    let metadata = Metadata {
        stream: link.stream.clone(),
        version: link.version,
        position: link.position,
        time: link.time,
        actor: link.actor.clone(),
        causation: link.causation,
        correlation: link.correlation,
        hash: *hash,
        traceparent: *traceparent,
        claims: claims.iter().map(claimed).collect(),
    };
    let unwritable = |error: serde_json::Error| StoreError::unavailable(error.to_string());
    let payload: &RawValue = serde_json::from_str(link.data).map_err(unwritable)?;
    let data = EventData::json(link.kind, &payload).map_err(unwritable)?;
    data.id(link.id.0).metadata_as_json(&metadata).map_err(unwritable)
}

pub(super) fn decode(event: &RecordedEvent) -> Result<ReplicatedEvent, StoreError> {
    let position = Position(event.revision + 1);
    let damaged = |what: &str| StoreError::corrupt(format!("{what} (position {position})"));
    let metadata: Metadata = serde_json::from_slice(&event.custom_metadata)
        .map_err(|_| damaged("the event has no metadata of Loggia: another program wrote to the log"))?;
    if metadata.position != position {
        return Err(damaged(&format!("the event has position {}", metadata.position)));
    }
    Ok(ReplicatedEvent {
        event: Recorded {
            position,
            id: EventId(event.id),
            stream: metadata.stream,
            version: metadata.version,
            kind: event.event_type.clone(),
            time: metadata.time,
            actor: metadata.actor,
            causation: metadata.causation,
            correlation: metadata.correlation,
            hash: metadata.hash,
            traceparent: metadata.traceparent,
            data: payload(&event.data)
                .ok_or_else(|| damaged("the event has a payload that is not plain JSON"))?,
        },
        claims: metadata.claims,
    })
}

/// Returns the maximum size of an event in an append, in bytes.
pub(super) fn bytes(one: &ReplicatedEvent) -> usize {
    let text = |text: &str| serde_json::to_string(text).map_or(usize::MAX / 4, |json| json.len());
    let names: usize = one.claims.iter().map(|claim| 32 + text(&claim.namespace) + text(&claim.name)).sum();
    let event = &one.event;
    512 + names
        + event.stream.as_str().len()
        + text(event.actor.as_str())
        + 2 * event.kind.len()
        + event.data.get().len()
}

/// Parses a payload; refuses blanks around it, which a JSON parser would strip unnoticed.
fn payload(bytes: &Bytes) -> Option<Box<RawValue>> {
    let text = String::from_utf8(bytes.to_vec()).ok()?;
    RawValue::from_string(text).ok().filter(|payload| payload.get().len() == bytes.len())
}

pub(super) fn encode_vault(vault: Uuid) -> Result<EventData, StoreError> {
    EventData::json(NAMED, &Named { vault }).map_err(|error| StoreError::unavailable(error.to_string()))
}

pub(super) fn decode_vault(event: &RecordedEvent) -> Result<Uuid, StoreError> {
    let named: Option<Named> =
        (event.event_type == NAMED).then(|| serde_json::from_slice(&event.data).ok()).flatten();
    named.map(|named| named.vault).ok_or_else(|| foreign(event))
}

pub(super) fn encode_store(store: StoreId) -> Result<EventData, StoreError> {
    let founded = Founded { store: store.to_string(), format: FORMAT };
    let event =
        EventData::json(FOUNDED, &founded).map_err(|error| StoreError::unavailable(error.to_string()))?;
    // With the store's own id, so that the same attempt sent twice is one event.
    Ok(event.id(Uuid::from_u128(store.0.0)))
}

pub(super) fn decode_store(event: &RecordedEvent) -> Result<StoreId, StoreError> {
    let founded: Option<Founded> =
        (event.event_type == FOUNDED).then(|| serde_json::from_slice(&event.data).ok()).flatten();
    let Some(Founded { store, format }) = founded else {
        return Err(foreign(event));
    };
    if format > FORMAT {
        return Err(StoreError::unavailable(format!(
            "the log was written by a newer Loggia (its format is {format}, this one knows {FORMAT}); use that one"
        )));
    }
    store.parse().map_err(|_| StoreError::corrupt(format!("its store id “{store}” is unreadable")))
}

fn foreign(event: &RecordedEvent) -> StoreError {
    StoreError::unavailable(format!(
        "the stream {} is not one of Loggia; set another store=NAME in store (LOGGIA_STORE)",
        event.stream_id()
    ))
}
