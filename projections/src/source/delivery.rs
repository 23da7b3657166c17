//! A message of the stream and its event, decoded once for all projections.

use std::sync::Arc;

use async_nats::HeaderMap;
use schemas::chain::Link;
use schemas::cloudevents::{self, NotAnEvent};
use schemas::envelope::Recorded;
use schemas::event::Event;
use schemas::hash::Hash;
use schemas::ids::{Position, StoreId};
use schemas::versioned::{self, Decoded, Malformed};
use serde_json::value::RawValue;

/// Estimated memory of an event beside its payload, in bytes: envelope and allocations.
const ENVELOPE_BYTES: usize = 1_024;

/// The message at a position of the log.
#[derive(Debug)]
pub struct Delivery {
    /// The position.
    pub position: Position,
    /// Its event, or why the message carries none.
    pub decoded: Result<DecodedEvent, NotAnEvent>,
    /// Estimated memory, in bytes.
    pub(super) size: usize,
}

/// An event of the stream. Projections share it.
#[derive(Debug)]
pub struct DecodedEvent {
    /// The envelope, with an empty payload: thousands are held at a time.
    pub recorded: Arc<Recorded>,
    /// The payload in its newest version, decoded outside the workers; `None` for an event of a newer version than this one.
    pub event: Result<Option<Arc<Event>>, Malformed>,
    /// The event store whose log the stream carries; `None` if the event store itself filled a gap.
    pub store: Option<StoreId>,
    previous: Previous,
}

/// The link to the event before it in the hash chain.
#[derive(Debug)]
enum Previous {
    /// The event's hash covers the event before it, which has this hash.
    Hash(Hash),
    /// No event before it was read, or the hash does not cover it. The payload is kept for [`DecodedEvent::follows`].
    Unknown(Box<RawValue>),
}

impl Delivery {
    /// Decodes a message of the stream; `previous` is the hash of the event before it.
    pub(super) fn from_stream(
        position: Position,
        headers: Option<&HeaderMap>,
        payload: &[u8],
        previous: Option<Hash>,
    ) -> Delivery {
        let size = payload.len() + ENVELOPE_BYTES;
        Delivery { position, decoded: decode(position, headers, payload, previous), size }
    }

    /// Decodes an event from the event store; `previous` is the hash of the event before it.
    pub(crate) fn from_store(mut event: Recorded, previous: Option<Hash>) -> Delivery {
        let data = std::mem::replace(&mut event.data, RawValue::NULL.to_owned());
        let (position, size) = (event.position, data.get().len() + ENVELOPE_BYTES);
        Delivery { position, decoded: Ok(DecodedEvent::new(event, &data, None, previous)), size }
    }

    /// Returns the event's hash; `None` for a message without an event.
    pub fn hash(&self) -> Option<Hash> {
        self.decoded.as_ref().ok().map(|decoded| decoded.recorded.hash)
    }

    /// Returns whether it follows the event with this hash, as far as both are known.
    pub fn follows(&self, hash: Option<Hash>) -> bool {
        !self.breaks_chain_after(hash)
    }

    /// Returns whether it does not follow the event with this hash, which is known to be the one before it.
    pub(super) fn breaks_chain_after(&self, previous: Option<Hash>) -> bool {
        let decoded = self.decoded.as_ref().ok().zip(previous);
        decoded.is_some_and(|(decoded, previous)| !decoded.follows(previous))
    }
}

impl DecodedEvent {
    fn new(
        recorded: Recorded,
        data: &RawValue,
        store: Option<StoreId>,
        previous: Option<Hash>,
    ) -> DecodedEvent {
        let event = versioned::decode(&recorded.kind, data).map(|decoded| match decoded {
            Decoded::Known(event) => Some(Arc::from(event)),
            Decoded::Unknown => None,
        });
        let covered = previous.filter(|previous| covers(&recorded, data, *previous));
        let previous = covered.map_or_else(|| Previous::Unknown(data.to_owned()), Previous::Hash);
        DecodedEvent { recorded: Arc::new(recorded), event, store, previous }
    }

    /// Returns whether its hash covers the event with this hash as the one before it.
    pub fn follows(&self, hash: Hash) -> bool {
        match &self.previous {
            Previous::Hash(previous) => *previous == hash,
            Previous::Unknown(data) => covers(&self.recorded, data, hash),
        }
    }
}

fn covers(event: &Recorded, data: &RawValue, previous: Hash) -> bool {
    Link { data: data.get(), ..Link::from(event) }.hash_after(previous) == event.hash
}

fn decode(
    position: Position,
    headers: Option<&HeaderMap>,
    payload: &[u8],
    previous: Option<Hash>,
) -> Result<DecodedEvent, NotAnEvent> {
    let header = |name| headers?.get(name).map(async_nats::HeaderValue::as_str);
    let (event, data, store) = cloudevents::parse_borrowed(header, payload)?;
    if event.position != position {
        let reason = format!("it says {} but is at {position}", event.position);
        return Err(NotAnEvent::Header { header: "ce-position", reason });
    }
    Ok(DecodedEvent::new(event, data, Some(store), previous))
}
