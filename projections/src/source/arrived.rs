//! What is found at a place of the log, read once for all who follow.

use std::sync::Arc;

use async_nats::jetstream;
use schemas::cloudevents::{self, NotAnEvent};
use schemas::envelope::Recorded;
use schemas::event::Event;
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
}

impl Arrived {
    /// An event as the stream carries it.
    pub(super) fn from_stream(position: Position, message: &jetstream::Message) -> Arrived {
        let size = message.payload.len() + ENVELOPE;
        Arrived { position, found: read(position, message), size }
    }

    /// An event as the event store told it.
    pub(super) fn from_store(mut event: Recorded) -> Arrived {
        let data = std::mem::replace(&mut event.data, RawValue::NULL.to_owned());
        let (position, size) = (event.position, data.get().len() + ENVELOPE);
        Arrived { position, found: Ok(Found::new(event, &data, None)), size }
    }
}

impl Found {
    fn new(recorded: Recorded, data: &RawValue, store: Option<StoreId>) -> Found {
        let event = versioned::decode(&recorded.kind, data).map(|decoded| match decoded {
            Decoded::Known(event) => Some(Arc::from(event)),
            Decoded::Unknown => None,
        });
        Found { recorded: Arc::new(recorded), event, store }
    }
}

fn read(position: Position, message: &jetstream::Message) -> Result<Found, NotAnEvent> {
    let header = |name| message.headers.as_ref()?.get(name).map(async_nats::HeaderValue::as_str);
    let (event, data, store) = cloudevents::parse_borrowed(header, &message.payload)?;
    if event.position != position {
        let reason = format!("it says {} but stands at {position}", event.position);
        return Err(NotAnEvent::Header { header: "ce-position", reason });
    }
    Ok(Found::new(event, data, Some(store)))
}
