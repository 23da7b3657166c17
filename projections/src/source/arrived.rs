//! What is found at a place of the log, read once for all who follow.

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

/// About what an event takes in memory beside its payload: its envelope and the allocations, in bytes.
const ENVELOPE: usize = 1_024;

/// A place of the log and what was found there.
#[derive(Debug)]
pub struct Arrived {
    /// The place.
    pub position: Position,
    /// What stands there, or why the message carries no event.
    pub found: Result<Found, NotAnEvent>,
    /// About what it takes in memory, in bytes.
    pub(super) size: usize,
}

/// An event as it came. Several projections hold it at once, so what they keep of it is shared.
#[derive(Debug)]
pub struct Found {
    /// The event, without the text of its payload: thousands wait at a time.
    pub recorded: Arc<Recorded>,
    /// Its payload in the newest shape, read already: this runs beside the workers. None for an event of a newer version.
    pub event: Result<Option<Arc<Event>>, Malformed>,
    /// The store whose log the stream carries; unknown for what the event store itself filled in.
    pub store: Option<StoreId>,
    previous: Previous,
}

/// The event before one in the hash chain.
#[derive(Debug)]
enum Previous {
    /// The event that was read before it has this hash, and its own hash covers it.
    Hash(Hash),
    /// Nothing was read before it, or not what its hash covers. Its payload is kept for [`Found::follows`].
    Unknown(Box<RawValue>),
}

impl Arrived {
    /// An event as the stream carries it, after one with this hash.
    pub(super) fn from_stream(
        position: Position,
        headers: Option<&HeaderMap>,
        payload: &[u8],
        previous: Option<Hash>,
    ) -> Arrived {
        let size = payload.len() + ENVELOPE;
        Arrived { position, found: read(position, headers, payload, previous), size }
    }

    /// An event as the event store told it, after one with this hash.
    pub(crate) fn from_store(mut event: Recorded, previous: Option<Hash>) -> Arrived {
        let data = std::mem::replace(&mut event.data, RawValue::NULL.to_owned());
        let (position, size) = (event.position, data.get().len() + ENVELOPE);
        Arrived { position, found: Ok(Found::new(event, &data, None, previous)), size }
    }

    /// Returns the event's hash; `None` for a message that carries no event.
    pub fn hash(&self) -> Option<Hash> {
        self.found.as_ref().ok().map(|found| found.recorded.hash)
    }

    /// Whether it continues a log that ends with this hash, as far as both are known.
    pub fn follows(&self, hash: Option<Hash>) -> bool {
        !self.breaks_chain_after(hash)
    }

    /// Whether it was read after an event with this hash, and its own hash does not cover it.
    pub(super) fn breaks_chain_after(&self, previous: Option<Hash>) -> bool {
        let found = self.found.as_ref().ok().zip(previous);
        found.is_some_and(|(found, previous)| !found.follows(previous))
    }
}

impl Found {
    fn new(recorded: Recorded, data: &RawValue, store: Option<StoreId>, previous: Option<Hash>) -> Found {
        let event = versioned::decode(&recorded.kind, data).map(|decoded| match decoded {
            Decoded::Known(event) => Some(Arc::from(event)),
            Decoded::Unknown => None,
        });
        let linked = previous.filter(|previous| covers(&recorded, data, *previous));
        let previous = linked.map_or_else(|| Previous::Unknown(data.to_owned()), Previous::Hash);
        Found { recorded: Arc::new(recorded), event, store, previous }
    }

    /// Whether its hash covers this one, as that of the event before it: it continues the log that ends there.
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

fn read(
    position: Position,
    headers: Option<&HeaderMap>,
    payload: &[u8],
    previous: Option<Hash>,
) -> Result<Found, NotAnEvent> {
    let header = |name| headers?.get(name).map(async_nats::HeaderValue::as_str);
    let (event, data, store) = cloudevents::parse_borrowed(header, payload)?;
    if event.position != position {
        let reason = format!("it says {} but stands at {position}", event.position);
        return Err(NotAnEvent::Header { header: "ce-position", reason });
    }
    Ok(Found::new(event, data, Some(store), previous))
}
